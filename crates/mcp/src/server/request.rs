//! A client's request: its era, and the checks of that era.

use super::header::{self, Header};
use super::{INVALID_PARAMS, RpcError};
use crate::{Era, UNSUPPORTED_VERSION};
use pipewright_record::Fields;
use pipewright_record::json::Object;
use serde_json::value::RawValue;

/// The `_meta` keys of a request in the modern era.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A request whose parameters are an object and whose envelope is valid for its era.
pub(super) struct Request<'a> {
    pub method: &'a str,
    pub era: Era,
    params: Option<Fields<'a>>,
    meta: Option<Fields<'a>>,
}

impl<'a> Request<'a> {
    /// `headers` are the HTTP headers; `None` on stdio.
    ///
    /// # Errors
    /// The error response for the client (2026-07-28: overview, `_meta`; versioning; Streamable HTTP, server
    /// validation).
    pub fn read(
        method: &'a str,
        params: Option<&'a RawValue>,
        headers: Option<&[Header]>,
    ) -> Result<Request<'a>, RpcError> {
        let object = |what: &str, json: &'a RawValue| {
            Fields::read(json.get()).map_err(|why| RpcError::new(INVALID_PARAMS, format!("{what}: {why}")))
        };
        let params = params.map(|params| object("params", params)).transpose()?;
        let meta = params.as_ref().and_then(|params| params.get("_meta"));
        let meta = meta.map(|meta| object("params._meta", meta)).transpose()?;
        let request = Request { method, era: Era::Modern, params, meta };
        let is_modern = request.meta(VERSION).is_some()
            || matches!(method, "server/discover" | "subscriptions/listen")
            || headers.is_some_and(header::names_modern_version);
        if !is_modern {
            return Ok(Request { era: Era::Legacy, ..request });
        }
        request.check_envelope(headers)?;
        Ok(request)
    }

    fn check_envelope(&self, headers: Option<&[Header]>) -> Result<(), RpcError> {
        let missing = |key| RpcError::new(INVALID_PARAMS, format!("params._meta has no {key}"));
        let version = self.meta(VERSION).and_then(text).ok_or_else(|| missing(VERSION))?;
        self.meta(CAPABILITIES).filter(|it| it.get().starts_with('{')).ok_or_else(|| missing(CAPABILITIES))?;
        if let Some(headers) = headers {
            let name = match self.method {
                "tools/call" | "prompts/get" => self.text("name"),
                "resources/read" => self.text("uri"),
                _ => None,
            };
            header::check_standard(headers, &version, self.method, name.as_deref())?;
        }
        if version != Era::Modern.version() {
            let supported = format!("[\"{}\"]", Era::Modern.version());
            let data = Object::default().put("supported", supported).text("requested", &version).end();
            let message = format!("protocol version {version} is not supported");
            return Err(RpcError { data: Some(data), ..RpcError::new(UNSUPPORTED_VERSION, message) });
        }
        Ok(())
    }

    /// A field of `params._meta`.
    pub fn meta(&self, key: &str) -> Option<&'a RawValue> {
        self.meta.as_ref()?.get(key)
    }

    /// A string among the parameters.
    pub fn text(&self, key: &str) -> Option<String> {
        self.params.as_ref()?.get(key).and_then(text)
    }

    /// The name and the arguments of a `tools/call`. Nothing else of it reaches the world: neither our own marks nor
    /// `_meta`.
    ///
    /// # Errors
    /// The name is not a string, or the arguments are not an object.
    pub fn call(&self) -> Result<(String, Option<&'a RawValue>), RpcError> {
        let invalid = |why: &str| RpcError::new(INVALID_PARAMS, why);
        let name = self.text("name").ok_or_else(|| invalid("params.name is not a string"))?;
        let arguments = self.params.as_ref().and_then(|params| params.get("arguments"));
        let arguments = arguments.filter(|arguments| arguments.get() != "null");
        match arguments {
            Some(arguments) if !arguments.get().starts_with('{') => Err(invalid("params.arguments is not an object")),
            arguments => Ok((name, arguments)),
        }
    }

    /// Whether a `subscriptions/listen` requests changes of the list of tools.
    pub fn wants_tool_changes(&self) -> bool {
        let wanted = self.params.as_ref().and_then(|params| Fields::read(params.get("notifications")?.get()).ok());
        wanted.is_some_and(|wanted| wanted.get("toolsListChanged").is_some_and(|value| value.get() == "true"))
    }
}

fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

/// The id of the request that a notification cancels.
pub(super) fn cancelled<'a>(method: &str, params: Option<&'a RawValue>) -> Option<&'a RawValue> {
    let params = params.filter(|_| method == "notifications/cancelled")?;
    Fields::read(params.get()).ok()?.get("requestId")
}
