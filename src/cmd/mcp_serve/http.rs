//! `--http`: the threads that serve clients over HTTP, behind a link to the stage.

use crate::cmd::http_token::read_or_make;
use crate::cmd::unwritten::Unwritten;
use crate::io::between::{Dial, Way};
use crate::io::report::{Failure, Report, Status};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// The variable that holds the token.
pub const TOKEN: &str = "MCP_SERVE_TOKEN";

/// Listens at `address`, and gives the link that the stage serves clients over, and what is to be waited for after the run.
/// `longest` is the longest message in bytes.
///
/// # Errors
/// [`Status::Usage`] for a token that is none or an address that is no machine's, [`Status::NotStarted`] where the address cannot
/// be listened at.
pub fn listen(
    address: SocketAddr,
    token_file: Option<&Path>,
    longest: usize,
    report: &Arc<Report>,
) -> Result<(Way, Unwritten), Failure> {
    if address.ip().is_unspecified() {
        // A request names in `Host` the address that it was sent to, which is not this one.
        let why = format!("--http: {address} is not the address of a machine: give the one that clients connect to");
        return Err(Failure::new(Status::Usage, why));
    }
    let (token, is_new) = read_or_make(token_file, TOKEN)?;
    let (writing, unwritten) = Unwritten::new();
    let dial = dial(address, token.clone(), longest, writing, report)?;
    if is_new {
        // The only place where it can be read.
        report.say(format_args!("token: {token} (clients send 'Authorization: Bearer TOKEN')"));
    }
    Ok((Way::Dial(dial), unwritten))
}

#[cfg(feature = "serve")]
fn dial(
    address: SocketAddr,
    token: String,
    longest: usize,
    writing: Sender<Infallible>,
    report: &Arc<Report>,
) -> Result<Dial, Failure> {
    use std::net::TcpListener;
    let failed = |error| Failure::new(Status::NotStarted, format_args!("--http: {address}: {error}"));
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    report.say(format_args!("serving http://{address}/mcp"));
    let access = pipewright_serve::access::Access::new(token, address);
    let report = Arc::clone(report);
    let mut once = Some((listener, access, writing));
    Ok(Dial(Box::new(move || {
        let (listener, access, writing) = once.take().ok_or(std::io::ErrorKind::NotConnected)?;
        let report = Arc::clone(&report);
        crate::io::link::served(|said, heard| {
            let endpoint = threads::start(access, longest, said, heard);
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
/// [`Status::Usage`]: it can't.
#[cfg(not(feature = "serve"))]
fn dial(_: SocketAddr, _: String, _: usize, _: Sender<Infallible>, _: &Arc<Report>) -> Result<Dial, Failure> {
    let why = "this mcp-serve was built without HTTP: build it with cargo's feature `serve`, which is on by default";
    Err(Failure::new(Status::Usage, why))
}

#[cfg(feature = "serve")]
mod threads {
    use crate::cmd::mcp_serve::exchange::{Inbound, read_outbound};
    use crate::io::session::token;
    use pipewright_serve::access::Access;
    use pipewright_serve::streamable::{self, Endpoint};
    use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
    use std::sync::mpsc::{Receiver, channel};
    use std::thread;

    /// One thread writes what comes to the stage, one gives clients what the stage says. The endpoint is yet to be served.
    pub fn start(access: Access, longest: usize, said: PipeReader, heard: PipeWriter) -> Endpoint {
        let (to, inbound) = channel();
        let endpoint = Endpoint::new(access, longest, token, to);
        thread::spawn({
            let endpoint = endpoint.clone();
            move || deliver(said, &endpoint)
        });
        thread::spawn(move || forward(&inbound, heard));
        endpoint
    }

    fn deliver(said: PipeReader, endpoint: &Endpoint) {
        for line in BufReader::new(said).lines().map_while(Result::ok) {
            match read_outbound(&line) {
                Some((link, Some(line))) => endpoint.deliver(link, line.to_owned()),
                Some((link, None)) => endpoint.end(link),
                None => {}
            }
        }
        endpoint.end_all();
    }

    fn forward(inbound: &Receiver<streamable::Inbound>, mut heard: PipeWriter) {
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
            // The stage has ended, and so does the process.
            if heard.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    }
}
