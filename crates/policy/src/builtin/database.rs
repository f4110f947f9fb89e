//! Tools that run the SQL in their arguments, by their names: `read_query`, `db_read`, `execute_sql`, but not
//! `search_docs`. Their texts are judged as SQL under any key.

use super::names::Class;
use super::parts::{own_parts, without_version};
use super::{JudgedCall, plain_key, run, sql};
use crate::annotations::Hint;
use pipewright_record::identifier::words;
use serde_json::Value;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Words for reading, running and explaining. Tools that search or ask take words of a person.
static VERBS: WordSet = WordSet::new(|| {
    set("analyse analyze check count describe exec execute executor explain fetch get list preview read reader \
     retrieve run runner scan show view")
});
/// Verbs whose text is what the database gets.
static RUNNING: WordSet = WordSet::new(|| set("exec execute explain fetch read reader run runner"));
static QUERIES: WordSet =
    WordSet::new(|| set("ddl dml plsql psql queries query select selects sql statement statements tsql"));
static DATABASES: WordSet = WordSet::new(|| {
    set("alloydb athena aurora bigquery clickhouse cockroach cockroachdb d1 database databases databricks db db2 dbs \
     dolt duckdb hive libsql mariadb motherduck mssql mysql neon oracle pg planetscale postgres postgresql presto \
     rds redshift singlestore snowflake spanner spark sqlite sqlite3 sqlserver supabase tidb timescale \
     timescaledb trino turso warehouse")
});
/// Other words, which tell nothing about the text.
static NEUTRAL_WORDS: WordSet = WordSet::new(|| {
    set("a ad adhoc all and any aws azure batch big cloud custom data direct gcp google hoc many multi multiple my \
     native on one only or parallel parameterized parameters params plan prepared raw readonly result results row \
     rows safe server simple single table tables the tool with")
});

/// Keys for SQL, where a single word is a statement, too.
static KEYS: WordSet = WordSet::new(|| {
    set("cmd code command commands expression input q queries query querystring querytext raw rawquery rawsql select \
     sql sqlquery sqlstatement sqltext statement statements stmt stmts text")
});
/// Keys for a part of a query, or for a name.
static PARTS: WordSet =
    WordSet::new(|| set("columns fields filter filters groupby having name orderby question search sort where"));

/// Keys for sentences.
const PROSE: &[&str] = &["description", "explanation", "purpose", "reason", "reasoning", "thought", "title"];

/// Words that statements with effects, or perhaps with effects, begin with.
static STATEMENTS: WordSet = WordSet::new(|| {
    set("alter analyse analyze attach backup begin bulk call checkpoint cluster comment commit copy create dbcc \
     deallocate declare delete deny desc describe detach disable discard do drop enable exec execute explain \
     export flush from grant handler import insert install kill listen load lock merge msck notify optimize \
     pragma prepare purge reassign refresh reindex rename repair replace reset restore revoke rollback savepoint \
     security select set shutdown start truncate unload unlock update upsert use vacuum waitfor with")
});

type WordSet = LazyLock<HashSet<&'static str>>;

fn set(words: &'static str) -> HashSet<&'static str> {
    words.split_whitespace().collect()
}

/// What the arguments of such a tool are, together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SqlUse {
    /// No SQL.
    None,
    /// SQL that only reads.
    Read,
    /// Text that may do more.
    MayWrite,
}

/// Which texts must be SQL that only reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SqlTexts {
    /// Those that begin like a statement.
    Statements,
    /// Those under a key for SQL, and any with several words.
    Queries,
    /// All that are not known to be something else.
    All,
}

/// The texts of a call, if its tool runs them as SQL.
pub fn judge(call: &JudgedCall<'_>, class: &Class, hint: Hint) -> Option<SqlUse> {
    let which = match of_tool(call)? {
        _ if *class == Class::Run => SqlTexts::All,
        // The server, which is trusted, may have a language of its own.
        _ if hint == Hint::ReadOnly => SqlTexts::Statements,
        which => which,
    };
    let texts = call.arguments.iter().map(|(key, raw)| match serde_json::from_str(raw.get()) {
        Ok(value) => of_value(which, &plain_key(key), &value),
        Err(_) => SqlUse::MayWrite,
    });
    Some(texts.max().unwrap_or(SqlUse::None))
}

