//! A compiled filter, and its runs.

use crate::compile::{Compiled, Data, NullOrder, compile};
use crate::error::{CompileError, Error, ErrorKind};
use crate::fuel::{self, StopReason};
use crate::json::{ReadError, Writer, read, write};
use crate::value::Value;
use crate::value::document::{Document, whole};
use jaq_core::{Ctx, Exn, ValX, Vars};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The limits of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The steps allowed for any run. A step is about a call, an element or sixteen bytes.
    pub fuel: u64,
    /// The additional steps allowed for each byte of the input.
    pub fuel_per_byte: u64,
    /// How deep arrays and objects may be nested, in the input and in created values. At most [`Limits::MAX_DEPTH`].
    pub max_depth: usize,
    /// The longest output, in bytes.
    pub max_output: usize,
}

impl Limits {
    /// The greatest possible depth: values are processed by recursion.
    pub const MAX_DEPTH: usize = 512;
}

impl Default for Limits {
    /// 100,000 steps and 8 more per byte, 512 levels, 64 MiB. Rewriting each string of a message takes one or two steps
    /// per byte, and four if nearly every byte is a value; 100,000 steps take about 10 ms. A step keeps at most about
    /// 50 bytes of memory.
    fn default() -> Limits {
        Limits { fuel: 100_000, fuel_per_byte: 8, max_depth: Limits::MAX_DEPTH, max_output: 64 << 20 }
    }
}

