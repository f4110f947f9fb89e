//! The differences between a live line and the recorded one.

use super::calls::{CallNews, about};
use super::discovery::is_discovery;
use super::forms::comparable;
use super::model::{ModelRecord, SETTINGS, model_record};
use pipewright_lines::{Path, Step, deeper_than};
use pipewright_record::Fields;
use pipewright_record::json::{Object as ObjectText, quoted};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

/// Lines that nest deeper are compared as text.
pub const MAX_DEPTH: usize = 512;

/// How many differences of one line are reported.
const MAX_DIFFERENCES: usize = 50;

/// Changes a line before it is compared; `None` if it cannot.
pub type Normalise = Box<dyn Fn(&[u8]) -> Option<Vec<u8>> + Send>;

/// What counts as equal.
#[derive(Default)]
pub struct Comparison {
    /// Paths that may differ.
    pub ignored: Vec<Path>,
    /// Applied to both sides first.
    pub normalise: Option<Normalise>,
    /// Whether two calls in our own forms are equal if only their ids or forms differ.
    pub ignores_ids: bool,
}

/// A difference between two lines.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Difference {
    /// The path in jq's syntax; empty if the complete line differs.
    pub path: String,
    /// The recorded value; `None` if there was none.
    pub recorded: Option<String>,
    /// The live value; `None` if there is none.
    pub now: Option<String>,
}

impl Comparison {
    /// The differences of two lines (without their ends); empty if they are the same. JSON is compared as values: white
    /// space, the order of keys and the escapes of strings do not count. Neither do the duration of a call
    /// (`duration_ms` of a result), nor the `request_id` of `list_tools` and `tool_list`. Of two requests to a model
    /// (each a [`RequestDelta`](super::model::RequestDelta)), the new messages are compared, and fields that are not in
    /// pipewright(7).
    pub fn differences(&self, recorded: &[u8], now: &[u8]) -> Vec<Difference> {
        if recorded == now {
            return Vec::new();
        }
        let (recorded, now) = (&*self.normalised(recorded), &*self.normalised(now));
        let mut walk = Differ { path: String::new(), found: Vec::new() };
        match (json(recorded), json(now)) {
            (Some(recorded), Some(now)) => {
                let field = |key: &str| Step::Field(key.to_owned());
                let calls = if self.ignores_ids { comparable(recorded, now) } else { None };
                let id = calls.as_ref().map(|calls| field(calls.id_key));
                let took = (is_timed_result(recorded) && is_timed_result(now)).then(|| field("duration_ms"));
                let is_discovery =
                    |line: &str| [false, true].into_iter().any(|from_world| is_discovery(line.as_bytes(), from_world));
                let request = (is_discovery(recorded) && is_discovery(now)).then(|| field("request_id"));
                let mut anyway: Vec<Step> = [id, took, request].into_iter().flatten().collect();
                if is_model_request(recorded) && is_model_request(now) {
                    anyway.extend(SETTINGS.iter().chain(&["request_id", "earlier_messages"]).map(|key| field(key)));
                }
                let anyway = anyway.iter().map(std::slice::from_ref);
                let ignored: Vec<&[Step]> = self.ignored.iter().map(Path::steps).chain(anyway).collect();
                match &calls {
                    Some(calls) => walk.value(&calls.recorded, &calls.now, &ignored),
                    None => walk.value(recorded, now, &ignored),
                }
            }
            _ if recorded == now => {}
            _ => walk.differ(Some(&lossy(recorded)), Some(&lossy(now))),
        }
        walk.found
    }

    /// The settings in which two requests to a model differ: system, tools and the like, which the requests of a run
    /// share. Empty if one of the lines is not such a request.
    pub fn setting_differences(&self, recorded: &[u8], now: &[u8]) -> Vec<Difference> {
        let settings = |line: &[u8]| {
            let line = self.normalised(line);
            let line = json(&line).filter(|line| is_model_request(line))?;
            let fields = Fields::read(line).ok()?;
            let put = |object: ObjectText, key: &&str| object.put_some(key, fields.get(key));
            Some(SETTINGS.iter().fold(ObjectText::default(), put).end())
        };
        let mut walk = Differ { path: String::new(), found: Vec::new() };
        if let (Some(recorded), Some(now)) = (settings(recorded), settings(now)) {
            walk.value(&recorded, &now, &self.ignored.iter().map(Path::steps).collect::<Vec<_>>());
        }
        walk.found
    }

