//! Database queries, as far as a gate needs them: whether all statements only read, and which functions they call.
//!
//! Databases differ in comments and in where a string ends, and T-SQL needs no semicolon between statements. So text
//! that they could split differently is unreadable. Words that begin a statement with effects are not allowed anywhere,
//! unless they are quoted. A word before a bracket is a function, unless it is one of SQL's own words.

mod fields;
mod sources;

use crate::{Unreadable, parse};
use sqlparser::ast::Statement;
use sqlparser::dialect::{Dialect, GenericDialect, MsSqlDialect};
use sqlparser::parser::Parser;
use sqlparser::tokenizer::{Token, Tokenizer};

/// The greatest depth of a query, and the greatest number of its tokens: a sum of many terms is as deep as it is long.
const MAX_DEPTH: usize = 30;
const TOKENS: usize = 2000;

/// Words of statements that have effects.
const EFFECTS: &[&str] = &[
    "alter",
    "attach",
    "backup",
    "call",
    "checkpoint",
    "commit",
    "copy",
    "create",
    "declare",
    "delete",
    "deny",
    "detach",
    "do",
    "drop",
    "dumpfile",
    "exec",
    "execute",
    "grant",
    "handler",
    "insert",
    "into",
    "kill",
    "load",
    "merge",
    "outfile",
    "prepare",
    "purge",
    "reconfigure",
    "restore",
    "revert",
    "revoke",
    "rollback",
    "savepoint",
    "shutdown",
    "update",
    "vacuum",
    "waitfor",
];

/// Words before a bracket that are not functions.
const NO_FUNCTIONS: &[&str] = &[
    "all",
    "and",
    "any",
    "apply",
    "array",
    "as",
    "asc",
    "between",
    "by",
    "case",
    "desc",
    "distinct",
    "else",
    "except",
    "exists",
    "filter",
    "from",
    "group",
    "having",
    "in",
    "intersect",
    "interval",
    "is",
    "join",
    "lateral",
    "like",
    "limit",
    "materialized",
    "not",
    "offset",
    "on",
    "or",
    "over",
    "partition",
    "row",
    "select",
    "sets",
    "some",
    "then",
    "top",
    "union",
    "using",
    "values",
    "when",
    "where",
    "with",
    "bigint",
    "bit",
    "character",
    "dec",
    "decimal",
    "float",
    "int",
    "integer",
    "nchar",
    "number",
    "numeric",
    "nvarchar",
    "string",
    "varbinary",
    "varchar",
    "varying",
];

/// The functions that the queries in a text call: names in lower case, unless they are quoted, with the schema that the
/// query names.
///
/// ```
/// use pipewright_syntax::sql::functions;
/// assert_eq!(functions("SELECT Max(n), pg_catalog.now() FROM t"), Ok(vec!["max".to_owned(), "pg_catalog.now".to_owned()]));
/// assert!(functions("WITH gone AS (DELETE FROM t RETURNING n) SELECT * FROM gone").is_err());
/// ```
///
/// # Errors
/// If the text does anything but read, or may do so.
pub fn functions(text: &str) -> Result<Vec<String>, Unreadable> {
    parse(text, || {
        check(text)?;
        in_dialect(text, &GenericDialect {}).or_else(|_| in_dialect(text, &MsSqlDialect {}))
    })
}

