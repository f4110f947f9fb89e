//! Keys of arguments, and what a key tells by itself about what its value does.

use super::acting_key::KeyAction;
use super::known::Known;
use super::{address, files, flags, plain_key, queries, request};
use crate::lists::actions::CALLS;
use std::borrow::Cow;
use std::sync::LazyLock;

pub const VERBS: &[&str] = &[
    "action",
    "actionname",
    "actions",
    "actiontype",
    "cmd",
    "command",
    "do",
    "method",
    "methodname",
    "mode",
    "op",
    "operation",
    "operationname",
    "operations",
    "requesttype",
    "subcommand",
    "verb",
];
/// Keys for the name of what a tool carries out, or tells about: `get_schema` of an operation.
pub const CALLED: &[&str] = &["apiname", "function", "functionname", "operationid", "toolname"];
/// Keys for arguments as JSON text.
pub const JSON: &[&str] = &[
    "args",
    "arguments",
    "argumentsjson",
    "body",
    "data",
    "input",
    "json",
    "jsonargs",
    "jsoninput",
    "options",
    "parameters",
    "params",
    "payload",
    "request",
    "requestbody",
    "requestjson",
    "toolinput",
];
pub const COMMANDS: &[&str] = &[
    "clicommand",
    "command",
    "commands",
    "cmd",
    "commandline",
    "shellcommand",
    "shell",
    "bash",
    "argv",
    "exec",
    "posthook",
    "prehook",
    "script",
];
pub const SCRIPTS: &[&str] = &[
    "initscript",
    "javascript",
    "js",
    "jscode",
    "eval",
    "evaluate",
    "executejs",
    "executejavascript",
    "injectjs",
    "jsscript",
    "jssnippet",
    "pagefunction",
    "runjs",
    "script",
    "userscript",
];
pub const FUNCTIONS: &[&str] = &["function", "expression", "predicate", "code"];
/// Keys for SQL only, and how other such keys end.
pub const SQL: &[&str] = &["cql", "sqlquery", "sqlscript", "sqltext", "statements"];
pub const SQL_ENDINGS: &[&str] = &["sql", "statement", "stmt"];
/// Names of databases that end so.
pub const NOT_SQL: &[&str] = &["mysql", "nosql", "postgresql"];
/// Keys for a query in any language, or words to search for.
pub const QUERIES: &[&str] =
    &["cypher", "nativequery", "queries", "query", "querystring", "querytext", "rawquery", "script"];
/// Keys for conditions of a search.
pub const FILTERS: &[&str] =
    &["filter", "filters", "where", "query", "search", "criteria", "match", "facets", "example", "examples"];

/// Keys for a part of a query, behind which a statement may follow.
pub const PARTS: &[&str] =
    &["condition", "conditions", "filter", "filters", "having", "orderby", "where", "whereclause"];

/// An argument's key.
pub struct ArgumentKey<'a> {
    pub written: &'a str,
    /// Without capitals and punctuation.
    pub plain: Cow<'a, str>,
    pub traits: KeyTraits,
}

/// What a key tells by itself.
#[derive(Debug, Clone, Copy)]
pub struct KeyTraits {
    /// Whether each value of it is judged.
    pub is_of_interest: bool,
    /// What it does by itself.
    pub action: Option<KeyAction>,
    /// Whether it is for the body of a request.
    pub is_body: bool,
    /// Whether it is for an address.
    pub is_address: bool,
    /// Whether it is for an address if the value is one.
    pub may_be_address: bool,
}

impl KeyTraits {
    fn of(written: &str, plain: &str) -> KeyTraits {
        let is_listed = [VERBS, CALLED, JSON, COMMANDS, SCRIPTS, FUNCTIONS, CALLS, QUERIES, PARTS]
            .iter()
            .any(|it| it.contains(&plain));
        let action = KeyAction::of(written, plain);
        let is_of_interest = !written.is_ascii()
            || action.is_some()
            || is_listed
            || request::is_method(plain)
            || request::is_headers(plain)
            || files::is_file(written)
            || flags::holds_options(written)
            || queries::is_key(plain)
            || is_sql_key(plain);
        let (is_address, may_be_address) = (address::is_key(written), address::may_be_key(written));
        KeyTraits { is_of_interest, action, is_body: request::is_body(plain), is_address, may_be_address }
    }
}

static KEYS: LazyLock<Known<KeyTraits>> = LazyLock::new(Known::default);

impl<'a> ArgumentKey<'a> {
    pub fn new(written: &'a str) -> ArgumentKey<'a> {
        let plain = plain_key(written);
        let traits = KEYS.of(written, || KeyTraits::of(written, &plain));
        ArgumentKey { written, plain, traits }
    }

    pub fn is(&self, keys: &[&str]) -> bool {
        keys.contains(&&*self.plain)
    }

    pub fn is_address(&self) -> bool {
        self.traits.is_address
    }
}

/// Whether a key is for SQL only.
pub fn is_sql_key(key: &str) -> bool {
    SQL.contains(&key) || !NOT_SQL.contains(&key) && SQL_ENDINGS.iter().any(|ending| key.ends_with(ending))
}
