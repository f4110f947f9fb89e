//! Questions of gates and tools, and the person's answers in the editor.

use super::session::Mode;
use super::stage::Editor;
use crate::acp::{Choice, EditForm, chosen, input_form, permission_request};
use crate::approvals::{Answer, Change, Pending};
use crate::io::stage::Out;
use crate::json::Object;
use crate::policy::rules::reach;
use crate::record::{Action, Fields, is_same_id};
use crate::rpc::{self, RpcError};
use std::time::{Duration, Instant};

/// The reason that the agent gets for rejected calls in the mode `observe`.
pub const OBSERVING: &str = "the session is in observe mode";

/// An agent reports which call a gate holds, and editors connect the next question with the call that they show. If the agent does
/// not report it, the question is sent after this time.
const HELD: Duration = Duration::from_millis(500);

/// The progress of a gate's question.
#[derive(Debug)]
enum Progress {
    /// Not sent yet; sent at this time at the latest.
    Waiting(Instant),
    /// Sent to the editor, as the request of this number.
    Asked(u64),
    /// The gate has got the answer.
    Answered,
}

/// An open question of a gate.
#[derive(Debug)]
pub struct Held {
    pub session: usize,
    progress: Progress,
}

impl Held {
    /// When it has to be sent.
    pub fn deadline(&self) -> Option<Instant> {
        match self.progress {
            Progress::Waiting(until) => Some(until),
            _ => None,
        }
    }
}

/// A request that was sent to the editor.
#[derive(Debug)]
pub enum Asked {
    /// Whether a call is approved; holds the question's nonce.
    Permission(String),
    /// Which arguments a call gets; holds the question's nonce.
    Edit(String),
    /// Input for a tool: the id of the tool's request, and the call's id as JSON text.
    Input { session: usize, request_id: String, call_id: Option<String> },
}

impl Editor {
    /// Sends the editor a request; gives its number.
    fn ask(&mut self, method: &str, params: &str, asked: Asked, out: &mut Out) -> u64 {
        self.last_request += 1;
        self.asked.insert(self.last_request, asked);
        self.send(&rpc::request(self.last_request, method, params), out);
        self.last_request
    }

    /// Withdraws a request.
    fn withdraw(&mut self, request: u64, out: &mut Out) {
        if self.asked.remove(&request).is_some() {
            let params = Object::default().put("requestId", request).end();
            self.send(&rpc::notification("$/cancel_request", Some(&params)), out);
        }
    }

    fn can_edit(&self) -> bool {
        self.client.is_some_and(|client| client.has_forms)
    }

    /// A copy of an open question of a session.
    fn question(&self, nonce: &str) -> Option<(usize, Pending)> {
        let session = self.held.get(nonce)?.session;
        Some((session, self.gates.queue(session).find(nonce)?.clone()))
    }

    /// Takes a question of a session's gate, or its settlement.
    pub(super) fn take_change(&mut self, session: usize, change: Change, out: &mut Out) {
        match change {
            Change::Asked => {
                let queue = self.gates.queue(session);
                let nonces = (0..queue.len()).filter_map(|place| queue.get(place));
                let nonces: Vec<String> = nonces.map(|pending| pending.question.nonce.clone()).collect();
                let until = Instant::now() + HELD;
                for nonce in nonces {
                    self.held.entry(nonce).or_insert(Held { session, progress: Progress::Waiting(until) });
                }
                match self.sessions.get(&session).map(|session| session.mode) {
                    Some(Mode::Ask) => self.ask_about_held(out),
                    Some(Mode::Observe) => self.reject_all(session, OBSERVING, out),
                    None => {}
                }
            }
            Change::Settled(nonce, _) => {
                if let Some(Held { progress: Progress::Asked(request), .. }) = self.held.remove(&nonce) {
                    self.withdraw(request, out);
                }
            }
            Change::Refused(nonce, why) => {
                self.say(session, &format!("The answer was not accepted: {why}"), out);
                self.ask_permission(&nonce, out);
            }
            Change::SecondQuestion | Change::Rules | Change::Nothing => {}
        }
    }

