//! `policy-check classify`: what the detector finds in names, one per line.

use crate::cmd::needs_input;
use crate::cmd::options::{LimitOptions, TOO_DEEP, TOO_LONG};
use pipewright_io::between::{Sides, between};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Change, Limits, Line, Piece, change, deeper_than, why_not_json};
use pipewright_policy::detector::{Element, classify};
use pipewright_sys::signal::Signals;
use serde::Deserialize;
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub struct ClassifyArguments {
    #[command(flatten)]
    limits: LimitOptions,
}

#[derive(Deserialize)]
struct ElementInput {
    role: Option<String>,
    name: String,
    value: Option<String>,
    locale: Option<String>,
    context: Option<String>,
}

struct Classifier {
    max_depth: usize,
    report: Arc<Report>,
}

pub fn run(arguments: &ClassifyArguments, signals: &Signals, report: &Arc<Report>) -> Result<Status, Failure> {
    needs_input("names, such as {\"role\":\"button\",\"name\":\"Pay now\"},")?;
    let limits = Limits::from(arguments.limits);
    let stage = Classifier { max_depth: limits.max_depth, report: Arc::clone(report) };
    between(Box::new(stage), Sides { limits, ..Sides::default() }, signals, report)
}

impl Classifier {
    fn classify(&self, line: &Line<'_>, out: &mut Vec<u8>) -> Result<(), String> {
        if deeper_than(line.body(), self.max_depth) {
            return Err(TOO_DEEP.to_owned());
        }
        let body = std::str::from_utf8(line.body()).map_err(|_| "it is not UTF-8".to_owned())?;
        let ElementInput { role, name, value, locale, context } = serde_json::from_str(body).map_err(|error| {
            format!("it is not {{\"role\"?,\"name\",\"locale\"?,\"context\"?}}: {}", why_not_json(&error))
        })?;
        let found = classify(&Element {
            role: role.as_deref(),
            name: &name,
            value: value.as_deref(),
            locale: locale.as_deref(),
            context: context.as_deref(),
        });
        let (kind, because) = match &found {
            Some(found) => (format!("\"{}\"", found.kind), serde_json::Value::from(found.because.as_str()).to_string()),
            None => ("null".to_owned(), "null".to_owned()),
        };
        let destructive = if found.is_some() { "true" } else { "false" };
        let changes = [("destructive", destructive), ("kind", &*kind), ("because", &*because)];
        let changes = changes.map(|(key, json)| (key, Change::Set(json.as_bytes())));
        let mut changed = Vec::new();
        change(body, &changes, &mut changed).map_err(|error| error.to_string())?;
        out.extend_from_slice(line.before());
        out.append(&mut changed);
        out.extend_from_slice(line.after());
        Ok(())
    }
}

impl Stage for Classifier {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        let Event::Piece(_, piece) = event else { return Ok(()) };
        let to = out.to(Side::NEAR);
        let (number, error) = match &piece {
            Piece::Line(line) if line.is_blank() => (line.number(), None),
            Piece::Line(line) => match self.classify(line, to) {
                Ok(()) => return Ok(()),
                Err(why) => (line.number(), Some(why)),
            },
            Piece::Part { number, last, .. } => (*number, last.then(|| TOO_LONG.to_owned())),
        };
        to.extend_from_slice(piece.raw());
        if let Some(why) = error {
            self.report.fault(format_args!("stdin:{number}"), format_args!("{why}; passed on unchanged"));
        }
        Ok(())
    }
}
