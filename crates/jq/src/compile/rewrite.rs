//! Adds a charge to every loop of a filter.
//!
//! jaq has no limits of its own, so the program is rewritten before it is compiled: steps, which spend fuel and check
//! the stack, are put wherever a program can repeat itself, branch or go deeper. These places are:
//!
//! - before each definition's body (every recursion has one), and each argument that calls something (arguments that
//!   call arguments recurse without any definition);
//! - after each comma (several of them in a row multiply), and in each round of `reduce` and `foreach`;
//! - in nested terms, every few levels (each level is a frame of the stack).
//!
//! A definition that passes on its arguments when it calls itself is not turned into a loop, as jaq would do: the
//! arguments would refer to one another in a chain that is dropped by recursion. So its depth is bounded by the stack,
//! which is checked.

use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::ops::{Cmp, Math};
use jaq_core::path::{Part, Path};

/// How many levels there are without a step, and how many parts of a sequence stay together.
const LEVELS: usize = 8;

type Node<'s> = Term<&'s str>;

/// The result of `<`, `<=`, `>` and `>=` with null.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullOrder {
    /// jq's: null comes before everything else.
    First,
    /// False: an absent value is neither small nor large.
    Unordered,
}

/// The position of a term.
#[derive(Clone, Copy)]
struct Context {
    /// Its number of levels below the last step.
    levels: usize,
    null_order: NullOrder,
}

impl Context {
    fn at_step(self) -> Context {
        Context { levels: 0, ..self }
    }
}

/// Puts steps into a definition.
pub fn definition(def: Def<&str>, null_order: NullOrder) -> Def<&str> {
    let arity = def.args.len();
    let is_recursive = calls(&def.body, &|name, arguments| name == def.name && arguments == arity);
    let step = if is_recursive { "!recursion" } else { "!step" };
    let mut body = pipe(Term::Call(step, Vec::new()), inner(def.body, Context { levels: 0, null_order }));
    if is_recursive && def.args.iter().any(|argument| !argument.starts_with('$')) {
        // A call that is not last in a definition uses the stack.
        body = pipe(body, Term::Id);
    }
    Def { body, ..def }
}

fn pipe<'s>(left: Node<'s>, right: Node<'s>) -> Node<'s> {
    Term::BinOp(Box::new(left), BinaryOp::Pipe(None), Box::new(right))
}

fn stepped(term: Node<'_>) -> Node<'_> {
    pipe(Term::Call("!step", Vec::new()), term)
}

/// Whether the term contains a call that `is_wanted`.
fn calls(term: &Node<'_>, is_wanted: &dyn Fn(&str, usize) -> bool) -> bool {
    if let Term::Call(name, arguments) = term
        && is_wanted(name, arguments.len())
    {
        return true;
    }
    children(term).into_iter().any(|child| calls(child, is_wanted))
}

/// The terms directly below a term.
pub fn children<'a, 's>(term: &'a Node<'s>) -> Vec<&'a Node<'s>> {
    match term {
        Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) | Term::Arr(None) => Vec::new(),
        Term::Str(_, parts) => {
            parts.iter().filter_map(|part| if let StrPart::Term(term) = part { Some(term) } else { None }).collect()
        }
        Term::Arr(Some(term)) | Term::Neg(term) | Term::Label(_, term) => vec![term],
        Term::Obj(entries) => entries.iter().flat_map(|(key, value)| std::iter::once(key).chain(value)).collect(),
        Term::BinOp(left, operator, right) => {
            let mut all = vec![&**left, &**right];
            if let BinaryOp::Pipe(Some(pattern)) = operator {
                pattern_terms(pattern, &mut all);
            }
            all
        }
        Term::Fold(_, source, pattern, rounds) => {
            let mut all: Vec<_> = std::iter::once(&**source).chain(rounds).collect();
            pattern_terms(pattern, &mut all);
            all
        }
        Term::TryCatch(term, catch) => std::iter::once(&**term).chain(catch.as_deref()).collect(),
        Term::IfThenElse(cases, otherwise) => {
            cases.iter().flat_map(|(condition, then)| [condition, then]).chain(otherwise.as_deref()).collect()
        }
        Term::Def(definitions, term) => definitions.iter().map(|def| &def.body).chain([&**term]).collect(),
        Term::Call(_, arguments) => arguments.iter().collect(),
        Term::Path(term, path) => {
            let parts = path.0.iter().flat_map(|(part, _)| match part {
                Part::Index(index) => vec![index],
                Part::Range(from, to) => from.iter().chain(to).collect(),
            });
            std::iter::once(&**term).chain(parts).collect()
        }
    }
}

