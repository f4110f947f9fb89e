//! Arguments with an action of their own, for any tool: a method, a verb, a command, a file to write to, code, another
//! call. Only keys that carry actions count: a text to search for, or a filter, may be anything.

use super::argument_key::{
    ArgumentKey, CALLED, COMMANDS, FILTERS, FUNCTIONS, JSON, KeyTraits, PARTS, QUERIES, SCRIPTS, VERBS, is_sql_key,
};
use super::names::{self, Class};
use super::nested::{ARGUMENTS, called, short_call, unreadable_call};
use super::{
    JudgedCall, acting_key, address, disguise, files, flags, found, found_text, parts, plain_key, queries, request,
    run, sql, statements,
};
use crate::detector::ActionKind;
use crate::lists::actions::{CALLS, DESCRIBING, PROSE, TELLING};
use crate::verdict::{Decision, Verdict};
use pipewright_record::Call;
use pipewright_record::identifier::words;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Those of the describing tools that do not even ask a database what it would do.
const PARSING: &[&str] = &["lint", "parse", "tokenize", "validate"];

const DATABASES: &[&str] = &["database", "databases", "db", "mysql", "postgres", "sql", "sqlite", "table", "tables"];
/// Judges a call within another.
pub type JudgeInner<'a> = &'a dyn Fn(&Call<'_>) -> Decision;

/// The decision on the arguments, if they need approval.
pub fn judge(call: &JudgedCall<'_>, class: &Class, inner: JudgeInner<'_>) -> Option<Decision> {
    let has = |list: &[&str]| call.words.iter().any(|word| list.contains(&word.as_str()));
    let top: Vec<ArgumentKey<'_>> = call.arguments.iter().map(|(key, _)| ArgumentKey::new(key)).collect();
    let judged = JudgedTool {
        inner,
        name: call.tool,
        tool: &call.words,
        class,
        is_describing: *class == Class::Observe && has(DESCRIBING),
        is_parsing: has(PARSING),
        is_graph: has(&["cypher", "graph", "memgraph", "neo4j"]) || top.iter().any(|key| key.is(&["cypher"])),
        is_request: top.iter().any(ArgumentKey::is_address),
        is_get: call.arguments.iter().zip(&top).any(|((_, raw), key)| {
            let method = || serde_json::from_str::<String>(raw.get()).ok();
            request::is_method(&key.plain) && method().is_some_and(|method| request::is_safe(&method))
        }),
    };
    let together = if judged.is_observing() { acting_key::judge_together(judged.tool, &top) } else { None };
    let mut decision = stricter(judged.as_call(call), together);
    for ((_, raw), key) in call.arguments.iter().zip(&top) {
        if judged.is_of_interest(key, raw.get()) {
            let own = match serde_json::from_str::<Value>(raw.get()) {
                Ok(value) => judged.argument(key, &value),
                Err(_) => Some(Decision::new(Verdict::Confirm, "builtin.unknown", "an argument cannot be read")),
            };
            decision = stricter(decision, own);
        }
    }
    decision
}

fn stricter(one: Option<Decision>, other: Option<Decision>) -> Option<Decision> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.stricter(other)),
        (one, other) => one.or(other),
    }
}

fn ask(kind: ActionKind, because: String) -> Option<Decision> {
    Some(found(kind, "builtin.argument", because))
}

fn ask_about_text(kind: ActionKind, because: String) -> Option<Decision> {
    Some(found_text(kind, "builtin.argument", because))
}

#[derive(Clone, Copy)]
struct JudgedTool<'a> {
    inner: JudgeInner<'a>,
    name: &'a str,
    /// The words of its name.
    tool: &'a [String],
    class: &'a Class,
    /// Whether it describes its arguments, and does nothing else with them.
    is_describing: bool,
    /// Whether it reads its arguments without running them.
    is_parsing: bool,
    /// Whether it asks a graph database.
    is_graph: bool,
    /// Whether it has an address.
    is_request: bool,
    /// Whether its method changes nothing.
    is_get: bool,
}

