//! Predicates that consist only of comparisons of plain paths, such as `.type == "order" and .params.total > 100`. They
//! are answered from the reader's spans, without the interpreter.
//!
//! All uncertain cases are left to the interpreter, whose result is authoritative: unexpected types, numbers with a
//! fraction, strings and keys with escapes, errors.

use crate::value::document::{Document, Kind, children};
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Term};
use jaq_core::ops::Cmp;
use jaq_core::path::{Opt, Part};
use std::cmp::Ordering;

/// A predicate on plain paths.
pub enum Predicate {
    And(Box<Predicate>, Box<Predicate>),
    Or(Box<Predicate>, Box<Predicate>),
    /// The value is neither false nor null.
    Is(Vec<String>),
    Compare(Vec<String>, Cmp, Literal),
}

/// The value that a path is compared with.
pub enum Literal {
    Null,
    Bool(bool),
    Text(String),
    Whole(i64),
}

/// A number with this many digits is exact however it is read.
const DIGITS: usize = 15;

impl Predicate {
    /// The predicate that is equivalent to a filter, if there is one.
    pub fn of(term: &Term<&str>) -> Option<Predicate> {
        match term {
            // A path can only be looked up in an object, which counts as true.
            Term::Call("select", arguments) => match &arguments[..] {
                [condition] => Predicate::condition(condition).filter(Predicate::needs_an_object),
                _ => None,
            },
            _ => Predicate::condition(term),
        }
    }

    /// Whether it is true only for objects: null has no fields, so none of them has a value.
    fn needs_an_object(&self) -> bool {
        match self {
            Predicate::And(left, right) => left.needs_an_object() || right.needs_an_object(),
            Predicate::Or(left, right) => left.needs_an_object() && right.needs_an_object(),
            Predicate::Is(_) => true,
            Predicate::Compare(_, operator, literal) => {
                matches!((operator, literal), (Cmp::Eq, Literal::Bool(_) | Literal::Text(_) | Literal::Whole(_)))
            }
        }
    }

    fn condition(term: &Term<&str>) -> Option<Predicate> {
        match term {
            Term::BinOp(left, BinaryOp::And, right) => {
                Some(Predicate::And(Box::new(Predicate::condition(left)?), Box::new(Predicate::condition(right)?)))
            }
            Term::BinOp(left, BinaryOp::Or, right) => {
                Some(Predicate::Or(Box::new(Predicate::condition(left)?), Box::new(Predicate::condition(right)?)))
            }
            Term::BinOp(left, BinaryOp::Cmp(operator), right) => {
                Some(Predicate::Compare(path(left)?, *operator, literal(right)?))
            }
            _ => path(term).map(Predicate::Is),
        }
    }

    /// Whether it is true for a document; `None` if the interpreter must decide.
    pub fn answer(&self, document: &Document) -> Option<bool> {
        match self {
            Predicate::And(left, right) => Some(left.answer(document)? && right.answer(document)?),
            Predicate::Or(left, right) => Some(left.answer(document)? || right.answer(document)?),
            Predicate::Is(path) => find(document, path).map(|(kind, _)| !is_nothing(kind)),
            Predicate::Compare(path, operator, literal) => {
                let (kind, written) = find(document, path)?;
                compare(kind, written, *operator, literal)
            }
        }
    }
}

fn is_nothing(kind: Kind) -> bool {
    matches!(kind, Kind::Null | Kind::False)
}

/// The fields of a path such as `.a.b`.
fn path(term: &Term<&str>) -> Option<Vec<String>> {
    let Term::Path(root, parts) = term else { return None };
    if !matches!(**root, Term::Id) {
        return None;
    }
    let field = |(part, optional): &(Part<Term<&str>>, Opt)| match (part, optional) {
        (Part::Index(Term::Str(None, parts)), Opt::Essential) => text(parts),
        _ => None,
    };
    parts.0.iter().map(field).collect::<Option<Vec<String>>>().filter(|fields| !fields.is_empty())
}

fn text(parts: &[StrPart<&str, Term<&str>>]) -> Option<String> {
    match parts {
        [] => Some(String::new()),
        [StrPart::Str(text)] => Some((*text).to_owned()),
        _ => None,
    }
}

fn literal(term: &Term<&str>) -> Option<Literal> {
    match term {
        Term::Str(None, parts) => text(parts).map(Literal::Text),
        Term::Num(number) => whole(number).map(Literal::Whole),
        Term::Call(name, arguments) if arguments.is_empty() => match *name {
            "null" => Some(Literal::Null),
            "true" => Some(Literal::Bool(true)),
            "false" => Some(Literal::Bool(false)),
            _ => None,
        },
        _ => None,
    }
}

fn whole(written: &str) -> Option<i64> {
    let digits = written.strip_prefix('-').unwrap_or(written);
    let is_whole = (1..=DIGITS).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    written.parse().ok().filter(|_| is_whole)
}

/// The value at the end of a path, null if there is none; `None` if the interpreter must decide.
fn find<'d>(document: &'d Document, path: &[String]) -> Option<(Kind, &'d str)> {
    let mut at = 0;
    for field in path {
        let span = document.spans.get(at as usize)?;
        match span.kind {
            Kind::Object => {}
            Kind::Null => return Some((Kind::Null, "")),
            _ => return None,
        }
        let mut below = children(document, at);
        let mut found = None;
        while let (Some(key), Some(value)) = (below.next(), below.next()) {
            let key = document.spans.get(key as usize)?;
            if key.kind == Kind::Escaped {
                return None;
            }
            if document.written(key) == field {
                found = Some(value);
            }
        }
        let Some(value) = found else { return Some((Kind::Null, "")) };
        at = value;
    }
    let span = document.spans.get(at as usize)?;
    Some((span.kind, document.written(span)))
}

fn compare(kind: Kind, written: &str, operator: Cmp, literal: &Literal) -> Option<bool> {
    if let (Kind::Number, Literal::Whole(literal)) = (kind, literal) {
        let order = whole(written)?.cmp(literal);
        return Some(match operator {
            Cmp::Lt => order == Ordering::Less,
            Cmp::Le => order != Ordering::Greater,
            Cmp::Gt => order == Ordering::Greater,
            Cmp::Ge => order != Ordering::Less,
            Cmp::Eq => order == Ordering::Equal,
            Cmp::Ne => order != Ordering::Equal,
        });
    }
    let is_equal = match (kind, literal) {
        (Kind::Null, Literal::Null) => true,
        (Kind::True, Literal::Bool(wanted)) => *wanted,
        (Kind::False, Literal::Bool(wanted)) => !*wanted,
        (Kind::Plain, Literal::Text(wanted)) => written == wanted,
        (Kind::Escaped, Literal::Text(_)) => return None,
        _ => false,
    };
    match operator {
        Cmp::Eq => Some(is_equal),
        Cmp::Ne => Some(!is_equal),
        // The interpreter knows the order of values of other types.
        _ => None,
    }
}
