//! A server that is reached over HTTP: `--url`, or an `mcpServers` file's `url`.

use super::config::expand;
use super::server::Trouble;
use crate::io::between::Dial;
use crate::io::report::{Failure, Report, Status};

/// Where such a server is; both may hold secrets, and are never told.
#[cfg_attr(not(feature = "http"), allow(dead_code))]
pub struct Url {
    pub url: String,
    pub headers: Vec<(String, String)>,
}

/// Reads `Name: value`; `${VAR}` is replaced from the environment, so that a secret need not stand among the arguments.
///
/// # Errors
/// [`Status::Usage`], without the value.
pub fn header(text: &str) -> Result<(String, String), Failure> {
    let usage = |why: &str| Failure::new(Status::Usage, format_args!("--header: {why}"));
    let (name, value) = text.split_once(':').ok_or_else(|| usage("it is written 'Name: value'"))?;
    Ok((name.trim().to_owned(), expand(value.trim()).map_err(|why| usage(&why))?))
}

/// What reaches a server, each time anew.
pub struct Way {
    pub dial: Dial,
    /// Why the connection has ended is left here.
    pub trouble: Trouble,
    pub goodbye: Goodbye,
}

#[cfg(feature = "http")]
pub use over_http::{Goodbye, way};

#[cfg(feature = "http")]
mod over_http {
    use super::{Dial, Failure, Report, Status, Trouble, Url, Way};
    use crate::io::link::served;
    use crate::io::lock;
    use pipewright_mcp::http::{Connection, Notice, address, connect};
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    /// A server that is told that we go may take so long over it.
    const PARTING: Duration = Duration::from_secs(1);

    /// The connection that was made last.
    pub struct Goodbye(Arc<Mutex<Option<Connection>>>);

    impl Goodbye {
        /// Waits until the server knows that its session is over, for a moment.
        pub fn wait(&self) {
            if let Some(connection) = lock(&self.0).take() {
                connection.wait(PARTING);
            }
        }
    }

    /// `place` is what names the URL.
    ///
    /// # Errors
    /// [`Status::Usage`] where it can be none.
    pub fn way(to: &Url, place: &str, longest: usize, report: &Arc<Report>) -> Result<Way, Failure> {
        let address =
            address(&to.url, &to.headers).map_err(|why| Failure::new(Status::Usage, format_args!("{place}: {why}")))?;
        let (trouble, last) = (Trouble::default(), Arc::<Mutex<Option<Connection>>>::default());
        let (goodbye, told, report) = (Goodbye(Arc::clone(&last)), Arc::clone(&trouble), Arc::clone(report));
        let dial = move || {
            // What a former connection has still left is not about this one.
            *lock(&told) = None;
            let (told, report) = (Arc::clone(&told), Arc::clone(&report));
            served(|said, heard| {
                let connection = connect(&address, longest, said, heard, move |what| match what {
                    Notice::Ended(why) => *lock(&told) = Some(why),
                    Notice::Warning(note) => report.note(note),
                });
                *lock(&last) = Some(connection);
            })
        };
        Ok(Way { dial: Dial(Box::new(dial)), trouble, goodbye })
    }
}

/// There is none to say.
#[cfg(not(feature = "http"))]
pub struct Goodbye;

#[cfg(not(feature = "http"))]
impl Goodbye {
    pub fn wait(&self) {}
}

/// # Errors
/// [`Status::Usage`]: it can't.
#[cfg(not(feature = "http"))]
pub fn way(_: &Url, _: &str, _: usize, _: &std::sync::Arc<Report>) -> Result<Way, Failure> {
    let why = "this mcp-pipe was built without HTTP: build it with cargo's feature `http`, which is on by default";
    Err(Failure::new(Status::Usage, why))
}
