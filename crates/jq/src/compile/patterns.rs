//! Checks the patterns that a filter's text contains, so that a wrong one is an error at the start, and not on each
//! line.

use super::explain::{location, offset};
use super::rewrite::children;
use crate::error::CompileError;
use crate::matcher::check;
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Term};

/// A function whose first argument is a pattern.
struct PatternFunction {
    /// The place of the pattern's flags among the arguments.
    flags: Option<usize>,
}

/// The function with this name and number of arguments, if its first argument is a pattern.
fn pattern_function(name: &str, arguments: usize) -> Option<PatternFunction> {
    let flags = match (name, arguments) {
        ("test" | "match" | "capture" | "scan" | "splits", 1) | ("sub" | "gsub", 2) => None,
        ("test" | "match" | "capture" | "scan" | "split" | "splits", 2) => Some(1),
        ("sub" | "gsub", 3) => Some(2),
        _ => return None,
    };
    Some(PatternFunction { flags })
}

/// Compiles each constant pattern with its constant flags.
///
/// # Errors
/// One of them is not valid, too large, or uses what is not supported.
pub fn constant(source: &str, term: &Term<&str>) -> Result<(), CompileError> {
    match term {
        // An error in a pattern may be caught.
        Term::TryCatch(_, catch) => return catch.as_deref().map_or(Ok(()), |catch| constant(source, catch)),
        // Definitions may have the names of these functions.
        Term::Def(definitions, _)
            if definitions.iter().any(|def| pattern_function(def.name, def.args.len()).is_some()) =>
        {
            return Ok(());
        }
        Term::Call(name, arguments) => {
            for (pattern, flags) in patterns(name, arguments) {
                check(&pattern, &flags).map_err(|why| {
                    let place = location(source, offset(source, name));
                    CompileError::new(format_args!("{name} {place}: {why} (in {pattern:?})"))
                })?;
            }
        }
        _ => {}
    }
    children(term).into_iter().try_for_each(|child| constant(source, child))
}

/// The constant patterns of a call, each with its flags.
fn patterns(name: &str, arguments: &[Term<&str>]) -> Vec<(String, String)> {
    let (Some(function), Some(first)) = (pattern_function(name, arguments.len()), arguments.first()) else {
        return Vec::new();
    };
    // `test(["a", "i"])` has the flags in the array.
    if let Term::Arr(parts) = first {
        let mut parts = parts.as_deref().map(texts).unwrap_or_default().into_iter();
        return parts.next().map(|pattern| (pattern, parts.next().unwrap_or_default())).into_iter().collect();
    }
    let mut flags = function.flags.and_then(|at| arguments.get(at)).map(texts).unwrap_or_default();
    if flags.is_empty() {
        flags.push(String::new());
    }
    texts(first)
        .into_iter()
        .flat_map(|pattern| flags.iter().map(move |flags| (pattern.clone(), flags.clone())).collect::<Vec<_>>())
        .collect()
}

/// The texts that a term gives, if it only gives texts that are written in the filter.
fn texts(term: &Term<&str>) -> Vec<String> {
    match term {
        Term::Str(None, parts) => {
            let part = |part: &StrPart<&str, Term<&str>>| match part {
                StrPart::Str(text) => Some((*text).to_owned()),
                StrPart::Char(character) => Some(character.to_string()),
                StrPart::Term(_) => None,
            };
            parts.iter().map(part).collect::<Option<String>>().into_iter().collect()
        }
        Term::BinOp(one, BinaryOp::Comma, other) => [texts(one), texts(other)].concat(),
        _ => Vec::new(),
    }
}
