//! `policy-check tools`: how each tool of a list is judged, as a table or as a rules file to start from.

use crate::cmd::needs_input;
use crate::cmd::usage;
use pipewright_io::between::{FarEndpoint, NearKind, Sides, between};
use pipewright_io::printable::printable;
use pipewright_io::report::{Failure, Report, Status};
use pipewright_io::stage::{Event, Out, Side, Stage};
use pipewright_lines::{Limits, Piece, text};
use pipewright_mcp::{Client, ClientOptions, Era, ServerMessage, Tool};
use pipewright_policy::annotations::{Hint, listed};
use pipewright_policy::builtin::Builtin;
use pipewright_policy::{Decision, Verdict};
use pipewright_record::json::Object;
use pipewright_record::recognise;
use pipewright_sys::descriptor::stdout;
use pipewright_sys::lock;
use pipewright_sys::process::describe;
use pipewright_sys::signal::Signals;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthStr;

/// Tools and how the built-in policy judges a call of each that has no arguments
#[derive(Debug, clap::Args)]
pub struct ToolsArguments {
    /// Trust "readOnlyHint": true, as the gate does with this option
    #[arg(long)]
    trust_hints: bool,
    /// Print a rules file instead: a rule for each tool whose name requires approval, for you to edit
    #[arg(long)]
    starter_rules: bool,
    /// An MCP server to list the tools of; without it, the list is read from stdin: the answer to tools/list, or a tool_list record
    #[arg(last = true, value_name = "SERVER ARGS")]
    server: Vec<OsString>,
}

/// A tool, and the decision about it.
struct JudgedTool {
    name: String,
    decision: Decision,
    /// Neither arguments nor an element would change the decision.
    is_decided_by_name: bool,
}

/// The longest line of a server, in bytes, and its deepest nesting.
const LIMITS: Limits = Limits { max_line: 256 << 20, max_depth: 512 };
/// How long a server may take to start and to list its tools.
const LIST_TIMEOUT: Duration = Duration::from_secs(120);

/// Prints the table, or the rules.
///
/// # Errors
/// [`usage`] if stdin is not a list, [`Status::NotStarted`] or [`Status::Lost`] if the server gives none.
pub fn run(arguments: ToolsArguments, signals: &Signals, report: &Arc<Report>) -> Result<Status, Failure> {
    let list = if arguments.server.is_empty() {
        needs_input("a list of tools (the answer to tools/list, or a tool_list record)")?;
        io::read_to_string(io::stdin()).map_err(|error| usage(format_args!("stdin: {error}")))?
    } else {
        match ask(arguments.server, signals, report)? {
            Ok(list) => list,
            Err(status) => return Ok(status),
        }
    };
    let tools = find_list(&list, arguments.trust_hints)
        .ok_or_else(|| usage("stdin: not a list of tools: give an answer to tools/list, or a tool_list record"))?;
    let mut builtin = Builtin::default();
    builtin.learn_tools(tools.iter().map(|(name, _)| name.as_str()));
    let judged: Vec<JudgedTool> = tools.into_iter().filter_map(|(name, hint)| judge(&builtin, name, hint)).collect();
    let printed = if arguments.starter_rules { rules(&judged) } else { table(&judged) };
    match stdout().and_then(|mut stdout| stdout.write_all(printed.as_bytes())) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::new(Status::Fault, format_args!("stdout: {error}")))
        }
        _ => Ok(report.finish()),
    }
}

/// The list in a text: the whole text as JSON, or else the first line that is a list.
fn find_list(text: &str, is_trusted: bool) -> Option<Vec<(String, Hint)>> {
    listed(text, is_trusted).or_else(|| text.lines().find_map(|line| listed(line, is_trusted)))
}

fn judge(builtin: &Builtin, name: String, hint: Hint) -> Option<JudgedTool> {
    let call = Object::default().text("tool", &name).end();
    let (decision, acts) = builtin.judge(&recognise(&call).ok()??, hint);
    Some(JudgedTool { is_decided_by_name: acts.are_decided_by_name(), name, decision })
}

