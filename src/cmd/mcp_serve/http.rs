//! `--http`: the threads that serve clients over HTTP, connected to the stage by a link.

use crate::cmd::http_token::read_or_make;
use crate::cmd::pending_writes::PendingWrites;
use crate::cmd::usage;
use pipewright_io::between::{Dialer, FarEndpoint};
use pipewright_io::report::{Failure, Report};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// The environment variable that holds the token.
pub const TOKEN: &str = "MCP_SERVE_TOKEN";

/// Listens at `address`. Gives the link over which the stage serves clients, and a guard to wait for after the run.
/// `longest` is the longest message in bytes.
///
/// # Errors
/// [`usage`] for an invalid token or an unspecified address, `Status::NotStarted` if it cannot listen at the address.
pub fn listen(
    address: SocketAddr,
    token_file: Option<&Path>,
    longest: usize,
    report: &Arc<Report>,
) -> Result<(FarEndpoint, PendingWrites), Failure> {
    if address.ip().is_unspecified() {
        // A request names in `Host` the address that it was sent to, which is never this one.
        let why =
            format!("--http: {address} means every address of this machine: name the one that clients connect to");
        return Err(usage(why));
    }
    let (token, is_new) = read_or_make(token_file, TOKEN)?;
    let (writing, unwritten) = PendingWrites::new();
    let dial = dial(address, token.clone(), longest, writing, report)?;
    if is_new {
        // The token is only printed here.
        report.say(format_args!("token: {token} (clients send 'Authorization: Bearer TOKEN')"));
    }
    Ok((FarEndpoint::Dial(dial), unwritten))
}

#[cfg(feature = "serve")]
fn dial(
    address: SocketAddr,
    token: String,
    longest: usize,
    writing: Sender<Infallible>,
    report: &Arc<Report>,
) -> Result<Dialer, Failure> {
    use pipewright_io::report::Status;
    use std::net::TcpListener;
    let failed = |error| Failure::new(Status::NotStarted, format_args!("--http: {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    report.say(format_args!("serving http://{address}/mcp"));
    let access = pipewright_serve::access::Access::new(token, address);
    let report = Arc::clone(report);
    let mut once = Some((listener, access, writing));
    Ok(Dialer(Box::new(move || {
        let (listener, access, writing) = once.take().ok_or(std::io::ErrorKind::NotConnected)?;
        let report = Arc::clone(&report);
        pipewright_io::link::served(|from_stage, to_stage| {
            let endpoint = threads::start(access, longest, from_stage, to_stage);
            std::thread::spawn(move || {
                if let Err(error) = endpoint.serve(listener) {
                    report.fault("--http", error);
                }
                drop(writing);
            });
        })
    })))
}

/// # Errors
/// [`usage`]: this build has no HTTP server.
#[cfg(not(feature = "serve"))]
fn dial(_: SocketAddr, _: String, _: usize, _: Sender<Infallible>, _: &Arc<Report>) -> Result<Dialer, Failure> {
    let why = "this mcp-serve was built without HTTP: build it with cargo's feature `serve`, which is on by default";
    Err(usage(why))
}

#[cfg(feature = "serve")]
mod threads {
    use crate::cmd::mcp_serve::exchange::{Inbound, read_outbound};
    use pipewright_serve::access::Access;
    use pipewright_serve::streamable::{self, Endpoint};
    use pipewright_sys::random::token;
    use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;

    /// Starts a thread that writes clients' messages to the stage, and one that passes the stage's lines to clients.
    /// The caller has to serve the endpoint.
    pub fn start(access: Access, longest: usize, from_stage: PipeReader, to_stage: PipeWriter) -> Endpoint {
        let (to, inbound) = channel();
        let endpoint = Endpoint::new(access, longest, token, to);
        thread::spawn({
            let endpoint = endpoint.clone();
            move || deliver(from_stage, &endpoint)
        });
        thread::spawn(move || forward(&inbound, to_stage));
        endpoint
    }

    fn deliver(from_stage: PipeReader, endpoint: &Endpoint) {
        for line in BufReader::new(from_stage).lines().map_while(Result::ok) {
            match read_outbound(&line) {
                Some((link, Some(line))) => endpoint.deliver(link, line.to_owned()),
                Some((link, None)) => endpoint.end(link),
                None => {}
            }
        }
        endpoint.end_all();
    }

    fn forward(inbound: &Receiver<streamable::Inbound>, mut to_stage: PipeWriter) {
        for event in inbound {
            let line = match &event {
                streamable::Inbound::Message { link, session, headers, message } => {
                    Inbound::Message { link: *link, session: *session, headers: headers.clone(), message }.line()
                }
                streamable::Inbound::Stream { link, session } => {
                    Inbound::Stream { link: *link, session: *session }.line()
                }
                streamable::Inbound::Closed { link } => Inbound::Closed { link: *link }.line(),
            };
            // The stage has ended, and the process ends with it.
            if to_stage.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    }
}
