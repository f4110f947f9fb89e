//! A session with a server: the handshake, its tools, calls, and its other messages.

use super::tools::{Tool, Tools};
use pipewright_record::json::Object;
use pipewright_record::rpc::{RpcError, notification, request, response};
use serde_json::value::RawValue;
use std::collections::HashMap;

mod receive;
mod resources;

pub use resources::READ_RESOURCE;

/// The era of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Up to 2025-11-25: starts with `initialize`.
    Legacy,
    /// From 2026-07-28: stateless, with `server/discover`.
    Modern,
}

impl Era {
    /// The version that the client requests.
    pub fn version(self) -> &'static str {
        match self {
            Era::Legacy => "2025-11-25",
            Era::Modern => "2026-07-28",
        }
    }
}

/// The purpose of one of our requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestPurpose {
    Handshake,
    Tools,
    Resources(resources::List),
    Call,
    Probe,
}

/// The meaning of a line from the server.
#[derive(Debug)]
pub enum ServerMessage<'a> {
    /// The handshake is complete and the tools are known: calls may be sent.
    Ready,
    /// The tools have changed, and the new ones are known.
    Relisted,
    /// The tools have changed, but the server cannot list them, so the previous ones stay: why.
    NotRelisted(String),
    /// The answer to a call, by our number.
    Answer(u64, Result<&'a RawValue, RpcError>),
    /// Resources, as JSON text each; true if these are the last.
    Resources(Vec<&'a RawValue>, bool),
    /// The server cannot list its resources: why.
    NoResources(String),
    /// A notification: `progress`, `log`, or its own name; its parameters as JSON text.
    Event(String, &'a str),
    /// A request that the client does not support and has answered with an error; its parameters as JSON text.
    Asks(String, &'a str),
    /// A question to a person, with the server's id, that waits for [`Client::answer`]; its parameters as JSON text.
    Elicits(&'a RawValue, &'a str),
    /// The server has cancelled its question with this id.
    Withdraws(&'a RawValue),
    /// The server answered a ping.
    Alive,
    /// A line that is not JSON-RPC, and why.
    Noise(String),
    /// The server rejected the handshake of this era.
    Refused(RpcError),
    /// The server cannot be used: why.
    Failed(String),
    /// Nothing to do: an answer to a request that was given up.
    Nothing,
}

/// The answers to a tool's requests (2026-07-28).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputAnswers {
    /// For each request, by name, the result as JSON text.
    pub responses: Vec<(String, String)>,
    /// The state to send back, as JSON text.
    pub state: Option<String>,
}

/// The client's side of one connection.
#[derive(Debug)]
pub struct Client {
    name: &'static str,
    era: Era,
    next: u64,
    asked: HashMap<u64, RequestPurpose>,
    is_initialised: bool,
    is_ready: bool,
    tools: Tools,
    /// The incomplete list, which comes in pages.
    listing: Tools,
    /// The number of pages so far.
    pages: u32,
    is_listing: bool,
    /// The list changed while it was read, so it is read again.
    is_stale: bool,
    /// The server rejected the handshake, and a second one was sent.
    was_refused: bool,
    wants: ClientOptions,
}

/// Optional capabilities of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientOptions {
    /// The server may ask a person; otherwise the client declares no capability for it.
    pub questions: bool,
    /// The server should report the progress of calls, which costs it some work.
    pub progress: bool,
}

/// The limit for a server whose list of tools never ends.
const MAX_PAGES: u32 = 1000;

impl Client {
    /// A client that has sent nothing yet; `name` is its name for the server (`clientInfo`).
    pub fn new(name: &'static str, era: Era, wants: ClientOptions) -> Client {
        Client {
            name,
            era,
            next: 1,
            asked: HashMap::new(),
            is_initialised: false,
            is_ready: false,
            tools: Tools::new(),
            listing: Tools::new(),
            pages: 0,
            is_listing: false,
            is_stale: false,
            was_refused: false,
            wants,
        }
    }

    /// The client on a new connection. Its request numbers continue, so that old answers cannot match new requests.
    #[must_use]
    pub fn anew(&self, era: Era) -> Client {
        Client { next: self.next, ..Client::new(self.name, era, self.wants) }
    }

    /// The current era.
    pub fn era(&self) -> Era {
        self.era
    }

    /// Whether the handshake is complete.
    pub fn is_initialised(&self) -> bool {
        self.is_initialised
    }

    /// Whether calls may be sent.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether the list of tools has changed and the new list has not arrived.
    pub fn is_relisting(&self) -> bool {
        self.is_ready && self.is_listing
    }

    /// Gives up the new list and keeps the previous tools.
    pub fn keep_tools(&mut self) {
        self.asked.retain(|_, purpose| *purpose != RequestPurpose::Tools);
        self.is_stale = false;
        self.forget_list();
    }

    /// The tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values()
    }

    /// A tool.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    fn request(&mut self, purpose: RequestPurpose, method: &str, params: Object, out: &mut Vec<u8>) -> u64 {
        let id = self.next;
        self.next += 1;
        self.asked.insert(id, purpose);
        let params = match self.era {
            Era::Legacy => params,
            Era::Modern => params.put("_meta", self.meta(None)),
        };
        out.extend_from_slice(request(id, method, &params.end()).as_bytes());
        id
    }

    /// The `_meta` of every request in the modern era.
    fn meta(&self, progress: Option<u64>) -> String {
        let mut meta = Object::default();
        if self.era == Era::Modern {
            meta = meta
                .text("io.modelcontextprotocol/protocolVersion", self.era.version())
                .put("io.modelcontextprotocol/clientInfo", self.client_info())
                .put("io.modelcontextprotocol/clientCapabilities", self.capabilities());
        }
        if let Some(token) = progress {
            meta = meta.put("progressToken", token);
        }
        meta.end()
    }

    fn client_info(&self) -> String {
        Object::default().text("name", self.name).text("version", env!("CARGO_PKG_VERSION")).end()
    }

    /// The capabilities that the server may use.
    fn capabilities(&self) -> &'static str {
        if self.wants.questions { r#"{"elicitation":{"form":{},"url":{}}}"# } else { "{}" }
    }

    /// Starts the handshake.
    pub fn start_handshake(&mut self, out: &mut Vec<u8>) {
        match self.era {
            Era::Legacy => {
                let params = Object::default()
                    .text("protocolVersion", self.era.version())
                    .put("capabilities", self.capabilities())
                    .put("clientInfo", self.client_info());
                self.request(RequestPurpose::Handshake, "initialize", params, out);
            }
            Era::Modern => _ = self.request(RequestPurpose::Handshake, "server/discover", Object::default(), out),
        }
    }

    /// Calls a tool; gives our number for it. `arguments` is a JSON object.
    pub fn call(&mut self, tool: &str, arguments: &str, out: &mut Vec<u8>) -> u64 {
        self.call_again(tool, arguments, None, out)
    }

    /// Repeats a call with the answers to its requests. If no tool has the name, [`READ_RESOURCE`] is MCP's method.
    pub fn call_again(&mut self, tool: &str, arguments: &str, round: Option<&InputAnswers>, out: &mut Vec<u8>) -> u64 {
        let id = self.next;
        self.next += 1;
        self.asked.insert(id, RequestPurpose::Call);
        let reads = tool == READ_RESOURCE && !self.tools.contains_key(tool);
        let method = if reads { READ_RESOURCE } else { "tools/call" };
        let mut params = match reads {
            true => resources::read_params(arguments),
            false => Object::default().text("name", tool).put("arguments", arguments),
        };
        if let Some(InputAnswers { responses, state }) = round {
            let responses = responses.iter().fold(Object::default(), |all, (key, json)| all.put_any(key, json));
            params = params.put("inputResponses", responses.end());
            params = state.iter().fold(params, |params, state| params.put("requestState", state));
        }
        let meta = self.meta(Some(id).filter(|_| self.wants.progress));
        let params = if meta == "{}" { params } else { params.put("_meta", &meta) }.end();
        out.extend_from_slice(request(id, method, &params).as_bytes());
        id
    }

    /// Cancels a call; a late answer is dropped.
    pub fn cancel(&mut self, id: u64, reason: &str, out: &mut Vec<u8>) {
        if self.asked.remove(&id).is_some() {
            let params = Object::default().put("requestId", id).text("reason", reason).end();
            out.extend_from_slice(notification("notifications/cancelled", Some(&params)).as_bytes());
        }
    }

    /// Pings the server, while it has no other request; any answer is [`ServerMessage::Alive`].
    pub fn probe(&mut self, out: &mut Vec<u8>) -> u64 {
        let method = match self.era {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        self.request(RequestPurpose::Probe, method, Object::default(), out)
    }

    /// Pings it with another request: some servers answer only those that they support.
    pub fn probe_again(&mut self, out: &mut Vec<u8>) -> u64 {
        self.request(RequestPurpose::Probe, "tools/list", Object::default(), out)
    }

    /// Answers the server's question with this `id`; the result is JSON text.
    pub fn answer(&self, id: &str, result: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(response(id, Ok(result)).as_bytes());
    }

    /// Gives up a request whose outcome is already known.
    pub fn forget(&mut self, id: u64) {
        self.asked.remove(&id);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
