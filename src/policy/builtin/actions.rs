//! Arguments that say what is done, whatever the tool is called: a method, a verb, a command, a file to write to, code, another call.
//! Only keys that carry actions count: a text to search for, or a filter, may say anything.

use super::names::{self, Class};
use super::nested::{ARGUMENTS, called, short_call, unreadable_call};
use super::{JudgedCall, address, found, plain_key, run, sql};
use crate::policy::detector::ActionKind;
use crate::policy::identifier::words;
use crate::policy::verdict::{Decision, Verdict};
use crate::record::Call;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Words of tools that tell something about their arguments, and do nothing with them.
const DESCRIBING: &[&str] =
    &["describe", "explain", "help", "lint", "parse", "summarise", "summarize", "tokenize", "validate"];

const METHODS: &[&str] = &["method", "httpmethod", "requestmethod", "httpverb"];
const VERBS: &[&str] =
    &["action", "actions", "operation", "operations", "op", "command", "cmd", "mode", "subcommand", "verb", "method"];
const COMMANDS: &[&str] =
    &["command", "commands", "cmd", "commandline", "shellcommand", "shell", "bash", "argv", "exec", "script"];
const SCRIPTS: &[&str] =
    &["initscript", "javascript", "js", "jscode", "eval", "evaluate", "pagefunction", "script", "userscript"];
const FUNCTIONS: &[&str] = &["function", "expression", "predicate", "code"];
/// Files that are written to, whatever stands there.
const WRITTEN: &[&str] = &[
    "outfile",
    "outputfile",
    "outputfilename",
    "outputpath",
    "outpath",
    "outputdir",
    "outputdirectory",
    "saveto",
    "savepath",
    "saveas",
    "savefile",
    "savedir",
    "exportpath",
    "exportto",
    "downloadpath",
    "downloaddir",
    "downloadto",
    "writeto",
    "dumpto",
    "dumpfile",
    "tofile",
    "destfile",
    "destpath",
    "destinationpath",
    "destinationfile",
    "requestfilepath",
    "responsefilepath",
    "tracefile",
    "logfile",
];
/// Those that are written to where what stands there is a path.
const PERHAPS_WRITTEN: &[&str] = &["output", "out", "dest", "destination", "dst", "export", "save"];
/// Those that are written to by tools that show a page.
const NAMED: &[&str] = &["filename", "file", "filepath", "path"];
const SHOWING_PAGES: &[&str] = &[
    "browser",
    "capture",
    "console",
    "har",
    "heap",
    "network",
    "page",
    "pdf",
    "performance",
    "recording",
    "screenshot",
    "snapshot",
    "trace",
    "tracing",
    "video",
];
/// What holds further calls, as values or as JSON text.
const CALLS: &[&str] = &[
    "then",
    "call",
    "calls",
    "toolcall",
    "toolcalls",
    "invocations",
    "steps",
    "batch",
    "requests",
    "actions",
    "operations",
    "commands",
    "tasks",
    "next",
];
/// Nothing but SQL.
const SQL: &[&str] = &["sql", "sqlquery", "statement", "statements"];
/// A query in any language, or words to search for.
const QUERIES: &[&str] = &["cypher", "queries", "query"];
/// What is only looked for.
const FILTERS: &[&str] =
    &["filter", "filters", "where", "query", "search", "criteria", "match", "facets", "example", "examples"];

/// Judges a call within another, and takes what is decided over.
pub type Inner<'a> = &'a dyn Fn(&Call<'_>) -> Decision;

/// What the arguments say, where that is to be asked about.
pub fn judge(call: &JudgedCall<'_>, class: &Class, inner: Inner<'_>) -> Option<Decision> {
    let tool = words(call.tool);
    let has = |list: &[&str]| tool.iter().any(|word| list.contains(&word.as_str()));
    // `Run` is judged by what it runs; a call within it may still be denied.
    let judged = Judged {
        inner,
        is_only_nested: *class == Class::Run || *class == Class::Observe && has(DESCRIBING),
        is_observing: *class == Class::Observe,
        is_pressing: *class == Class::Press,
        shows_pages: has(SHOWING_PAGES),
    };
    let mut decision = judged.as_call(call);
    for (key, raw) in call.arguments.iter() {
        if judged.is_of_interest(key, raw.get()) {
            let own = match serde_json::from_str::<Value>(raw.get()) {
                Ok(value) => judged.value(&plain_key(key), &value),
                Err(_) => Some(Decision::new(Verdict::Confirm, "builtin.unknown", "an argument cannot be read")),
            };
            decision = stricter(decision, own);
        }
    }
    decision
}

fn stricter(one: Option<Decision>, other: Option<Decision>) -> Option<Decision> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.or_stricter(other)),
        (one, other) => one.or(other),
    }
}

