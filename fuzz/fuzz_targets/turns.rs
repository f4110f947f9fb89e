//! For any stream of a model's server: it becomes a turn or a failure, without a fault, and a turn can be sent back in a request.
//! The input is the stream; its first byte selects the provider.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_http::events::Reader;
use pipewright_llm::{Abilities, Failure, PROVIDERS, Retry, SentBody, refusal};
use pipewright_record::{Attempts, Kind, Message, ModelRequest};
use serde_json::value::RawValue;

fuzz_target!(|input: &[u8]| {
    let Some((which, stream)) = input.split_first() else { return };
    let provider = PROVIDERS[usize::from(*which) % PROVIDERS.len()];
    let _ = provider.failure(200 + u16::from(*which), &|_| Some("7".to_owned()), stream);
    // These bytes as an answer that is no stream, and as the words of a refusal.
    let text = String::from_utf8_lossy(stream);
    for event in provider.events_of(&text).unwrap_or_default() {
        assert!(!event.is_empty(), "an event has data");
    }
    let words = Failure::new(Kind::BadRequest, &*text, Retry::Never);
    let _ = refusal(
        &words,
        &ModelRequest::default(),
        &SentBody::of(r#"{"stream":true,"max_tokens":9999}"#, None),
        &Abilities::default(),
    );
    let mut reader = provider.reader(&ModelRequest::default(), "m");
    let mut tokens = Vec::new();
    for event in Reader::new(1 << 20).take(stream) {
        if reader.take(&event.name, &event.data, &mut tokens).is_err() {
            return;
        }
    }
    let Ok(turn) = reader.finish() else { return };
    serde_json::from_str::<&RawValue>(turn.raw.get()).expect("the raw turn is JSON");
    let record = turn.record(None, Attempts::default());
    assert!(!record.contains('\n'), "the record of a turn is one line");
    let line = format!(r#"{{"type":"model_request","messages":[{{"role":"assistant","turn":{record}}}]}}"#);
    let request = ModelRequest::read(&line).expect("a turn is read as it is written").expect("it is a request");
    assert!(matches!(&request.messages[..], [Message::Assistant(own)] if own.calls.len() == turn.calls.len()));
    // A turn with a key in two spellings is refused if its parts have to be read.
    let Ok(body) = provider.encode(&request, "m") else { return };
    serde_json::from_str::<&RawValue>(&body).expect("a request is JSON");
});
