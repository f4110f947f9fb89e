//! The threads that serve HTTP, connected to the stage by a link.

use super::exchange::Outbound;
use crate::cmd::agents::is_session_id;
use crate::cmd::pending_writes::PendingWrites;
use pipewright_io::between::{Dialer, FarEndpoint};
use pipewright_io::link;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_record::json;
use pipewright_serve::access::Access;
use pipewright_serve::sessions::{File, InboundQueue, Server, ServerSettings, SlowClients};
use pipewright_sys::socket;
use std::convert::Infallible;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread;

/// The most connections that wait to be accepted.
const QUEUE: i32 = 1024;

/// The page.
const FILES: &[File] = &[
    File { path: "/", media_type: "text/html; charset=utf-8", content: include_str!("../../../web/index.html") },
    File { path: "/page.css", media_type: "text/css; charset=utf-8", content: include_str!("../../../web/page.css") },
    File {
        path: "/page.js",
        media_type: "text/javascript; charset=utf-8",
        content: include_str!("../../../web/page.js"),
    },
];

/// The server's settings.
#[derive(Debug)]
pub struct Http {
    pub listen: SocketAddr,
    /// The origin under which a proxy forwards requests.
    pub public: Option<String>,
    pub token: String,
    /// The value that a browser sends instead of the token.
    pub cookie: String,
    pub longest: usize,
    pub most_connections: u32,
    pub kept: usize,
    /// Whether slow clients are disconnected.
    pub disconnects: bool,
}

impl Http {
    /// Listens. Gives the link over which the stage serves clients, a guard to wait for after the run, and the address
    /// of the page.
    ///
    /// # Errors
    /// [`Status::NotStarted`]: cannot listen at the address.
    pub fn listen(self, report: &Arc<Report>) -> Result<(FarEndpoint, PendingWrites, String), Failure> {
        let failed = |error| Failure::new(Status::NotStarted, format_args!("--listen: {}: {error}", self.listen));
        let listener = TcpListener::bind(self.listen).map_err(failed)?;
        socket::set_queue(&listener, QUEUE).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let page = self.public.clone().unwrap_or_else(|| format!("http://{address}"));
        let (writing, unwritten) = PendingWrites::new();
        let server = self.server(address);
        Ok((FarEndpoint::Dial(dial(server, listener, writing, report)), unwritten, page))
    }

    fn server(self, address: SocketAddr) -> (Server, InboundQueue) {
        // A browser sends a host's cookies to all of its ports.
        let access =
            Access::new(self.token, address).with_cookie(format!("agent-serve-{}", address.port()), self.cookie);
        let access = match &self.public {
            Some(origin) => access.with_public(origin),
            None => access,
        };
        let settings = ServerSettings {
            files: FILES,
            longest: self.longest,
            most_connections: self.most_connections,
            kept: self.kept,
            slow: if self.disconnects { SlowClients::Disconnect } else { SlowClients::Drop },
            is_session_id,
        };
        Server::new(access, settings)
    }
}

fn dial(
    (server, taken): (Server, InboundQueue),
    listener: TcpListener,
    writing: Sender<Infallible>,
    report: &Arc<Report>,
) -> Dialer {
    let mut once = Some((server, taken, listener, writing));
    let report = Arc::clone(report);
    Dialer(Box::new(move || {
        let (server, taken, listener, writing) = once.take().ok_or(io::ErrorKind::NotConnected)?;
        let report = Arc::clone(&report);
        link::served(|from_stage, to_stage| {
            let to = server.clone();
            thread::spawn(move || deliver(from_stage, &to));
            thread::spawn(move || forward(taken, to_stage));
            thread::spawn(move || {
                if let Err(error) = server.serve(listener) {
                    report.fault("--listen", error);
                }
                drop(writing);
            });
        })
    }))
}

fn deliver(from_stage: PipeReader, server: &Server) {
    for line in BufReader::new(from_stage).lines().map_while(Result::ok) {
        match Outbound::read(&line) {
            Some(Outbound::Open { session, first }) => server.open(session, first),
            Some(Outbound::Record { session, text }) => server.publish(session, text),
            Some(Outbound::Forget { session }) => server.forget(session),
            Some(Outbound::Line { client, text }) => server.deliver(client, text.to_owned()),
            Some(Outbound::Reply { client, status, text }) => server.reply(client, status, text.to_owned()),
            Some(Outbound::End { client }) => server.end(client),
            None => {}
        }
    }
    server.end_all();
}

fn forward(taken: InboundQueue, mut to_stage: PipeWriter) {
    for event in taken {
        let line = json::text(&event) + "\n";
        // The stage has ended, and the process ends with it.
        if to_stage.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}