    /// Sends the questions about calls that the editor shows as held, and those that have waited long enough.
    pub(super) fn ask_about_held(&mut self, out: &mut Out) {
        let now = Instant::now();
        let waiting = self.held.iter().filter_map(|(nonce, held)| match held.progress {
            Progress::Waiting(until) => Some((nonce.clone(), held.session, until)),
            _ => None,
        });
        for (nonce, session, until) in waiting.collect::<Vec<_>>() {
            let Some(pending) = self.gates.queue(session).find(&nonce) else {
                self.held.remove(&nonce);
                continue;
            };
            let is_shown =
                self.sessions.get(&session).is_some_and(|session| session.updates.is_held(&pending.question));
            if is_shown || until <= now {
                self.ask_permission(&nonce, out);
            }
        }
    }

    fn ask_permission(&mut self, nonce: &str, out: &mut Out) {
        let Some((number, pending)) = self.question(nonce) else { return };
        let Some(session) = self.sessions.get(&number) else { return };
        let folder = session.updates.folder();
        let rule = pending.question.rule_offers.first().map_or_else(String::new, |rule| reach(rule));
        let params = permission_request(&session.id, &pending.question, self.can_edit(), &rule, folder);
        let request = self.ask("session/request_permission", &params, Asked::Permission(nonce.to_owned()), out);
        self.held.insert(nonce.to_owned(), Held { session: number, progress: Progress::Asked(request) });
    }

    fn ask_for_edit(&mut self, nonce: &str, why: Option<&str>, out: &mut Out) {
        let Some((number, pending)) = self.question(nonce) else { return };
        let Some(session) = self.sessions.get(&number) else { return };
        let Some(form) = EditForm::of(&pending.question) else { return };
        let params = form.request(&session.id, &pending.question, why);
        let request = self.ask("elicitation/create", &params, Asked::Edit(nonce.to_owned()), out);
        self.held.insert(nonce.to_owned(), Held { session: number, progress: Progress::Asked(request) });
    }

    /// Sends a gate the person's answer.
    fn decide(&mut self, nonce: &str, answer: &Answer<'_>, out: &mut Out) {
        let Some((session, pending)) = self.question(nonce) else { return };
        self.gates.send(pending.gate, &answer.record(&pending.question), out);
        self.held.insert(nonce.to_owned(), Held { session, progress: Progress::Answered });
    }

    fn reject(&mut self, nonce: &str, feedback: &str, out: &mut Out) {
        let answer = Answer { action: Action::Reject, edited: None, feedback, rule: None };
        self.decide(nonce, &answer, out);
    }

    /// Rejects all held calls of a session.
    pub(super) fn reject_all(&mut self, session: usize, feedback: &str, out: &mut Out) {
        let open = self.held.iter().filter(|(_, held)| held.session == session);
        let open = open.filter_map(|(nonce, held)| match held.progress {
            Progress::Waiting(_) => Some((nonce.clone(), None)),
            Progress::Asked(request) => Some((nonce.clone(), Some(request))),
            Progress::Answered => None,
        });
        for (nonce, request) in open.collect::<Vec<_>>() {
            if let Some(request) = request {
                self.withdraw(request, out);
            }
            self.reject(&nonce, feedback, out);
        }
    }

    /// Takes the editor's answer to a request, or its error.
    pub(super) fn take_answer(&mut self, asked: Asked, outcome: Result<&str, RpcError>, out: &mut Out) {
        match asked {
            Asked::Permission(nonce) => self.take_choice(&nonce, outcome, out),
            Asked::Edit(nonce) => self.take_edit(&nonce, outcome, out),
            Asked::Input { session, request_id, .. } => {
                let read = outcome.ok().and_then(|result| Fields::read(result).ok());
                let action = read.as_ref().and_then(|fields| fields.text("action"));
                let action = action.filter(|action| ["accept", "decline", "cancel"].contains(&&**action));
                let content = read.as_ref().and_then(|fields| fields.get("content")).map(|content| content.get());
                let content = content.filter(|content| content.starts_with('{') && action.as_deref() == Some("accept"));
                self.respond_to_input(session, &request_id, action.as_deref().unwrap_or("decline"), content, out);
            }
        }
    }

