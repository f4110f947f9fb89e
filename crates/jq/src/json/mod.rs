//! JSON text: read into a document, written from a value.

mod read;
mod verbatim;
mod write;

pub use read::{ReadError, read};
pub use write::{Writer, excerpt, to_text, write};
