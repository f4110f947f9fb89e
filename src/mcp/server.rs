//! The server's side of MCP, in front of a world that speaks our records: a client's `tools/call` becomes a `tool_call`, the world's
//! `tool_result` becomes the response. One server answers every client of the world.
//!
//! Both eras are served, as the versioning page of specification 2026-07-28 describes for a dual-era server: a request that carries
//! the per-request `_meta` is answered by that revision, any other by the revisions up to 2025-11-25.

use super::Era;
use crate::json::{Object, one_line};
use crate::record::{ListTools, OwnedTool};
use crate::rpc::{INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, Message, PARSE_ERROR, RpcError};
use crate::rpc::{notification, response};
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

/// Where a client's message came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    /// Where answers go: the number of a connection, or of one HTTP request.
    pub link: u64,
    /// Within a session the ids of requests are unique, so that a notification can cancel a request of another link.
    pub session: u64,
    /// The HTTP headers of the message; `None` on stdio, which has none.
    pub headers: Option<&'a [Header]>,
}

/// What is to be sent; each line has its line feed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outbox {
    /// To the world.
    pub world: Vec<String>,
    /// To clients, by the number of the link.
    pub clients: Vec<(u64, String)>,
    /// Links whose last line has been sent, or that get none at all: a transport that keeps a request open for its answer
    /// ends it. A link may be named that has ended already.
    pub ended: Vec<u64>,
}

/// The versions of the first era, the newest first. They differ in nothing that is used here.
const LEGACY_VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/// The key of a notification's `_meta` that names the subscription that it belongs to.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// So many bytes of requests may wait for the list of tools.
const MUCH: usize = 8 << 20;
const LIST_CHANGED: &str = "notifications/tools/list_changed";

/// The server's side of all connections to one world.
#[derive(Debug, Default)]
pub struct Server {
    /// None until the world has listed them.
    tools: Option<Vec<OwnedTool>>,
    /// Requests that need the list: where they came from, and their lines.
    held: Vec<Held>,
    /// Calls that the world works on, by the number in their call_id.
    calls: BTreeMap<u64, InFlight>,
    last_call: u64,
    lists_requested: u64,
    subscriptions: Vec<Subscription>,
}

/// A request that waits for the list of tools.
#[derive(Debug)]
struct Held {
    link: u64,
    session: u64,
    headers: Option<Vec<Header>>,
    id: Box<RawValue>,
    line: String,
}

/// A call that has no answer yet.
#[derive(Debug)]
struct InFlight {
    link: u64,
    session: u64,
    /// The client's id of the request.
    id: Box<RawValue>,
    era: Era,
    progress_token: Option<Box<RawValue>>,
}

/// Who is notified when the list of tools changes.
#[derive(Debug)]
struct Subscription {
    link: u64,
    session: u64,
    /// The id of the `subscriptions/listen` request (2026-07-28); a legacy client is notified without one.
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
    /// Asks the world for its tools. The answer comes through [`Server::take_world_line`].
    pub fn ask_for_tools(&mut self, out: &mut Outbox) {
        self.lists_requested += 1;
        // A string of digits and letters is JSON.
        let id = RawValue::from_string(format!("\"tools-{}\"", self.lists_requested)).ok();
        out.world.push(ListTools { request_id: id.as_deref() }.record() + "\n");
    }

    /// Whether the tools of the world are known.
    pub fn has_tools(&self) -> bool {
        self.tools.is_some()
    }

    /// Whether the world works on no call.
    pub fn is_idle(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether so much waits for the list of tools that no more should be read for now.
    pub fn is_full(&self) -> bool {
        self.held.iter().map(|held| held.line.len()).sum::<usize>() > MUCH
    }

    /// These are the tools of the world from now on. Requests that waited for them are answered; where others were known, clients
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
        for Held { link, session, headers, line, .. } in std::mem::take(&mut self.held) {
            // It was a request when it came, so there is nothing to report.
            let _ = self.take_client_line(Origin { link, session, headers: headers.as_deref() }, &line, out);
        }
    }

    /// The world will not list its tools: requests that wait for them are refused.
    pub fn fail_held(&mut self, why: &str, out: &mut Outbox) {
        for Held { link, id, .. } in self.held.drain(..) {
            out.refuse(link, id.get(), &RpcError::new(INTERNAL_ERROR, why));
        }
    }

