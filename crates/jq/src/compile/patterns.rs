//! Checks the patterns that a filter's text contains, so that a wrong one is an error at the start, and not on each line.

use super::explain::{offset, place};
use super::rewrite::children;
use crate::error::CompileError;
use crate::matcher::check;
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Term};

/// The functions whose first argument is a pattern, with the numbers of their arguments and the place of the flags.
const FUNCTIONS: &[(&str, usize, Option<usize>)] = &[
    ("test", 1, None),
    ("test", 2, Some(1)),
    ("match", 1, None),
    ("match", 2, Some(1)),
    ("capture", 1, None),
    ("capture", 2, Some(1)),
    ("scan", 1, None),
    ("scan", 2, Some(1)),
    ("split", 2, Some(1)),
    ("splits", 1, None),
    ("splits", 2, Some(1)),
    ("sub", 2, None),
    ("sub", 3, Some(2)),
    ("gsub", 2, None),
    ("gsub", 3, Some(2)),
];

/// Compiles each constant pattern with its constant flags.
///
/// # Errors
/// One of them is not valid, too large, or uses what is not supported.
pub fn constant(source: &str, term: &Term<&str>) -> Result<(), CompileError> {
    // An error in a pattern may be caught.
    if let Term::TryCatch(_, catch) = term {
        return catch.as_deref().map_or(Ok(()), |catch| constant(source, catch));
    }
    // Definitions may have the names of these functions.
    if let Term::Def(definitions, _) = term
        && definitions
            .iter()
            .any(|def| FUNCTIONS.iter().any(|(name, count, _)| (def.name, def.args.len()) == (*name, *count)))
    {
        return Ok(());
    }
    if let Term::Call(name, arguments) = term
        && let Some((.., flags)) =
            FUNCTIONS.iter().find(|(known, count, _)| (*name, arguments.len()) == (*known, *count))
    {
        // `test(["a", "i"])` has the flags in the array.
        let (pattern, flags) = match arguments.first() {
            Some(Term::Arr(Some(parts))) if flags.is_none() => (texts(parts), Vec::new()),
            Some(pattern) => (texts(pattern), flags.and_then(|at| arguments.get(at)).map(texts).unwrap_or_default()),
            None => return Ok(()),
        };
        let is_array = matches!(arguments.first(), Some(Term::Arr(_)));
        let (patterns, flags) = match (&pattern[..], is_array) {
            ([pattern, flags], true) => (vec![pattern.clone()], vec![flags.clone()]),
            (_, true) => (pattern.into_iter().take(1).collect(), Vec::new()),
            (_, false) => (pattern, flags),
        };
        let flags = if flags.is_empty() { vec![String::new()] } else { flags };
        for (pattern, flags) in patterns.iter().flat_map(|pattern| flags.iter().map(move |flags| (pattern, flags))) {
            check(pattern, flags).map_err(|why| {
                let place = place(source, offset(source, name));
                CompileError::new(format_args!("{name} {place}: {why} (in {pattern:?})"))
            })?;
        }
    }
    children(term).into_iter().try_for_each(|child| constant(source, child))
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