fn pattern_terms<'a, 's>(pattern: &'a Pattern<&'s str>, all: &mut Vec<&'a Node<'s>>) {
    match pattern {
        Pattern::Var(_) => {}
        Pattern::Arr(parts) => parts.iter().for_each(|part| pattern_terms(part, all)),
        Pattern::Obj(entries) => entries.iter().for_each(|(key, part)| {
            all.push(key);
            pattern_terms(part, all);
        }),
    }
}

/// Puts steps into a term.
fn inner(term: Node<'_>, context: Context) -> Node<'_> {
    let is_leaf =
        matches!(term, Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) | Term::Arr(None))
            || matches!(&term, Term::Str(_, parts) if parts.len() <= 1)
            || matches!(&term, Term::Call(_, arguments) if arguments.is_empty());
    let below = |levels| Context { levels, ..context };
    if context.levels >= LEVELS && !is_leaf {
        stepped(rewritten(term, below(1)))
    } else {
        rewritten(term, below(context.levels + 1))
    }
}

fn rewritten<'s>(term: Node<'s>, context: Context) -> Node<'s> {
    let go = |term| inner(term, context);
    let boxed = |term: Box<Node<'s>>| Box::new(inner(*term, context));
    match term {
        Term::Id | Term::Recurse | Term::Num(_) | Term::Break(_) | Term::Var(_) | Term::Arr(None) => term,
        Term::Str(format, parts) => {
            let chunks = chunks(parts.into_iter().map(|part| match part {
                StrPart::Term(term) => StrPart::Term(inner(term, context)),
                other => other,
            }));
            let strings = chunks.into_iter().map(|parts| Term::Str(format, parts)).collect();
            balanced(strings, BinaryOp::Math(Math::Add)).unwrap_or_else(|| Term::Str(None, Vec::new()))
        }
        Term::Arr(Some(term)) => Term::Arr(Some(boxed(term))),
        Term::Neg(term) => Term::Neg(boxed(term)),
        Term::Label(name, term) => Term::Label(name, boxed(term)),
        Term::Obj(entries) => {
            let chunks = chunks(entries.into_iter().map(|(key, value)| (go(key), value.map(go))));
            let objects = chunks.into_iter().map(Term::Obj).collect();
            balanced(objects, BinaryOp::Math(Math::Add)).unwrap_or_else(|| Term::Obj(Vec::new()))
        }
        Term::BinOp(left, operator, right) => operation(*left, operator, *right, context),
        Term::Fold(name, source, pattern, rounds) => {
            let rounds = rounds.into_iter().enumerate();
            let rounds =
                rounds.map(|(index, term)| if index == 1 { stepped(inner(term, context.at_step())) } else { go(term) });
            Term::Fold(name, boxed(source), in_pattern(pattern, context), rounds.collect())
        }
        Term::TryCatch(term, catch) => Term::TryCatch(boxed(term), catch.map(boxed)),
        Term::IfThenElse(cases, otherwise) => {
            let cases = cases.into_iter().map(|(condition, then)| (go(condition), go(then)));
            choice(chunks(cases), otherwise.map(boxed))
        }
        Term::Def(definitions, term) => {
            Term::Def(definitions.into_iter().map(|def| definition(def, context.null_order)).collect(), boxed(term))
        }
        Term::Call(name, arguments) => {
            Term::Call(name, arguments.into_iter().map(|term| argument(term, context)).collect())
        }
        Term::Path(term, path) => {
            let parts = path.0.into_iter().map(|(part, optional)| {
                let part = match part {
                    Part::Index(index) => Part::Index(inner(index, context)),
                    Part::Range(from, to) => Part::Range(from.map(go), to.map(go)),
                };
                (part, optional)
            });
            Term::Path(boxed(term), Path(parts.collect()))
        }
    }
}

