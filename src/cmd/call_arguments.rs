//! The arguments of a call, as given on the command line.

use crate::cmd::usage;
use pipewright_io::report::Failure;
use pipewright_policy::arguments;
use pipewright_record::json::{Object, one_line, quoted};
use serde::de::IgnoredAny;
use std::collections::HashSet;
use std::io::{Read, stdin};

/// Deepest nesting of arrays and objects in arguments: the default of worlds.
const MAX_DEPTH: usize = 512;

/// Reads `--json`: the text of a JSON object, on one line.
///
/// # Errors
/// Why it is not one.
pub fn object(text: &str) -> Result<String, Failure> {
    arguments::read(text, MAX_DEPTH).map_err(|why| usage(format_args!("--json: {why}")))
}

/// Reads `KEY=VALUE` words: gives the text of a JSON object, with its fields in their order. `hint` is appended to the
/// error about a word that is not `KEY=VALUE`; it begins with a punctuation mark.
///
/// # Errors
/// A word without a key, a key that is given twice, or a file that can't be read.
pub fn pairs(words: &[String], hint: &str) -> Result<String, Failure> {
    let mut object = Object::default();
    let (mut keys, mut has_read_stdin) = (HashSet::new(), false);
    for word in words {
        let Some((key, value)) = word.split_once('=').filter(|(key, _)| !key.is_empty()) else {
            return Err(usage(format_args!("'{word}' is not KEY=VALUE{hint}")));
        };
        if !keys.insert(key) {
            return Err(usage(format_args!("the argument '{key}' is given twice")));
        }
        let json = match value.strip_prefix('@') {
            Some("-") if std::mem::replace(&mut has_read_stdin, true) => {
                return Err(usage(format_args!("{key}=@-: stdin can be read only once")));
            }
            Some(path) => quoted(&file(path).map_err(|error| usage(format_args!("{key}={value}: {error}")))?),
            None if serde_json::from_str::<IgnoredAny>(value).is_ok() => one_line(value),
            None => quoted(value),
        };
        object = object.put_any(key, json);
    }
    Ok(object.end())
}

fn file(path: &str) -> std::io::Result<String> {
    if path != "-" {
        return std::fs::read_to_string(path);
    }
    let mut text = String::new();
    stdin().read_to_string(&mut text)?;
    Ok(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        pairs(&words, "").map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_value_that_parses_is_json_and_any_other_is_text() {
        for (word, json) in [
            ("index=3", r#"{"index":3}"#),
            ("price=1.10", r#"{"price":1.10}"#),
            ("id=12345678901234567890123", r#"{"id":12345678901234567890123}"#),
            ("open=true", r#"{"open":true}"#),
            ("list=[1, 2]", r#"{"list":[1, 2]}"#),
            ("list=[\n1]", r#"{"list":[ 1]}"#),
            (r#"name="3""#, r#"{"name":"3"}"#),
            (r#"at="@x""#, r#"{"at":"@x"}"#),
            ("zip=01234", r#"{"zip":"01234"}"#),
            ("text=a=b \"c\"\n", r#"{"text":"a=b \"c\"\n"}"#),
            ("text=", r#"{"text":""}"#),
            ("a\"b=1", r#"{"a\"b":1}"#),
        ] {
            assert_eq!(read(&[word]), Ok(json.to_owned()), "{word}");
        }
        assert_eq!(read(&["b=1", "a=x"]).unwrap(), r#"{"b":1,"a":"x"}"#);
        assert_eq!(read(&[]).unwrap(), "{}");
    }

    #[test]
    fn a_word_that_is_not_an_argument_is_refused() {
        for (words, why) in [
            (&["mcp-pipe"][..], "'mcp-pipe' is not KEY=VALUE"),
            (&["=x"], "'=x' is not KEY=VALUE"),
            (&["a=1", "a=2"], "'a' is given twice"),
            (&["a=@/no/such/file"], "a=@/no/such/file: No such file"),
            (&["a=@/"], "a=@/: Is a directory"),
        ] {
            let error = read(words).unwrap_err();
            assert!(error.contains(why), "{words:?}: {error}");
        }
    }
}