fn ask(kind: ActionKind, because: String) -> Option<Decision> {
    Some(found(kind, "builtin.argument", because))
}

struct Judged<'a> {
    inner: Inner<'a>,
    /// Only calls within the call are looked at.
    is_only_nested: bool,
    is_observing: bool,
    is_pressing: bool,
    shows_pages: bool,
}

impl Judged<'_> {
    /// The arguments may be a call as a whole: `{"name":"send_email","arguments":{...}}`.
    fn as_call(&self, call: &JudgedCall<'_>) -> Option<Decision> {
        let mut keys = call.arguments.iter().map(|(key, _)| plain_key(key));
        if !keys.any(|key| ARGUMENTS.contains(&key.as_str())) {
            return None;
        }
        let fields: Map<String, Value> = serde_json::from_str(call.raw).ok()?;
        let (tool, arguments) = called(&fields, false)?;
        let arguments = RawValue::from_string(arguments).ok()?;
        Some((self.inner)(&short_call(tool, &arguments)))
    }

    /// Most arguments are plain values under keys that carry no action: they are not read.
    fn is_of_interest(&self, key: &str, json: &str) -> bool {
        let key = plain_key(key);
        let lists: [&[&str]; 9] =
            [METHODS, VERBS, COMMANDS, SCRIPTS, FUNCTIONS, WRITTEN, PERHAPS_WRITTEN, NAMED, CALLS];
        json.starts_with(['{', '['])
            || lists.iter().any(|list| list.contains(&key.as_str()))
            || is_address(&key)
            || SQL.contains(&key.as_str())
            || QUERIES.contains(&key.as_str())
    }

    fn value(&self, key: &str, value: &Value) -> Option<Decision> {
        let own = if self.is_only_nested { None } else { self.own(key, value) };
        let within = match value {
            Value::Object(_) | Value::Array(_) if FILTERS.contains(&key) => None,
            Value::Object(fields) => self.object(key, fields),
            // The words of one command.
            Value::Array(items) if is_shell(key) && items.iter().all(Value::is_string) => None,
            Value::Array(items) => items.iter().map(|item| self.value(key, item)).fold(None, stricter),
            Value::String(text) if CALLS.contains(&key) && text.trim_start().starts_with(['{', '[']) => {
                match serde_json::from_str(text) {
                    Ok(value) => self.value(key, &value),
                    Err(_) => Some(unreadable_call()),
                }
            }
            Value::String(_) if key == "then" => Some(unreadable_call()),
            _ => None,
        };
        stricter(own, within)
    }

    fn object(&self, key: &str, fields: &Map<String, Value>) -> Option<Decision> {
        let called = called(fields, key == "then").map(|(tool, arguments)| {
            let raw = RawValue::from_string(arguments);
            raw.map_or_else(|_| unreadable_call(), |arguments| (self.inner)(&short_call(tool, &arguments)))
        });
        let called = match called {
            None if key == "then" => Some(unreadable_call()),
            called => called,
        };
        // The arguments of a call are judged with it, and only once: calls may nest deep.
        let is_judged = |key: &str| called.is_some() && ARGUMENTS.contains(&key);
        let fields = fields.iter().map(|(key, value)| (plain_key(key), value)).filter(|(key, _)| !is_judged(key));
        fields.map(|(key, value)| self.value(&key, value)).fold(called.clone(), stricter)
    }

    /// What a key and its value say by themselves.
    fn own(&self, key: &str, value: &Value) -> Option<Decision> {
        let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
        let is = |keys: &[&str]| keys.contains(&key);
        let method = text.filter(|_| is(METHODS)).and_then(|text| judge_method(key, text));
        let verb = text.filter(|_| is(VERBS) && !self.is_pressing).and_then(|text| judge_verb(key, text));
        let command = if is(COMMANDS) && !self.is_pressing { judge_command(key, value) } else { None };
        let script = text.filter(|text| match () {
            () if is(SCRIPTS) => key == "initscript" || looks_like_code(text),
            () if is(FUNCTIONS) && self.is_observing => {
                key != "code" && (text.contains("=>") || text.contains("function") && text.contains('('))
            }
            () => is(FUNCTIONS) && looks_like_code(text),
        });
        let written =
            text.filter(|text| is(WRITTEN) || is(PERHAPS_WRITTEN) && is_path(text) || is(NAMED) && self.shows_pages);
        let decisions = [
            method,
            verb,
            command,
            script.and_then(|_| ask(ActionKind::Run, format!("it runs the code in {key:?}"))),
            written.and_then(|_| ask(ActionKind::Overwrite, format!("it writes to the file in {key:?}"))),
            text.filter(|text| is_address(key) && address::runs(text))
                .and_then(|_| ask(ActionKind::Run, "the address is a program".to_owned())),
            text.filter(|text| self.is_observing && is_writing_sql(key, text))
                .and_then(|_| ask(ActionKind::Run, format!("the SQL in {key:?} may do more than read"))),
            text.filter(|text| key == "query" && is_mutation(text))
                .and_then(|_| ask(ActionKind::Submit, "the query is a mutation".to_owned())),
        ];
        decisions.into_iter().fold(None, stricter)
    }
}

