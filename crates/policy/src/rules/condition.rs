//! The conditions of a rule on a text or a value.

use super::{command, plain};
use crate::working_folder::WorkingFolder;
use pipewright_record::{Reason, glob};
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// One glob, or any of several.
#[derive(Debug, Clone)]
pub enum Globs {
    /// One.
    One(String),
    /// Any of them.
    Any(Vec<String>),
}

impl Globs {
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        match self {
            Globs::One(one) => std::slice::from_ref(one),
            Globs::Any(any) => any,
        }
        .iter()
        .map(String::as_str)
    }

    /// Whether one of them matches the text.
    pub fn match_text(&self, text: &str) -> bool {
        self.iter().any(|pattern| glob::matches(pattern, text))
    }

    fn name_paths(&self) -> bool {
        self.iter().any(|pattern| pattern.contains('/'))
    }

    /// As [`Globs::match_text`], ignoring case: for text that people read.
    pub fn match_folded(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.iter().any(|pattern| glob::matches(&pattern.to_lowercase(), &text))
    }
}

/// A condition on an argument's value. A string is compared without its quotes, anything else as its JSON.
#[derive(Debug, Clone)]
pub enum Condition {
    /// The value is a string, number or Boolean that a glob matches.
    Globs(Globs),
    /// All named conditions hold.
    All(NamedConditions),
}

/// Conditions with names.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedConditions {
    /// Whether there must be a value.
    exists: Option<bool>,
    glob: Option<Globs>,
    /// The value is exactly this text, in which `*` and `?` are plain characters.
    is: Option<String>,
    /// The value is a shell's text with one simple command that this [pattern](command) matches.
    command: Option<String>,
    /// There is a value, and no glob matches it.
    not: Option<Globs>,
    /// A [`number`] of at least this.
    min: Option<f64>,
    /// A [`number`] of at most this.
    max: Option<f64>,
    /// An absolute path in this folder, however it is written (`..` is resolved). In a rule that allows, links are not
    /// followed, and a path below the working folder does not count.
    within: Option<String>,
}

// Not derived: an untagged enum's error would only say that nothing fits; these errors name the fault and its place.

impl<'de> Deserialize<'de> for Globs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Globs, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Globs;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a pattern or a list of patterns")
            }

            fn visit_str<E: Error>(self, pattern: &str) -> Result<Globs, E> {
                Ok(Globs::One(pattern.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, patterns: A) -> Result<Globs, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(patterns)).map(Globs::Any)
            }
        }
        from.deserialize_any(Reader)
    }
}

impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Condition, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Condition;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a pattern, a list of patterns, or conditions such as { min = 1 }")
            }

            fn visit_str<E: Error>(self, pattern: &str) -> Result<Condition, E> {
                Ok(Condition::Globs(Globs::One(pattern.to_owned())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, patterns: A) -> Result<Condition, A::Error> {
                Globs::deserialize(SeqAccessDeserializer::new(patterns)).map(Condition::Globs)
            }

            fn visit_map<A: MapAccess<'de>>(self, conditions: A) -> Result<Condition, A::Error> {
                NamedConditions::deserialize(MapAccessDeserializer::new(conditions)).map(Condition::All)
            }
        }
        from.deserialize_any(Reader)
    }
}

impl Condition {
    /// Checks that it can hold, in a rule that `allows` or another one; gives the reason if not.
    pub fn check(&self, allows: bool) -> Result<(), Reason> {
        match self {
            Condition::All(NamedConditions {
                exists: None,
                glob: None,
                is: None,
                command: None,
                not: None,
                min: None,
                max: None,
                within: None,
            }) => Err("the condition is empty".into()),
            Condition::All(NamedConditions { within: Some(folder), .. }) if !folder.starts_with('/') => {
                Err("`within` must be an absolute path".into())
            }
            Condition::All(NamedConditions { min: Some(min), max: Some(max), .. }) if min > max => {
                Err("`min` is greater than `max`".into())
            }
            // Text that is not certainly such a command would pass by any other rule.
            Condition::All(NamedConditions { command: Some(_), .. }) if !allows => {
                Err("`command` is only for rules that allow".into())
            }
            Condition::All(NamedConditions { command: Some(pattern), .. }) => command::check(pattern),
            _ => Ok(()),
        }
    }

    /// Whether it holds for one text, or for the simple commands of one pattern, and for nothing else.
    pub fn is_narrow(&self) -> bool {
        match self {
            Condition::Globs(Globs::One(glob)) => !glob::is_pattern(glob),
            Condition::Globs(Globs::Any(_)) => false,
            Condition::All(NamedConditions { is, command, .. }) => is.is_some() || command.is_some(),
        }
    }

    /// The pattern for a command, if it has one.
    pub fn command(&self) -> Option<&str> {
        match self {
            Condition::All(NamedConditions { command, .. }) => command.as_deref(),
            Condition::Globs(_) => None,
        }
    }

