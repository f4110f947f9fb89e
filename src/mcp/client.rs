//! A session with a server: greeting it, learning its tools, calling them, and what it says meanwhile.

use super::tools::{Tool, Tools};
use crate::json::Object;
use crate::rpc::{RpcError, notification, request, response};
use serde_json::value::RawValue;
use std::collections::HashMap;

mod receive;
mod resources;

pub use resources::READ_RESOURCE;

/// How the protocol is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// Up to 2025-11-25: `initialize` first.
    Legacy,
    /// From 2026-07-28: stateless, `server/discover`.
    Modern,
}

impl Era {
    /// The version that we name.
    pub fn version(self) -> &'static str {
        match self {
            Era::Legacy => "2025-11-25",
            Era::Modern => "2026-07-28",
        }
    }
}

/// What one of our requests was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Greeting,
    Tools,
    Resources(resources::List),
    Call,
    Probe,
}

/// What a line of the server's means.
#[derive(Debug)]
pub enum ServerMessage<'a> {
    /// It is greeted and its tools are known: calls may be sent.
    Ready,
    /// Its tools have changed, and are known anew.
    Relisted,
    /// They have changed, and it can't list them: those that it had stay known. Why.
    NotRelisted(String),
    /// It answers a call, by our number.
    Answer(u64, Result<&'a RawValue, RpcError>),
    /// It lists resources, JSON text each, and whether these are the last.
    Resources(Vec<&'a RawValue>, bool),
    /// It can't list its resources: why.
    NoResources(String),
    /// It tells something: `progress`, `log`, or a notification's own name; its parameters are JSON text.
    Event(String, &'a str),
    /// It asks for something, and has been told that there is none; its parameters are JSON text.
    Asks(String, &'a str),
    /// It asks whoever there is, by its own id, and waits for [`Client::answer`]; its parameters are JSON text.
    Elicits(&'a RawValue, &'a str),
    /// It no longer waits for the answer to what it had asked by that id.
    Withdraws(&'a RawValue),
    /// It is there.
    Alive,
    /// No JSON-RPC: noise on its stdout, and why.
    Noise(String),
    /// It doesn't understand this era's greeting.
    Refused(RpcError),
    /// It can't be spoken with.
    Failed(String),
    /// Nothing to act on: an answer to what isn't waited for any more.
    Nothing,
}

/// What a tool has asked for before it goes on (2026-07-28), answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Round {
    /// For each of its requests, by its name, the result as JSON text.
    pub responses: Vec<(String, String)>,
    /// What it wants to have back, as JSON text.
    pub state: Option<String>,
}

/// The client's side of one connection.
#[derive(Debug)]
pub struct Client {
    name: &'static str,
    era: Era,
    next: u64,
    asked: HashMap<u64, Purpose>,
    has_greeted: bool,
    is_ready: bool,
    tools: Tools,
    /// A list that comes in pages, until it is whole.
    listing: Tools,
    /// How many pages of a list have come.
    pages: u32,
    is_listing: bool,
    /// It has changed since it was begun: it is read once more.
    is_stale: bool,
    /// It has refused our greeting, and was greeted again.
    was_refused: bool,
    wants: Wants,
}

/// What a client does beside calling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// The server may ask whoever there is; else it is told that it may ask nothing of us.
    pub questions: bool,
    /// It is to tell how far a call has come, which costs it some work.
    pub progress: bool,
}

/// A server whose list of tools never ends is not to be followed for ever.
const MOST_PAGES: u32 = 1000;

impl Client {
    /// A client that has sent nothing yet; `name` is what it calls itself to the server (`clientInfo`).
    pub fn new(name: &'static str, era: Era, wants: Wants) -> Client {
        Client {
            name,
            era,
            next: 1,
            asked: HashMap::new(),
            has_greeted: false,
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

    /// The same client on a new connection. It goes on counting, so that no answer can be taken for another's.
    #[must_use]
    pub fn anew(&self, era: Era) -> Client {
        Client { next: self.next, ..Client::new(self.name, era, self.wants) }
    }

    /// The era that is spoken.
    pub fn era(&self) -> Era {
        self.era
    }

    /// Whether the server has understood the greeting.
    pub fn has_greeted(&self) -> bool {
        self.has_greeted
    }

    /// Whether calls may be sent.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether the list of tools has changed and the new one is not known yet.
    pub fn is_relisting(&self) -> bool {
        self.is_ready && self.is_listing
    }

    /// Waits no longer for the new list: the tools that are known stay.
    pub fn keep_tools(&mut self) {
        self.asked.retain(|_, purpose| *purpose != Purpose::Tools);
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

    fn request(&mut self, purpose: Purpose, method: &str, params: Object, out: &mut Vec<u8>) -> u64 {
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

    /// What every request of the modern era carries.
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

    /// What the server may ask of us.
    fn capabilities(&self) -> &'static str {
        if self.wants.questions { r#"{"elicitation":{"form":{},"url":{}}}"# } else { "{}" }
    }

    /// Greets.
    pub fn greet(&mut self, out: &mut Vec<u8>) {
        match self.era {
            Era::Legacy => {
                let params = Object::default()
                    .text("protocolVersion", self.era.version())
                    .put("capabilities", self.capabilities())
                    .put("clientInfo", self.client_info());
                self.request(Purpose::Greeting, "initialize", params, out);
            }
            Era::Modern => _ = self.request(Purpose::Greeting, "server/discover", Object::default(), out),
        }
    }

    /// Calls a tool; gives our number for it. `arguments` is a JSON object.
    pub fn call(&mut self, tool: &str, arguments: &str, out: &mut Vec<u8>) -> u64 {
        self.call_again(tool, arguments, None, out)
    }

    /// Calls a tool once more, with what it has asked for. Where no tool has that name, [`READ_RESOURCE`] is MCP's method.
    pub fn call_again(&mut self, tool: &str, arguments: &str, round: Option<&Round>, out: &mut Vec<u8>) -> u64 {
        let id = self.next;
        self.next += 1;
        self.asked.insert(id, Purpose::Call);
        let reads = tool == READ_RESOURCE && !self.tools.contains_key(tool);
        let method = if reads { READ_RESOURCE } else { "tools/call" };
        let mut params = match reads {
            true => resources::read_params(arguments),
            false => Object::default().text("name", tool).put("arguments", arguments),
        };
        if let Some(Round { responses, state }) = round {
            let responses = responses.iter().fold(Object::default(), |all, (key, json)| all.put_any(key, json));
            params = params.put("inputResponses", responses.end());
            params = state.iter().fold(params, |params, state| params.put("requestState", state));
        }
        let meta = self.meta(Some(id).filter(|_| self.wants.progress));
        let params = if meta == "{}" { params } else { params.put("_meta", &meta) }.end();
        out.extend_from_slice(request(id, method, &params).as_bytes());
        id
    }

    /// Tells the server that nobody waits for a call any more; what it still answers is dropped.
    pub fn cancel(&mut self, id: u64, reason: &str, out: &mut Vec<u8>) {
        if self.asked.remove(&id).is_some() {
            let params = Object::default().put("requestId", id).text("reason", reason).end();
            out.extend_from_slice(notification("notifications/cancelled", Some(&params)).as_bytes());
        }
    }

    /// Asks whether it is there, while nothing else is asked of it; whatever it answers to that is [`ServerMessage::Alive`].
    pub fn probe(&mut self, out: &mut Vec<u8>) -> u64 {
        let method = match self.era {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        self.request(Purpose::Probe, method, Object::default(), out)
    }

    /// Asks it in another way: some answer what they are for, and no more than that.
    pub fn probe_again(&mut self, out: &mut Vec<u8>) -> u64 {
        self.request(Purpose::Probe, "tools/list", Object::default(), out)
    }

    /// Answers what the server has asked by its own `id`; the result is JSON text.
    pub fn answer(&self, id: &str, result: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(response(id, Ok(result)).as_bytes());
    }

    /// No longer waits for an answer: what came of it is known otherwise.
    pub fn forget(&mut self, id: u64) {
        self.asked.remove(&id);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
