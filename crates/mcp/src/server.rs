//! The server's side of MCP, in front of a world that uses our records: a client's `tools/call` becomes a `tool_call`,
//! and the world's `tool_result` becomes the response. One server answers all clients of the world.
//!
//! Both eras are served, as the versioning page of specification 2026-07-28 describes for a dual-era server: a request
//! with the per-request `_meta` is answered by that revision, any other by the revisions up to 2025-11-25.

use super::Era;
use pipewright_record::json::{Object, one_line, quoted, raw};
use pipewright_record::rpc::{
    INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, PARSE_ERROR, RpcError, notification,
    response,
};
use pipewright_record::{Cancel, ListTools, OwnedTool, Reason, Record, ToolCall};
use request::Request;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

mod header;
mod request;
mod result;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests;
mod world;

pub use header::Header;
pub use world::WorldLine;

/// The origin of a client's message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    /// Where answers are sent: the number of a connection, or of one HTTP request.
    pub link: u64,
    /// Request ids are unique within a session, so that a notification can cancel a request of another link.
    pub session: u64,
    /// The HTTP headers of the message; `None` on stdio, which has none.
    pub headers: Option<&'a [Header]>,
}

/// The lines to send, each with its line feed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outbox {
    /// To the world.
    pub world: Vec<String>,
    /// To clients, by the number of the link.
    pub clients: Vec<(u64, String)>,
    /// Links whose last line has been sent, or that get none: a transport that keeps a request open for its answer
    /// ends it. A link may be listed again after its end.
    pub ended: Vec<u64>,
}

/// The versions of the first era, newest first. Their differences do not matter here.
const LEGACY_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The key of a notification's `_meta` that names the subscription that it belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// The most bytes of requests that wait for the list of tools.
const MAX_HELD_BYTES: usize = 8 << 20;
const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// The server's side of all connections to one world.
#[derive(Debug, Default)]
pub struct Server {
    /// `None` until the world has listed its tools.
    tools: Option<Vec<OwnedTool>>,
    /// Requests that need the list: their origins and lines.
    held: Vec<HeldRequest>,
    /// Open calls of the world, by the number in their call_id.
    calls: BTreeMap<u64, InFlight>,
    last_call: u64,
    lists_requested: u64,
    subscriptions: Vec<Subscription>,
}

/// A request that waits for the list of tools.
#[derive(Debug)]
struct HeldRequest {
    link: u64,
    session: u64,
    headers: Option<Vec<Header>>,
    id: Box<RawValue>,
    line: String,
}

/// A call without an answer.
#[derive(Debug)]
struct InFlight {
    link: u64,
    session: u64,
    /// The client's id of the request.
    id: Box<RawValue>,
    era: Era,
    progress_token: Option<Box<RawValue>>,
}

/// A client that is notified when the list of tools changes.
#[derive(Debug)]
struct Subscription {
    link: u64,
    session: u64,
    /// The id of the `subscriptions/listen` request (2026-07-28); `None` for a legacy client, which is notified without
    /// one.
    id: Option<Box<RawValue>>,
}

impl Outbox {
    fn reply(&mut self, link: u64, line: String) {
        self.clients.push((link, line));
    }

    fn refuse(&mut self, link: u64, id: &str, error: &RpcError) {
        self.reply(link, response(id, Err(error)));
    }
}

impl Server {
    /// Requests the world's tools. The answer comes through [`Server::take_world_line`].
    pub fn ask_for_tools(&mut self, out: &mut Outbox) {
        self.lists_requested += 1;
        // A string of digits and letters is valid JSON.
        let id = RawValue::from_string(format!("\"tools-{}\"", self.lists_requested)).ok();
        out.world.push(ListTools { request_id: id.as_deref() }.line());
    }

    /// Whether the tools of the world are known.
    pub fn has_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// Whether the world has no open call.
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether the queue for the list of tools is full, so that no more should be read for now.
    pub fn is_full(&self) -> bool {
        self.held.iter().map(|held| held.line.len()).sum::<usize>() > MAX_HELD_BYTES
    }

