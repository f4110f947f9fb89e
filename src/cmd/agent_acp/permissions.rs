//! Questions of gates and tools, and the person's answers in the editor.

use super::session::Mode;
use super::stage::Editor;
use pipewright_clients::acp::{EditForm, PermissionOption, chosen, input_form, permission_request};
use pipewright_clients::approvals::{Answer, PendingQuestion, QueueChange};
use pipewright_io::stage::Out;
use pipewright_policy::rules::reach;
use pipewright_record::json::{Object, raw};
use pipewright_record::rpc::{self, RpcError};
use pipewright_record::{Action, Fields, InputAction, InputResponse, Record, is_same_id};
use std::time::{Duration, Instant};

/// The reason that the agent gets for rejected calls in the mode `observe`.
pub const OBSERVE_MODE: &str = "the session is in observe mode";

/// An agent reports which call a gate holds, and editors connect the next question with the call that they show. If the
/// agent does not report it, the question is sent after this time.
const TOOL_CALL_WAIT: Duration = Duration::from_millis(500);

/// The progress of a gate's question.
#[derive(Debug)]
enum QuestionProgress {
    /// Not sent yet; sent at this time at the latest.
    Waiting(Instant),
    /// Sent to the editor, as the request of this number.
    Asked(u64),
    /// The gate has got the answer.
    Answered,
}

/// An open question of a gate.
#[derive(Debug)]
pub struct OpenQuestion {
    pub session: usize,
    progress: QuestionProgress,
}

impl OpenQuestion {
    /// When it has to be sent.
    pub fn deadline(&self) -> Option<Instant> {
        match self.progress {
            QuestionProgress::Waiting(until) => Some(until),
            _ => None,
        }
    }
}

/// A request that was sent to the editor.
#[derive(Debug)]
pub enum SentRequest {
    /// Whether a call is approved; holds the question's nonce.
    Permission(String),
    /// Which arguments a call gets; holds the question's nonce.
    Edit(String),
    /// Input for a tool: the id of the tool's request, and the call's id as JSON text.
    Input { session: usize, request_id: String, call_id: Option<String> },
}

