//! What the hooks of both gates share: reading a call as a harness describes it, judging it, and writing the answer as
//! this harness takes it.
//!
//! Harnesses let a call run if a hook fails in a way that they do not expect. So every failure, also a panic or a
//! policy that takes too long, blocks the call in the form of its harness.

use super::browser_pages;
use super::options::{LimitOptions, TOO_DEEP, TOO_LONG};
use super::rules_file::{JudgedCall, RulesFile, RulesOptions, judge};
use super::session_file::SessionFile;
use super::usage;
use super::working_tree::{home, resolve, runs_nothing};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_lines::{Limits, deeper_than};
use pipewright_policy::annotations::Hint;
use pipewright_policy::builtin::Builtin;
use pipewright_policy::working_folder::WorkingFolder;
use pipewright_record::Call;
use pipewright_record::hook::{HARNESSES, Harness, HookCall, HookInput, HookResult, WrittenAnswer, read};
use pipewright_sys::descriptor::{stdout, stdout_is_null_device};
use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The options of a hook.
#[derive(Debug, Clone, clap::Args)]
pub struct HookOptions {
    /// The harness that runs the hook [default: recognised by its input]
    #[arg(long = "for", value_name = "HARNESS", value_parser = harness_names())]
    harness: Option<String>,
    #[command(flatten)]
    pub rules: RulesOptions,
    #[command(flatten)]
    limits: LimitOptions,
}

fn harness_names() -> clap::builder::PossibleValuesParser {
    HARNESSES.iter().map(|harness| harness.name).collect::<Vec<_>>().into()
}

/// So many characters of the input are repeated in a message.
const MOST_ECHOED: usize = 200;

/// Why no decision was made, and the harness that is to block the call, if it is known.
#[derive(Debug)]
pub struct HookFailure {
    pub harness: Option<&'static Harness>,
    pub why: String,
}

/// What stdin had.
pub enum HookEvent {
    Call(HookCall),
    /// A call was made.
    After(HookResult),
    /// There is nothing to decide.
    Other(Option<&'static Harness>),
}

impl HookOptions {
    /// The harness that is named.
    pub fn harness(&self) -> Option<&'static Harness> {
        self.harness.as_deref().and_then(Harness::named)
    }

    /// A failure before the harness is recognised.
    pub fn failure(&self, why: impl std::fmt::Display) -> HookFailure {
        HookFailure { harness: self.harness(), why: why.to_string() }
    }

    /// Opens the rules file, if there is one.
    ///
    /// # Errors
    /// As [`RulesOptions::open`]; also if the file is empty, as it is while another program writes it.
    pub fn open_rules(&self, report: &Report) -> Result<Option<RulesFile>, HookFailure> {
        let rules = self.rules.clone().open(report).map_err(|failure| self.failure(failure))?;
        match &self.rules.rules {
            Some(path) if rules.as_ref().is_some_and(RulesFile::is_blank) => {
                let advice = "if you mean that, add a comment line";
                Err(self.failure(format_args!("{}: the file has no rules; {advice}", path.display())))
            }
            _ => Ok(rules),
        }
    }

    /// Reads stdin to its end, also if it is too long: a harness that cannot write all of it lets the call run.
    ///
    /// # Errors
    /// Why it is not the text of a call within the limits.
    pub fn input(&self) -> Result<String, HookFailure> {
        let failed = |why: &dyn std::fmt::Display| self.failure(format_args!("stdin: {why}"));
        if io::stdin().is_terminal() {
            return Err(failed(&"it is a terminal: pipe the input of a hook in (see --help)"));
        }
        let limits = Limits::from(self.limits);
        let (mut stdin, mut input) = (io::stdin().lock(), Vec::new());
        let most = limits.max_line as u64 + 1;
        stdin.by_ref().take(most).read_to_end(&mut input).map_err(|error| failed(&error))?;
        if input.len() > limits.max_line {
            let rest = io::copy(&mut stdin, &mut io::sink());
            return Err(rest.map_or_else(|error| failed(&error), |_| failed(&TOO_LONG)));
        }
        if deeper_than(&input, limits.max_depth) {
            return Err(failed(&TOO_DEEP));
        }
        String::from_utf8(input).map_err(|_| failed(&"it is not UTF-8"))
    }

    /// Reads the event in the input.
    ///
    /// # Errors
    /// Why it cannot be read for certain.
    pub fn event(&self, input: &str, report: &Report) -> Result<HookEvent, HookFailure> {
        match read(input, self.harness()) {
            Ok(HookInput::Call(call)) => Ok(HookEvent::Call(*call)),
            Ok(HookInput::After(result)) => Ok(HookEvent::After(*result)),
            Ok(HookInput::Other(name, harness)) => {
                note_event(&name, report);
                Ok(HookEvent::Other(harness))
            }
            Err(error) => {
                let is_other = |named: &Harness| error.harness.is_some_and(|harness| harness.name != named.name);
                let advice = if self.harness().is_some_and(is_other) { ": wrong --for?" } else { "" };
                let why = format!("stdin: {}{advice}", shortened(&error.why.to_string()));
                Err(HookFailure { harness: error.harness.or(self.harness()), why })
            }
        }
    }
}