impl JudgedTool<'_> {
    /// Judges the arguments as a call of their own: `{"name":"send_email","arguments":{...}}`.
    fn as_call(&self, call: &JudgedCall<'_>) -> Option<Decision> {
        let mut keys = call.arguments.iter().map(|(key, _)| plain_key(key));
        if !keys.any(|key| ARGUMENTS.contains(&&*key)) {
            return None;
        }
        let fields: Map<String, Value> = serde_json::from_str(call.raw).ok()?;
        let (tool, arguments) = called(&fields, false)?;
        let arguments = RawValue::from_string(arguments).ok()?;
        Some((self.inner)(&short_call(tool, &arguments)))
    }

    fn is_observing(&self) -> bool {
        *self.class == Class::Observe
    }

    /// Most arguments are plain values under keys that carry no action; they are not parsed.
    fn is_of_interest(&self, key: &ArgumentKey<'_>, json: &str) -> bool {
        let KeyTraits { is_of_interest, is_body, is_address, may_be_address, .. } = key.traits;
        json.starts_with(['{', '['])
            || is_of_interest
            || self.is_request && is_body
            || is_address
            // JSON may have a slash with an escape.
            || may_be_address && json.contains(['/', '\\'])
            || queries::may_have_operator(json)
            || queries::may_be_mutation(json)
            || self.is_observing() && (flags::may_be_flag(json) || flags::may_be_option(json))
    }

    /// Judges the whole value of a key.
    fn argument(&self, key: &ArgumentKey<'_>, value: &Value) -> Option<Decision> {
        if disguise::is_disguised(key.written) {
            let why = format!("the key {:?} has letters that look like others", key.written);
            return Some(Decision::new(Verdict::Confirm, "builtin.unknown", why));
        }
        stricter(self.injected(key, value), self.value(key, value))
    }

    /// Judges options of a program: under a key for them, or as text that a program takes for an option.
    fn injected(&self, key: &ArgumentKey<'_>, value: &Value) -> Option<Decision> {
        let has_options = || !flags::options(key.written, value).is_empty() || flags::has_option(value);
        if !matches!(self.class, Class::Observe | Class::Navigate) || !has_options() {
            return None;
        }
        let of_program = flags::judge_program(parts::own(self.name), value);
        // Words to search for may be about options.
        match queries::is_key(&key.plain) {
            true => of_program,
            false => stricter(of_program, flags::judge_injected(key.written, value)),
        }
    }

    fn value(&self, key: &ArgumentKey<'_>, value: &Value) -> Option<Decision> {
        let own = match value {
            _ if !self.is_describing => self.own(key, value),
            // A database may run what it is to explain.
            Value::String(text) if !self.is_parsing => self.sql(&key.plain, text.trim()),
            _ => None,
        };
        let own = stricter(self.written(key, value), own);
        // `Run` is judged by the code that it runs; a call within it may still be denied.
        let own = if matches!(self.class, Class::Run | Class::Own) { None } else { own };
        let within = match value {
            Value::Object(_) | Value::Array(_) if key.is(FILTERS) => queries::judge_value(value),
            Value::Object(fields) => self.object(key, fields),
            // The words of a single command.
            Value::Array(items) if is_shell(&key.plain) && items.iter().all(Value::is_string) => None,
            Value::Array(items) => items.iter().map(|item| self.value(key, item)).fold(None, stricter),
            Value::String(text) if key.is(CALLS) && text.trim_start().starts_with(['{', '[']) => {
                match serde_json::from_str(text) {
                    Ok(value) => self.value(key, &value),
                    Err(_) => Some(unreadable_call()),
                }
            }
            Value::String(_) if key.is(&["then"]) => Some(unreadable_call()),
            // Arguments as JSON text, perhaps as JSON text of JSON text.
            Value::String(text) if key.is(JSON) && text.trim_start().starts_with(['{', '[', '"']) => {
                serde_json::from_str(text).ok().and_then(|value| self.value(key, &value))
            }
            _ => None,
        };
        stricter(own, within)
    }

    fn object(&self, key: &ArgumentKey<'_>, fields: &Map<String, Value>) -> Option<Decision> {
        let may_lack_arguments = key.is(&["then"]);
        let called = called(fields, may_lack_arguments).map(|(tool, arguments)| {
            let raw = RawValue::from_string(arguments);
            raw.map_or_else(|_| unreadable_call(), |arguments| (self.inner)(&short_call(tool, &arguments)))
        });
        let called = match called {
            None if may_lack_arguments => Some(unreadable_call()),
            called => called,
        };
        let is_call = called.is_some();
        let operator = fields.keys().find_map(|key| queries::operator_of_key(key)).map(queries::decision_on);
        let called = stricter(stricter(called, operator), self.done(key, fields));
        // The arguments of a call are judged with it, and only once: calls may be nested deeply.
        let is_judged = |key: &ArgumentKey<'_>| is_call && key.is(ARGUMENTS);
        let fields: Vec<_> = fields.iter().map(|(key, value)| (ArgumentKey::new(key), value)).collect();
        let judged =
            JudgedTool { is_request: self.is_request || fields.iter().any(|(key, _)| key.is_address()), ..*self };
        let fields = fields.iter().filter(|(key, _)| !is_judged(key));
        fields.map(|(key, value)| judged.argument(key, value)).fold(called.clone(), stricter)
    }

    /// Judges an action that is an object: `{"type": "click", ...}`, `{"delete": {...}}`.
    fn done(&self, key: &ArgumentKey<'_>, fields: &Map<String, Value>) -> Option<Decision> {
        if !key.is(VERBS) && !key.is(&["steps"]) || self.is_describing {
            return None;
        }
        let done = fields.iter().map(|(own, value)| match value {
            Value::String(verb) if ["kind", "name", "type"].contains(&&*plain_key(own)) => self.verb(own, verb),
            Value::Object(_) | Value::Array(_) => self.verb(&key.plain, own),
            _ => None,
        });
        done.fold(None, stricter)
    }

    /// Judges writing to a file, for tools that only describe their arguments, too.
    fn written(&self, key: &ArgumentKey<'_>, value: &Value) -> Option<Decision> {
        let file = value.as_str().map(str::trim).filter(|text| !text.is_empty());
        let file = file.filter(|text| files::is_written(self.tool, key.written, text));
        let flag = if self.is_observing() { flags::judge_flag(key.written, value) } else { None };
        let options = if self.is_observing() { flags::options(key.written, value) } else { Vec::new() };
        let option = |(option, value): &(String, Value)| self.written(&ArgumentKey::new(option), value);
        let found = file.and_then(|_| ask(ActionKind::Overwrite, format!("it writes to the file in {:?}", key.plain)));
        options.iter().map(option).fold(stricter(found, flag), stricter)
    }

    /// Judges the action of a key and its value.
    fn own(&self, key: &ArgumentKey<'_>, value: &Value) -> Option<Decision> {
        let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
        let (plain, is_pressing) = (&*key.plain, *self.class == Class::Press);
        let observed = text.filter(|_| self.is_observing());
        let script = text.filter(|text| {
            if key.is(SCRIPTS) {
                key.is(&["initscript"]) || looks_like_code(text)
            } else if key.is(FUNCTIONS) && self.is_observing() {
                !key.is(&["code"]) && (text.contains("=>") || text.contains("function") && text.contains('('))
            } else {
                key.is(FUNCTIONS) && looks_like_code(text)
            }
        });
        let decisions = [
            self.request(key, value),
            text.filter(|_| self.names_verb(key) && !is_pressing).and_then(|text| self.verb(plain, text)),
            key.traits.action.and_then(|action| action.judge(key, value, self.class)),
            if key.is(COMMANDS) && !is_pressing { judge_command(plain, value) } else { None },
            script.and_then(|_| ask_about_text(ActionKind::Run, format!("it runs the code in {plain:?}"))),
            text.filter(|text| key.is_address() && address::runs(text))
                .and_then(|_| ask_about_text(ActionKind::Run, "the address is a program".to_owned())),
            observed
                .filter(|text| address::is_address(key.written, text))
                .and_then(|text| address::judge_read(self.tool, key.written, text)),
            observed
                .filter(|text| plain == "path" && self.makes_secret(text))
                .and_then(|_| ask(ActionKind::Grant, format!("it makes a secret at {plain:?}"))),
            observed.and_then(|text| self.sql(plain, text)),
            text.and_then(|text| queries::judge(plain, text, self.is_graph)),
        ];
        decisions.into_iter().fold(None, stricter)
    }

    /// Whether a path of HashiCorp's Vault makes a new secret when it is read.
    fn makes_secret(&self, path: &str) -> bool {
        self.tool.iter().any(|word| word == "vault") && (path.contains("/creds/") || path.ends_with("/create"))
    }

    /// Judges SQL.
    fn sql(&self, key: &str, text: &str) -> Option<Decision> {
        let writes = (is_sql_key(key) || !is_prose(self.name)) && is_writing_sql(key, text);
        writes.then(|| {
            let why = format!("the query in {key:?} may do more than read");
            Some(ask_about_text(ActionKind::Run, why)?.with_parts(&[sql::cause(text)]))
        })?
    }

    /// Judges what a request does besides getting a page.
    fn request(&self, key: &ArgumentKey<'_>, value: &Value) -> Option<Decision> {
        let is_getting = self.is_request && matches!(self.class, Class::Observe | Class::Navigate);
        let is_sending = is_getting && !self.is_get;
        match value.as_str().map(str::trim) {
            _ if request::is_headers(&key.plain) => request::judge_headers(&key.plain, value),
            _ if is_sending && request::is_body(&key.plain) => request::judge_body(&key.plain, value),
            _ if is_getting && flags::holds_options(key.written) => {
                request::judge_options(key.written, &flags::texts(value))
            }
            Some(method) if request::is_method(&key.plain) && !method.is_empty() => {
                request::judge_method(&key.plain, method, self.is_request)
            }
            _ => None,
        }
    }

    /// Whether a key is for a verb. A tool may only tell about an operation.
    fn names_verb(&self, key: &ArgumentKey<'_>) -> bool {
        let tells = || self.tool.iter().any(|word| TELLING.contains(&word.as_str()));
        key.is(VERBS) || key.is(CALLED) && self.is_observing() && !tells()
    }

    /// Judges a verb as a value like the same word in a tool's name.
    fn verb(&self, key: &str, verb: &str) -> Option<Decision> {
        let is_name = verb.len() <= 40 && words(verb).len() <= 4 && !verb.contains('\n');
        if is_name && disguise::is_disguised(verb) {
            let why = format!("its {key} has letters that look like others");
            return Some(Decision::new(Verdict::Confirm, "builtin.argument", why));
        }
        // A tool that leads to other pages acts on the thing in its name: `browser_tabs` closes tabs.
        let class = match self.class {
            Class::Navigate => names::class(&format!("{verb}_{}", parts::own(self.name))),
            _ => names::class(verb),
        };
        let mut decision = match &class {
            Class::Destroy(kind, word) if is_name => ask(*kind, format!("its {key} says {word:?}"))?,
            Class::Change(word) if is_name => {
                Decision::new(Verdict::Confirm, "builtin.argument", format!("its {key} says {word:?}"))
            }
            // The name says that it only looks; queries select, too.
            Class::Activate | Class::Press | Class::Enter | Class::Run
                if is_name && *self.class == Class::Observe && !words(verb).iter().any(|word| word == "select") =>
            {
                Decision::new(Verdict::Confirm, "builtin.argument", format!("its {key} says {verb:?}"))
            }
            _ => return None,
        };
        decision.pays |= names::is_payment(verb, &class);
        Some(decision)
    }
}

