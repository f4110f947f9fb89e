//! For any lines of a caller: they are judged without a fault, and always the same. A marked call is held by every reader of
//! calls, a settled one is not, and neither changes what the call is. If a line passes, the JSON readers of other languages read
//! the same call, and what they read is allowed as well. The input is lines of calls.
#![no_main]

#[path = "../readers/lenient.rs"]
mod lenient;

use lenient::{READERS, Reader, Value};
use libfuzzer_sys::fuzz_target;
use pipewright_policy::Verdict;
use pipewright_policy::annotations::Hint;
use pipewright_policy::builtin::Builtin;
use pipewright_policy::marks::{Marks, mark, settle, with_arguments};
use pipewright_record::{Call, recognise};

fuzz_target!(|input: &str| {
    let mut builtin = Builtin::new(false);
    for line in input.lines() {
        let Ok(recognised) = recognise(line) else { continue };
        for reader in READERS {
            check_reading(reader, line, recognised.as_ref());
        }
        let Some(call) = recognised else { continue };
        let (decision, acts) = builtin.judge(&call, Hint::None);
        assert_eq!(decision, builtin.judge(&call, Hint::None).0, "another verdict the second time");
        assert!(
            builtin.judge(&call, Hint::Destructive).0.verdict >= decision.verdict,
            "a server's hint removed a question"
        );
        if decision.verdict == Verdict::Allow {
            builtin.passes(&call, &acts, false);
        }
        check_marks(&call, line, &decision.json());
    }
});

fn check_marks(call: &Call<'_>, line: &str, policy: &str) {
    let marks = Marks { policy: Some(policy), requires_approval: true, ..Marks::default() };
    let marked = mark(call, line, &marks).expect("a recognised call can be marked");
    let held = recognise(&marked).expect("it is still read").expect("it is still a call");
    assert!(held.requires_approval && held.policy.is_some_and(|own| own.get() == policy), "{marked}");
    same(call, &held);
    let settled = settle(&held, &marked).expect("a marked call can be settled");
    let free = recognise(&settled).expect("it is still read").expect("it is still a call");
    assert!(!free.requires_approval, "{settled}");
    same(call, &free);
    let edited = with_arguments(call, line, r#"{"a":1.10}"#).expect("arguments can be replaced");
    let edited = recognise(&edited).expect("it is still read").expect("it is still a call");
    assert_eq!(edited.arguments.map(|arguments| arguments.get()), Some(r#"{"a":1.10}"#));
}

fn same(one: &Call<'_>, other: &Call<'_>) {
    let text =
        |call: &Call<'_>| (call.id.map(|id| id.get().to_owned()), call.arguments.map(|own| own.get().to_owned()));
    assert_eq!((one.form, &one.tool, text(one)), (other.form, &other.tool, text(other)));
}

/// If a reader finds a call, we find the same one; and if we allow it, it is also allowed as that reader reads it.
fn check_reading(reader: Reader, line: &str, recognised: Option<&Call<'_>>) {
    let Some((tool, arguments)) = reader.read(line).and_then(|value| call_of(reader, &value)) else { return };
    let Some(call) = recognised else { panic!("{reader:?} reads a call of {tool:?} in {line}") };
    assert_eq!(call.tool, tool, "{reader:?}");
    let allows = |call: &Call<'_>| Builtin::new(false).judge(call, Hint::None).0.verdict == Verdict::Allow;
    // Besides the arguments, the caller's own statement of a target counts. It is left out, so only the arguments do.
    let ours = Call { target: None, ..call.clone() };
    if !allows(&ours) {
        return;
    }
    let read = format!(r#"{{"tool":{},"args":{arguments}}}"#, serde_json::Value::from(tool.as_str()));
    let theirs = recognise(&read).expect("it is read").expect("it is a call");
    assert!(allows(&theirs), "{reader:?} reads {read}");
}

/// The tool and the arguments that a program with this reader would carry out.
fn call_of(reader: Reader, value: &Value) -> Option<(String, String)> {
    let arguments = |value: &Value| {
        let given = ["arguments", "args"].iter().find_map(|key| reader.get(value, key));
        given.filter(|given| matches!(given, Value::Object(_))).map_or("{}".to_owned(), |given| reader.write(given))
    };
    if reader.text(value, "method") == Some("tools/call") {
        let params = reader.get(value, "params")?;
        return Some((reader.text(params, "name")?.to_owned(), arguments(params)));
    }
    let tool = match reader.text(value, "type") {
        Some("tool_call") => reader.text(value, "tool_name")?,
        Some(_) => return None,
        // Programs that use our line format do not read an answer as a call.
        None if matches!(reader.text(value, "status"), Some("ok" | "error")) => return None,
        None => reader.text(value, "tool").or_else(|| reader.text(value, "cmd"))?,
    };
    Some((tool.to_owned(), arguments(value)))
}