/// The input of a run.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// One JSON value, as text.
    Json(&'a [u8]),
    /// A string.
    Text(&'a str),
    /// A whole number.
    Number(i64),
    /// null.
    Null,
}

/// A jq filter, compiled once and run on each line.
pub struct Filter {
    compiled: Compiled,
    variables: usize,
    limits: Limits,
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.debug_struct("Filter")
            .field("variables", &self.variables)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Filter {
    /// Compiles a filter. `variables` are the names, without `$`, of the variables that each run sets.
    ///
    /// # Errors
    /// The text is not a filter, is too large, or calls something that does not exist.
    pub fn compile(source: &str, variables: &[&str], limits: Limits) -> Result<Filter, CompileError> {
        Filter::compile_with(source, variables, limits, NullOrder::First)
    }

    /// Compiles a condition, which only has access to its input. In it `<`, `<=`, `>` and `>=` are false if a side is
    /// null: in jq null is less than every number, so `.amount < 100` would hold without an amount.
    ///
    /// # Errors
    /// As [`Filter::compile`].
    pub fn compile_condition(source: &str, limits: Limits) -> Result<Filter, CompileError> {
        Filter::compile_with(source, &[], limits, NullOrder::Unordered)
    }

    fn compile_with(
        source: &str,
        variables: &[&str],
        limits: Limits,
        null_order: NullOrder,
    ) -> Result<Filter, CompileError> {
        let limits = Limits { max_depth: limits.max_depth.min(Limits::MAX_DEPTH), ..limits };
        Ok(Filter { compiled: compile(source, variables, null_order)?, variables: variables.len(), limits })
    }

    /// Whether there is a first output, and it is neither false nor null.
    ///
    /// # Errors
    /// The input is unreadable, or the run fails.
    pub fn matches(&self, input: Input<'_>, variables: &[Input<'_>]) -> Result<bool, Error> {
        if let (Some(plain), Input::Json(json)) = (&self.compiled.plain, input)
            && variables.len() == self.variables
            && let Some(answer) = plain.answer(&self.document(json)?)
        {
            return Ok(answer);
        }
        self.run(input, variables, |outputs| match outputs.next() {
            Some(first) => first.map(|first| first.is_true()).map_err(failed),
            None => Ok(false),
        })
    }

    /// Appends the output as compact JSON to `out`. Returns false if there is none. After an error, `out` is unchanged.
    ///
    /// # Errors
    /// The input is unreadable, the run fails, or there is more than one output.
    pub fn one(&self, input: Input<'_>, variables: &[Input<'_>], out: &mut Vec<u8>) -> Result<bool, Error> {
        self.append(input, variables, out, write)
    }

    /// Appends the output as a cell of a table: a string's text, nothing for null, anything else as JSON. Returns false
    /// if there is none. After an error, `out` is unchanged.
    ///
    /// # Errors
    /// The input is unreadable, the run fails, or there is more than one output.
    pub fn cell(&self, input: Input<'_>, variables: &[Input<'_>], out: &mut Vec<u8>) -> Result<bool, Error> {
        self.append(input, variables, out, |value, to| match value {
            Value::Null => {}
            Value::Text(text) => to.push(text.as_str().as_bytes()),
            other => write(other, to),
        })
    }

    fn append(
        &self,
        input: Input<'_>,
        variables: &[Input<'_>],
        out: &mut Vec<u8>,
        write: fn(&Value, &mut Writer<'_>),
    ) -> Result<bool, Error> {
        let before = out.len();
        let wrote = self.run(input, variables, |outputs| {
            let Some(first) = outputs.next() else {
                return Ok(false);
            };
            let first = first.map_err(failed)?;
            if let Some(second) = outputs.next() {
                second.map_err(failed)?;
                let advice = "only one is allowed: put them in an array, as in [f], or take the first, as in first(f)";
                return Err(Error::new(
                    ErrorKind::Failed,
                    format_args!("the filter gives more than one output; {advice}"),
                ));
            }
            let mut writer = Writer::new(out, self.limits.max_output);
            write(&first, &mut writer);
            if writer.overflowed() {
                let most = self.limits.max_output;
                return Err(Error::new(
                    ErrorKind::TooLarge,
                    format_args!("the output has more than {most} bytes; output less"),
                ));
            }
            Ok(true)
        });
        if wrote.is_err() {
            out.truncate(before);
        }
        wrote
    }

    fn run<T>(
        &self,
        input: Input<'_>,
        variables: &[Input<'_>],
        take: impl FnOnce(&mut dyn Iterator<Item = ValX<'_, Value>>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let bytes = [input].iter().chain(variables).map(Input::len).fold(0, u64::saturating_add);
        let fuel = self.limits.fuel.saturating_add(self.limits.fuel_per_byte.saturating_mul(bytes));
        fuel::begin(fuel, self.limits.max_depth as u32);
        // We know of no panic, but jaq's interpreter is not our code, and a line must not end the process.
        let taken = catch_unwind(AssertUnwindSafe(|| {
            stacker::maybe_grow(fuel::ENOUGH_STACK, fuel::RUN_STACK, || self.run_here(input, variables, take))
        }));
        let taken = taken.unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Failed, "internal error in the filter; please report it with this line"))
        });
        match fuel::stopped() {
            None => taken,
            // The run was stopped, so its output does not count.
            Some(StopReason::Fuel) => Err(out_of_fuel()),
            Some(StopReason::Depth) => Err(self.too_deep("a value or a recursion of the filter")),
        }
    }

    fn run_here<T>(
        &self,
        input: Input<'_>,
        variables: &[Input<'_>],
        take: impl FnOnce(&mut dyn Iterator<Item = ValX<'_, Value>>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if variables.len() != self.variables {
            let message = format_args!("{} variables were given, but {} are declared", variables.len(), self.variables);
            return Err(Error::new(ErrorKind::Failed, message));
        }
        let given: Vec<Value> = variables.iter().map(|value| self.value(value)).collect::<Result<_, _>>()?;
        let Compiled { program, .. } = &self.compiled;
        let context = Ctx::<Data>::new(&program.lut, Vars::new(given));
        let mut outputs = program.id.run((context, self.value(&input)?));
        take(&mut outputs)
    }

    fn value(&self, input: &Input<'_>) -> Result<Value, Error> {
        match *input {
            Input::Null => Ok(Value::Null),
            Input::Number(number) => Ok(Value::from(number)),
            Input::Text(text) if u32::try_from(text.len()).is_ok() => Ok(Value::from(text)),
            Input::Json(json) => self.document(json).map(whole),
            Input::Text(_) => Err(too_large()),
        }
    }

    fn document(&self, json: &[u8]) -> Result<Document, Error> {
        read(json, self.limits.max_depth as u32).map_err(|error| match error {
            ReadError::NotJson(why) => Error::new(ErrorKind::Unreadable, format_args!("not JSON: {why}")),
            ReadError::TooDeep => self.too_deep("the input"),
            ReadError::TooLarge => too_large(),
        })
    }

    fn too_deep(&self, what: &str) -> Error {
        let most = self.limits.max_depth;
        Error::new(ErrorKind::TooDeep, format_args!("{what} is nested too deeply; the limit is {most} levels"))
    }
}

impl Input<'_> {
    fn len(&self) -> u64 {
        match self {
            Input::Json(json) => json.len() as u64,
            Input::Text(text) => text.len() as u64,
            Input::Number(_) | Input::Null => 0,
        }
    }
}

fn too_large() -> Error {
    Error::new(ErrorKind::TooLarge, "the input has 4 GiB or more; split it")
}

fn out_of_fuel() -> Error {
    Error::new(ErrorKind::OutOfFuel, "the filter took too many steps and was stopped; check that it ends")
}

/// jq's own error.
fn failed(exception: Exn<'_, Value>) -> Error {
    match exception.get_err() {
        Ok(error) => Error::new(
            if fuel::has_bad_pattern() { ErrorKind::BadPattern } else { ErrorKind::Failed },
            match error.into_val() {
                Value::Text(text) => text.as_str().to_owned(),
                other => format!("the filter failed with {other}"),
            },
        ),
        Err(other) if other.clone().get_halt().is_ok() => out_of_fuel(),
        Err(_) => Error::new(ErrorKind::Failed, "break without its label"),
    }
}
