//! Connections to the far side other than a child's stdin and stdout, for programs that can use neither (a game's
//! scripts): two growing files, or a socket that the other side connects to. Each is a [`Link`] whose other ends are
//! served by threads that are started here or by the caller.

mod files;
mod socket;

pub use files::files;
pub use socket::{ListenAddress, listen};

use super::between::Link;
use pipewright_sys::descriptor::Descriptor;
use std::io::{self, PipeReader, PipeWriter};

/// The ends of a link's two pipes that its threads hold.
struct LinkPipes {
    /// Carries lines for the far side.
    outbound: PipeReader,
    /// Carries lines from the far side.
    inbound: PipeWriter,
}

/// A link whose other ends are passed to `serve`, which starts threads for them: a reader of the lines for the far
/// side, and a writer for the lines from it.
///
/// # Errors
/// If the process has no descriptor left.
pub fn served(serve: impl FnOnce(PipeReader, PipeWriter)) -> io::Result<Link> {
    let (link, LinkPipes { outbound, inbound }) = pipes()?;
    serve(outbound, inbound);
    Ok(link)
}

fn pipes() -> io::Result<(Link, LinkPipes)> {
    let (outbound, to) = io::pipe()?;
    let (from, inbound) = io::pipe()?;
    Ok((Link { to: Descriptor::new(to), from: Descriptor::new(from) }, LinkPipes { outbound, inbound }))
}