fn argument(term: Node<'_>, context: Context) -> Node<'_> {
    if calls(&term, &|_, _| true) { stepped(inner(term, context.at_step())) } else { inner(term, context) }
}

fn operation<'s>(left: Node<'s>, operator: BinaryOp<&'s str>, right: Node<'s>, context: Context) -> Node<'s> {
    match operator {
        BinaryOp::Comma => {
            let mut terms = Vec::new();
            let mut left = left;
            let mut last = right;
            // A list of constants can be thousands of levels deep on the left side.
            while let Term::BinOp(before, BinaryOp::Comma, after) = left {
                terms.push(inner(std::mem::replace(&mut last, *after), context));
                left = *before;
            }
            terms.push(inner(last, context));
            terms.push(inner(left, context));
            terms.reverse();
            balanced(terms, BinaryOp::Comma).unwrap_or_default()
        }
        operator => {
            if context.null_order == NullOrder::Unordered
                && let Some(compare) = present(&operator)
            {
                return Term::Call(compare, vec![argument(left, context), argument(right, context)]);
            }
            let operator = match operator {
                BinaryOp::Pipe(Some(pattern)) => BinaryOp::Pipe(Some(in_pattern(pattern, context))),
                other => other,
            };
            Term::BinOp(Box::new(inner(left, context)), operator, Box::new(inner(right, context)))
        }
    }
}

/// The equivalent definition in the prelude, which is false if a side is null.
fn present(operator: &BinaryOp<&str>) -> Option<&'static str> {
    match operator {
        BinaryOp::Cmp(Cmp::Lt) => Some("__present_lt"),
        BinaryOp::Cmp(Cmp::Le) => Some("__present_le"),
        BinaryOp::Cmp(Cmp::Gt) => Some("__present_gt"),
        BinaryOp::Cmp(Cmp::Ge) => Some("__present_ge"),
        _ => None,
    }
}

fn in_pattern(pattern: Pattern<&str>, context: Context) -> Pattern<&str> {
    match pattern {
        Pattern::Var(name) => Pattern::Var(name),
        Pattern::Arr(parts) => Pattern::Arr(parts.into_iter().map(|part| in_pattern(part, context)).collect()),
        Pattern::Obj(entries) => Pattern::Obj(
            entries.into_iter().map(|(key, part)| (inner(key, context), in_pattern(part, context))).collect(),
        ),
    }
}

/// The cases of an `if`, a few in each chunk. jaq nests them.
fn choice<'s>(chunks: Vec<Vec<(Node<'s>, Node<'s>)>>, otherwise: Option<Box<Node<'s>>>) -> Node<'s> {
    let mut otherwise = otherwise;
    for cases in chunks.into_iter().rev() {
        otherwise = Some(Box::new(stepped(Term::IfThenElse(cases, otherwise))));
    }
    match otherwise.map(|term| *term) {
        // The first needs no step.
        Some(Term::BinOp(_, _, first)) => *first,
        other => other.unwrap_or_default(),
    }
}

fn chunks<T>(items: impl Iterator<Item = T>) -> Vec<Vec<T>> {
    let mut chunks: Vec<Vec<T>> = Vec::new();
    for item in items {
        match chunks.last_mut().filter(|chunk| chunk.len() < LEVELS) {
            Some(chunk) => chunk.push(item),
            None => chunks.push(vec![item]),
        }
    }
    chunks
}

/// Joins terms pairwise: a sequence of a thousand is ten levels deep. Each right side has a step.
fn balanced<'s>(mut terms: Vec<Node<'s>>, operator: BinaryOp<&'s str>) -> Option<Node<'s>> {
    if terms.len() < 2 {
        return terms.pop();
    }
    let right = balanced(terms.split_off(terms.len() / 2), operator.clone())?;
    let left = balanced(terms, operator.clone())?;
    Some(Term::BinOp(Box::new(left), operator, Box::new(stepped(right))))
}
