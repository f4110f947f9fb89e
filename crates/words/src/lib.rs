//! Words of buttons, links and menu items in seventy languages: which of them delete, send or pay, and in which phrases
//! they do not.
//!
//! The lists are files of people (`lists/README.md` describes them). The build script turns them into tables of bytes,
//! which are searched where they lie in the program: nothing is parsed, relocated or allocated when a command starts.

mod normalise;
pub mod pattern;
mod table;

pub use normalise::{Word, is_unspaced, lower_case, normalise, words};
pub use table::{LANGUAGES, Pattern, Position, TablePart, TableParts, look_up};
