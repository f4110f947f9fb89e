//! Queries in other languages than SQL that do more than read: they have signs that words to search for do not have.

use super::found_text;
use crate::detector::ActionKind;
use crate::lists::queries::{
    DOCUMENT_METHODS, ENDINGS, FLUX_FUNCTIONS, GRAPH_BEGINNINGS, GRAPH_CLAUSES, GRAPH_STEPS, GRAPH_UPDATES, KEYS,
    KUSTO_COMMANDS, KUSTO_FUNCTIONS, REDIS_COMMANDS, REPLICA_METHODS, RUNNING_OPERATORS, SEARCH_COMMANDS,
    STEPS_ON_FOUND, WRITING_OPERATORS,
};
use crate::verdict::Decision;
use pipewright_record::identifier::words;
use serde_json::Value;

/// Whether a key, without punctuation, is for a query in any language.
pub fn is_key(key: &str) -> bool {
    KEYS.contains(&key) || ENDINGS.iter().any(|ending| key.ends_with(ending))
}

/// Whether a value, JSON text, may have an operator of MongoDB in it.
pub fn may_have_operator(json: &str) -> bool {
    json.contains('$') || json.contains("\\u0024")
}

/// Judges a text under any key; gives the decision if it does more than read. `is_graph` if its database may be one
/// that takes Cypher.
pub fn judge(key: &str, text: &str, is_graph: bool) -> Option<Decision> {
    let operator = if text.starts_with(['{', '[']) { operator_in_text(text) } else { None };
    if let Some(operator) = operator {
        return Some(decision_on(operator));
    }
    let ask = |kind, why: String| Some(found_text(kind, "builtin.argument", why));
    match () {
        () if begins_mutation(text) => ask(ActionKind::Submit, "the text is a mutation".to_owned()),
        _ if !is_key(key) => None,
        () if is_mutation(text) => ask(ActionKind::Submit, "the query is a mutation".to_owned()),
        () if is_graph && writes_graph(text)
            || text.contains('(') && text.to_lowercase().contains("detach delete")
            || begins_graph(text)
            || asks_by_kusto(text)
            || is_redis(text)
            || writes_documents(text)
            || writes_search(text)
            || writes_by_steps(text)
            || writes_in_loop(text)
            || commands_kusto(behind_comments(text, "//"))
            || text.split(';').any(|part| updates_triples(behind_comments(part, "#"))) =>
        {
            ask(ActionKind::Run, format!("the query in {key:?} may do more than read"))
        }
        () => None,
    }
}

/// Judges a filter, or a part of a pipeline.
pub fn judge_value(value: &Value) -> Option<Decision> {
    operator(value).map(decision_on)
}

pub fn decision_on(operator: &str) -> Decision {
    let (kind, what) = match WRITING_OPERATORS.contains(&operator) {
        true => (ActionKind::Overwrite, "writes"),
        false => (ActionKind::Run, "runs a program"),
    };
    found_text(kind, "builtin.argument", format!("the query's {operator:?} {what}"))
}

/// The operator of MongoDB that a key is, if it writes or runs something.
pub fn operator_of_key(key: &str) -> Option<&'static str> {
    WRITING_OPERATORS.iter().chain(RUNNING_OPERATORS).find(|operator| **operator == key).copied()
}

/// The first such operator in a value, also within JSON as text.
fn operator(value: &Value) -> Option<&'static str> {
    match value {
        Value::Object(fields) => {
            fields.iter().find_map(|(key, value)| operator_of_key(key).or_else(|| operator(value)))
        }
        Value::Array(items) => items.iter().find_map(operator),
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => operator_in_text(text),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

fn operator_in_text(text: &str) -> Option<&'static str> {
    match serde_json::from_str::<Value>(text) {
        Ok(value) => operator(&value),
        // MongoDB's shell takes keys without quotes.
        Err(_) => operator_written(text),
    }
}