    /// Sets the tools of the world. Requests that waited for them are answered; if earlier tools were known, clients
    /// are notified of the change.
    pub fn set_tools(&mut self, tools: Vec<OwnedTool>, out: &mut Outbox) {
        if self.tools.as_ref().is_some_and(|known| *known != tools) {
            for Subscription { link, id, .. } in &self.subscriptions {
                let meta = id.as_ref().map(|id| Object::default().put(SUBSCRIPTION, id).end());
                let params = meta.map(|meta| Object::default().put("_meta", meta).end());
                out.reply(*link, notification(LIST_CHANGED, params.as_deref()));
            }
        }
        self.tools = Some(tools);
        for HeldRequest { link, session, headers, line, .. } in std::mem::take(&mut self.held) {
            // The line was checked as a request on arrival, so there is nothing to report.
            let _ = self.take_client_line(Origin { link, session, headers: headers.as_deref() }, &line, out);
        }
    }

    /// The world will not list its tools: waiting requests are refused.
    pub fn fail_held(&mut self, why: &str, out: &mut Outbox) {
        for HeldRequest { link, id, .. } in self.held.drain(..) {
            out.refuse(link, id.get(), &RpcError::new(INTERNAL_ERROR, why));
        }
    }

    /// Takes a client's line, and answers it unless that needs the world.
    ///
    /// # Errors
    /// Why the line is not a message; the client has got an error response.
    pub fn take_client_line(&mut self, from: Origin<'_>, line: &str, out: &mut Outbox) -> Result<(), Reason> {
        match Message::read(line) {
            Ok(Message::Request { id, method, params }) => {
                if !id.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit()) {
                    return self.refuse_line(from, INVALID_REQUEST, "the id is neither a string nor a number", out);
                }
                match Request::read(&method, params, from.headers) {
                    Ok(request) => self.take_request(from, id, &request, line, out),
                    Err(error) => out.refuse(from.link, id.get(), &error),
                }
                Ok(())
            }
            Ok(Message::Notification { method, params }) => {
                out.ended.push(from.link);
                if let Some(id) = request::cancelled(&method, params) {
                    self.cancel(from.session, id, out);
                }
                Ok(())
            }
            // Clients are sent no requests.
            Ok(Message::Response { .. }) => {
                out.ended.push(from.link);
                Ok(())
            }
            Err(why) => {
                let is_json = serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
                self.refuse_line(from, if is_json { INVALID_REQUEST } else { PARSE_ERROR }, &why, out)
            }
        }
    }

    /// Answers a line without a known id with an error, and returns `why` as the error.
    ///
    /// # Errors
    /// Always.
    pub fn refuse_line(&self, from: Origin<'_>, code: i64, why: &str, out: &mut Outbox) -> Result<(), Reason> {
        out.refuse(from.link, "null", &RpcError::new(code, why));
        Err(why.into())
    }

    fn take_request(&mut self, from: Origin<'_>, id: &RawValue, request: &Request<'_>, line: &str, out: &mut Outbox) {
        let respond = |result: Object| response(id.get(), Ok(&result::in_era(result, request.era).end()));
        let answer = match (request.method, request.era) {
            ("initialize", Era::Legacy) => {
                self.open_stream(from);
                respond(initialized(request))
            }
            ("ping", Era::Legacy) => respond(Object::default()),
            ("server/discover", Era::Modern) => respond(result::cacheable(capabilities(
                Object::default().put("supportedVersions", format_args!("[\"{}\"]", Era::Modern.version())),
            ))),
            ("subscriptions/listen", Era::Modern) => return self.listen(from, id, request, out),
            ("tools/list" | "tools/call", _) => match self.tools {
                None => return self.hold(from, id, line),
                Some(_) => match self.answer_with_tools(from, id, request, out) {
                    Ok(None) => return,
                    Ok(Some(result)) => respond(result),
                    Err(error) => response(id.get(), Err(&error)),
                },
            },
            (method, _) => {
                let why = format!("unknown method {method}");
                response(id.get(), Err(&RpcError::new(METHOD_NOT_FOUND, why)))
            }
        };
        out.reply(from.link, answer);
    }

    fn hold(&mut self, from: Origin<'_>, id: &RawValue, line: &str) {
        self.held.push(HeldRequest {
            link: from.link,
            session: from.session,
            headers: from.headers.map(<[Header]>::to_vec),
            id: id.to_owned(),
            line: line.to_owned(),
        });
    }

    /// A result, or `None` if the call was sent to the world.
    fn answer_with_tools(
        &mut self,
        from: Origin<'_>,
        id: &RawValue,
        request: &Request<'_>,
        out: &mut Outbox,
    ) -> Result<Option<Object>, RpcError> {
        let tools = self.tools.as_deref().unwrap_or_default();
        if request.method == "tools/list" {
            let listed = Object::default().put("tools", result::tools(tools));
            return Ok(Some(if request.era == Era::Modern { result::cacheable(listed) } else { listed }));
        }
        let (name, arguments) = request.call()?;
        let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
            return Err(RpcError::new(INVALID_PARAMS, format!("unknown tool: {name}")));
        };
        if let (Some(headers), Era::Modern) = (from.headers, request.era) {
            header::check_parameters(headers, &tool.input_schema, arguments)?;
        }
        self.last_call += 1;
        let (id_of_call, arguments) = (quoted(&call_id(self.last_call)), arguments.map(|json| one_line(json.get())));
        let call = ToolCall::new(raw(&id_of_call), &name, arguments.as_deref().map(raw));
        out.world.push(call.line());
        let progress_token = request.meta("progressToken").map(ToOwned::to_owned);
        let (link, session, era) = (from.link, from.session, request.era);
        self.calls.insert(self.last_call, InFlight { link, session, id: id.to_owned(), era, progress_token });
        Ok(None)
    }

    /// `subscriptions/listen`: acknowledged with the accepted notifications, and open until it is cancelled.
    fn listen(&mut self, from: Origin<'_>, id: &RawValue, request: &Request<'_>, out: &mut Outbox) {
        let wants_tools = request.wants_tool_changes();
        let honoured = if wants_tools { r#"{"toolsListChanged":true}"# } else { "{}" };
        let meta = Object::default().put(SUBSCRIPTION, id).end();
        let params = Object::default().put("_meta", meta).put("notifications", honoured).end();
        out.reply(from.link, notification("notifications/subscriptions/acknowledged", Some(&params)));
        if wants_tools {
            self.subscriptions.push(Subscription { link: from.link, session: from.session, id: Some(id.to_owned()) });
        }
    }

    /// Notifies a legacy client of changes on this link.
    pub fn open_stream(&mut self, from: Origin<'_>) {
        self.subscriptions.retain(|it| it.link != from.link || it.id.is_some());
        self.subscriptions.push(Subscription { link: from.link, session: from.session, id: None });
    }

    /// A client has cancelled a request, which therefore gets no answer (2025-11-25, cancellation).
    fn cancel(&mut self, session: u64, id: &RawValue, out: &mut Outbox) {
        let is_it = |of: u64, other: &RawValue| {
            of == session && pipewright_record::is_same_id(Some(id.get()), Some(other.get()))
        };
        let held = self.held.extract_if(.., |held| is_it(held.session, &held.id)).map(|held| held.link);
        out.ended.extend(held);
        let of_request = |it: &mut Subscription| it.id.as_ref().is_some_and(|id| is_it(it.session, id));
        out.ended.extend(self.subscriptions.extract_if(.., of_request).map(|it| it.link));
        let cancelled = self.calls.iter().find(|(_, call)| is_it(call.session, &call.id)).map(|(number, _)| *number);
        self.forget(cancelled, out);
    }

    /// A link is closed. In the modern era this cancels its requests (Streamable HTTP, "Cancellation"); before, it does
    /// not.
    pub fn close_link(&mut self, link: u64, out: &mut Outbox) {
        self.held.retain(|held| held.link != link);
        self.subscriptions.retain(|it| it.link != link);
        let modern = |(_, call): &(&u64, &InFlight)| call.link == link && call.era == Era::Modern;
        let cancelled = Vec::from_iter(self.calls.iter().filter(modern).map(|(number, _)| *number));
        self.forget(cancelled, out);
    }

    /// Cancels calls in the world; late answers are dropped.
    fn forget(&mut self, calls: impl IntoIterator<Item = u64>, out: &mut Outbox) {
        for number in calls {
            out.ended.extend(self.calls.remove(&number).map(|call| call.link));
            out.world.push(Cancel::call(call_id(number)).line());
        }
    }
}

/// A call's id for the world: never the client's own id, which other clients may use too.
fn call_id(number: u64) -> String {
    format!("c{number}")
}

fn capabilities(result: Object) -> Object {
    result.put("capabilities", r#"{"tools":{"listChanged":true}}"#)
}

/// The result of `initialize`: the client's version if it is supported, otherwise our newest (2025-11-25, lifecycle).
fn initialized(request: &Request<'_>) -> Object {
    let asked = request.text("protocolVersion");
    let version = LEGACY_VERSIONS.into_iter().find(|version| asked.as_deref() == Some(version));
    let result = Object::default().text("protocolVersion", version.unwrap_or(Era::Legacy.version()));
    capabilities(result).put("serverInfo", result::server_info())
}
