//! For any bytes from a browser: the messages are the same however the bytes are split, a message over the limit is refused by
//! its number, and the state of the pages stays consistent. The input is the bytes; the first one determines the splits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_browser::pages::Pages;
use pipewright_browser::wire::{Message, Splitter};
use std::time::Instant;

const LONGEST: usize = 2000;

fn split<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<Vec<u8>> {
    let (mut splitter, mut messages) = (Splitter::new(LONGEST), Vec::new());
    pieces.for_each(|piece| splitter.take(piece, &mut |message| messages.push(message.to_vec())));
    messages
}

fuzz_target!(|input: &[u8]| {
    let Some((size, bytes)) = input.split_first() else { return };
    let whole = split(std::iter::once(bytes));
    assert_eq!(whole, split(bytes.chunks(usize::from(*size).max(1))));
    let (mut pages, now) = (Pages::default(), Instant::now());
    for message in whole {
        assert!(message.len() <= LONGEST, "a message is longer than the limit");
        let Ok(Message::Event(event)) = Message::read(&message) else { continue };
        pages.take(&event, now);
        if let Some(session) = &event.session {
            pages.of_session(session);
        }
    }
});
