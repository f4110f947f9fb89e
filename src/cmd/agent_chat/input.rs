//! Carries out the person's input.

use super::chat::Chat;
use super::command::{COMMANDS, Call, Command, InputMode, TypedLine, help, read};
use super::questions::HeldCallInput;
use super::style::Style;
use super::terminal::{Input, KeyboardUse};
use super::view::{call_line, cut};
use crate::cmd::options::TOO_LONG;
use pipewright_clients::session::State;
use pipewright_io::report::{Failure, Status};
use pipewright_io::stage::Out;
use pipewright_record::{Cancel, Record, UserMessage};
use std::path::Path;
use std::time::{Duration, Instant};

/// If nothing can be stopped, a second Ctrl-C within this time ends the command.
const DOUBLE_PRESS: Duration = Duration::from_secs(2);

impl Chat {
    /// Takes input from the keyboard.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn take_input(&mut self, input: Input, out: &mut Out) -> Result<(), Failure> {
        match input {
            Input::Line { text, question } => {
                self.asking.typed_for = question;
                self.take_line(&text, out);
            }
            // Ctrl-C only cleared the line.
            Input::Interrupt { is_clearing: true } => {}
            Input::Interrupt { is_clearing: false } => self.interrupt(out),
            Input::End if self.asking.held.is_some() => self.note("a call is held: answer /yes or /no first", out),
            Input::End => out.stop(self.report.finish()),
            Input::Typing => {}
            Input::Edited { text, question } => {
                if !self.reply_about_call(HeldCallInput::Draft(text, question), out) {
                    self.note("nothing was changed: the edited call is no longer held", out);
                }
            }
            Input::Gone(why) => return Err(Failure::new(Status::Fault, why)),
        }
        Ok(())
    }

    /// Takes a line that was typed.
    pub fn take_line(&mut self, line: &str, out: &mut Out) {
        let kept = match read(line, self.mode) {
            TypedLine::Nothing => String::new(),
            // The line may contain a secret.
            TypedLine::Command(Command::Answer | Command::Edit, _) => format!("{}> (an answer)\n", self.mode.name()),
            _ => format!("{}> {}\n", self.mode.name(), line.trim()),
        };
        self.transcript.add(kept);
        match read(line, self.mode) {
            TypedLine::Nothing => {}
            TypedLine::Command(command, rest) => self.carry_out(command, rest, out),
            TypedLine::Unknown(word) => {
                let near =
                    COMMANDS.iter().map(|(_, name, ..)| *name).find(|name| strsim::damerau_levenshtein(name, word) < 2);
                let near = near.map_or_else(|| "/help lists them".to_owned(), |name| format!("did you mean {name}?"));
                self.complain(
                    &format!(
                        "unknown command {word}; {near} (to send a message that starts with a slash, type a blank \
                              first)"
                    ),
                    out,
                );
            }
            TypedLine::Message(text) => self.send_message(text, out),
            TypedLine::Call(text) => match Call::read(text) {
                Ok(call) => self.make_call(&call, out),
                Err(why) => self.complain(&why, out),
            },
        }
    }

    /// Whether the agent would read a record, as far as is known here; reports why if it would not.
    fn fits(&mut self, record: &str, out: &mut Out) -> bool {
        let fits = record.len() <= self.limits.max_line;
        if !fits {
            self.complain(TOO_LONG, out);
        }
        fits
    }

    fn send_message(&mut self, text: &str, out: &mut Out) {
        if self.asking.held.is_some() {
            self.note("a call is still held: answer /yes, /no or /edit", out);
        }
        let record = UserMessage::new(text).json();
        if self.fits(&record, out) {
            self.send(&record, out);
            self.begin_turn();
        }
    }

    fn make_call(&mut self, call: &Call, out: &mut Out) {
        let names = || self.tools.iter().flatten().map(|tool| tool.name.as_str());
        if self.tools.is_some() && !names().any(|name| name == call.tool) {
            let near = names().min_by_key(|name| strsim::damerau_levenshtein(name, &call.tool));
            let near = near.filter(|name| strsim::damerau_levenshtein(name, &call.tool) < 4);
            let near = near.map_or_else(|| "/tools lists them".to_owned(), |name| format!("did you mean {name}?"));
            return self.complain(
                &format!("unknown tool {:?}; {near} (to send messages, switch to chat mode with /chat)", call.tool),
                out,
            );
        }
        let call_id = self.next_call_id();
        let record = call.record(&call_id);
        if self.fits(&record, out) {
            self.begin_call(call_id, call_line(&call.tool, &call.arguments), true);
            self.send(&record, out);
        }
    }

    fn carry_out(&mut self, command: Command, rest: &str, out: &mut Out) {
        let line = |name: &str| format!("{name} {rest}").trim_end().to_owned();
        match command {
            Command::Chat => self.switch(InputMode::Chat, out),
            Command::Cmd => self.switch(InputMode::Cmd, out),
            Command::Exit if self.mode == InputMode::Chat => self.switch(InputMode::Cmd, out),
            Command::Exit => out.stop(self.report.finish()),
            Command::Yes | Command::No | Command::Edit | Command::Always | Command::Show | Command::Answer
                if self.refuse_early(out) => {}
            Command::Yes => self.answer_call(&line("/yes"), out),
            Command::No if self.asking.held.is_none() && self.decline_tool(out) => {}
            Command::No => self.answer_call(&line("/no"), out),
            Command::Edit => self.answer_call(&line("/edit"), out),
            Command::Always => self.answer_call(&line("/always"), out),
            Command::Show => self.answer_call("/show", out),
            Command::Answer => self.answer_tool(rest, out),
            Command::Stop if self.is_busy() => self.stop_turn(out),
            Command::Stop => self.note("nothing to stop", out),
            Command::Plan if self.session.plan().is_empty() => self.note("no plan yet", out),
            Command::Plan => self.print_plan(out),
            Command::Steps if self.transcript.count == 0 => self.note("no calls yet", out),
            Command::Steps => {
                let calls = self.transcript.calls();
                self.print(&calls, out);
            }
            Command::Tools => self.list_tools(rest, out),
            Command::Status => {
                let status = self.view.lines(Style::Plain, &self.status());
                self.print(&status, out);
            }
            Command::Save if rest.is_empty() => self.complain("/save: the file is missing: /save FILE", out),
            Command::Save => match self.transcript.save(Path::new(rest)) {
                Ok(()) => self.note(&format!("saved: {rest}"), out),
                Err(error) => self.complain(&format!("/save: {rest}: {error}"), out),
            },
            Command::Help => {
                let help = help();
                self.print(&help, out);
            }
        }
    }

    /// Starts in a mode.
    pub fn begin(&mut self, mode: InputMode) {
        self.mode = mode;
        if let Some(terminal) = self.display.terminal() {
            terminal.set_known(|known| known.mode = mode);
            terminal.print("/chat switches to messages, /help lists the commands\n");
        }
    }

    fn switch(&mut self, mode: InputMode, out: &mut Out) {
        self.mode = mode;
        if let Some(terminal) = self.display.terminal() {
            terminal.set_known(|known| known.mode = mode);
            self.note(
                match mode {
                    InputMode::Chat => {
                        "lines are messages to the agent; /exit returns to calls, /help lists the commands"
                    }
                    InputMode::Cmd => "lines are calls: TOOL NAME=VALUE ...; /chat switches to messages, /exit ends",
                },
                out,
            );
        }
    }

    fn answer_call(&mut self, line: &str, out: &mut Out) {
        if !self.reply_about_call(HeldCallInput::Line(line), out) {
            self.complain("no call is held", out);
        }
    }

    /// Ctrl-C: stops the current work; a second one ends the command.
    fn interrupt(&mut self, out: &mut Out) {
        let now = Instant::now();
        let is_second = self.interrupted.replace(now).is_some_and(|before| before + DOUBLE_PRESS > now);
        if is_second || self.turn.is_stopping {
            out.stop(self.report.finish());
        } else if self.is_busy() && self.starting_until.is_none() {
            self.stop_turn(out);
        } else {
            self.note("press Ctrl-C again to end", out);
        }
    }

    /// Stops the agent and the person's own calls; if the agent waits for the person, only those calls.
    fn stop_turn(&mut self, out: &mut Out) {
        let own = self.cancellations();
        let is_waiting = matches!(self.session.state(), State::Manual | State::Question) && !self.session.has_unread();
        self.turn.is_stopping = true;
        for record in &own {
            self.send(record, out);
        }
        while self.decline_tool(out) {}
        // A held call is withdrawn by its gate.
        if own.is_empty() || !is_waiting {
            self.send(&Cancel::TURN.json(), out);
        }
    }

    fn list_tools(&mut self, word: &str, out: &mut Out) {
        let Some(tools) = &self.tools else { return self.note("the agent has not listed its tools yet", out) };
        let found = tools.iter().filter(|tool| tool.name.contains(word));
        let text: String = found
            .map(|tool| format!("{}  {}\n", tool.name, cut(tool.description.lines().next().unwrap_or_default(), 100)))
            .collect();
        match text.is_empty() {
            true => self.note("no tool matches", out),
            false => {
                let text = self.view.lines(Style::Plain, &text);
                self.print(&text, out);
            }
        }
    }

    fn status(&self) -> String {
        let pending = match self.session.state() {
            _ if self.asking.held.is_some() => "confirm",
            _ if !self.asking.tools.is_empty() => "question",
            State::Confirm => "confirm",
            State::Manual => "manual",
            State::Question => "question",
            State::Idle | State::Running => "none",
        };
        let does = if self.is_working() { "working" } else { "waiting for you" };
        let mut lines =
            vec![format!("mode: {}", self.mode.name()), format!("agent: {does}"), format!("pending_kind: {pending}")];
        lines.extend(self.session.goal().map(|goal| format!("goal: {}", cut(goal, 200))));
        lines.push(format!("steps: {}", self.transcript.count));
        lines.extend(self.usage.as_ref().map(|usage| format!("tokens: {usage}")));
        lines.join("\n")
    }

    /// Takes queued lines of stdin, up to one that the agent works on.
    pub fn take_waiting_lines(&mut self, out: &mut Out) {
        while !out.stopped() {
            let is_stop = |(_, line): &(u64, String)| line.trim() == "/stop";
            let next = match self.is_working() {
                true if self.starting_until.is_some() => None,
                true => self.script.lines.iter().position(is_stop).and_then(|at| self.script.lines.remove(at)),
                false => self.script.lines.pop_front(),
            };
            let Some((number, line)) = next else { break };
            self.script.number = number;
            self.take_line(&line, out);
        }
        if self.script.has_ended && self.script.lines.is_empty() && !out.stopped() {
            self.reject_unanswered(out);
            while self.decline_tool(out) {}
            if !self.is_working() && self.asking.held.is_none() && !std::mem::replace(&mut self.script.is_closing, true)
            {
                out.close_far(0);
            }
        }
    }

    /// Sets what the keyboard does next: while the agent waits for the person, a line is edited.
    pub fn prompt(&mut self) {
        let mode = self.mode.name();
        let prompt = match self.session.state() {
            _ if self.asking.held.is_some() => format!("{mode} (approve?)> "),
            _ if !self.asking.tools.is_empty() => format!("{mode} (answer)> "),
            State::Question | State::Manual => format!("{mode} (answer)> "),
            _ => format!("{mode}> "),
        };
        let wanted = if self.is_working() { KeyboardUse::Keys(prompt) } else { KeyboardUse::Line(prompt) };
        self.display.want(wanted);
    }
}