/// The SQL of a call that may do more than read, for a person.
pub fn causes(call: &JudgedCall<'_>) -> Vec<String> {
    let mut causes = Vec::new();
    for (key, raw) in call.arguments.iter() {
        let value = serde_json::from_str(raw.get()).unwrap_or_default();
        collect(&plain_key(key), &value, &mut causes);
    }
    causes
}

fn collect(key: &str, value: &Value, causes: &mut Vec<String>) {
    match value {
        Value::String(text) if of_text(SqlTexts::Queries, key, text.trim()) == SqlUse::MayWrite => {
            causes.push(sql::cause(text));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(key, item, causes)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| collect(&plain_key(key), value, causes)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Which texts of a tool are SQL, by its name; `None` if it may be a tool for something else.
fn of_tool(call: &JudgedCall<'_>) -> Option<SqlTexts> {
    let has = |words: &[String], lists: &[&WordSet]| {
        words.iter().any(|word| lists.iter().any(|list| list.contains(word.as_str())))
    };
    // Most calls are of other tools.
    if !has(&call.words, &[&QUERIES, &DATABASES]) {
        return None;
    }
    let own: Vec<String> = own_parts(without_version(call.tool)).flat_map(words).collect();
    let is_known = |word: &String| has(std::slice::from_ref(word), &[&VERBS, &QUERIES, &DATABASES, &NEUTRAL_WORDS]);
    let which = if has(&own, &[&QUERIES, &RUNNING]) { SqlTexts::Queries } else { SqlTexts::Statements };
    own.iter().all(is_known).then_some(which)
}

fn of_value(which: SqlTexts, key: &str, value: &Value) -> SqlUse {
    // Values of a query's parameters are data, unless there is a query among them.
    let which = if ["params", "parameters"].contains(&key) { SqlTexts::Statements } else { which };
    match value {
        Value::String(text) => of_text(which, key, text.trim()),
        Value::Array(items) => items.iter().map(|item| of_value(which, key, item)).max().unwrap_or(SqlUse::None),
        Value::Object(fields) => {
            let texts = fields.iter().map(|(key, value)| of_value(which, &plain_key(key), value));
            texts.max().unwrap_or(SqlUse::None)
        }
        _ => SqlUse::None,
    }
}

fn of_text(which: SqlTexts, key: &str, text: &str) -> SqlUse {
    let has_words = text.contains(|one: char| one.is_whitespace() || "(;".contains(one));
    let must_read = match which {
        // A number or a name may be joined to a query.
        _ if !PROSE.contains(&key) && text.contains(';') && is_statement(text) => true,
        _ if text.is_empty() || run::is_harmless(key) && !["params", "parameters"].contains(&key) => {
            return SqlUse::None;
        }
        SqlTexts::All => true,
        SqlTexts::Queries if KEYS.contains(key) => true,
        SqlTexts::Queries if has_words && !PARTS.contains(key) => true,
        _ => (has_words || KEYS.contains(key)) && is_statement(text),
    };
    match sql::only_reads(text) {
        true => SqlUse::Read,
        false if must_read => SqlUse::MayWrite,
        false => SqlUse::None,
    }
}

/// Whether a text begins like a statement, or has one behind a semicolon.
fn is_statement(text: &str) -> bool {
    text.split(';').any(|part| {
        let part = behind_comments(part);
        let end = part.find(|one: char| !one.is_ascii_alphabetic()).unwrap_or(part.len());
        // A command of a database's own shell.
        let is_command = |part: &str| part.strip_prefix('.').is_some_and(|name| name.starts_with(char::is_alphabetic));
        part.starts_with('\\')
            || part.starts_with("/*")
            || is_command(part)
            || STATEMENTS.contains(&*part[..end].to_lowercase())
    })
}

/// A text without comments and brackets at its begin. MySQL runs what is in some comments.
pub(super) fn behind_comments(text: &str) -> &str {
    let mut text = text;
    loop {
        text = text.trim_start_matches(|one: char| one.is_whitespace() || "({".contains(one));
        let behind = match text.get(..2) {
            Some("--") => text.split_once('\n'),
            Some("/*") if !text.starts_with("/*!") && !text.starts_with("/*M!") => text.split_once("*/"),
            _ => None,
        };
        match behind {
            Some((_, behind)) => text = behind,
            None => return text,
        }
    }
}

#[cfg(test)]
mod tests;
