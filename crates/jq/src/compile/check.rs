//! Checks that a filter's text is small enough to be parsed, compiled and run by recursion.

use super::explain::{location, offset};
use super::rewrite::children;
use crate::error::CompileError;
use jaq_core::load::lex::{StrPart, Tok, Token};
use jaq_core::load::parse::{BinaryOp, Pattern, Term};

/// The longest filter.
const MAX_FILTER: usize = 64 << 10;
/// The most brackets nested in each other.
const MAX_BRACKETS: usize = 150;
/// The most tokens that make the parser recurse, counted together.
const MAX_LEVELS: usize = 1_000;
/// The most tokens that make a term longer: operators and separators.
const MAX_OPERATORS: usize = 5_000;

/// Counts the brackets that are open at once. Strings count, since interpolations in them are in brackets too.
///
/// # Errors
/// The text is too long, or too many brackets are open.
pub fn brackets(source: &str) -> Result<(), CompileError> {
    if source.len() > MAX_FILTER {
        return Err(CompileError::new(format_args!(
            "the filter has {} bytes, but the limit is {MAX_FILTER}; split it into two",
            source.len()
        )));
    }
    let mut scan = Scanner { bytes: source.as_bytes(), at: 0 };
    let mut open = Vec::new();
    while let Some(byte) = scan.next() {
        let in_string = open.last() == Some(&b'"');
        match byte {
            // An escaped character does not end a string; an escaped bracket opens an interpolation.
            b'\\' if in_string => open.extend(scan.next().filter(|&escaped| escaped == b'(')),
            b'"' if in_string => _ = open.pop(),
            b'"' | b'(' | b'[' | b'{' if !in_string => open.push(byte),
            b')' | b']' | b'}' if !in_string => _ = open.pop(),
            b'#' if !in_string => scan.skip_comment(),
            _ => {}
        }
        if open.len() > MAX_BRACKETS {
            let place = location(source, scan.at - 1);
            return Err(CompileError::new(format_args!("brackets are nested too deeply {place}; use definitions")));
        }
    }
    Ok(())
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scanner<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    /// A comment extends to the end of its line, but the lexer lets a backslash there continue it on the next line.
    /// Counting that line as part of the filter can only count too much.
    fn skip_comment(&mut self) {
        while !matches!(self.next(), None | Some(b'\n')) {}
    }
}

/// Counts the tokens that make a filter deep without brackets: `- - - 1`, `try try …`, `a | b | …`, `a as $x | …`.
///
/// # Errors
/// There are too many of them.
pub fn tokens(source: &str, tokens: &[Token<&str>]) -> Result<(), CompileError> {
    let mut count = TermCount::default();
    count.add(tokens);
    let too_long = |what: &str, most: usize| {
        let advice = "use definitions, or split it into two filters";
        Err(CompileError::new(format_args!("the filter has more than {most} {what}; {advice}")))
    };
    if let Some(word) = count.module {
        let place = location(source, offset(source, word));
        return Err(CompileError::new(format_args!("\"{word}\" {place}: filters have no modules; write it out")));
    }
    if count.levels > MAX_LEVELS {
        return too_long("pipes, minus signs and keywords", MAX_LEVELS);
    }
    if count.operators > MAX_OPERATORS {
        return too_long("operators", MAX_OPERATORS);
    }
    Ok(())
}

/// The most steps of a path such as `.a.b[0]`, arguments of a call or parts of a pattern: jaq recurses over each.
const MAX_PARTS: usize = 100;

/// Looks for long sequences that jaq processes by recursion.
///
/// # Errors
/// One is too long.
pub fn rows(term: &Term<&str>) -> Result<(), CompileError> {
    let (what, length) = match term {
        Term::Path(_, path) => ("steps in a path", path.0.len()),
        Term::Call(_, arguments) => ("arguments of a call", arguments.len()),
        Term::Def(definitions, _) => {
            ("arguments of a definition", definitions.iter().map(|def| def.args.len()).max().unwrap_or(0))
        }
        Term::BinOp(_, BinaryOp::Pipe(Some(pattern)), _) | Term::Fold(_, _, pattern, _) => {
            ("parts of a pattern", parts(pattern))
        }
        _ => ("", 0),
    };
    if length > MAX_PARTS {
        return Err(CompileError::new(format_args!("{length} {what} are too many; the limit is {MAX_PARTS}")));
    }
    children(term).into_iter().try_for_each(rows)
}

fn parts(pattern: &Pattern<&str>) -> usize {
    1 + match pattern {
        Pattern::Var(_) => 0,
        Pattern::Arr(inner) => inner.iter().map(parts).sum(),
        Pattern::Obj(entries) => entries.iter().map(|(_, inner)| parts(inner)).sum::<usize>(),
    }
}

#[derive(Default)]
struct TermCount<'a> {
    levels: usize,
    operators: usize,
    module: Option<&'a str>,
}

impl<'a> TermCount<'a> {
    fn add(&mut self, tokens: &[Token<&'a str>]) {
        for (index, Token(text, token)) in tokens.iter().enumerate() {
            match (token, *text) {
                (Tok::Word, "import" | "include" | "module") if index == 0 => self.module = Some(text),
                (Tok::Word, "and" | "or") => self.operators += 1,
                (Tok::Word, "try" | "if" | "elif" | "def" | "reduce" | "foreach" | "label" | "as") => self.levels += 1,
                (Tok::Sym, "-" | "|") => self.levels += 1,
                (Tok::Sym, symbol) if !symbol.starts_with('.') => self.operators += 1,
                _ => {}
            }
            match token {
                Tok::Block(inner) => self.add(inner),
                Tok::Str(parts) => parts.iter().for_each(|part| match part {
                    StrPart::Term(inner) => self.add(std::slice::from_ref(inner)),
                    StrPart::Char(_) => self.operators += 1,
                    StrPart::Str(_) => {}
                }),
                _ => {}
            }
        }
    }
}
