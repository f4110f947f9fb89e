//! Compiles a filter's text into a program: parses it, checks it, adds charges to every loop, and compiles the result.

mod check;
mod explain;
mod patterns;
mod plain;
mod rewrite;

use crate::error::CompileError;
use crate::natives;
use crate::value::Value;
use jaq_core::load::parse::Def;
use jaq_core::load::{Arena, File, Lexer, Loader, Parser};
use jaq_core::{Compiler, DataT, Lut};
use plain::Predicate;
pub use rewrite::NullOrder;
use std::panic::catch_unwind;

/// The data types of our filters.
pub struct Data;

impl DataT for Data {
    type V<'a> = Value;
    type Data<'a> = &'a Lut<Self>;
}

/// A compiled filter.
pub type Program = jaq_core::Filter<Data>;

/// The result of compiling a filter.
pub struct Compiled {
    pub program: Program,
    /// The filter as a predicate, if it is simple enough to need no interpreter.
    pub plain: Option<Predicate>,
}

/// The name of the filter's own definition, which is rewritten like the others.
const MAIN: &str = "pipewright_main";

/// The definitions of jaq-core that our native functions replace.
const REPLACED: [(&str, usize); 6] =
    [("empty", 0), ("true", 0), ("false", 0), ("not", 0), ("join", 1), ("delpaths", 1)];

/// The stack for parsing and compiling, which recurse over the text that [`check`] has found small enough.
const COMPILE_STACK: usize = if cfg!(debug_assertions) { 256 << 20 } else { 64 << 20 };

/// Compiles a filter.
///
/// # Errors
/// The text is not a filter, calls something that does not exist, or is too large.
pub fn compile(source: &str, variables: &[&str], null_order: NullOrder) -> Result<Compiled, CompileError> {
    check::brackets(source)?;
    // We know of no panic, but jaq's compiler is not our code.
    let compiled = catch_unwind(|| stacker::grow(COMPILE_STACK, || compile_here(source, variables, null_order)));
    compiled.unwrap_or_else(|_| Err(CompileError::new("the filter could not be compiled; please report it")))
}

fn compile_here(source: &str, variables: &[&str], null_order: NullOrder) -> Result<Compiled, CompileError> {
    let tokens = Lexer::new(source).lex().map_err(|errors| explain::lex_error(source, &errors))?;
    check::tokens(source, &tokens)?;
    let body =
        Parser::new(&tokens).parse(|parser| parser.term()).map_err(|errors| explain::parse_error(source, &errors))?;
    check::rows(&body)?;
    patterns::constant(source, &body)?;
    let plain = Predicate::of(&body);
    let main = rewrite::definition(Def { name: MAIN, args: Vec::new(), body }, null_order);
    let prelude = prelude().into_iter().map(|def| rewrite::definition(def, NullOrder::First));
    let names: Vec<String> = variables.iter().map(|name| format!("${name}")).collect();
    let arena = Arena::default();
    let modules = Loader::new(prelude.chain([main]))
        .load(&arena, File { code: MAIN, path: () })
        .map_err(|_| CompileError::new("the filter could not be compiled"))?;
    Compiler::default()
        .with_funs(natives::all())
        .with_global_vars(names.iter().map(String::as_str))
        .compile(modules)
        .map(|program| Compiled { program, plain })
        .map_err(|errors| explain::undefined_name(source, variables, &errors))
}

/// The definitions that precede every filter.
fn prelude() -> Vec<Def<&'static str>> {
    let ours = jaq_core::load::parse(include_str!("../prelude.jq"), |parser| parser.defs()).unwrap_or_default();
    let is_ours = |def: &Def<&str>| ours.iter().any(|our| our.name == def.name && our.args.len() == def.args.len());
    let core = jaq_core::defs().filter(|def| !is_ours(def) && !REPLACED.contains(&(def.name, def.args.len())));
    let mut all: Vec<_> = core.collect();
    all.extend(ours);
    all
}
