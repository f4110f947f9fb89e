//! Is a filter's text small enough to be parsed, compiled and run by recursion?

use super::explain::place;
use crate::error::CompileError;
use jaq_core::load::lex::{StrPart, Tok, Token};

/// The longest filter.
const LONGEST: usize = 64 << 10;
/// Brackets within each other.
const MOST_BRACKETS: usize = 150;
/// What makes the parser go one deeper, all together.
const MOST_LEVELS: usize = 1_000;
/// What makes a term longer: operators and separators.
const MOST_OPERATORS: usize = 5_000;

/// Counts the brackets that are open at once. Strings count, as what is interpolated stands in brackets too.
///
/// # Errors
/// The text is too long, or there are too many.
pub fn brackets(source: &str) -> Result<(), CompileError> {
    if source.len() > LONGEST {
        return Err(CompileError::new(format_args!(
            "the filter has {} bytes, and {LONGEST} are the most; make two of it",
            source.len()
        )));
    }
    let mut scan = Scan { bytes: source.as_bytes(), at: 0 };
    let mut open = Vec::new();
    while let Some(byte) = scan.next() {
        let in_string = open.last() == Some(&b'"');
        match byte {
            // What is escaped doesn't end a string; a bracket opens an interpolated filter.
            b'\\' if in_string => open.extend(scan.next().filter(|&escaped| escaped == b'(')),
            b'"' if in_string => _ = open.pop(),
            b'"' | b'(' | b'[' | b'{' if !in_string => open.push(byte),
            b')' | b']' | b'}' if !in_string => _ = open.pop(),
            b'#' if !in_string => scan.skip_comment(),
            _ => {}
        }
        if open.len() > MOST_BRACKETS {
            let place = place(source, scan.at - 1);
            return Err(CompileError::new(format_args!("brackets are nested too deeply {place}; use definitions")));
        }
    }
    Ok(())
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn next(&mut self) -> Option<u8> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte
    }

    /// A comment goes to the end of its line; the lexer lets a backslash there take the next line in. Counting that line
    /// as a part of the filter counts too much at worst.
    fn skip_comment(&mut self) {
        while !matches!(self.next(), None | Some(b'\n')) {}
    }
}

/// Counts what makes a filter deep without brackets: `- - - 1`, `try try …`, `a | b | …`, `a as $x | …`.
///
/// # Errors
/// There is too much of it.
pub fn tokens(source: &str, tokens: &[Token<&str>]) -> Result<(), CompileError> {
    let mut count = Count::default();
    count.add(tokens);
    let too_long = |what: &str, most: usize| {
        let advice = "use definitions, or make two filters of it";
        Err(CompileError::new(format_args!("the filter has more than {most} {what}; {advice}")))
    };
    if let Some(word) = count.module {
        let place = place(source, super::explain::offset(source, word));
        return Err(CompileError::new(format_args!("\"{word}\" {place}: filters have no modules; write it out")));
    }
    if count.levels > MOST_LEVELS {
        return too_long("pipes, minus signs and keywords", MOST_LEVELS);
    }
    if count.operators > MOST_OPERATORS {
        return too_long("operators", MOST_OPERATORS);
    }
    if count.path > MOST_STEPS {
        return too_long("steps in a row in a path", MOST_STEPS);
    }
    Ok(())
}

/// The longest path, like `.a.b[0]`.
const MOST_STEPS: usize = 100;

#[derive(Default)]
struct Count<'a> {
    levels: usize,
    operators: usize,
    /// The longest row of steps of a path.
    path: usize,
    module: Option<&'a str>,
}

impl<'a> Count<'a> {
    fn add(&mut self, tokens: &[Token<&'a str>]) {
        let mut steps = 0;
        for (index, Token(text, token)) in tokens.iter().enumerate() {
            let is_step = text.starts_with(['.', '[']) || matches!(*text, "?") || matches!(token, Tok::Str(_));
            steps = if is_step { steps + 1 } else { 0 };
            self.path = self.path.max(steps);
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
