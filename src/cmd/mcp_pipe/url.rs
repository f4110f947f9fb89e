//! A server over HTTP: `--url`, or the `url` in an `mcpServers` file.

use super::server::ConnectionFailure;
use crate::cmd::usage;
use pipewright_io::between::Dialer;
use pipewright_io::report::{Failure, Report};

/// The address and headers of such a server. Both may contain secrets, and are never printed.
#[cfg_attr(not(feature = "http"), allow(dead_code))]
pub struct Url {
    pub url: String,
    pub headers: Vec<(String, String)>,
}

/// How to connect to a server.
pub struct HttpConnection {
    pub dial: Dialer,
    /// Where the reason for the connection's end is left.
    pub trouble: ConnectionFailure,
    pub goodbye: LatestConnection,
}

#[cfg(feature = "http")]
pub use over_http::{LatestConnection, http_connection};

#[cfg(feature = "http")]
mod over_http {
    use super::{ConnectionFailure, Dialer, Failure, HttpConnection, Report, Url, usage};
    use pipewright_io::link::served;
    use pipewright_mcp::http::{Connection, Notice, address, connect};
    use pipewright_sys::lock;
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    /// How long a server may take to end its session.
    const END_TIMEOUT: Duration = Duration::from_secs(1);

    /// The latest connection.
    pub struct LatestConnection(Arc<Mutex<Option<Connection>>>);

    impl LatestConnection {
        /// Waits a moment for the server to end its session.
        pub fn wait(&self) {
            if let Some(connection) = lock(&self.0).take() {
                connection.wait(END_TIMEOUT);
            }
        }
    }

    /// `place` names the URL in messages.
    ///
    /// # Errors
    /// [`usage`] if the URL is invalid.
    pub fn http_connection(
        to: &Url,
        place: &str,
        longest: usize,
        report: &Arc<Report>,
    ) -> Result<HttpConnection, Failure> {
        let address = address(&to.url, &to.headers).map_err(|why| usage(format_args!("{place}: {why}")))?;
        let (trouble, last) = (ConnectionFailure::default(), Arc::<Mutex<Option<Connection>>>::default());
        let (goodbye, reason, report) = (LatestConnection(Arc::clone(&last)), Arc::clone(&trouble), Arc::clone(report));
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
        Ok(HttpConnection { dial: Dialer(Box::new(dial)), trouble, goodbye })
    }
}

/// Without HTTP there is no connection to end.
#[cfg(not(feature = "http"))]
pub struct LatestConnection;

#[cfg(not(feature = "http"))]
impl LatestConnection {
    pub fn wait(&self) {}
}

/// # Errors
/// [`usage`]: this build has no HTTP client.
#[cfg(not(feature = "http"))]
pub fn http_connection(_: &Url, _: &str, _: usize, _: &std::sync::Arc<Report>) -> Result<HttpConnection, Failure> {
    let why = "this mcp-pipe was built without HTTP: build it with cargo's feature `http`, which is on by default";
    Err(usage(why))
}
