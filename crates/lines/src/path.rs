//! Paths to values in a line. Finds several of them in one pass over the bytes, without parsing the rest into values.

use super::follow::follow;
use super::is_json;
use serde::de::IgnoredAny;
use std::borrow::Cow;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The value of an object's field.
    Field(String),
    /// An array's item, from 0.
    Item(usize),
    /// Every item of an array, and every value of an object.
    Each,
}

/// A path in jq's syntax: `.a.b`, `."a b"`, `.items[0]`, `.items[].id`; `.` alone is the complete value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(Vec<Step>);

impl Path {
    /// Parses a path; `None` if it is anything else (such as a filter).
    ///
    /// ```
    /// use pipewright_lines::Path;
    /// assert!(Path::parse(".game_state.hand[0].name").is_some());
    /// assert!(Path::parse(".a | length").is_none());
    /// ```
    pub fn parse(text: &str) -> Option<Path> {
        let mut rest = text.trim();
        if rest == "." {
            return Some(Path(Vec::new()));
        }
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = if let Some(inside) = rest.strip_prefix("[").or_else(|| rest.strip_prefix(".[")) {
                let (index, after) = inside.split_once(']')?;
                let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
                match index {
                    "" => (Step::Each, after),
                    _ if is_number => (Step::Item(index.parse().ok()?), after),
                    _ => (Step::Field(serde_json::from_str(index).ok()?), after),
                }
            } else {
                let name = rest.strip_prefix('.')?;
                let (field, after) = if name.starts_with('"') { quoted(name)? } else { plain(name)? };
                (Step::Field(field), after)
            };
            if steps.is_empty() && !text.trim().starts_with('.') {
                return None;
            }
            steps.push(step);
            rest = after;
        }
        if steps.is_empty() { None } else { Some(Path(steps)) }
    }

    /// Its steps, from the outside in.
    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

fn quoted(name: &str) -> Option<(String, &str)> {
    let mut values = serde_json::Deserializer::from_str(name).into_iter::<String>();
    let field = values.next()?.ok()?;
    Some((field, &name[values.byte_offset()..]))
}

fn plain(name: &str) -> Option<(String, &str)> {
    let is_name = |character: char| character.is_alphanumeric() || character == '_';
    let end = name.find(|character| !is_name(character)).unwrap_or(name.len());
    let field = &name[..end];
    let begins_well = field.chars().next().is_some_and(|first| !first.is_ascii_digit());
    begins_well.then(|| (field.to_owned(), &name[end..]))
}

/// Several paths that are searched together.
#[derive(Debug, Clone, Default)]
pub struct Paths {
    root: Node,
    count: usize,
}

/// A node of the tree of paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Node {
    /// The numbers of the paths that end here.
    pub(super) wanted: Vec<usize>,
    pub(super) below: Vec<(Step, Node)>,
}

impl Paths {
    /// The values are returned in the order of `paths`. A path with `[]` finds the first value that it leads to.
    pub fn new(paths: &[Path]) -> Paths {
        let mut root = Node::default();
        for (number, path) in paths.iter().enumerate() {
            let mut node = &mut root;
            for step in &path.0 {
                let at = node.below.iter().position(|(known, _)| known == step).unwrap_or_else(|| {
                    node.below.push((step.clone(), Node::default()));
                    node.below.len() - 1
                });
                node = &mut node.below[at].1;
            }
            node.wanted.push(number);
        }
        Paths { root, count: paths.len() }
    }

    /// The number of paths.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Finds the values in one JSON text, as slices of it; `found` has a slot for each path. Of a duplicate key, the
    /// last occurrence counts, as in jq.
    ///
    /// # Errors
    /// If `json` is not one JSON value.
    pub fn find<'a>(&self, json: &'a str, found: &mut [Option<&'a str>]) -> Result<(), serde_json::Error> {
        if !is_json(json.as_bytes(), usize::MAX) {
            // serde_json gives the error.
            serde_json::from_str::<IgnoredAny>(json)?;
        }
        self.find_in_json(json, found);
        Ok(())
    }

    /// As [`Paths::find`], in a text that is known to be JSON.
    pub fn find_in_json<'a>(&self, json: &'a str, found: &mut [Option<&'a str>]) {
        if self.count > 0 {
            follow(&self.root, json, found);
        }
    }
}

