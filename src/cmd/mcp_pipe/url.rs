//! A server over HTTP: `--url`, or the `url` in an `mcpServers` file.

use super::config::expand;
use super::server::Trouble;
use crate::io::between::Dial;
use crate::io::report::{Failure, Report, Status};

/// The address and headers of such a server. Both may contain secrets, and are never printed.
#[cfg_attr(not(feature = "http"), allow(dead_code))]
pub struct Url {
    pub url: String,
    pub headers: Vec<(String, String)>,
}

/// Reads `Name: value`; `${VAR}` is replaced from the environment, so that secrets can stay out of the arguments.
///
/// # Errors
/// [`Status::Usage`], without the value.
pub fn header(text: &str) -> Result<(String, String), Failure> {
    let usage = |why: &str| Failure::new(Status::Usage, format_args!("--header: {why}"));
    let (name, value) = text.split_once(':').ok_or_else(|| usage("expected 'Name: value'"))?;
    Ok((name.trim().to_owned(), expand(value.trim()).map_err(|why| usage(&why))?))
}

/// How to connect to a server.
pub struct Way {
    pub dial: Dial,
    /// Where the reason for the connection's end is left.
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

    /// How long a server may take to end its session.
    const PARTING: Duration = Duration::from_secs(1);

    /// The latest connection.
    pub struct Goodbye(Arc<Mutex<Option<Connection>>>);

    impl Goodbye {
        /// Waits a moment for the server to end its session.
        pub fn wait(&self) {
            if let Some(connection) = lock(&self.0).take() {
                connection.wait(PARTING);
            }
        }
    }

    /// `place` names the URL in messages.
    ///
    /// # Errors
    /// [`Status::Usage`] if the URL is invalid.
    pub fn way(to: &Url, place: &str, longest: usize, report: &Arc<Report>) -> Result<Way, Failure> {
        let address =
            address(&to.url, &to.headers).map_err(|why| Failure::new(Status::Usage, format_args!("{place}: {why}")))?;
        let (trouble, last) = (Trouble::default(), Arc::<Mutex<Option<Connection>>>::default());
        let (goodbye, reason, report) = (Goodbye(Arc::clone(&last)), Arc::clone(&trouble), Arc::clone(report));
        let dial = move || {
            // The reason of an earlier connection's end does not apply to this one.
            *lock(&reason) = None;
            let (reason, report) = (Arc::clone(&reason), Arc::clone(&report));
            served(|from_stage, to_stage| {
                let connection = connect(&address, longest, from_stage, to_stage, move |what| match what {
                    Notice::Ended(why, refused) => {
                        let refused = refused.iter().filter_map(|id| id.parse().ok()).collect();
                        *lock(&reason) = Some((why, refused));
                    }
                    Notice::Warning(note) => report.note(note),
                });
                *lock(&last) = Some(connection);
            })
        };
        Ok(Way { dial: Dial(Box::new(dial)), trouble, goodbye })
    }
}

/// Without HTTP there is no connection to end.
#[cfg(not(feature = "http"))]
pub struct Goodbye;

#[cfg(not(feature = "http"))]
impl Goodbye {
    pub fn wait(&self) {}
}

/// # Errors
/// [`Status::Usage`]: this build has no HTTP client.
#[cfg(not(feature = "http"))]
pub fn way(_: &Url, _: &str, _: usize, _: &std::sync::Arc<Report>) -> Result<Way, Failure> {
    let why = "this mcp-pipe was built without HTTP: build it with cargo's feature `http`, which is on by default";
    Err(Failure::new(Status::Usage, why))
}
