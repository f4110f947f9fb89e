//! For any lines of a server: they are read without a fault, in both protocol versions, and our output is JSON, one value per
//! line. The server's results are passed on as JSON on one line.
//! The input is the server's lines.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_mcp::{
    CallOutcome, Client, ClientOptions, Era, InputAnswers, InputRequiredResult, READ_RESOURCE, ServerMessage, given,
};
use serde_json::value::RawValue;

fuzz_target!(|input: &str| {
    for era in [Era::Legacy, Era::Modern] {
        let (mut client, mut out) =
            (Client::new("fuzz", era, ClientOptions { questions: true, progress: true }), Vec::new());
        client.start_handshake(&mut out);
        for line in input.lines() {
            let is_ready = client.is_ready();
            match client.receive(line, &mut out) {
                ServerMessage::Answer(_, Ok(result)) => check(given(result), &mut client, &mut out),
                ServerMessage::Elicits(id, _) => client.answer(id.get(), "{}", &mut out),
                _ => {}
            }
            assert!(!is_ready || client.is_ready(), "a completed handshake was forgotten");
            if client.is_ready() {
                let id = client.call("x", "{}", &mut out);
                match id % 3 {
                    0 => client.cancel(id, "timeout", &mut out),
                    1 => client.list_resources(&mut out),
                    _ => _ = client.call(READ_RESOURCE, "{\"uri\":\"a\"}", &mut out),
                }
            }
        }
        let output = std::str::from_utf8(&out).expect("the output is text");
        assert!(output.ends_with('\n'), "an unfinished line");
        output.lines().for_each(|line| _ = serde_json::from_str::<&RawValue>(line).expect("the output is JSON"));
    }
});

fn check(given: CallOutcome<'_>, client: &mut Client, out: &mut Vec<u8>) {
    let json = match given {
        CallOutcome::Result(json) | CallOutcome::Error { data: json, .. } => json,
        CallOutcome::InputRequired(whole) => {
            if let Ok(InputRequiredResult { requests, state }) = InputRequiredResult::read(whole.get()) {
                let responses = requests.into_iter().map(|(name, ..)| (name, "{}".to_owned())).collect();
                client.call_again("x", "{}", Some(&InputAnswers { responses, state: state.map(str::to_owned) }), out);
            }
            return;
        }
    };
    assert!(!json.get().contains('\n'), "a result on several lines");
}
