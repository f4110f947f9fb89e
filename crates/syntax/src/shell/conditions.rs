//! `[[ ... ]]` and arithmetic, which evaluate more than is apparent.

use super::numbers::is_number;
use super::{WalkResult, Walker};
use crate::Unreadable;
use brush_parser::ast::{BinaryPredicate, ExtendedTestExpr, UnaryPredicate, UnexpandedArithmeticExpr};

impl Walker {
    /// `[[ ... ]]`.
    pub(super) fn test(&mut self, test: &ExtendedTestExpr) -> WalkResult {
        use BinaryPredicate as Binary;
        match test {
            // A shell that does not know `[[` takes the word behind `||` for a command, and the one behind `&&` if
            // something is negated.
            ExtendedTestExpr::And(_, right) if self.negates && !begins_with_operator(right) => {
                Err(Unreadable("shells may take a word of a test for a command"))
            }
            ExtendedTestExpr::Or(_, right) if !begins_with_operator(right) => {
                Err(Unreadable("shells may take a word of a test for a command"))
            }
            ExtendedTestExpr::And(left, right) | ExtendedTestExpr::Or(left, right) => {
                self.test(left)?;
                self.test(right)
            }
            ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => self.test(inner),
            ExtendedTestExpr::BinaryTest(Binary::LeftSortsBeforeRight | Binary::LeftSortsAfterRight, ..) => {
                Err(Unreadable("shells may take a comparison for a redirection"))
            }
            ExtendedTestExpr::UnaryTest(
                UnaryPredicate::ShellVariableIsSetAndAssigned | UnaryPredicate::ShellVariableIsSetAndNameRef,
                _,
            ) => Err(Unreadable("it evaluates a variable's name")),
            // zsh calculates the number of a descriptor.
            ExtendedTestExpr::UnaryTest(UnaryPredicate::FdIsOpenTerminal, word) => {
                match is_number(&self.word(&word.value)?) {
                    true => Ok(()),
                    false => Err(Unreadable("it calculates with variables")),
                }
            }
            ExtendedTestExpr::UnaryTest(_, word) => self.word(&word.value).map(drop),
            ExtendedTestExpr::BinaryTest(Binary::StringMatchesRegex, left, right) => {
                self.word(&left.value)?;
                match right.value.contains(['$', '`', '|', '&', ';', '<', '>']) {
                    true => {
                        Err(Unreadable("its regular expression is expanded, or is several commands for some shells"))
                    }
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
                match calculates && !words.iter().all(is_number) {
                    true => Err(Unreadable("it calculates with variables")),
                    false => Ok(()),
                }
            }
        }
    }

    /// Checks an expression: it evaluates the content of its names, which may run commands unless it is a number.
    pub(super) fn arithmetic(&self, expression: &UnexpandedArithmeticExpr) -> WalkResult {
        let is_sign = |one: char| " \t\n+-*/%()<>=!&|^~?:,".contains(one);
        let is_plain = |word: &str| match word.strip_prefix('$') {
            // `$n` is replaced by its content, which `n` evaluates.
            Some(name) => self.numbers.has(name),
            None => word.bytes().all(|byte| byte.is_ascii_digit()) || self.numbers.has(word),
        };
        // If brackets don't match, shells take `$((a)|(b))` for commands.
        let mut open = 0_i32;
        let are_matched = expression.value.chars().all(|one| {
            open += i32::from(one == '(') - i32::from(one == ')');
            open >= 0
        });
        match are_matched && expression.value.split(is_sign).all(is_plain) {
            true => Ok(()),
            false => Err(Unreadable("it calculates with variables")),
        }
    }
}

/// Whether a test begins with an operator: no command is called `-f`.
fn begins_with_operator(test: &ExtendedTestExpr) -> bool {
    match test {
        ExtendedTestExpr::And(left, _) | ExtendedTestExpr::Or(left, _) => begins_with_operator(left),
        ExtendedTestExpr::Not(inner) | ExtendedTestExpr::Parenthesized(inner) => begins_with_operator(inner),
        ExtendedTestExpr::UnaryTest(..) => true,
        ExtendedTestExpr::BinaryTest(..) => false,
    }
}
