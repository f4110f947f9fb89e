//! `[[ ... ]]` and arithmetic, which evaluate more than they seem to.

use super::{Done, Walk, Word};
use crate::Unreadable;
use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate, UnexpandedArithmeticExpr};

impl Walk {
    /// `[[ ... ]]`.
    pub(super) fn test(&mut self, test: &ExtendedTestExpr) -> Done {
        use BinaryPredicate as Binary;
        match test {
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::UnaryTest(
                UnaryPredicate::ShellVariableIsSetAndAssigned | UnaryPredicate::ShellVariableIsSetAndNameRef,
                _,
            ) => Err(Unreadable("it evaluates a variable's name")),
            ExtendedTestExpr::UnaryTest(_, word) => self.word(&word.value).map(drop),
            ExtendedTestExpr::BinaryTest(Binary::StringMatchesRegex, left, right) => {
                self.word(&left.value)?;
                match right.value.contains(['$', '`']) {
                    true => Err(Unreadable("its regular expression is expanded")),
                    false => Ok(()),
                }
            }
            ExtendedTestExpr::BinaryTest(predicate, left, right) => {
                let words = [self.word(&left.value)?, self.word(&right.value)?];
                let calculates = matches!(
                    predicate,
                    Binary::ArithmeticEqualTo
                        | Binary::ArithmeticNotEqualTo
                        | Binary::ArithmeticLessThan
                        | Binary::ArithmeticLessThanOrEqualTo
                        | Binary::ArithmeticGreaterThan
                        | Binary::ArithmeticGreaterThanOrEqualTo
                );
                let is_number = |word: &Word| word.text().is_some_and(|word| word.bytes().all(|b| b.is_ascii_digit()));
                match calculates && !words.iter().all(is_number) {
                    true => Err(Unreadable("it calculates with variables")),
                    false => Ok(()),
                }
            }
        }
    }
}

/// An expression with names evaluates what those hold, which may run commands.
pub(super) fn arithmetic(expression: &UnexpandedArithmeticExpr) -> Done {
    let is_plain = |one: char| one.is_ascii_digit() || " \t\n+-*/%()<>=!&|^~?:,".contains(one);
    match expression.value.chars().all(is_plain) {
        true => Ok(()),
        false => Err(Unreadable("it calculates with variables")),
    }
}