impl Editor {
    /// Sends the editor a request; gives its number.
    fn ask(&mut self, method: &str, params: &str, asked: SentRequest, out: &mut Out) -> u64 {
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
    fn question(&self, nonce: &str) -> Option<(usize, PendingQuestion)> {
        let session = self.held.get(nonce)?.session;
        Some((session, self.sessions.gates.queue(session).find(nonce)?.clone()))
    }

    /// Takes a question of a session's gate, or its settlement.
    pub(super) fn take_change(&mut self, session: usize, change: QueueChange, out: &mut Out) {
        match change {
            QueueChange::Asked => {
                let queue = self.sessions.gates.queue(session);
                let nonces = (0..queue.len()).filter_map(|place| queue.get(place));
                let nonces: Vec<String> = nonces.map(|pending| pending.question.nonce.clone()).collect();
                let until = Instant::now() + TOOL_CALL_WAIT;
                for nonce in nonces {
                    self.held
                        .entry(nonce)
                        .or_insert(OpenQuestion { session, progress: QuestionProgress::Waiting(until) });
                }
                match self.sessions.get(session).map(|session| session.mode) {
                    Some(Mode::Ask) => self.ask_about_held(out),
                    Some(Mode::Observe) => self.reject_all(session, OBSERVE_MODE, out),
                    None => {}
                }
            }
            QueueChange::Settled { nonce, .. } => {
                if let Some(OpenQuestion { progress: QuestionProgress::Asked(request), .. }) = self.held.remove(&nonce)
                {
                    self.withdraw(request, out);
                }
            }
            QueueChange::Refused { nonce, why } => {
                self.say(session, &format!("The answer was not accepted: {why}"), out);
                self.ask_permission(&nonce, out);
            }
            QueueChange::SecondQuestion | QueueChange::Rules | QueueChange::Nothing => {}
        }
    }

    /// Sends the questions about calls that the editor shows as held, and those that have waited long enough.
    pub(super) fn ask_about_held(&mut self, out: &mut Out) {
        let now = Instant::now();
        let waiting = self.held.iter().filter_map(|(nonce, held)| match held.progress {
            QuestionProgress::Waiting(until) => Some((nonce.clone(), held.session, until)),
            _ => None,
        });
        for (nonce, session, until) in waiting.collect::<Vec<_>>() {
            let Some(pending) = self.sessions.gates.queue(session).find(&nonce) else {
                self.held.remove(&nonce);
                continue;
            };
            let is_shown = self.sessions.get(session).is_some_and(|session| session.updates.is_held(&pending.question));
            if is_shown || until <= now {
                self.ask_permission(&nonce, out);
            }
        }
    }

    fn ask_permission(&mut self, nonce: &str, out: &mut Out) {
        let Some((number, pending)) = self.question(nonce) else { return };
        let Some(session) = self.sessions.get(number) else { return };
        let folder = session.updates.folder();
        let rules: Vec<String> = pending.question.rule_offers.iter().map(|rule| reach(rule)).collect();
        let params = permission_request(&session.agent.id, &pending.question, self.can_edit(), &rules, folder);
        let request = self.ask("session/request_permission", &params, SentRequest::Permission(nonce.to_owned()), out);
        self.held
            .insert(nonce.to_owned(), OpenQuestion { session: number, progress: QuestionProgress::Asked(request) });
    }

    fn ask_for_edit(&mut self, nonce: &str, why: Option<&str>, out: &mut Out) {
        let Some((number, pending)) = self.question(nonce) else { return };
        let Some(session) = self.sessions.get(number) else { return };
        let Some(form) = EditForm::of(&pending.question) else { return };
        let params = form.request(&session.agent.id, &pending.question, why);
        let request = self.ask("elicitation/create", &params, SentRequest::Edit(nonce.to_owned()), out);
        self.held
            .insert(nonce.to_owned(), OpenQuestion { session: number, progress: QuestionProgress::Asked(request) });
    }

    /// Sends a gate the person's answer.
    fn decide(&mut self, nonce: &str, answer: &Answer<'_>, out: &mut Out) {
        let Some((session, pending)) = self.question(nonce) else { return };
        self.sessions.gates.send(pending.gate, &answer.record(&pending.question), out);
        self.held.insert(nonce.to_owned(), OpenQuestion { session, progress: QuestionProgress::Answered });
    }

    fn reject(&mut self, nonce: &str, feedback: &str, out: &mut Out) {
        let answer = Answer { action: Action::Reject, edited: None, feedback, rule: None };
        self.decide(nonce, &answer, out);
    }

    /// Rejects all held calls of a session.
    pub(super) fn reject_all(&mut self, session: usize, feedback: &str, out: &mut Out) {
        let open = self.held.iter().filter(|(_, held)| held.session == session);
        let open = open.filter_map(|(nonce, held)| match held.progress {
            QuestionProgress::Waiting(_) => Some((nonce.clone(), None)),
            QuestionProgress::Asked(request) => Some((nonce.clone(), Some(request))),
            QuestionProgress::Answered => None,
        });
        for (nonce, request) in open.collect::<Vec<_>>() {
            if let Some(request) = request {
                self.withdraw(request, out);
            }
            self.reject(&nonce, feedback, out);
        }
    }

    /// Takes the editor's answer to a request, or its error.
    pub(super) fn take_answer(&mut self, asked: SentRequest, outcome: Result<&str, RpcError>, out: &mut Out) {
        match asked {
            SentRequest::Permission(nonce) => self.take_choice(&nonce, outcome, out),
            SentRequest::Edit(nonce) => self.take_edit(&nonce, outcome, out),
            SentRequest::Input { session, request_id, .. } => {
                let read = outcome.ok().and_then(|result| Fields::read(result).ok());
                let action = read.as_ref().and_then(|fields| InputAction::named(&fields.text("action")?));
                let content = read.as_ref().and_then(|fields| fields.get("content")).map(|content| content.get());
                let content = content.filter(|content| content.starts_with('{') && action == Some(InputAction::Accept));
                self.respond_to_input(session, &request_id, action.unwrap_or(InputAction::Decline), content, out);
            }
        }
    }

    fn take_choice(&mut self, nonce: &str, outcome: Result<&str, RpcError>, out: &mut Out) {
        let Some((_, PendingQuestion { question, .. })) = self.question(nonce) else { return };
        let choice = outcome.map_err(|error| error.message);
        let choice = choice.and_then(|result| chosen(result, &question, self.can_edit()).map_err(String::from));
        match choice {
            Ok(PermissionOption::Edit) => self.ask_for_edit(nonce, None, out),
            Ok(PermissionOption::Reject) => self.reject(nonce, "", out),
            Ok(choice) => {
                let rule = match choice {
                    PermissionOption::AllowForSession(index) => question.rule_offers.get(index),
                    _ => None,
                };
                let rule = rule.map(|rule| (rule.as_str(), false));
                self.decide(nonce, &Answer { action: Action::Approve, edited: None, feedback: "", rule }, out);
            }
            Err(why) => {
                self.report.note_limited(format_args!(
                    "the editor's answer about a call was invalid, so the call is rejected: {why}"
                ));
                self.reject(nonce, "the editor could not ask the person", out);
            }
        }
    }

    fn take_edit(&mut self, nonce: &str, outcome: Result<&str, RpcError>, out: &mut Out) {
        let Some((_, PendingQuestion { question, .. })) = self.question(nonce) else { return };
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
        let Some(session) = self.sessions.get(number) else { return };
        let Some(request_id) = fields.text("request_id") else { return };
        let form = if self.can_edit() { input_form(&session.agent.id, record) } else { None };
        let Some(form) = form else {
            let tool = fields.text("tool").unwrap_or_else(|| "A tool".to_owned());
            let question = fields.object("params").and_then(|params| params.text("message")).unwrap_or_default();
            self.say(
                number,
                &format!("{tool} asked: {question}\nThe editor cannot show this question, so it was declined."),
                out,
            );
            return self.respond_to_input(number, &request_id, InputAction::Decline, None, out);
        };
        let call_id = fields.present("call_id").map(|id| id.get().to_owned());
        self.ask("elicitation/create", &form, SentRequest::Input { session: number, request_id, call_id }, out);
    }

    fn respond_to_input(
        &mut self,
        session: usize,
        request_id: &str,
        action: InputAction,
        content: Option<&str>,
        out: &mut Out,
    ) {
        let content = content.map(raw);
        let response = InputResponse { request_id: request_id.into(), action, content }.json();
        if self.sessions.get(session).is_some_and(|session| session.agent.is_alive()) {
            self.sessions.send(session, &response, out);
        }
    }

    /// Withdraws the questions of a call that has its result.
    pub(super) fn withdraw_input(&mut self, number: usize, call: Option<&str>, out: &mut Out) {
        let is_its = |_: &Editor, asked: &SentRequest| match asked {
            SentRequest::Input { session, call_id, .. } => *session == number && is_same_id(call_id.as_deref(), call),
            _ => false,
        };
        self.withdraw_those(is_its, out);
    }

    /// Withdraws all questions of a session.
    pub(super) fn withdraw_all(&mut self, number: usize, out: &mut Out) {
        let is_its = |editor: &Editor, asked: &SentRequest| match asked {
            SentRequest::Permission(nonce) | SentRequest::Edit(nonce) => {
                editor.held.get(nonce).is_some_and(|held| held.session == number)
            }
            SentRequest::Input { session, .. } => *session == number,
        };
        self.withdraw_those(is_its, out);
    }

    fn withdraw_those(&mut self, is_meant: impl Fn(&Editor, &SentRequest) -> bool, out: &mut Out) {
        let requests = self.asked.iter().filter(|(_, asked)| is_meant(self, asked)).map(|(&request, _)| request);
        for request in requests.collect::<Vec<_>>() {
            self.withdraw(request, out);
        }
    }
}
