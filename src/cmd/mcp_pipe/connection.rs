//! The connection to one server, and its open requests.

use super::health::Health;
use super::overlong::OverlongLine;
use super::schemas::Schemas;
use super::server::Server;
use super::world::SetupCall;
use pipewright_record::OwnedCall;
use std::time::Instant;

/// The separator between a server's name and its tool's name, if there are several servers.
const SEPARATOR: &str = "__";

/// The prefix of a server's tool names; empty if there is only one server.
pub struct Prefix(String);

impl Prefix {
    /// The server's own name for a tool; `None` if the tool belongs to another server.
    pub fn own_name<'a>(&self, tool: &'a str) -> Option<&'a str> {
        tool.strip_prefix(self.0.as_str())
    }

    /// The prefixed name of one of the server's tools.
    pub fn full_name(&self, tool: &str) -> String {
        format!("{}{tool}", self.0)
    }
}

pub struct Connection {
    pub(super) prefix: Prefix,
    pub(super) server: Server,
    pub(super) schemas: Schemas,
    /// When the requested list of the server must have arrived.
    pub(super) list_by: Option<Instant>,
    /// Calls that are made first, whenever the server is started.
    pub(super) setup: Vec<OwnedCall>,
    /// How many of the set-up calls were sent to the running server.
    pub(super) set_up: usize,
    /// The set-up call without a result.
    pub(super) setup_call: Option<SetupCall>,
    /// Set once the server gets no more requests: how long it may take to end by itself.
    pub(super) parting: Option<Instant>,
    /// The server has ended or was given up, and is not needed any more.
    pub(super) has_left: bool,
    /// The requested listing was printed.
    pub(super) has_listed: bool,
    /// The overlong line that is being read.
    pub(super) overlong: OverlongLine,
    pub(super) health: Health,
    /// The last unreadable line that could be an answer: when it arrived, and why it is unreadable.
    pub(super) unreadable: Option<(Instant, String)>,
}

impl Connection {
    /// A connection to `server`, which has a name if it is one of several.
    pub fn new(name: Option<&str>, server: Server, health: Health) -> Connection {
        Connection {
            prefix: Prefix(name.map_or(String::new(), |name| format!("{name}{SEPARATOR}"))),
            server,
            schemas: Schemas::default(),
            list_by: None,
            setup: Vec::new(),
            set_up: 0,
            setup_call: None,
            parting: None,
            has_left: false,
            has_listed: false,
            overlong: OverlongLine::default(),
            health,
            unreadable: None,
        }
    }

    /// The server's name, if it is one of several.
    pub fn name(&self) -> Option<&str> {
        self.prefix.0.strip_suffix(SEPARATOR)
    }

    /// When the connection's next time limit is over, or its next action is due.
    pub fn deadline(&self) -> Option<Instant> {
        if self.has_left {
            return None;
        }
        let setup = self.setup_call.as_ref().and_then(|call| call.until);
        [setup, self.server.deadline(), self.health.deadline(), self.list_by, self.parting].into_iter().flatten().min()
    }

    /// Whether this is the number of the open set-up call.
    pub fn is_setup_call(&self, id: u64) -> bool {
        self.setup_call.as_ref().is_some_and(|call| call.id == id)
    }

    /// Whether calls may be sent: set-up calls, and other calls after the set-up.
    pub fn may_send(&self) -> bool {
        self.server.client.is_ready() && self.parting.is_none() && !self.health.is_suspect()
    }
}

/// The connection to the server that has this tool, and the server's own name for it.
///
/// # Errors
/// Why no server matches.
pub fn route<'a>(connections: &[Connection], tool: &'a str) -> Result<(usize, &'a str), String> {
    let own = connections.iter().enumerate();
    let own = own.filter_map(|(at, connection)| Some((at, connection.prefix.own_name(tool)?)));
    // A server's name may be the prefix of another's.
    own.min_by_key(|(_, own)| own.len()).ok_or_else(|| {
        let names = connections.iter().filter_map(Connection::name).collect::<Vec<_>>().join(", ");
        format!("{tool:?} names no server: write SERVER{SEPARATOR}TOOL, where SERVER is one of {names}")
    })
}
