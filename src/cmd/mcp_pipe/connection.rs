//! One of the servers that calls go to, with what is on its way there.

use super::health::Health;
use super::overlong::Overlong;
use super::schemas::Schemas;
use super::server::Server;
use super::world::SetupCall;
use crate::record::OwnedCall;
use std::time::Instant;

/// What stands between a server's name and its tool's, where there are several servers.
const JOINT: &str = "__";

/// What the names of a server's tools begin with; nothing where there is only one server.
pub struct Prefix(String);

impl Prefix {
    /// The server's own name for a tool; `None` where the tool is another server's.
    pub fn own_name<'a>(&self, tool: &'a str) -> Option<&'a str> {
        tool.strip_prefix(self.0.as_str())
    }

    /// The name by which a tool of the server's is called.
    pub fn full_name(&self, tool: &str) -> String {
        format!("{}{tool}", self.0)
    }
}

pub struct Connection {
    pub(super) prefix: Prefix,
    pub(super) server: Server,
    pub(super) schemas: Schemas,
    /// When the list that the server was asked for must be there.
    pub(super) list_by: Option<Instant>,
    /// Calls that are made first, each time the server is started.
    pub(super) setup: Vec<OwnedCall>,
    /// How much of the set-up has been sent to the server that runs.
    pub(super) set_up: usize,
    /// The one of them that has no result yet.
    pub(super) setup_call: Option<SetupCall>,
    /// Nothing more is asked of the server, which may end by itself until then.
    pub(super) parting: Option<Instant>,
    /// It has ended or was given up, and nothing more is wanted of it.
    pub(super) has_left: bool,
    /// All that was to be listed has been printed.
    pub(super) has_listed: bool,
    /// A line of the server's that is too long goes on.
    pub(super) overlong: Overlong,
    pub(super) health: Health,
    /// The last line of the server's that could be an answer and can't be read: when it came, and why.
    pub(super) unreadable: Option<(Instant, String)>,
}

impl Connection {
    /// A connection to `server`, which has a name where it is one of several.
    pub fn new(name: Option<&str>, server: Server, health: Health) -> Connection {
        Connection {
            prefix: Prefix(name.map_or(String::new(), |name| format!("{name}{JOINT}"))),
            server,
            schemas: Schemas::default(),
            list_by: None,
            setup: Vec::new(),
            set_up: 0,
            setup_call: None,
            parting: None,
            has_left: false,
            has_listed: false,
            overlong: Overlong::default(),
            health,
            unreadable: None,
        }
    }

    /// The name of the server, where it is one of several.
    pub fn name(&self) -> Option<&str> {
        self.prefix.0.strip_suffix(JOINT)
    }

    /// When something must have happened, or is to be done.
    pub fn deadline(&self) -> Option<Instant> {
        if self.has_left {
            return None;
        }
        let setup = self.setup_call.as_ref().and_then(|call| call.until);
        [setup, self.server.deadline(), self.health.deadline(), self.list_by, self.parting].into_iter().flatten().min()
    }

    /// Whether this is the number of the call of its set-up that has no result yet.
    pub fn is_setup_call(&self, id: u64) -> bool {
        self.setup_call.as_ref().is_some_and(|call| call.id == id)
    }

    /// Whether calls may be sent: its set-up, and others where there is none left to send.
    pub fn may_send(&self) -> bool {
        self.server.client.is_ready() && self.parting.is_none() && !self.health.is_suspect()
    }
}

/// The connection whose tool this is, and the server's own name for it.
///
/// # Errors
/// Why it is none's.
pub fn route<'a>(connections: &[Connection], tool: &'a str) -> Result<(usize, &'a str), String> {
    let own = connections.iter().enumerate();
    let own = own.filter_map(|(at, connection)| Some((at, connection.prefix.own_name(tool)?)));
    // One server's name may begin with another's.
    own.min_by_key(|(_, own)| own.len()).ok_or_else(|| {
        let names = connections.iter().filter_map(Connection::name).collect::<Vec<_>>().join(", ");
        format!("{tool:?} names no server: a tool is called SERVER{JOINT}TOOL, with one of {names}")
    })
}