/// Reports an event that is left to the harness.
pub fn note_event(name: &str, report: &Report) {
    let name = format!("{name:?}");
    report.note(format_args!("stdin: the event {} is not about a call that waits: no opinion", shortened(&name)));
}

/// A text that may have a part of the input, which may be long.
pub fn shortened(text: &str) -> String {
    pipewright_io::report::shortened(text, MOST_ECHOED)
}

/// The policy for a call of a harness. The pages that browsers have shown are forgotten, if the call may change them.
///
/// # Errors
/// Why they cannot be forgotten.
pub fn policy(hook: &HookCall) -> Result<Builtin, String> {
    let folder = hook.folder.as_ref().map(PathBuf::from).filter(|folder| folder.is_absolute());
    let place = WorkingFolder { folder, home: home(), runs_nothing: Some(runs_nothing), resolve: Some(resolve) };
    let builtin = Builtin::of_client(hook.harness).with_place(place);
    let page = browser_pages::judged(hook, &builtin)
        .map_err(|error| format!("what a browser has shown before cannot be forgotten: {error}"))?;
    Ok(match page {
        Some((browser, page)) => builtin.with_browser(browser, &page),
        None => builtin,
    })
}

/// Acts with the history of a harness's session, if the rules depend on it. Each gate has its own, which is locked while
/// it acts.
///
/// # Errors
/// Why there is no history; the call is not judged then.
pub fn with_history<T>(
    gate: &str,
    hook: &HookCall,
    rules: &mut Option<RulesFile>,
    act: impl FnOnce(&mut Option<RulesFile>) -> T,
) -> Result<T, String> {
    let Some(loaded) = rules.as_mut().filter(|rules| rules.has_history()) else { return Ok(act(rules)) };
    let failed = |error: &dyn std::fmt::Display| format!("the earlier calls of the session are not known: {error}");
    let mut file = SessionFile::open(&format!("history-{gate}"), hook).map_err(|error| failed(&error))?;
    let text = file.text().map_err(|error| failed(&error))?;
    if !text.is_empty() {
        loaded.history = serde_json::from_str(&text).map_err(|error| failed(&error))?;
    }
    let before = loaded.history.clone();
    let done = act(rules);
    let after = rules.as_ref().map(|rules| &rules.history).filter(|after| **after != before);
    if let Some(after) = after {
        let written = serde_json::to_string(after).map_err(io::Error::from).and_then(|text| file.replace(&text));
        written.map_err(|error| failed(&error))?;
    }
    Ok(done)
}

/// Judges the call of a hook.
pub fn judge_hook(call: &Call<'_>, builtin: &Builtin, rules: Option<&RulesFile>) -> JudgedCall {
    judge(call, builtin, rules, Hint::None)
}

/// Decides within a time, and writes the answer, or blocks the call.
///
/// # Errors
/// Exit status 2 with the reason: so most harnesses are blocked.
pub fn answer_within(
    time: Duration,
    harness: Option<&'static Harness>,
    decide: impl FnOnce() -> Result<WrittenAnswer, HookFailure> + Send + 'static,
) -> Result<Status, Failure> {
    let (send, decided) = channel();
    thread::spawn(move || send.send(decide()));
    let failed = |why: String| Err(HookFailure { harness, why });
    let decided = decided.recv_timeout(time).unwrap_or_else(|error| match error {
        RecvTimeoutError::Timeout => failed(format!("no decision within {} s", time.as_secs())),
        RecvTimeoutError::Disconnected => failed("no decision: an internal error".to_owned()),
    });
    answer(decided)
}

/// Writes the answer, or blocks the call.
///
/// # Errors
/// As [`answer_within`].
pub fn answer(decided: Result<WrittenAnswer, HookFailure>) -> Result<Status, Failure> {
    let answer = decided.unwrap_or_else(|HookFailure { harness, why }| match harness {
        Some(harness) => harness.block(&why),
        None => WrittenAnswer::ExitStatus(why),
    });
    match answer {
        WrittenAnswer::Text(text) => {
            let written = stdout().and_then(|mut stdout| match text.is_empty() || !stdout_is_null_device()? {
                true => stdout.write_all(text.as_bytes()),
                false => Err(io::Error::other("it is closed, or the null device: the answer would be lost")),
            });
            written.map_err(|error| usage(format_args!("stdout: {error}")))?;
            Ok(Status::Success)
        }
        WrittenAnswer::ExitStatus(why) => Err(usage(why)),
    }
}
