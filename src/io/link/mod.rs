//! Ways to the far side other than a child's stdin and stdout, for programs that can speak over neither (a game's scripts):
//! two files that grow, or a socket that the other side dials. Each is a [`Link`] whose ends the threads here serve, or those
//! that somebody else starts.

mod files;
mod socket;

pub use files::files;
pub use socket::{Address, listen};

use super::between::Link;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;

/// What the threads of a link hold: the other ends of its two pipes.
struct Ends {
    /// What was said to the far side.
    said: PipeReader,
    /// Where what the far side says goes.
    heard: PipeWriter,
}

/// A link whose ends `serve` gives to threads that it starts: what was said to the far side, and where what that says goes.
///
/// # Errors
/// Where the process has no descriptor left.
pub fn served(serve: impl FnOnce(PipeReader, PipeWriter)) -> io::Result<Link> {
    let (link, Ends { said, heard }) = pipes()?;
    serve(said, heard);
    Ok(link)
}

fn pipes() -> io::Result<(Link, Ends)> {
    let (said, to) = io::pipe()?;
    let (from, heard) = io::pipe()?;
    Ok((Link { to: OwnedFd::from(to).into(), from: OwnedFd::from(from).into() }, Ends { said, heard }))
}