/// The text of a JSON string; for other values the JSON itself, and for `null` nothing.
pub fn plain_text(json: &str) -> Cow<'_, str> {
    match json.as_bytes() {
        // Most strings have no escapes and need no copy.
        [b'"', text @ .., b'"'] if memchr::memchr(b'\\', text).is_none() => Cow::Borrowed(&json[1..json.len() - 1]),
        [b'"', ..] => serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned),
        _ if json == "null" => Cow::Borrowed(""),
        _ => Cow::Borrowed(json),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn find<'a>(paths: &[&str], json: &'a str) -> Vec<Option<&'a str>> {
        let paths: Vec<Path> = paths.iter().map(|path| Path::parse(path).unwrap()).collect();
        let mut found = vec![None; paths.len()];
        Paths::new(&paths).find(json, &mut found).unwrap();
        found
    }

    #[test]
    fn values_are_found_byte_for_byte() {
        let json = r#"{"a":{"b c":1.10,"d":[10,{"e":"x\n"}]},"big":12345678901234567890123, "n":null}"#;
        let paths = [r#".a."b c""#, ".a.d[1].e", ".big", ".n", ".none", ".a", ".", ".a.d[]", ".[\"big\"]"];
        let [b, e, big, n, none, a, all, first, also] = find(&paths, json).try_into().unwrap();
        assert_eq!((b, e, big), (Some("1.10"), Some(r#""x\n""#), Some("12345678901234567890123")));
        assert_eq!((n, none, also), (Some("null"), None, big));
        assert_eq!(a, Some(r#"{"b c":1.10,"d":[10,{"e":"x\n"}]}"#));
        assert_eq!((all, first), (Some(json), Some("10")));
    }

    #[test]
    fn keys_are_compared_unescaped_and_the_last_counts() {
        assert_eq!(find(&[".a"], r#"{"\u0061":1,"a":2}"#), [Some("2")]);
        assert_eq!(find(&[".a.b"], r#"{"a":[1]}"#), [None]);
        assert_eq!(find(&[".[0]"], r#"[7]"#), [Some("7")]);
        // Half a surrogate pair stands for no text, not for the way it is written.
        assert_eq!(find(&[r#"."\\ud800""#], r#"{"\ud800":1}"#), [None]);
        assert!(Paths::new(&[]).find("{} {}", &mut []).is_err());
        assert!(Paths::new(&[]).find("{\"a\":}", &mut []).is_err());
    }

    #[test]
    fn text_that_is_not_a_path_is_refused() {
        for text in ["", "a", ".a |.b", ".a.", "..", ".a[", ".a[-1]", ".a[1:2]", ".1", ".a b", "$t", ".a?", "[0]"] {
            assert_eq!(Path::parse(text), None, "{text}");
        }
        assert_eq!(Path::parse(" .a[\"b\"][].c ").unwrap().steps().len(), 4);
        assert_eq!(Path::parse(".имя").unwrap().steps(), [Step::Field("имя".to_owned())]);
    }

    /// The value that serde_json finds; of duplicate keys, it also keeps the last.
    fn at<'v>(value: &'v serde_json::Value, path: &Path) -> Option<&'v serde_json::Value> {
        path.steps().iter().try_fold(value, |value, step| match step {
            Step::Field(field) => value.get(field),
            Step::Item(item) => value.get(item),
            Step::Each => None,
        })
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        use serde_json::Value;
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c\\\\\"\\[\\]{},: \n\u{e9}]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 60, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[ab\"\\\\]{1,2}", inner, 0..5).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn values_are_those_that_a_parser_finds(
            value in value(),
            pretty: bool,
            paths in prop::collection::vec("(\\.(a|b|\"ab\"|\"\\\\\\\\\")|\\.\\[[0-3]\\]){1,4}", 1..5),
        ) {
            let json = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let paths: Vec<Path> = paths.iter().map(|path| Path::parse(path).unwrap()).collect();
            let mut found = vec![None; paths.len()];
            Paths::new(&paths).find(&json, &mut found).unwrap();
            for (path, found) in paths.iter().zip(found) {
                let found = found.map(|found| serde_json::from_str::<serde_json::Value>(found).unwrap());
                prop_assert_eq!(found.as_ref(), at(&value, path));
            }
        }

        #[test]
        fn text_that_is_not_json_terminates(json in "[\\[\\]{}\":,a1\\\\ ]{0,40}") {
            let paths: Vec<Path> = [".a.a", ".[0].a", ".[]"].iter().map(|path| Path::parse(path).unwrap()).collect();
            Paths::new(&paths).find_in_json(&json, &mut [None; 3]);
        }
    }

    #[test]
    fn texts_are_unquoted() {
        assert_eq!(plain_text(r#""a\"b""#), "a\"b");
        assert_eq!(plain_text("1.10"), "1.10");
        assert_eq!(plain_text("null"), "");
    }
}