fn table(tools: &[JudgedTool]) -> String {
    let widest = tools.iter().map(|tool| printable(&tool.name).width()).max().unwrap_or_default();
    let mut table = String::new();
    for JudgedTool { name, decision, is_decided_by_name } in tools {
        let name = printable(name);
        let pad = widest - name.width();
        let verdict = decision.verdict.name();
        let depends = if *is_decided_by_name { "" } else { " (the arguments decide)" };
        // Writing to a String can't fail.
        let _ = writeln!(table, "{name}{:pad$}  {verdict:7}  {}{depends}", "", printable(&decision.reason));
    }
    let asked = tools.iter().filter(|tool| tool.decision.verdict != Verdict::Allow).count();
    let _ = writeln!(table, "{} tools, {asked} asked about", tools.len());
    table
}

fn rules(tools: &[JudgedTool]) -> String {
    let mut rules =
        "# How the built-in policy judges these tools. Change a verdict to \"allow\" or \"deny\" where you \
                     know better.\n"
            .to_owned();
    let mut written = HashSet::new();
    for JudgedTool { name, decision, .. } in tools.iter().filter(|tool| {
        // A name with a wildcard would be a pattern for others, and control characters are not allowed in TOML.
        let is_plain = !tool.name.contains(|sign: char| sign.is_control() || "*?".contains(sign));
        tool.is_decided_by_name && tool.decision.verdict != Verdict::Allow && is_plain && written.insert(&tool.name)
    }) {
        // JSON's escapes are TOML's, too.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let (id, example) = (quoted(name), quoted(&Object::default().text("tool", name).end()));
        let verdict = decision.verdict.name();
        let _ = write!(
            rules,
            "\n# {}\n[[rule]]\nid = {id}\nverdict = \"{verdict}\"\ninstead_of_builtin = true\ntool = {id}\nmatch = \
             [{example}]\n",
            printable(&decision.reason)
        );
    }
    rules
}

/// Starts an MCP server and requests its tools. Gives the list, or how the run ended without one (by a signal).
fn ask(server: Vec<OsString>, signals: &Signals, report: &Arc<Report>) -> Result<Result<String, Status>, Failure> {
    let list = Arc::default();
    let stage = ListStage {
        client: Client::new("policy-check", Era::Legacy, ClientOptions::default()),
        list: Arc::clone(&list),
        deadline: Instant::now() + LIST_TIMEOUT,
    };
    let sides = Sides { near: NearKind::Stdout, far: FarEndpoint::child(server), limits: LIMITS, ..Sides::default() };
    let status = between(Box::new(stage), sides, signals, report)?;
    let list = lock(&list).take();
    Ok(list.ok_or(status))
}

struct ListStage {
    client: Client,
    list: Arc<Mutex<Option<String>>>,
    deadline: Instant,
}

impl Stage for ListStage {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        let failed = |why: &dyn std::fmt::Display| Failure::new(Status::NotStarted, format_args!("the server: {why}"));
        match event {
            Event::Started(_) => self.client.start_handshake(out.to(Side::FAR)),
            Event::Piece(Side::FAR, Piece::Line(line)) => {
                match self.client.receive(&text(line.body()), out.to(Side::FAR)) {
                    ServerMessage::Ready => {
                        let tools: Vec<&str> = self.client.tools().map(|Tool { raw, .. }| raw.as_str()).collect();
                        *lock(&self.list) = Some(format!("{{\"tools\":[{}]}}", tools.join(",")));
                        out.stop(Status::Success);
                    }
                    ServerMessage::Refused(error) => return Err(failed(&error.message)),
                    ServerMessage::Failed(why) => return Err(failed(&why)),
                    _ => {}
                }
            }
            Event::Piece(Side::FAR, Piece::Part { .. }) => return Err(failed(&"its list is longer than 256 MiB")),
            Event::Exited(_, status) => {
                let why = format_args!("the server ended before it listed its tools ({})", describe(status));
                return Err(Failure::new(Status::Lost, why));
            }
            Event::Due => return Err(failed(&format_args!("no list of tools within {} s", LIST_TIMEOUT.as_secs()))),
            _ => {}
        }
        Ok(())
    }

    fn deadline(&self) -> Option<Instant> {
        Some(self.deadline)
    }
}