/// Refuses text that databases may split differently.
fn check(text: &str) -> Result<(), Unreadable> {
    let is_odd = |one: char| !one.is_ascii() && !one.is_alphanumeric();
    let is_control = |one: char| one.is_control() && !matches!(one, '\n' | '\t');
    let outside = outside_strings(text);
    if text.chars().any(is_control) || outside.chars().any(is_odd) {
        return Err(Unreadable("it has characters that databases read differently"));
    }
    // Escapes, MySQL's comments, strings of other databases.
    if ["\\", "'''", "\"\"\""].into_iter().any(|part| text.contains(part))
        || ["#", "/*!", "/*M!", ":=", "{", "}"].into_iter().any(|part| outside.contains(part))
    {
        return Err(Unreadable("it has a comment or a string that only some databases know"));
    }
    if text.split('\'').rev().skip(1).any(|before| before.ends_with(['q', 'Q'])) {
        return Err(Unreadable("it has an Oracle string"));
    }
    if outside
        .split('$')
        .skip(1)
        .any(|behind| behind.is_empty() || behind.starts_with(|one: char| one == '_' || one.is_alphabetic()))
    {
        return Err(Unreadable("it has a PostgreSQL string"));
    }
    if outside.split("--").skip(1).any(|behind| behind.starts_with(|one: char| !one.is_whitespace())) {
        return Err(Unreadable("it has a comment that MySQL does not take for one"));
    }
    if may_have_slashes_outside(text) {
        return Err(Unreadable("it has a comment that only Snowflake and Cassandra take for one"));
    }
    let mut comments = outside.split("/*").skip(1);
    if comments.any(|comment| !comment.contains("*/")) {
        return Err(Unreadable("it has a comment within a comment"));
    }
    // Lists within lists; for SQL Server, two brackets are one within a name.
    if outside.contains("[[") || outside.contains("]]") {
        return Err(Unreadable("it has brackets that quote only for SQL Server"));
    }
    let mut brackets = outside.split('[').skip(1).map(|behind| behind.split(']').next().unwrap_or_default());
    if brackets.any(|inner| inner.contains(['\'', '"', '`', '-', '/', ';'])) {
        return Err(Unreadable("it has brackets that quote only for SQL Server"));
    }
    if outside.split('[').skip(1).any(|behind| may_be_statement(behind.split(']').next().unwrap_or_default())) {
        return Err(Unreadable("it has a statement in brackets, which CockroachDB runs"));
    }
    Ok(())
}

/// Whether `//` may be outside of quotes, where it hides a quote from databases to which it begins a comment.
fn may_have_slashes_outside(text: &str) -> bool {
    // A quote in another comment opens no string.
    if !text.contains("//") || text.contains("--") || text.contains("/*") {
        return text.contains("//");
    }
    let (mut quote, mut before) = (None, ' ');
    for one in text.chars() {
        match quote {
            Some(open) if open == one => quote = None,
            Some(_) => {}
            None if one == '/' && before == '/' => return true,
            None if matches!(one, '\'' | '"' | '`') => quote = Some(one),
            None => {}
        }
        before = one;
    }
    false
}

/// Whether a text in brackets may be a statement with effects, and not a name: `[DELETE FROM t RETURNING *]`.
fn may_be_statement(text: &str) -> bool {
    const OWN: [&str; 9] = ["cancel", "export", "import", "pause", "reset", "resume", "set", "truncate", "upsert"];
    let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
    words.first().is_some_and(|first| words.len() > 2 && (EFFECTS.contains(&&**first) || OWN.contains(&&**first)))
}

/// A text without the content of its strings, if that is certain: it has no other quotes outside of them. Otherwise all
/// of it.
fn outside_strings(text: &str) -> String {
    let outside: Vec<&str> = text.split('\'').step_by(2).collect();
    let is_certain = text.matches('\'').count().is_multiple_of(2)
        && !text.contains('\\')
        && !outside.iter().any(|part| ["\"", "`", "[", "--", "/*", "#", "$"].iter().any(|quote| part.contains(quote)));
    if is_certain { outside.join("''") } else { text.to_owned() }
}

fn in_dialect(text: &str, dialect: &dyn Dialect) -> Result<Vec<String>, Unreadable> {
    let unreadable = Unreadable("it is not SQL");
    let tokens = Tokenizer::new(dialect, text).tokenize().map_err(|_| unreadable)?;
    // `1eSHUTDOWN` is a number and a statement for SQL Server.
    let is_joined = |pair: &[Token]| matches!(pair, [Token::Number(..) | Token::HexStringLiteral(_), Token::Word(_)]);
    if tokens.windows(2).any(is_joined) {
        return Err(Unreadable("it has a number that ends in letters"));
    }
    let mut tokens: Vec<Token> = tokens.into_iter().filter(|token| !matches!(token, Token::Whitespace(_))).collect();
    if tokens.len() > TOKENS {
        return Err(Unreadable("the query is too long"));
    }
    if sources::has_address(&tokens) {
        return Err(Unreadable("it fetches an address"));
    }
    if sources::may_call_by_name(&tokens) {
        return Err(Unreadable("it may call a function of Oracle's without brackets"));
    }
    let functions = called(&tokens)?;
    // The parser takes a pragma's argument only as a string or a number.
    for at in 4..tokens.len() {
        if let [Token::Word(pragma), Token::Word(_), Token::LParen, Token::Word(name), Token::RParen] =
            &tokens[at - 4..=at]
            && pragma.value.eq_ignore_ascii_case("pragma")
        {
            tokens[at - 1] = Token::SingleQuotedString(name.value.clone());
        }
    }
    let parser = Parser::new(dialect).with_recursion_limit(MAX_DEPTH).with_tokens(tokens);
    let statements = { parser }.parse_statements().map_err(|_| unreadable)?;
    match !statements.is_empty() && statements.iter().all(reads) {
        true => Ok(functions),
        false => Err(Unreadable("it does more than read")),
    }
}

