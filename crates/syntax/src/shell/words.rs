//! Words without their quotes, and the commands in their expansions.

use super::{Walker, Word, options};
use crate::Unreadable;
use brush_parser::word::{Parameter, ParameterExpr, SpecialParameter, WordPiece, WordPieceWithSource, parse};

impl Walker {
    pub(super) fn word(&mut self, text: &str) -> Result<Word, Unreadable> {
        // zsh ends a group at a brace among the words of a command.
        if matches!(text, "{" | "}") {
            return Err(Unreadable("it has a brace as a word"));
        }
        let pieces = parse(text, &options()).map_err(|_| Unreadable("a word cannot be read"))?;
        if has_group_brace(&pieces) {
            return Err(Unreadable("shells may take a brace of a word for the begin or end of a group"));
        }
        let mut word = Word::Text(String::new());
        let (mut has_brace, mut has_bracket, mut is_pattern) = (false, false, false);
        for WordPieceWithSource { piece, .. } in &pieces {
            let known = match piece {
                WordPiece::Text(text) => {
                    has_brace |= text.contains('{');
                    let behind =
                        if has_bracket { Some(text.as_str()) } else { text.split_once('[').map(|(_, rest)| rest) };
                    has_bracket |= behind.is_some();
                    is_pattern |= text.contains(['*', '?']) || behind.is_some_and(|behind| behind.contains(']'));
                    Word::Text(unquoted(text)?.to_owned())
                }
                piece => self.piece(piece)?,
            };
            word = joined(word, known);
        }
        // {a,b} and {1..9} become several words.
        let is_several = has_brace && (text.contains(',') || text.contains(".."));
        Ok(match word {
            _ if is_several => Word::Any,
            Word::Text(text) if is_pattern => Word::Pattern(text),
            _ if is_pattern => Word::Any,
            word => word,
        })
    }

    /// A quoted or expanded piece.
    fn piece(&mut self, piece: &WordPiece) -> Result<Word, Unreadable> {
        match piece {
            WordPiece::SingleQuotedText(text) => Ok(Word::Text(text.clone())),
            WordPiece::Text(text) if text.contains("\\\n") => Err(Unreadable("a line is continued in quotes")),
            WordPiece::Text(text) => Ok(Word::Text(text.clone())),
            WordPiece::EscapeSequence(text) => {
                Ok(Word::Text(text.chars().skip(1).filter(|one| *one != '\n').collect()))
            }
            WordPiece::DoubleQuotedSequence(pieces) => {
                let mut word = Word::Text(String::new());
                for WordPieceWithSource { piece, .. } in pieces {
                    let known = match self.piece(piece)? {
                        Word::Any if !is_list(piece) => Word::One,
                        known => known,
                    };
                    word = joined(word, known);
                }
                Ok(word)
            }
            WordPiece::CommandSubstitution(text) | WordPiece::BackquotedCommandSubstitution(text) => {
                let printed = self.substitution(text)?;
                Ok(if self.numbers.is_off { Word::Any } else { printed })
            }
            WordPiece::ParameterExpansion(expression) => {
                self.parameter(expression)?;
                Ok(if self.is_numeric(expression) { Word::Number } else { Word::Any })
            }
            WordPiece::ArithmeticExpression(expression) => self.arithmetic(expression).map(|()| Word::Number),
            _ => Err(Unreadable("it is quoted or expanded in a way that only some shells know")),
        }
    }

    fn is_numeric(&self, expression: &ParameterExpr) -> bool {
        use SpecialParameter as Special;
        match expression {
            ParameterExpr::ParameterLength { .. } => true,
            ParameterExpr::Parameter { parameter: Parameter::Named(name), .. } => self.numbers.has(name),
            ParameterExpr::Parameter { parameter: Parameter::Special(special), .. } => matches!(
                special,
                Special::PositionalParameterCount
                    | Special::LastExitStatus
                    | Special::ProcessId
                    | Special::LastBackgroundProcessId
            ),
            _ => false,
        }
    }