    pub(super) fn normalised<'l>(&self, line: &'l [u8]) -> Cow<'l, [u8]> {
        self.normalise.as_ref().and_then(|normalise| normalise(line)).map_or(Cow::Borrowed(line), Cow::Owned)
    }
}

/// The reported differences of settings: each is reported once, not at every request of a run.
#[derive(Debug, Default)]
pub struct ReportedSettings(HashSet<Difference>);

impl ReportedSettings {
    /// The differences in the settings of two lines that were not returned before.
    pub fn new_differences(&mut self, comparison: &Comparison, recorded: &[u8], now: &[u8]) -> Vec<Difference> {
        let mut differences = comparison.setting_differences(recorded, now);
        differences.retain(|difference| self.0.insert(difference.clone()));
        differences
    }
}

fn is_model_request(line: &str) -> bool {
    matches!(model_record(line.as_bytes()), Some((ModelRecord::Request, _)))
}

/// Whether a line is a result with the duration of its call, which is never the same twice.
fn is_timed_result(line: &str) -> bool {
    line.contains("duration_ms")
        && about(line.as_bytes()).is_some_and(|about| matches!(about.news, CallNews::Answered { .. }))
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok().filter(|_| !deeper_than(line, MAX_DEPTH))?;
    serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get)
}

struct Differ {
    path: String,
    found: Vec<Difference>,
}

pub(super) type Object<'a> = BTreeMap<String, &'a RawValue>;
pub(super) type Array<'a> = Vec<&'a RawValue>;

impl Differ {
    fn differ(&mut self, recorded: Option<&str>, now: Option<&str>) {
        if self.found.len() < MAX_DIFFERENCES {
            let own = |text: Option<&str>| text.map(str::to_owned);
            self.found.push(Difference { path: self.path.clone(), recorded: own(recorded), now: own(now) });
        }
    }

    fn value(&mut self, recorded: &str, now: &str, ignored: &[&[Step]]) {
        if recorded == now || ignored.iter().any(|steps| steps.is_empty()) || self.found.len() >= MAX_DIFFERENCES {
            return;
        }
        let first = |json: &str| json.as_bytes().first().copied().unwrap_or(b' ');
        let both = |kind: u8| first(recorded) == kind && first(now) == kind;
        if both(b'{')
            && let (Ok(recorded), Ok(now)) = (serde_json::from_str::<Object<'_>>(recorded), serde_json::from_str(now))
        {
            self.objects(&recorded, &now, ignored);
        } else if both(b'[')
            && let (Ok(recorded), Ok(now)) =
                (serde_json::from_str::<Array<'_>>(recorded), serde_json::from_str::<Array<'_>>(now))
        {
            self.arrays(&recorded, &now, ignored);
        } else if !is_same_scalar(recorded, now) {
            self.differ(Some(recorded), Some(now));
        }
    }

    fn objects(&mut self, recorded: &Object<'_>, now: &Object<'_>, ignored: &[&[Step]]) {
        let added = now.keys().filter(|key| !recorded.contains_key(*key));
        for key in recorded.keys().chain(added) {
            let below = below(ignored, |step| matches!(step, Step::Field(field) if field == key));
            self.at(&field(key), |walk| walk.optional(recorded.get(key), now.get(key), &below));
        }
    }

    fn arrays(&mut self, recorded: &[&RawValue], now: &[&RawValue], ignored: &[&[Step]]) {
        for index in 0..recorded.len().max(now.len()) {
            let below = below(ignored, |step| *step == Step::Item(index));
            self.at(&format!("[{index}]"), |walk| walk.optional(recorded.get(index), now.get(index), &below));
        }
    }

    fn optional(&mut self, recorded: Option<&&RawValue>, now: Option<&&RawValue>, ignored: &[&[Step]]) {
        let text = |value: &&RawValue| value.get().to_owned();
        match (recorded, now) {
            (Some(recorded), Some(now)) => self.value(recorded.get(), now.get(), ignored),
            _ if ignored.iter().any(|steps| steps.is_empty()) => {}
            (recorded, now) => self.differ(recorded.map(text).as_deref(), now.map(text).as_deref()),
        }
    }

    fn at(&mut self, step: &str, act: impl FnOnce(&mut Differ)) {
        let before = self.path.len();
        if before == 0 && step.starts_with('[') {
            self.path.push('.');
        }
        self.path.push_str(step);
        act(self);
        self.path.truncate(before);
    }
}

/// The ignored paths below this step.
pub(super) fn below<'i>(ignored: &[&'i [Step]], is_it: impl Fn(&Step) -> bool) -> Vec<&'i [Step]> {
    let one_in = |steps: &&'i [Step]| steps.split_first().filter(|(step, _)| **step == Step::Each || is_it(step));
    ignored.iter().filter_map(one_in).map(|(_, rest)| rest).collect()
}

