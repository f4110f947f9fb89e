//! A server's resources: `resources/list`, `resources/templates/list` and `resources/read`.

use super::{Client, MAX_PAGES, RequestPurpose, ServerMessage};
use pipewright_record::Fields;
use pipewright_record::json::Object;
use pipewright_record::rpc::{METHOD_NOT_FOUND, RpcError};
use serde_json::value::RawValue;

/// MCP's method that reads a resource. Calls use it like a tool with the arguments `{"uri"}`.
pub const READ_RESOURCE: &str = "resources/read";

/// A list of resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum List {
    Resources,
    /// URIs with placeholders.
    Templates,
}

impl List {
    fn method(self) -> &'static str {
        match self {
            List::Resources => "resources/list",
            List::Templates => "resources/templates/list",
        }
    }

    fn key(self) -> &'static str {
        match self {
            List::Resources => "resources",
            List::Templates => "resourceTemplates",
        }
    }
}

/// The parameters of [`READ_RESOURCE`]: the arguments as they were written, without `_meta`, which belongs to the
/// client.
pub(super) fn read_params(arguments: &str) -> Object {
    let fields = Fields::read(arguments).ok();
    let fields = fields.iter().flat_map(Fields::iter).filter(|(key, _)| *key != "_meta");
    fields.fold(Object::default(), |params, (key, value)| params.put_any(key, value))
}

impl Client {
    /// Requests the resources, then the templates; they arrive as [`ServerMessage::Resources`], page by page.
    pub fn list_resources(&mut self, out: &mut Vec<u8>) {
        self.pages = 0;
        self.request(RequestPurpose::Resources(List::Resources), List::Resources.method(), Object::default(), out);
    }

    pub(super) fn receive_resources<'a>(
        &mut self,
        list: List,
        result: Result<&'a RawValue, RpcError>,
        out: &mut Vec<u8>,
    ) -> ServerMessage<'a> {
        let failed = |why: &str| ServerMessage::NoResources(format!("{}: {why}", list.method()));
        let (entries, cursor) = match result {
            Ok(result) => match page(result, list.key()) {
                Some(page) => page,
                None => return failed("the server's answer is not a list"),
            },
            // A server without resources need not support the method.
            Err(error) if error.code == METHOD_NOT_FOUND => (Vec::new(), None),
            Err(error) => return failed(&error.message),
        };
        self.pages += 1;
        let next = match (list, cursor) {
            (_, Some(_)) if self.pages > MAX_PAGES => return failed("its list has too many pages"),
            (_, Some(cursor)) => Some((list, Object::default().put("cursor", cursor))),
            (List::Resources, None) => Some((List::Templates, Object::default())),
            (List::Templates, None) => None,
        };
        let is_last = next.is_none();
        if let Some((list, params)) = next {
            self.request(RequestPurpose::Resources(list), list.method(), params, out);
        }
        ServerMessage::Resources(entries, is_last)
    }
}

/// The entries under `key`, and the cursor of the next page.
fn page<'a>(result: &'a RawValue, key: &str) -> Option<(Vec<&'a RawValue>, Option<&'a RawValue>)> {
    let fields = Fields::read(result.get()).ok()?;
    let entries = serde_json::from_str(fields.get(key)?.get()).ok()?;
    Some((entries, fields.get("nextCursor").filter(|cursor| cursor.get() != "null")))
}
