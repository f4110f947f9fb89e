//! Whatever a caller says: it is judged without a fault, always alike; what is marked is held by every reader of calls, what is
//! settled is not, and neither changes what the call is. The input is lines of calls.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright::policy::Verdict;
use pipewright::policy::builtin::Builtin;
use pipewright::policy::marks::{Marks, mark, settle, with_arguments};
use pipewright::record::{Call, recognise};

fuzz_target!(|input: &str| {
    let mut builtin = Builtin::new(false);
    for line in input.lines() {
        let Ok(Some(call)) = recognise(line) else { continue };
        let (decision, acts) = builtin.judge(&call, false);
        assert_eq!(decision, builtin.judge(&call, false).0, "another verdict the second time");
        assert!(builtin.judge(&call, true).0.verdict >= decision.verdict, "a server's word took a question away");
        if decision.verdict == Verdict::Allow {
            builtin.passes(&call, &acts, false);
        }
        check_marks(&call, line, &decision.json());
    }
});

fn check_marks(call: &Call<'_>, line: &str, policy: &str) {
    let marks = Marks { policy: Some(policy), requires_approval: true, ..Marks::default() };
    let marked = mark(call, line, &marks).expect("what was recognised can be marked");
    let held = recognise(&marked).expect("it is still read").expect("it is still a call");
    assert!(held.requires_approval && held.policy.is_some_and(|own| own.get() == policy), "{marked}");
    same(call, &held);
    let settled = settle(&held, &marked).expect("what was marked can be settled");
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
