//! Describes what is wrong with a filter, and where, for people.

use crate::error::CompileError;
use jaq_core::compile::Undefined;
use jaq_core::load::lex;
use jaq_core::load::parse;

/// The offset in `source` of `part`, which is a slice of it.
pub fn offset(source: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(source.as_ptr() as usize).min(source.len())
}

/// `at character 12`, or `at line 2, character 3` in a filter of several lines.
pub fn location(source: &str, offset: usize) -> String {
    let before = source.get(..offset).unwrap_or(source);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let character = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    if source.trim_end().contains('\n') {
        format!("at line {}, character {character}", before.matches('\n').count() + 1)
    } else {
        format!("at character {character}")
    }
}

/// The beginning of `text` in quotes, short enough for a message.
fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(20).collect();
    if short.len() < text.len() { format!("\"{short}…\"") } else { format!("\"{short}\"") }
}

/// Describes characters that do not form tokens.
pub fn lex_error(source: &str, errors: &[lex::Error<&str>]) -> CompileError {
    let Some((expected, found)) = errors.first() else {
        return CompileError::new("the filter is not readable");
    };
    let place = location(source, offset(source, found));
    CompileError::new(match expected {
        lex::Expect::Delim(open) => {
            format!("the {} {} is never closed", excerpt(open), location(source, offset(source, open)))
        }
        lex::Expect::Escape => format!("unknown escape in a string {place}; a backslash is written \\\\"),
        lex::Expect::Unicode => format!("\\u without four hexadecimal digits of a character {place}"),
        lex::Expect::Ident => format!("a name is missing {place}"),
        lex::Expect::Digit => format!("a digit is missing {place}"),
        _ => match found.chars().next() {
            Some(character) => format!("unexpected \"{character}\" {place}"),
            None => "the filter ends too early".to_owned(),
        },
    })
}

/// Describes tokens that do not form a filter.
pub fn parse_error(source: &str, errors: &[parse::TError<'_, &str>]) -> CompileError {
    let Some((expected, found)) = errors.first() else {
        return CompileError::new("the filter is not readable");
    };
    let expected = match expected {
        parse::Expect::Just("") => "nothing more".to_owned(),
        parse::Expect::Just(word) => format!("\"{word}\""),
        parse::Expect::Term => "a filter".to_owned(),
        parse::Expect::Nothing => "nothing more".to_owned(),
        other => other.as_str().to_owned(),
    };
    match found {
        Some(found) => {
            let place = location(source, offset(source, found.as_str()));
            CompileError::new(format_args!("unexpected {} {place}; expected {expected}", excerpt(found.as_str())))
        }
        None if source.trim().is_empty() => CompileError::new("the filter is empty; . gives its input"),
        None => CompileError::new(format_args!("the filter ends where {expected} is expected")),
    }
}

/// Functions of jq that access something outside of the filter. They are left out.
const EXTERNAL_FUNCTIONS: [&str; 15] = [
    "env",
    "now",
    "input",
    "inputs",
    "input_filename",
    "input_line_number",
    "debug",
    "stderr",
    "halt",
    "halt_error",
    "localtime",
    "strflocaltime",
    "get_search_list",
    "modulemeta",
    "input_string",
];

/// Describes names that are not defined.
pub fn undefined_name<P>(
    source: &str,
    variables: &[&str],
    errors: &jaq_core::compile::Errors<&str, P>,
) -> CompileError {
    let first = errors.iter().flat_map(|(_, errors)| errors).next();
    let Some((name, kind)) = first else {
        return CompileError::new("the filter could not be compiled");
    };
    let place = location(source, offset(source, name));
    CompileError::new(match kind {
        Undefined::Filter(arity) if EXTERNAL_FUNCTIONS.contains(name) => {
            format!("unknown function \"{name}\"/{arity} {place}: filters have no environment, clock, input or output")
        }
        Undefined::Filter(arity) => format!("unknown function \"{name}\"/{arity} {place}"),
        Undefined::Var if *name == "$ENV" => {
            format!("unknown variable {name} {place}: filters have no environment, clock, input or output")
        }
        Undefined::Var if variables.is_empty() => format!("unknown variable {name} {place}"),
        Undefined::Var => format!("unknown variable {name} {place}; the variables are ${}", variables.join(", $")),
        Undefined::Label => format!("no label {name} to break out of {place}"),
        Undefined::Mod => format!("unknown module \"{name}\" {place}: filters have no modules"),
        _ => format!("unknown name \"{name}\" {place}"),
    })
}