/// The first such operator that is written as a key.
fn operator_written(text: &str) -> Option<&'static str> {
    let is_key = |behind: &str| behind.trim_start_matches(['"', '\'', '\\', ' ', '\t', '\n', '\r']).starts_with(':');
    let mut operators = WRITING_OPERATORS.iter().chain(RUNNING_OPERATORS);
    operators.find(|operator| text.split(**operator).skip(1).any(is_key)).copied()
}

/// Whether a query in Cypher may change something.
fn writes_graph(text: &str) -> bool {
    text.contains('(') && super::actions::words_of(text).any(|word| GRAPH_CLAUSES.contains(&word.as_str()))
}

/// Whether a query begins like one that changes a graph: `INSERT (n:X)`.
fn begins_graph(text: &str) -> bool {
    let begins = |begin: &&str| text.get(..begin.len()).is_some_and(|text| text.eq_ignore_ascii_case(begin));
    GRAPH_BEGINNINGS.iter().any(|begin| begins(begin) && (begin.starts_with('t') || text.contains(['(', '\''])))
}

/// Whether a query in Kusto asks another service, or runs a program or a function of its own.
fn asks_by_kusto(text: &str) -> bool {
    let invokes = text.split('|').skip(1).any(|step| step.trim_start().starts_with("invoke ") && step.contains('('));
    let evaluates = || KUSTO_FUNCTIONS.iter().any(|function| text.contains(function));
    invokes || text.contains("evaluate") && evaluates() || text.contains("externaldata") && text.contains("://")
}

/// Whether a query is a command of Redis that writes: they are written in capitals, with few words.
fn is_redis(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let is_listed = words.next().is_some_and(|command| REDIS_COMMANDS.contains(&command));
    is_listed && words.clone().count() <= 4 && !words.any(|word| word.eq_ignore_ascii_case("from"))
}

/// Whether a query is a call of MongoDB's shell that may change something.
fn writes_documents(text: &str) -> bool {
    let of_replica = text.strip_prefix("rs.").or_else(|| text.strip_prefix("sh.")).filter(|call| call.contains('('));
    if let Some(call) = of_replica {
        return !REPLICA_METHODS.iter().any(|method| call.starts_with(method));
    }
    // The name of the method is computed: `db['x']['dr' + 'op']()`, but not `db.list[0](a)`.
    if text.starts_with("db") && (text.contains("'](") || text.contains("\"](")) {
        return true;
    }
    let methods = || text.split('.').skip(1).map(|method| words(method).join("_"));
    text.starts_with("db.")
        && (operator_written(text).is_some()
            || methods().any(|method| DOCUMENT_METHODS.iter().any(|begin| method.starts_with(begin))))
}

/// Whether a search of Splunk has a command that does more than find: `index=a | collect index=b`.
fn writes_search(text: &str) -> bool {
    text.split('|').skip(1).any(|command| {
        let end = command.trim_start();
        let (name, rest) = end.split_at(end.find(|one: char| !one.is_ascii_alphanumeric()).unwrap_or(end.len()));
        let rest = rest.trim_start();
        let is_complete = match name {
            // It takes no words, which a text for a person would have.
            "delete" => !rest.starts_with(char::is_alphanumeric),
            "collect" => rest.is_empty() || rest.contains('='),
            // A regular expression may have such words, too: `start|run`.
            "curl" | "dump" | "run" | "savedsearch" => !rest.is_empty() && command.starts_with(' '),
            _ => true,
        };
        SEARCH_COMMANDS.iter().any(|command| command.eq_ignore_ascii_case(name)) && is_complete
    })
}

/// A text without the lines of comments at its begin.
fn behind_comments<'a>(text: &'a str, mark: &str) -> &'a str {
    let mut text = text.trim_start();
    while let Some((comment, behind)) = text.split_once('\n')
        && comment.starts_with(mark)
    {
        text = behind.trim_start();
    }
    text
}

