//! Interprets a server's lines, and writes the client's reactions.

use super::{Client, Era, MAX_PAGES, RequestPurpose, ServerMessage};
use crate::UNSUPPORTED_VERSION;
use crate::tools::{Tool, Tools};
use pipewright_record::Fields;
use pipewright_record::json::Object;
use pipewright_record::rpc::{METHOD_NOT_FOUND, Message, RpcError, notification, response};
use serde_json::value::RawValue;

/// Our number in the id of an answer. Some servers turn it into a string, which the MCP SDKs accept.
fn number(id: &RawValue) -> Option<u64> {
    let text = id.get();
    let digits = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
}

impl Client {
    /// Takes a line from the server; reactions are written to `out`.
    pub fn receive<'a>(&mut self, line: &'a str, out: &mut Vec<u8>) -> ServerMessage<'a> {
        match Message::read(line) {
            Err(why) => ServerMessage::Noise(why.to_string()),
            Ok(Message::Notification { method, params }) => self.receive_notification(method, params, out),
            Ok(Message::Request { id, method, params }) => self.receive_request(id, method, params, out),
            Ok(Message::Response { id, outcome }) => match number(id) {
                Some(id) => self.receive_response(id, outcome, out),
                None => ServerMessage::Noise(format!("an answer to the unknown id {}", id.get())),
            },
        }
    }

    fn receive_response<'a>(
        &mut self,
        id: u64,
        outcome: Result<&'a RawValue, RpcError>,
        out: &mut Vec<u8>,
    ) -> ServerMessage<'a> {
        match (self.asked.remove(&id), outcome) {
            (None, _) => ServerMessage::Nothing,
            (Some(RequestPurpose::Call), result) => ServerMessage::Answer(id, result),
            // An error also proves that the server is alive.
            (Some(RequestPurpose::Probe), _) => ServerMessage::Alive,
            (Some(RequestPurpose::Resources(list)), result) => self.receive_resources(list, result, out),
            (Some(RequestPurpose::Handshake), Ok(result)) => self.receive_handshake(result, out),
            (Some(RequestPurpose::Handshake), Err(error)) if self.take_refusal(&error) => {
                self.start_handshake(out);
                ServerMessage::Nothing
            }
            (Some(RequestPurpose::Handshake), Err(error)) => ServerMessage::Refused(error),
            (Some(RequestPurpose::Tools), Ok(result)) => self.receive_tools(result, out),
            // A server without tools may answer like this.
            (Some(RequestPurpose::Tools), Err(error)) if error.code == METHOD_NOT_FOUND => {
                self.end_list(Tools::new(), out)
            }
            (Some(RequestPurpose::Tools), Err(error)) => self.fail_list(&error.message),
        }
    }

    /// Takes a refusal of the handshake. Returns whether to repeat it, once: a server that rejected our version although it supports it must be asked
    /// again (2026-07-28, versioning).
    fn take_refusal(&mut self, error: &RpcError) -> bool {
        #[derive(serde::Deserialize)]
        struct Versions {
            supported: Vec<String>,
        }
        let versions = error.data.as_deref().and_then(|data| serde_json::from_str::<Versions>(data).ok());
        let speaks_ours = versions.is_some_and(|versions| versions.supported.iter().any(|it| it == self.era.version()));
        error.code == UNSUPPORTED_VERSION && speaks_ours && !std::mem::replace(&mut self.was_refused, true)
    }

    fn receive_handshake<'a>(&mut self, result: &RawValue, out: &mut Vec<u8>) -> ServerMessage<'a> {
        #[derive(serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Handshake {
            protocol_version: Option<String>,
            supported_versions: Option<Vec<String>>,
        }
        let Ok(handshake) = serde_json::from_str::<Handshake>(result.get()) else {
            return ServerMessage::Failed("the server's handshake is not a JSON object".to_owned());
        };
        match self.era {
            Era::Legacy => {
                // Any of the dated versions: their differences do not matter here.
                let Some(version) = handshake.protocol_version else {
                    return ServerMessage::Failed("the server named no protocol version".to_owned());
                };
                if version.as_str() >= Era::Modern.version() {
                    return ServerMessage::Refused(RpcError {
                        code: UNSUPPORTED_VERSION,
                        message: format!("the server uses protocol version {version}"),
                        data: None,
                    });
                }
                out.extend_from_slice(notification("notifications/initialized", None).as_bytes());
            }
            Era::Modern => {
                let versions = handshake.supported_versions.unwrap_or_default();
                if !versions.iter().any(|version| version == self.era.version()) {
                    let spoken = versions.join(", ");
                    return ServerMessage::Failed(format!(
                        "the server supports {spoken}, but not {}",
                        self.era.version()
                    ));
                }
            }
        }
        self.is_initialised = true;
        self.list(None, out);
        ServerMessage::Nothing
    }

    fn list(&mut self, cursor: Option<&str>, out: &mut Vec<u8>) {
        self.is_listing = true;
        let params = cursor.map_or_else(Object::default, |cursor| Object::default().put("cursor", cursor));
        self.request(RequestPurpose::Tools, "tools/list", params, out);
    }

    fn receive_tools<'a>(&mut self, result: &RawValue, out: &mut Vec<u8>) -> ServerMessage<'a> {
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
            Some(_) if self.pages > MAX_PAGES => self.fail_list("its list has too many pages"),
            Some(cursor) => {
                self.list(Some(cursor), out);
                ServerMessage::Nothing
            }
            None => {
                let listing = std::mem::take(&mut self.listing);
                self.end_list(listing, out)
            }
        }
    }

    fn end_list<'a>(&mut self, tools: Tools, out: &mut Vec<u8>) -> ServerMessage<'a> {
        self.tools = tools;
        self.forget_list();
        if std::mem::take(&mut self.is_stale) {
            self.list(None, out);
        }
        if std::mem::replace(&mut self.is_ready, true) { ServerMessage::Relisted } else { ServerMessage::Ready }
    }

    pub(super) fn forget_list(&mut self) {
        self.listing = Tools::new();
        (self.pages, self.is_listing) = (0, false);
    }

    /// If the tools are already known, the server can still be used.
    fn fail_list<'a>(&mut self, why: &str) -> ServerMessage<'a> {
        self.forget_list();
        self.is_stale = false;
        let why = format!("tools/list: {why}");
        if self.is_ready { ServerMessage::NotRelisted(why) } else { ServerMessage::Failed(why) }
    }

    fn receive_notification<'a>(
        &mut self,
        method: String,
        params: Option<&'a RawValue>,
        out: &mut Vec<u8>,
    ) -> ServerMessage<'a> {
        if method == "notifications/tools/list_changed" {
            // One list at a time: the pages of two would be mixed.
            if self.is_listing {
                self.is_stale = true;
            } else if self.is_ready {
                self.list(None, out);
            }
        }
        if method == "notifications/cancelled"
            && let Some(id) = params.and_then(|params| Fields::read(params.get()).ok()?.get("requestId"))
        {
            return ServerMessage::Withdraws(id);
        }
        let kind = match method.as_str() {
            "notifications/message" => "log".to_owned(),
            _ => method.strip_prefix("notifications/").unwrap_or(&method).to_owned(),
        };
        ServerMessage::Event(kind, params.map_or("{}", RawValue::get))
    }

    fn receive_request<'a>(
        &self,
        id: &'a RawValue,
        method: String,
        params: Option<&'a RawValue>,
        out: &mut Vec<u8>,
    ) -> ServerMessage<'a> {
        match method.as_str() {
            "ping" => {
                out.extend_from_slice(response(id.get(), Ok("{}")).as_bytes());
                return ServerMessage::Nothing;
            }
            "elicitation/create" if self.wants.questions => {
                return ServerMessage::Elicits(id, params.map_or("{}", RawValue::get));
            }
            _ => {
                let why = format!("this client does not support {method}");
                out.extend_from_slice(response(id.get(), Err(&RpcError::new(METHOD_NOT_FOUND, why))).as_bytes());
            }
        }
        ServerMessage::Asks(method, params.map_or("{}", RawValue::get))
    }
}