fn field(key: &str) -> String {
    let is_plain = key.chars().all(|character| character.is_alphanumeric() || character == '_')
        && key.chars().next().is_some_and(|first| !first.is_ascii_digit());
    if is_plain { format!(".{key}") } else { format!(".{}", quoted(key)) }
}

/// Whether two scalars are equal although their bytes differ: a string with other escapes, or a number such as 1.0 and
/// 1. Numbers that a float cannot hold are equal only if their digits are.
fn is_same_scalar(recorded: &str, now: &str) -> bool {
    if recorded.starts_with('"') && now.starts_with('"') {
        let text = |json: &str| serde_json::from_str::<String>(json).ok();
        return text(recorded).is_some_and(|recorded| Some(recorded) == text(now));
    }
    number(recorded).is_some_and(|recorded| Some(recorded) == number(now))
}

/// A number that a float can hold.
pub(super) fn number(json: &str) -> Option<f64> {
    json.parse::<f64>().ok().filter(|number| number.is_finite() && json.len() <= 15)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn differences(ignored: &[&str], recorded: &str, now: &str) -> Vec<String> {
        let ignored = ignored.iter().map(|path| Path::parse(path).unwrap()).collect();
        let comparison = Comparison { ignored, ..Comparison::default() };
        let all = comparison.differences(recorded.as_bytes(), now.as_bytes());
        let show = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
        all.into_iter().map(|one| format!("{}: {} {}", one.path, show(one.recorded), show(one.now))).collect()
    }

    #[test]
    fn values_are_compared_not_bytes() {
        for (recorded, now) in [
            ("choose 0", "choose 0"),
            (r#"{"a":1,"b":[1.0,"\u0041"]}"#, r#"{ "b":[1, "A"], "a":1 }"#),
            ("12345678901234567890123", "12345678901234567890123"),
        ] {
            assert!(differences(&[], recorded, now).is_empty(), "{recorded} {now}");
        }
        assert_eq!(differences(&[], "choose 0", "choose 1"), [": choose 0 choose 1"]);
        assert_eq!(differences(&[], "12345678901234567890123", "12345678901234567890124").len(), 1);
        assert_eq!(
            differences(&[], r#"{"a":{"b c":1,"d":[1,2]},"e":1}"#, r#"{"a":{"b c":2,"d":[1]},"f":null}"#),
            [r#".a."b c": 1 2"#, ".a.d[1]: 2 -", ".e: 1 -", ".f: - null"]
        );
        assert_eq!(differences(&[], "[1]", "[2]"), [".[0]: 1 2"]);
        assert_eq!(differences(&[], "{}", "[]"), [": {} []"]);
    }

    #[test]
    fn ignored_paths_do_not_count() {
        let (recorded, now) = (r#"{"ts":1,"a":[{"id":1,"v":1},{"id":2,"v":2}]}"#, r#"{"a":[{"id":7,"v":1},{"v":3}]}"#);
        assert_eq!(differences(&[".ts", ".a[].id"], recorded, now), [".a[1].v: 2 3"]);
        assert_eq!(differences(&[".ts", ".a[0]", ".a[1]"], recorded, now), [""; 0]);
        assert_eq!(differences(&["."], recorded, now), [""; 0]);
    }

    #[test]
    fn the_duration_of_a_call_does_not_count() {
        for (recorded, now, paths) in [
            (
                r#"{"tool":"a","status":"ok","duration_ms":1}"#,
                r#"{"tool":"a","status":"ok","duration_ms":20}"#,
                &[][..],
            ),
            (
                r#"{"type":"tool_result","status":"ok","result":{"duration_ms":1},"duration_ms":1}"#,
                r#"{"type":"tool_result","status":"ok","result":{"duration_ms":2},"duration_ms":20}"#,
                &[".result.duration_ms: 1 2"],
            ),
            (r#"{"duration_ms":1}"#, r#"{"duration_ms":2}"#, &[".duration_ms: 1 2"]),
        ] {
            assert_eq!(differences(&[], recorded, now), paths, "{recorded}");
        }
    }

    #[test]
    fn ids_of_calls_in_our_own_forms_can_be_ignored_and_nothing_else() {
        let comparison = Comparison { ignores_ids: true, ..Comparison::default() };
        let differs = |recorded: &str, now: &str| -> Vec<String> {
            let all = comparison.differences(recorded.as_bytes(), now.as_bytes());
            all.into_iter().map(|one| one.path).collect()
        };
        for (recorded, now) in [
            (r#"{"id":1,"tool":"a","args":{}}"#, r#"{"tool":"a","id":"x","args":{}}"#),
            (r#"{"cmd":"a"}"#, r#"{"cmd":"a","id":7}"#),
            (r#"{"type":"tool_call","call_id":1,"tool_name":"a"}"#, r#"{"type":"tool_call","tool_name":"a"}"#),
        ] {
            assert_eq!(differs(recorded, now), [""; 0], "{recorded}");
            assert!(!Comparison::default().differences(recorded.as_bytes(), now.as_bytes()).is_empty());
        }
        for (recorded, now, paths) in [
            (r#"{"id":1,"tool":"a","args":{"id":1}}"#, r#"{"id":2,"tool":"a","args":{"id":2}}"#, &[".args.id"][..]),
            (r#"{"id":1,"tool":"a","call_id":1}"#, r#"{"id":2,"tool":"a","call_id":2}"#, &[".call_id"]),
            (
                r#"{"id":1,"tool":"a","session_id":1}"#,
                r#"{"id":2,"tool":"b","session_id":2}"#,
                &[".session_id", ".tool"],
            ),
            (
                r#"{"type":"tool_call","call_id":1,"tool_name":"a","id":1}"#,
                r#"{"type":"tool_call","call_id":2,"tool_name":"a","id":2}"#,
                &[".id"],
            ),
            (r#"{"id":1,"tool":"a"}"#, r#"{"id":2,"cmd":"a"}"#, &[".id", ".tool", ".cmd"]),
            (r#"{"id":1,"n":1}"#, r#"{"id":2,"n":1}"#, &[".id"]),
            (r#"{"id":1,"tool":"a","status":"ok"}"#, r#"{"id":2,"tool":"a","status":"ok"}"#, &[".id"]),
            (
                r#"{"id":1,"method":"tools/call","params":{"name":"a"}}"#,
                r#"{"id":2,"method":"tools/call","params":{"name":"a"}}"#,
                &[".id"],
            ),
        ] {
            assert_eq!(differs(recorded, now), paths, "{recorded}");
        }
    }

    #[test]
    fn a_line_that_nests_too_deeply_is_compared_as_text() {
        let deep = "[".repeat(100_000);
        assert_eq!(differences(&[], &deep, "[]").len(), 1);
    }

    #[test]
    fn both_sides_are_normalised() {
        let normalise: Normalise = Box::new(|line| line.starts_with(b"id").then(|| b"id".to_vec()));
        let comparison = Comparison { normalise: Some(normalise), ..Comparison::default() };
        assert!(comparison.differences(b"id 1", b"id 2").is_empty());
        assert_eq!(comparison.differences(b"x 1", b"x 2").len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn whether_two_lines_differ_does_not_depend_on_which_was_first(
            one in LINE, other in LINE, ignored in proptest::sample::select(vec!["", ".", ".a", ".a[]", ".a[].b"]),
        ) {
            let ignored: Vec<&str> = ignored.split_terminator(' ').collect();
            proptest::prop_assert_eq!(
                differences(&ignored, &one, &other).is_empty(),
                differences(&ignored, &other, &one).is_empty()
            );
            proptest::prop_assert!(differences(&ignored, &one, &one).is_empty());
        }
    }

    const LINE: &str = r#"\{("a":(1|1\.0|"\\u0061"|"a"|\[(1|\{"b":[01]\})?\]|-0|0|1e0),?)?("b":[{}]{0,3})?\}?"#;
}