    /// Whether it holds for a value, which is JSON text. If that is uncertain, the strict side is taken, which depends
    /// on whether the rule `allows`: in such a rule, a glob does not hold for a path that leads out of it by `..`, and
    /// a limit does not hold for a value that is not a [`number`]. In a rule that confirms or denies, they do, and each
    /// path of a file in this place counts.
    pub fn holds(&self, value: Option<&str>, allows: bool, place: Option<&WorkingFolder>) -> bool {
        let text = value.map(plain);
        let paths = match text.as_deref().filter(|_| !allows) {
            Some(text) => self.paths(text, place),
            None => Vec::new(),
        };
        let is = |globs: &Globs| {
            text.as_deref().is_some_and(|text| !(allows && climbs(text)) && globs.match_text(text))
                || paths.iter().any(|path| globs.match_text(path))
        };
        match self {
            Condition::Globs(globs) => is(globs),
            Condition::All(asked) => {
                let number = value.map(number);
                let is_limited =
                    |holds: &dyn Fn(f64) -> bool| number.is_some_and(|number| number.map_or(!allows, holds));
                asked.exists.is_none_or(|exists| exists == value.is_some())
                    && asked.glob.as_ref().is_none_or(is)
                    && asked.is.as_ref().is_none_or(|own| text.as_deref() == Some(own))
                    && asked
                        .command
                        .as_ref()
                        .is_none_or(|pattern| text.as_deref().is_some_and(|text| command::matches(pattern, text)))
                    && asked
                        .not
                        .as_ref()
                        .is_none_or(|globs| text.as_deref().is_some_and(|text| !globs.match_text(text)))
                    && asked.min.is_none_or(|min| is_limited(&|number| number >= min))
                    && asked.max.is_none_or(|max| is_limited(&|number| number <= max))
                    && asked.within.as_ref().is_none_or(|folder| {
                        let is_within = |path: &str| is_within(path, folder);
                        text.as_deref().is_some_and(is_within) || paths.iter().any(|path| is_within(path))
                    })
            }
        }
    }

    /// The paths of the file that a text names, if the condition is about paths.
    fn paths(&self, text: &str, place: Option<&WorkingFolder>) -> Vec<String> {
        let is_about_paths = match self {
            Condition::Globs(globs) => globs.name_paths(),
            Condition::All(asked) => asked.within.is_some() || asked.glob.as_ref().is_some_and(Globs::name_paths),
        };
        let worked_out = |path: &str| steps(path).map(|steps| format!("/{}", steps.join("/")));
        let others = place.filter(|_| is_about_paths).map_or_else(Vec::new, |place| place.other_paths(text));
        std::iter::once(text).chain(others.iter().map(String::as_str)).filter_map(worked_out).collect()
    }
}

/// The number in a value, which is JSON text: a JSON number, or a string that every program reads as the same number.
/// Such a string has digits, perhaps a `-` before and a fraction after them, and white space around. Programs read
/// "1e3", "0x10", "1,000" and "0100" as different numbers, so these are not numbers.
fn number(value: &str) -> Option<f64> {
    let text = plain(value);
    let digits = text.trim_ascii();
    let is_string = value.starts_with('"');
    (!is_string || is_decimal(digits)).then(|| digits.parse().ok()).flatten().filter(|number: &f64| number.is_finite())
}

fn is_decimal(text: &str) -> bool {
    let are_digits = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    are_digits(whole) && are_digits(fraction) && (whole == "0" || !whole.starts_with('0'))
}

fn climbs(text: &str) -> bool {
    text.split(['/', '\\']).any(|step| step == "..")
}

fn steps(path: &str) -> Option<Vec<&str>> {
    let mut steps = Vec::new();
    for step in path.strip_prefix('/')?.split('/') {
        match step {
            "" | "." => {}
            ".." => _ = steps.pop(),
            step => steps.push(step),
        }
    }
    Some(steps)
}

fn is_within(path: &str, folder: &str) -> bool {
    below(path, folder).is_some_and(|names| !names.iter().any(|name| name.contains('\0')))
}

/// The names below a folder on the way to a path; `None` if the path is not in it.
pub(super) fn below<'a>(path: &'a str, folder: &str) -> Option<Vec<&'a str>> {
    let (path, folder) = (steps(path)?, steps(folder)?);
    path.starts_with(&folder).then(|| path[folder.len()..].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_in_a_folder_is_found_however_it_is_written() {
        for path in ["/a/b", "/a/b/c", "/a//b/./c", "/x/../a/b/c", "/a/b/../b/c"] {
            assert!(is_within(path, "/a/b/"), "{path}");
        }
        for path in ["/a/bc", "/a", "a/b/c", "/a/b/../c", "/a/b/../../etc", "", "/a/b/\0c"] {
            assert!(!is_within(path, "/a/b"), "{path}");
        }
    }

    #[test]
    fn a_path_that_climbs_out_of_a_pattern_is_not_allowed_by_it() {
        let globs = Condition::Globs(Globs::One("/home/*".to_owned()));
        assert!(globs.holds(Some("\"/home/a\""), true, None) && !globs.holds(Some("\"/home/../etc\""), true, None));
        assert!(globs.holds(Some("\"/home/../etc\""), false, None));
        for path in ["//home/a", "/./home/a", "/x/../home/a", "/home//a"] {
            assert!(globs.holds(Some(&format!("\"{path}\"")), false, None), "{path}");
        }
        assert!(!globs.holds(None, false, None) && !globs.holds(Some("7"), false, None));
    }
}
