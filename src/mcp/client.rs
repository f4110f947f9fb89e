//! A session with a server: greeting it, learning its tools, calling them, and what it says meanwhile.

use super::tools::{Tool, Tools};
use super::wire::{Message, Object, RpcError, notification, quoted, request, response};
use serde_json::value::RawValue;
use std::collections::HashMap;

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
    Call,
    Probe,
}

/// What a line of the server's means.
#[derive(Debug)]
pub enum Heard<'a> {
    /// It is greeted and its tools are known: calls may be sent.
    Ready,
    /// Its tools have changed, and are known anew.
    Relisted,
    /// They have changed, and it can't list them: those that it had stay known. Why.
    NotRelisted(String),
    /// It answers a call, by our number.
    Answer(u64, Result<&'a RawValue, RpcError>),
    /// It is alive.
    Alive,
    /// It tells something: `progress`, `log`, or a notification's own name; its parameters are JSON text.
    Event(String, &'a str),
    /// It asks for something, by its own id; it has been told that there is none, unless that is `elicitation/create` where
    /// that was declared.
    Asks(&'a RawValue, String, &'a str),
    /// No JSON-RPC: noise on its stdout, and why.
    Noise(String),
    /// It doesn't understand this era's greeting.
    Refused(RpcError),
    /// It can't be spoken with.
    Failed(String),
    /// Nothing to act on: an answer to what isn't waited for any more.
    Nothing,
}

/// The client's side of one connection.
#[derive(Debug)]
pub struct Client {
    era: Era,
    /// Whether `elicitation` is declared.
    interactive: bool,
    next: u64,
    asked: HashMap<u64, Purpose>,
    is_ready: bool,
    tools: Tools,
    /// A list that comes in pages, until it is whole.
    listing: Tools,
    pages: u32,
    is_listing: bool,
    /// It has changed since it was begun: it is read once more.
    is_stale: bool,
    greeting: Option<Box<RawValue>>,
    /// It has refused our greeting, and was greeted again.
    was_refused: bool,
}

/// A server whose list of tools never ends is not to be followed for ever.
const MOST_PAGES: u32 = 1000;
/// JSON-RPC's: there is no such method.
const NO_METHOD: i64 = -32601;
/// The modern era's code for a version that the server doesn't speak.
const UNSUPPORTED_VERSION: i64 = -32022;

impl Client {
    /// A client that has said nothing yet. `first` is its first number: a later connection goes on counting, so that no answer
    /// can be taken for another's.
    pub fn new(era: Era, interactive: bool, first: u64) -> Client {
        Client {
            era,
            interactive,
            next: first,
            asked: HashMap::new(),
            is_ready: false,
            tools: Tools::new(),
            listing: Tools::new(),
            pages: 0,
            is_listing: false,
            is_stale: false,
            was_refused: false,
            greeting: None,
        }
    }

    /// The era that is spoken.
    pub fn era(&self) -> Era {
        self.era
    }

    /// Whether calls may be sent.
    pub fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// The number that the next request will have.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// What the server answered to the greeting.
    pub fn greeting(&self) -> Option<&RawValue> {
        self.greeting.as_deref()
    }

    /// The tools, by name.
    pub fn tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.values()
    }

    /// A tool.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.get(name)
    }

    fn ask(&mut self, purpose: Purpose, method: &str, params: Object, out: &mut Vec<u8>) -> u64 {
        let id = self.next;
        self.next += 1;
        self.asked.insert(id, purpose);
        let params = match self.era {
            Era::Legacy => params,
            Era::Modern => params.put("_meta", &self.meta(None)),
        };
        out.extend_from_slice(request(id, method, &params.end()).as_bytes());
        id
    }

    /// What every request of the modern era carries.
    fn meta(&self, progress: Option<u64>) -> String {
        let mut meta = Object::default();
        if self.era == Era::Modern {
            meta = meta
                .put("io.modelcontextprotocol/protocolVersion", &quoted(self.era.version()))
                .put("io.modelcontextprotocol/clientInfo", &client_info())
                .put("io.modelcontextprotocol/clientCapabilities", self.capabilities());
        }
        if let Some(token) = progress {
            meta = meta.put("progressToken", &token.to_string());
        }
        meta.end()
    }

    fn capabilities(&self) -> &'static str {
        if self.interactive { r#"{"elicitation":{}}"# } else { "{}" }
    }

    /// Greets.
    pub fn greet(&mut self, out: &mut Vec<u8>) {
        match self.era {
            Era::Legacy => {
                let params = Object::default()
                    .put("protocolVersion", &quoted(self.era.version()))
                    .put("capabilities", self.capabilities())
                    .put("clientInfo", &client_info());
                self.ask(Purpose::Greeting, "initialize", params, out);
            }
            Era::Modern => _ = self.ask(Purpose::Greeting, "server/discover", Object::default(), out),
        }
    }

    /// Calls a tool; gives our number for it. `arguments` is a JSON object.
    pub fn call(&mut self, tool: &str, arguments: &str, out: &mut Vec<u8>) -> u64 {
        self.call_with(tool, arguments, None, out)
    }

    /// Calls again with what the server asked for: `inputResponses` and its own `requestState`, both JSON text.
    pub fn call_with(
        &mut self,
        tool: &str,
        arguments: &str,
        input: Option<(&str, Option<&str>)>,
        out: &mut Vec<u8>,
    ) -> u64 {
        let id = self.next;
        self.next += 1;
        self.asked.insert(id, Purpose::Call);
        let mut params = Object::default().put("name", &quoted(tool)).put("arguments", arguments);
        if let Some((responses, state)) = input {
            params = params.put("inputResponses", responses);
            if let Some(state) = state {
                params = params.put("requestState", state);
            }
        }
        let params = params.put("_meta", &self.meta(Some(id))).end();
        out.extend_from_slice(request(id, "tools/call", &params).as_bytes());
        id
    }

    /// Tells the server that nobody waits for a call any more; what it still answers is dropped.
    pub fn cancel(&mut self, id: u64, reason: &str, out: &mut Vec<u8>) {
        if self.asked.remove(&id).is_some() {
            let params = Object::default().put("requestId", &id.to_string()).put("reason", &quoted(reason)).end();
            out.extend_from_slice(notification("notifications/cancelled", Some(&params)).as_bytes());
        }
    }

    /// No longer waits for a call's answer: what came of it is known otherwise.
    pub fn forget(&mut self, id: u64) {
        self.asked.remove(&id);
    }

    /// Asks whether it is alive.
    pub fn probe(&mut self, out: &mut Vec<u8>) -> u64 {
        let method = if self.era == Era::Legacy { "ping" } else { "server/discover" };
        self.ask(Purpose::Probe, method, Object::default(), out)
    }

    /// Answers what the server asked for by its own `id`; `result` is JSON text.
    pub fn reply(&self, id: &str, result: &str, out: &mut Vec<u8>) {
        out.extend_from_slice(response(id, Ok(result)).as_bytes());
    }

    /// Takes a line of the server's; what is to be said to that goes to `out`.
    pub fn hear<'a>(&mut self, line: &'a str, out: &mut Vec<u8>) -> Heard<'a> {
        match Message::read(line) {
            Message::Noise(why) => Heard::Noise(why),
            Message::Notification(method, params) => self.hear_notification(method, params, out),
            Message::Request(id, method, params) => self.hear_request(id, method, params, out),
            Message::Response(id, result) => match (self.asked.remove(&id), result) {
                (None, _) => Heard::Nothing,
                (Some(Purpose::Call), result) => Heard::Answer(id, result),
                // A server that answers, if only that it knows no ping, is alive.
                (Some(Purpose::Probe), _) => Heard::Alive,
                (Some(Purpose::Greeting), Ok(result)) => self.hear_greeting(result, out),
                (Some(Purpose::Greeting), Err(error)) if self.may_greet_again(&error) => {
                    self.greet(out);
                    Heard::Nothing
                }
                (Some(Purpose::Greeting), Err(error)) => Heard::Refused(error),
                (Some(Purpose::Tools), Ok(result)) => self.hear_tools(result, out),
                // A server may have none, and say so in this way.
                (Some(Purpose::Tools), Err(error)) if error.code == NO_METHOD => self.end_list(Tools::new(), out),
                (Some(Purpose::Tools), Err(error)) => self.fail_list(&error.message),
            },
        }
    }

    /// Once: who refuses our version and names it among those that it speaks is to be asked with it (2026-07-28, versioning).
    fn may_greet_again(&mut self, error: &RpcError) -> bool {
        #[derive(serde::Deserialize)]
        struct Versions {
            supported: Vec<String>,
        }
        let versions = error.data.as_deref().and_then(|data| serde_json::from_str::<Versions>(data).ok());
        let speaks_ours = versions.is_some_and(|versions| versions.supported.iter().any(|it| it == self.era.version()));
        error.code == UNSUPPORTED_VERSION && speaks_ours && !std::mem::replace(&mut self.was_refused, true)
    }

    fn hear_greeting<'a>(&mut self, result: &RawValue, out: &mut Vec<u8>) -> Heard<'a> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Greeting {
            protocol_version: Option<String>,
            supported_versions: Option<Vec<String>>,
        }
        let Ok(greeting) = serde_json::from_str::<Greeting>(result.get()) else {
            return Heard::Failed("the server's greeting is no object".to_owned());
        };
        self.greeting = Some(result.to_owned());
        match self.era {
            Era::Legacy => {
                // Any of the dated versions: what is used here is the same in all of them.
                let Some(version) = greeting.protocol_version else {
                    return Heard::Failed("the server names no version of the protocol".to_owned());
                };
                if version.as_str() >= Era::Modern.version() {
                    return Heard::Refused(RpcError {
                        code: UNSUPPORTED_VERSION,
                        message: format!("the server speaks {version}"),
                        data: None,
                    });
                }
                out.extend_from_slice(notification("notifications/initialized", None).as_bytes());
            }
            Era::Modern => {
                let versions = greeting.supported_versions.unwrap_or_default();
                if !versions.iter().any(|version| version == self.era.version()) {
                    let spoken = versions.join(", ");
                    return Heard::Failed(format!("the server speaks {spoken}, and not {}", self.era.version()));
                }
            }
        }
        self.list(None, out);
        Heard::Nothing
    }

    fn list(&mut self, cursor: Option<&str>, out: &mut Vec<u8>) {
        self.is_listing = true;
        let params = cursor.map_or_else(Object::default, |cursor| Object::default().put("cursor", cursor));
        self.ask(Purpose::Tools, "tools/list", params, out);
    }

    fn hear_tools<'a>(&mut self, result: &RawValue, out: &mut Vec<u8>) -> Heard<'a> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Page<'a> {
            #[serde(borrow, default)]
            tools: Vec<&'a RawValue>,
            #[serde(borrow)]
            next_cursor: Option<&'a RawValue>,
        }
        let page = match serde_json::from_str::<Page<'_>>(result.get()) {
            Ok(page) => page,
            Err(error) => return self.fail_list(&error.to_string()),
        };
        let tools = page.tools.into_iter().filter_map(Tool::read).map(|tool| (tool.name.clone(), tool));
        self.listing.extend(tools);
        self.pages += 1;
        match page.next_cursor.map(RawValue::get).filter(|cursor| *cursor != "null") {
            Some(_) if self.pages > MOST_PAGES => self.fail_list("its pages never end"),
            Some(cursor) => {
                self.list(Some(cursor), out);
                Heard::Nothing
            }
            None => {
                let listing = std::mem::take(&mut self.listing);
                self.end_list(listing, out)
            }
        }
    }

    fn end_list<'a>(&mut self, tools: Tools, out: &mut Vec<u8>) -> Heard<'a> {
        self.tools = tools;
        self.forget_list();
        if std::mem::take(&mut self.is_stale) {
            self.list(None, out);
        }
        if std::mem::replace(&mut self.is_ready, true) { Heard::Relisted } else { Heard::Ready }
    }

    fn forget_list(&mut self) {
        self.listing = Tools::new();
        (self.pages, self.is_listing) = (0, false);
    }

    /// A server whose tools are known already isn't given up for that.
    fn fail_list<'a>(&mut self, why: &str) -> Heard<'a> {
        self.forget_list();
        self.is_stale = false;
        let why = format!("tools/list: {why}");
        if self.is_ready { Heard::NotRelisted(why) } else { Heard::Failed(why) }
    }

    fn hear_notification<'a>(&mut self, method: String, params: Option<&'a RawValue>, out: &mut Vec<u8>) -> Heard<'a> {
        if method == "notifications/tools/list_changed" {
            // One at a time: the pages of two would be mixed.
            if self.is_listing {
                self.is_stale = true;
            } else if self.is_ready {
                self.list(None, out);
            }
        }
        let kind = match method.as_str() {
            "notifications/message" => "log".to_owned(),
            _ => method.strip_prefix("notifications/").unwrap_or(&method).to_owned(),
        };
        Heard::Event(kind, params.map_or("{}", RawValue::get))
    }

    fn hear_request<'a>(
        &self,
        id: &'a RawValue,
        method: String,
        params: Option<&'a RawValue>,
        out: &mut Vec<u8>,
    ) -> Heard<'a> {
        match method.as_str() {
            "ping" => {
                self.reply(id.get(), "{}", out);
                return Heard::Nothing;
            }
            "elicitation/create" if self.interactive => {}
            _ => {
                let why = format!("this client has no {method}");
                out.extend_from_slice(response(id.get(), Err((NO_METHOD, &why))).as_bytes());
            }
        }
        Heard::Asks(id, method, params.map_or("{}", RawValue::get))
    }
}

fn client_info() -> String {
    let version = quoted(env!("CARGO_PKG_VERSION"));
    Object::default().put("name", "\"mcp-pipe\"").put("version", &version).end()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
