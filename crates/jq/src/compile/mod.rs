//! A filter's text into something that can be run: parsed, checked, every loop made to pay, compiled.

mod check;
mod explain;
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

/// What our filters work on.
pub struct Data;

impl DataT for Data {
    type V<'a> = Value;
    type Data<'a> = &'a Lut<Self>;
}

/// A filter that can be run.
pub type Program = jaq_core::Filter<Data>;

/// What a text was compiled to.
pub struct Compiled {
    pub program: Program,
    /// The same, where it is so plain that no interpreter is needed.
    pub plain: Option<Predicate>,
}

/// The definition that the filter becomes, which is rewritten as the others are.
const MAIN: &str = "pipewright_main";

/// The definitions of jaq-core that natives of ours take the place of.
const REPLACED: [(&str, usize); 6] =
    [("empty", 0), ("true", 0), ("false", 0), ("not", 0), ("join", 1), ("delpaths", 1)];

/// The stack for parsing and compiling, which recurse over what [`check`] has found small enough.
const COMPILE_STACK: usize = if cfg!(debug_assertions) { 256 << 20 } else { 64 << 20 };

/// Compiles a filter.
///
/// # Errors
/// The text isn't one, calls what isn't there, or is too large.
pub fn compile(source: &str, variables: &[&str], null_order: NullOrder) -> Result<Compiled, CompileError> {
    check::brackets(source)?;
    // Nothing panics that we know of, but jaq's compiler is not ours.
    let compiled = catch_unwind(|| stacker::grow(COMPILE_STACK, || compile_here(source, variables, null_order)));
    compiled.unwrap_or_else(|_| Err(CompileError::new("the filter could not be compiled; please report it")))
}

fn compile_here(source: &str, variables: &[&str], null_order: NullOrder) -> Result<Compiled, CompileError> {
    let tokens = Lexer::new(source).lex().map_err(|errors| explain::lexing(source, &errors))?;
    check::tokens(source, &tokens)?;
    let body =
        Parser::new(&tokens).parse(|parser| parser.term()).map_err(|errors| explain::parsing(source, &errors))?;
    check::rows(&body)?;
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
        .map_err(|errors| explain::undefined(source, variables, &errors))
}

/// The definitions that come before any filter's.
fn prelude() -> Vec<Def<&'static str>> {
    let ours = jaq_core::load::parse(include_str!("../prelude.jq"), |parser| parser.defs()).unwrap_or_default();
    let is_ours = |def: &Def<&str>| ours.iter().any(|our| our.name == def.name && our.args.len() == def.args.len());
    let core = jaq_core::defs().filter(|def| !is_ours(def) && !REPLACED.contains(&(def.name, def.args.len())));
    let mut all: Vec<_> = core.collect();
    all.extend(ours);
    all
}
