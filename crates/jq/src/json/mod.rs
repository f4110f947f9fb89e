//! JSON text: read into a document, written from a value.

mod read;
mod read_again;
mod write;

pub use read::{Unreadable, read};
pub use write::{Writer, brief, to_text, write};