/// Whether a text is a command of Kusto that does more than show something: `.drop table T`.
fn commands_kusto(text: &str) -> bool {
    let Some(command) = text.strip_prefix('.') else { return false };
    let name = command.split_whitespace().next().unwrap_or_default().to_ascii_lowercase();
    let verb = name.split('-').next().unwrap_or_default();
    name.len() < command.len() && KUSTO_COMMANDS.contains(&verb)
}

/// Whether a text is an update in SPARQL, behind its prefixes.
fn updates_triples(text: &str) -> bool {
    let spaced = text.replace('{', " { ").replace('<', " <").to_ascii_lowercase();
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut words = &words[..];
    while let [declaration @ ("prefix" | "base"), ..] = words {
        words = words.get(if *declaration == "prefix" { 3 } else { 2 }..).unwrap_or_default();
    }
    if let ["with", graph, rest @ ..] = words
        && graph.starts_with('<')
    {
        words = rest;
    }
    let is_iri = |word: &str| word.starts_with('<') && word.contains(':');
    match words {
        ["delete" | "insert", "{", ..] => true,
        ["delete", "where", "{", ..] | ["delete" | "insert", "data", "{", ..] => true,
        [verb, rest @ ..] if GRAPH_UPDATES.contains(verb) => match rest {
            ["silent", "all" | "default" | "named"] | ["all" | "default" | "named"] => true,
            ["silent", "graph", graph, ..] | ["graph", graph, ..] => graph.contains(':') || graph.starts_with('<'),
            ["silent", "default", "to", graph, ..] | ["default", "to", graph, ..] => graph.contains(':'),
            ["silent", graph, ..] | [graph, ..] => is_iri(graph),
            [] => false,
        },
        _ => false,
    }
}

/// Whether a query is a traversal of Gremlin (`g.V().drop()`) or a pipeline of Flux (`|> to(bucket: "b")`) that writes.
fn writes_by_steps(text: &str) -> bool {
    let compact: String = text.chars().filter(|one| !one.is_whitespace()).collect();
    let has = |steps: &[&str]| steps.iter().any(|step| compact.contains(step));
    let is_traversal = compact.contains(".V(") || compact.contains(".E(");
    let calls = |part: &str| part.split_once('(').is_some_and(|(function, _)| FLUX_FUNCTIONS.contains(&function));
    has(GRAPH_STEPS)
        || is_traversal && has(STEPS_ON_FOUND)
        || compact.contains("http.post(")
        || compact.split("|>").skip(1).any(calls)
}

/// Whether a query in AQL changes what it goes through: `FOR u IN users REMOVE u IN users`.
fn writes_in_loop(text: &str) -> bool {
    let words: Vec<String> = super::actions::words_of(text).filter(|word| !word.is_empty()).collect();
    let is_change = |word: &String| ["insert", "remove", "replace", "update", "upsert"].contains(&word.as_str());
    let is_place = |word: &String| word == "in" || word == "into";
    let changes = words.iter().position(is_change).is_some_and(|at| words[at..].iter().any(is_place));
    let begins = match words.as_slice() {
        [first, _, place, ..] if first == "for" => is_place(place),
        // An object or its key: `REMOVE "a" IN users`.
        [first, ..] if is_change(first) => {
            text.trim_start().get(first.len()..).is_some_and(|rest| rest.trim_start().starts_with(['{', '"', '\'']))
        }
        _ => false,
    };
    begins && changes
}

/// Whether a value, JSON text, may be a mutation of GraphQL.
pub fn may_be_mutation(json: &str) -> bool {
    json.contains("mutation") && json.contains('{')
}

/// Whether a text, under any key, begins as a mutation of GraphQL.
fn begins_mutation(text: &str) -> bool {
    let name = behind_comments(text, "#").strip_prefix("mutation");
    name.is_some_and(|rest| rest.contains('{') && !rest.starts_with(char::is_alphanumeric))
}

/// Whether a query in GraphQL changes something.
fn is_mutation(text: &str) -> bool {
    let mut words = text.split(|one: char| !one.is_alphanumeric());
    text.contains('{') && words.any(|word| word == "mutation")
}