    fn parameter(&mut self, expression: &ParameterExpr) -> Result<(), Unreadable> {
        use ParameterExpr as Expr;
        let (parameter, text) = match expression {
            Expr::Parameter { parameter, indirect: false } | Expr::ParameterLength { parameter, indirect: false } => {
                (parameter, &None)
            }
            Expr::UseDefaultValues { parameter, indirect: false, default_value: text, .. }
            | Expr::UseAlternativeValue { parameter, indirect: false, alternative_value: text, .. }
            | Expr::RemoveSmallestSuffixPattern { parameter, indirect: false, pattern: text }
            | Expr::RemoveLargestSuffixPattern { parameter, indirect: false, pattern: text }
            | Expr::RemoveSmallestPrefixPattern { parameter, indirect: false, pattern: text }
            | Expr::RemoveLargestPrefixPattern { parameter, indirect: false, pattern: text } => (parameter, text),
            _ => return Err(Unreadable("it expands a variable in a way that may run its content")),
        };
        if matches!(parameter, Parameter::NamedWithIndex { .. }) {
            return Err(Unreadable("it evaluates an index"));
        }
        match text {
            // Such text follows other quoting rules.
            Some(text) if text.contains(['$', '`', '\\', '\'', '"', '(', ')', '<', '>']) => {
                Err(Unreadable("it expands within an expansion"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a word begins or ends with a brace without its other one, outside of quotes: zsh ends a group at `a}`.
fn has_group_brace(pieces: &[WordPieceWithSource]) -> bool {
    let (mut open, mut is_first_open, mut ends) = (0_usize, false, false);
    for (at, WordPieceWithSource { piece, .. }) in pieces.iter().enumerate() {
        ends = false;
        let WordPiece::Text(text) = piece else { continue };
        for (place, one) in text.chars().enumerate() {
            ends = one == '}' && open == 0;
            match one {
                '{' => {
                    is_first_open |= at == 0 && place == 0;
                    open += 1;
                }
                '}' => open = open.saturating_sub(1),
                _ => {}
            }
            is_first_open &= open > 0;
        }
    }
    ends || is_first_open
}

fn joined(word: Word, piece: Word) -> Word {
    match (word, piece) {
        (Word::Text(word), Word::Text(piece)) => Word::Text(word + &piece),
        (Word::Any, _) | (_, Word::Any) => Word::Any,
        (Word::Text(word), Word::Number) if word.is_empty() => Word::Number,
        _ => Word::One,
    }
}

/// Whether an expansion becomes several words even in quotes, or none: `"$@"`.
fn is_list(piece: &WordPiece) -> bool {
    use ParameterExpr as Expr;
    match piece {
        WordPiece::ParameterExpansion(Expr::ParameterLength { .. }) => false,
        WordPiece::ParameterExpansion(
            Expr::Parameter { parameter, .. }
            | Expr::UseDefaultValues { parameter, .. }
            | Expr::UseAlternativeValue { parameter, .. }
            | Expr::RemoveSmallestSuffixPattern { parameter, .. }
            | Expr::RemoveLargestSuffixPattern { parameter, .. }
            | Expr::RemoveSmallestPrefixPattern { parameter, .. }
            | Expr::RemoveLargestPrefixPattern { parameter, .. },
        ) => !matches!(parameter, Parameter::Named(_) | Parameter::Positional(_)),
        WordPiece::ParameterExpansion(_) => true,
        _ => false,
    }
}

/// Text without quotes. If it still has special characters of a shell, the parser's two parts have read it differently.
fn unquoted(text: &str) -> Result<&str, Unreadable> {
    match text.contains([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')', '`', '\'', '"', '\\']) {
        true => Err(Unreadable("the end of a word is not certain")),
        false => Ok(text),
    }
}
