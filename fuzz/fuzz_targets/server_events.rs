//! For any stream of a server over HTTP: its events are the same however it is split, and no longer than the limit.
//! The input is the stream; its first byte determines the splits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_http::events::{Event, Reader};

const LONGEST: usize = 20;

fuzz_target!(|input: &[u8]| {
    let Some((size, stream)) = input.split_first() else { return };
    let whole = Reader::new(LONGEST).take(stream);
    let mut reader = Reader::new(LONGEST);
    let cut: Vec<Event> = stream.chunks(usize::from(*size).max(1)).flat_map(|chunk| reader.take(chunk)).collect();
    assert_eq!(whole, cut);
    for event in whole {
        assert!(event.data.len() <= LONGEST + 1, "{event:?}");
        assert!(event.is_cut || event.data.len() <= LONGEST, "{event:?}");
    }
});
