//! For any calls and answers, one per line: nothing panics, no target is known while a call is unanswered, a known reference
//! occurs in the answers, and a target is read as it was written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_policy::snapshot::{NamedElement, Snapshot};
use pipewright_policy::target::Target;
use pipewright_record::recognise;

fuzz_target!(|raw: &[u8]| {
    let mut snapshot = Snapshot::default();
    let mut seen: Vec<u8> = Vec::new();
    for line in raw.split(|&byte| byte == b'\n') {
        let call = std::str::from_utf8(line).ok().and_then(|text| recognise(text).ok().flatten());
        let Some(call) = call else {
            snapshot.observe(line);
            seen.extend_from_slice(line);
            continue;
        };
        let arguments = call.arguments.map_or("{}", |arguments| arguments.get());
        if let NamedElement::Element(target) = snapshot.target(&call.tool, arguments) {
            assert_eq!(Target::read(&target.json()).as_ref(), Some(&target));
        }
        snapshot.passes(call.id.map(|id| id.get()), &call.tool, arguments, false);
        let reference = snapshot.target("browser_click", r#"{"ref":"e12"}"#);
        assert_eq!(reference, NamedElement::Unknown("e12".to_owned()));
    }
    let NamedElement::Element(_) = snapshot.target("browser_click", r#"{"ref":"e12"}"#) else { return };
    assert!(seen.windows(2).any(|pair| pair == b"12"), "a reference that was never shown");
});