    /// Takes a client's line, and answers it as far as that needs no world.
    ///
    /// # Errors
    /// Why the line is not a message; the client has been told.
    pub fn take_client_line(&mut self, from: Origin<'_>, line: &str, out: &mut Outbox) -> Result<(), String> {
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
            // Nothing is asked of clients.
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

    /// Refuses a line of which no id is known, and gives `why` back as the error.
    ///
    /// # Errors
    /// Always.
    pub fn refuse_line(&self, from: Origin<'_>, code: i64, why: &str, out: &mut Outbox) -> Result<(), String> {
        out.refuse(from.link, "null", &RpcError::new(code, why));
        Err(why.to_owned())
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
                let why = format!("there is no method {method} here");
                response(id.get(), Err(&RpcError::new(METHOD_NOT_FOUND, why)))
            }
        };
        out.reply(from.link, answer);
    }

    fn hold(&mut self, from: Origin<'_>, id: &RawValue, line: &str) {
        self.held.push(Held {
            link: from.link,
            session: from.session,
            headers: from.headers.map(<[Header]>::to_vec),
            id: id.to_owned(),
            line: line.to_owned(),
        });
    }

    /// A result, or none where the world was called.
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
        let call = Object::default().text("type", "tool_call").text("call_id", &call_id(self.last_call));
        let call = call.text("tool_name", &name).put_some("arguments", arguments.map(|json| one_line(json.get())));
        out.world.push(call.line());
        let progress_token = request.meta("progressToken").map(ToOwned::to_owned);
        let (link, session, era) = (from.link, from.session, request.era);
        self.calls.insert(self.last_call, InFlight { link, session, id: id.to_owned(), era, progress_token });
        Ok(None)
    }

    /// `subscriptions/listen`: acknowledged with what is honoured, and open until it is cancelled.
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

    /// A legacy client is notified of changes on this link.
    pub fn open_stream(&mut self, from: Origin<'_>) {
        self.subscriptions.retain(|it| it.link != from.link || it.id.is_some());
        self.subscriptions.push(Subscription { link: from.link, session: from.session, id: None });
    }

    /// A client no longer waits for the answer to its request, so that there is none (2025-11-25, cancellation).
    fn cancel(&mut self, session: u64, id: &RawValue, out: &mut Outbox) {
        let is_it =
            |of: u64, other: &RawValue| of == session && crate::record::is_same_id(Some(id.get()), Some(other.get()));
        let held = self.held.extract_if(.., |held| is_it(held.session, &held.id)).map(|held| held.link);
        out.ended.extend(held);
        let of_request = |it: &mut Subscription| it.id.as_ref().is_some_and(|id| is_it(it.session, id));
        out.ended.extend(self.subscriptions.extract_if(.., of_request).map(|it| it.link));
        let cancelled = self.calls.iter().find(|(_, call)| is_it(call.session, &call.id)).map(|(number, _)| *number);
        self.forget(cancelled, out);
    }

    /// A link is closed. In the modern era that cancels its requests (Streamable HTTP, "Cancellation"); before, it does not.
    pub fn close_link(&mut self, link: u64, out: &mut Outbox) {
        self.held.retain(|held| held.link != link);
        self.subscriptions.retain(|it| it.link != link);
        let modern = |(_, call): &(&u64, &InFlight)| call.link == link && call.era == Era::Modern;
        let cancelled = Vec::from_iter(self.calls.iter().filter(modern).map(|(number, _)| *number));
        self.forget(cancelled, out);
    }

    /// Cancels calls in the world; what it still answers to them is dropped.
    fn forget(&mut self, calls: impl IntoIterator<Item = u64>, out: &mut Outbox) {
        for number in calls {
            out.ended.extend(self.calls.remove(&number).map(|call| call.link));
            out.world.push(Object::default().text("type", "cancel").text("call_id", &call_id(number)).line());
        }
    }
}

/// How the world knows a call: never by the id that the client has chosen, which other clients may have chosen too.
fn call_id(number: u64) -> String {
    format!("c{number}")
}

fn capabilities(result: Object) -> Object {
    result.put("capabilities", r#"{"tools":{"listChanged":true}}"#)
}

/// The result of `initialize`: the client's version where it is served, else our newest (2025-11-25, lifecycle).
fn initialized(request: &Request<'_>) -> Object {
    let asked = request.text("protocolVersion");
    let version = LEGACY_VERSIONS.into_iter().find(|version| asked.as_deref() == Some(version));
    let result = Object::default().text("protocolVersion", version.unwrap_or(Era::Legacy.version()));
    capabilities(result).put("serverInfo", result::server_info())
}