/// Judges a command that is not known to read; a single word may be a verb, which is judged as one.
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
    may_run.then(|| {
        // Text under other keys may be in any language.
        let causes = if is_shell(key) { run::command_causes(value) } else { Vec::new() };
        let because = format!("it may run the text in {key:?}");
        found_text(ActionKind::Run, "builtin.argument", because).with_parts(&causes)
    })
}

/// Whether a key is only for a command to run.
fn is_shell(key: &str) -> bool {
    ["argv", "cmd", "command", "exec", "shell"].contains(&key)
}

fn looks_like_code(text: &str) -> bool {
    text.contains(['(', ';', '{', '=', '`'])
}

/// Whether a text is SQL that does more than read: any text under a key for SQL, a query that begins like a
/// statement, or a filter with such a one behind it.
fn is_writing_sql(key: &str, text: &str) -> bool {
    let mut parts = text.split(';');
    let is_statement = match key {
        _ if is_sql_key(key) => true,
        _ if QUERIES.contains(&key) => parts.any(statements::begins_statement),
        _ if PARTS.contains(&key) => parts.skip(1).any(statements::begins_statement),
        _ => false,
    };
    is_statement && !sql::only_reads(text)
}

pub(super) fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|one: char| !one.is_alphanumeric()).map(str::to_ascii_lowercase)
}

/// Whether a tool, by its name, finds texts by words: `search_docs`, but not `search_database`.
pub(super) fn is_prose(tool: &str) -> bool {
    // A server may be called `search`.
    let words = words(parts::own(tool));
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    has(PROSE) && !has(DATABASES)
}