    fn take_choice(&mut self, nonce: &str, outcome: Result<&str, RpcError>, out: &mut Out) {
        let Some((_, Pending { question, .. })) = self.question(nonce) else { return };
        let choice = outcome.map_err(|error| error.message);
        let choice = choice.and_then(|result| chosen(result, &question, self.can_edit()));
        match choice {
            Ok(Choice::Edit) => self.ask_for_edit(nonce, None, out),
            Ok(Choice::Reject) => self.reject(nonce, "", out),
            Ok(choice) => {
                let rule = question.rule_offers.first().filter(|_| choice == Choice::AllowForSession);
                let rule = rule.map(|rule| (rule.as_str(), false));
                self.decide(nonce, &Answer { action: Action::Approve, edited: None, feedback: "", rule }, out);
            }
            Err(why) => {
                self.report.note_again(format_args!(
                    "the editor's answer about a call was invalid, so the call is rejected: {why}"
                ));
                self.reject(nonce, "the editor could not ask the person", out);
            }
        }
    }

    fn take_edit(&mut self, nonce: &str, outcome: Result<&str, RpcError>, out: &mut Out) {
        let Some((_, Pending { question, .. })) = self.question(nonce) else { return };
        let fields = outcome.ok().and_then(|result| Fields::read(result).ok());
        let is_accepted = fields.as_ref().is_some_and(|fields| fields.text("action").as_deref() == Some("accept"));
        let (Some(fields), Some(form), true) = (fields, EditForm::of(&question), is_accepted) else {
            return self.ask_permission(nonce, out);
        };
        match form.arguments(fields.get("content").map_or("{}", |content| content.get())) {
            Ok(arguments) => {
                let answer = Answer { action: Action::Edit, edited: Some(&arguments), feedback: "", rule: None };
                self.decide(nonce, &answer, out);
            }
            Err(why) => self.ask_for_edit(nonce, Some(&why), out),
        }
    }

    /// Takes a question from a tool of a session.
    pub(super) fn ask_for_input(&mut self, number: usize, record: &str, fields: &Fields<'_>, out: &mut Out) {
        let Some(session) = self.sessions.get(&number) else { return };
        let Some(request_id) = fields.text("request_id") else { return };
        let form = if self.can_edit() { input_form(&session.id, record) } else { None };
        let Some(form) = form else {
            let tool = fields.text("tool").unwrap_or_else(|| "A tool".to_owned());
            let question = fields.object("params").and_then(|params| params.text("message")).unwrap_or_default();
            self.say(
                number,
                &format!("{tool} asked: {question}\nThe editor cannot show this question, so it was declined."),
                out,
            );
            return self.respond_to_input(number, &request_id, "decline", None, out);
        };
        let call_id = fields.present("call_id").map(|id| id.get().to_owned());
        self.ask("elicitation/create", &form, Asked::Input { session: number, request_id, call_id }, out);
    }

    fn respond_to_input(
        &mut self,
        session: usize,
        request_id: &str,
        action: &str,
        content: Option<&str>,
        out: &mut Out,
    ) {
        let response = Object::default().text("type", "input_response").text("request_id", request_id);
        let response = response.text("action", action).put_some("content", content).end();
        if self.sessions.get(&session).is_some_and(super::session::EditorSession::is_running) {
            self.send_agent(session, &response, out);
        }
    }

    /// Withdraws the questions of a call that has its result.
    pub(super) fn withdraw_input(&mut self, number: usize, call: Option<&str>, out: &mut Out) {
        let is_its = |asked: &Asked| match asked {
            Asked::Input { session, call_id, .. } => *session == number && is_same_id(call_id.as_deref(), call),
            _ => false,
        };
        self.withdraw_those(is_its, out);
    }

    /// Withdraws all questions of a session.
    pub(super) fn withdraw_all(&mut self, number: usize, out: &mut Out) {
        let of = |nonce: &str| self.held.get(nonce).is_some_and(|held| held.session == number);
        let requests = self.asked.iter().filter(|(_, asked)| match asked {
            Asked::Permission(nonce) | Asked::Edit(nonce) => of(nonce),
            Asked::Input { session, .. } => *session == number,
        });
        for request in requests.map(|(&request, _)| request).collect::<Vec<_>>() {
            self.withdraw(request, out);
        }
    }

    fn withdraw_those(&mut self, is_meant: impl Fn(&Asked) -> bool, out: &mut Out) {
        let requests = self.asked.iter().filter(|(_, asked)| is_meant(asked)).map(|(&request, _)| request);
        for request in requests.collect::<Vec<_>>() {
            self.withdraw(request, out);
        }
    }
}