fn is_address(key: &str) -> bool {
    ["url", "uri", "href", "link", "address"].contains(&key)
}

fn judge_method(key: &str, method: &str) -> Option<Decision> {
    let kind = match method.to_uppercase().as_str() {
        "DELETE" | "PURGE" => ActionKind::Delete,
        "PUT" | "PATCH" => ActionKind::Overwrite,
        "POST" => ActionKind::Submit,
        _ => return None,
    };
    ask(kind, format!("its {key} is {method:?}"))
}

/// A verb as a value says what the same word in a tool's name says.
fn judge_verb(key: &str, verb: &str) -> Option<Decision> {
    let is_name = verb.len() <= 40 && words(verb).len() <= 4 && !verb.contains('\n');
    let class = names::class(verb);
    let mut decision = match &class {
        Class::Destroy(kind, word) if is_name => ask(*kind, format!("its {key} says {word:?}"))?,
        Class::Change(word) if is_name => {
            Decision::new(Verdict::Confirm, "builtin.argument", format!("its {key} says {word:?}"))
        }
        _ => return None,
    };
    decision.pays |= names::pays(verb, &class);
    Some(decision)
}

/// A command that isn't known to read; a single word may be a verb, which is judged as one.
fn judge_command(key: &str, value: &Value) -> Option<Decision> {
    let is_word = |text: &str| text.chars().all(|one| one.is_alphanumeric() || "_-.".contains(one));
    let may_run = match value {
        Value::String(text) => {
            let may_be_verb =
                is_word(text.trim()) && (!is_shell(key) || !matches!(names::class(text), Class::Unknown | Class::Run));
            !may_be_verb && (key != "script" || looks_like_code(text)) && !run::command_reads(value)
        }
        Value::Array(items) => {
            items.iter().all(Value::is_string) && !items.is_empty() && is_shell(key) && !run::command_reads(value)
        }
        _ => false,
    };
    may_run.then(|| found(ActionKind::Run, "builtin.argument", format!("it may run the text in {key:?}")))
}

/// Whether a key holds nothing but a command to run.
fn is_shell(key: &str) -> bool {
    ["argv", "cmd", "command", "exec", "shell"].contains(&key)
}

fn looks_like_code(text: &str) -> bool {
    text.contains(['(', ';', '{', '=', '`'])
}

fn is_path(text: &str) -> bool {
    let begins = ["/", "./", "../", "~", "\\"].into_iter().any(|start| text.starts_with(start));
    let ending = text.rsplit('.').next().filter(|ending| ending.len() < text.len());
    let has_ending = ending.is_some_and(|ending| {
        (1..=5).contains(&ending.len())
            && ending.chars().all(|one| one.is_ascii_alphanumeric())
            && ending.contains(|one: char| one.is_ascii_alphabetic())
    });
    begins || has_ending && !text.contains(' ') || text.as_bytes().get(1..3) == Some(b":\\")
}

/// Whether a text is SQL that does more than read: any text under a key for SQL, and a query that begins like a statement.
fn is_writing_sql(key: &str, text: &str) -> bool {
    let mut words = text.split_whitespace().map(str::to_ascii_lowercase);
    let begins = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let is_statement = match (begins.0.as_str(), begins.1.as_str()) {
        ("delete", "from") | ("insert" | "merge" | "replace", "into") | ("explain", "analyze") => true,
        ("alter" | "create" | "drop" | "truncate", object) => OBJECTS.contains(&object),
        ("update", _) => words.next().is_some_and(|word| word == "set"),
        _ => false,
    };
    let is_cypher = text.contains("DETACH DELETE") || text.contains("detach delete");
    let (is_sql, is_query) = (SQL.contains(&key), QUERIES.contains(&key));
    (is_sql || is_query && is_statement) && !sql::only_reads(text) || is_query && is_cypher
}

/// What SQL makes and drops.
const OBJECTS: &[&str] =
    &["column", "database", "index", "or", "role", "schema", "sequence", "table", "temp", "user", "view"];

/// A query of GraphQL that changes something.
fn is_mutation(text: &str) -> bool {
    let mut words = text.split(|one: char| !one.is_alphanumeric());
    text.contains('{') && words.any(|word| word == "mutation")
}