/// The functions that are called: names with a bracket after them.
fn called(tokens: &[Token]) -> Result<Vec<String>, Unreadable> {
    let mut functions = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Token::Word(word) = token else { continue };
        let is_quoted = word.quote_style.is_some();
        let name = if is_quoted { word.value.clone() } else { word.value.to_lowercase() };
        let begins = |at: usize| at == 0 || tokens[at - 1] == Token::SemiColon;
        let is_before = |count: usize, keyword: &str| {
            at.checked_sub(count).is_some_and(|before| matches!(&tokens[before], Token::Word(word) if word.quote_style.is_none() && word.value.eq_ignore_ascii_case(keyword)))
        };
        let is_behind = |keyword: &str| is_before(1, keyword);
        let shows = name == "create" && is_behind("show") && begins(at - 1);
        let locks = is_behind("for") && ["share", "key", "no"].contains(&name.as_str())
            || ["tablockx", "updlock", "xlock"].contains(&name.as_str());
        // T-SQL's statement; `END conversation` names a CASE, too, and a name may have another.
        let ends = is_behind("end") && name == "conversation";
        // Oracle's pseudocolumn may be quoted.
        let counts = name.eq_ignore_ascii_case("nextval") && at > 0 && tokens[at - 1] == Token::Period;
        if !is_quoted && EFFECTS.contains(&name.as_str()) && !shows || locks || ends || counts {
            return Err(Unreadable("it does more than read"));
        }
        // Options of EXPLAIN, and the name of a pragma, which is checked when the statement has been parsed.
        if name == "explain" && !is_quoted && begins(at) || is_behind("pragma") && begins(at - 1) {
            continue;
        }
        // A named query with the names of its columns.
        let with = if is_behind("recursive") { 2 } else { 1 };
        if is_before(with, "with") && begins(at - with) {
            continue;
        }
        let is_called = tokens.get(at + 1) == Some(&Token::LParen);
        // PostgreSQL reads `(n).f` as `f(n)`, too.
        let is_field = at > 1
            && tokens[at - 1] == Token::Period
            && (tokens[at - 2] == Token::RParen || fields::is_function(&name));
        if is_field || is_called && (is_quoted || !NO_FUNCTIONS.contains(&name.as_str())) {
            let schema = match at.checked_sub(2).map(|before| &tokens[before..at]) {
                Some([Token::Word(schema), Token::Period]) => format!("{}.", schema.value.to_lowercase()),
                Some([_, Token::Period]) => "?.".to_owned(),
                _ => String::new(),
            };
            functions.push(schema + &name);
        }
    }
    Ok(functions)
}

fn reads(statement: &Statement) -> bool {
    /// Pragmas of SQLite that show something, for any value.
    const READ_PRAGMAS: [&str; 7] =
        ["table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list", "database_list"];
    match statement {
        Statement::Query(_)
        | Statement::ExplainTable { .. }
        | Statement::ShowFunctions { .. }
        | Statement::ShowVariable { .. }
        | Statement::ShowStatus { .. }
        | Statement::ShowVariables { .. }
        | Statement::ShowCreate { .. }
        | Statement::ShowColumns { .. }
        | Statement::ShowDatabases { .. }
        | Statement::ShowSchemas { .. }
        | Statement::ShowTables { .. }
        | Statement::ShowViews { .. }
        | Statement::ShowCollation { .. } => true,
        Statement::Explain { statement, .. } => reads(statement),
        Statement::Pragma { name, is_eq: false, .. } => {
            READ_PRAGMAS.contains(&name.to_string().to_lowercase().as_str())
        }
        _ => false,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
