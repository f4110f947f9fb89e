//! Questions of the server (`--interactive`): each becomes a record on stdout, which the next stage answers with
//! a record on stdin. In the legacy era the server sends a request while it works on a call. In the modern era the
//! call's result asks, and the call is repeated with the answers.

use super::world::Servers;
use crate::cmd::options::Limit;
use crate::cmd::world::{Calls, FarCall, World};
use pipewright_io::stage::{Out, Side};
use pipewright_mcp::{InputAnswers, InputRequiredResult};
use pipewright_record::json::{one_line, raw};
use pipewright_record::{InputRequest, InputResponse, OwnedCall, Record};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::Instant;

/// A tool that asks more often than this for one call would ask for ever.
const MAX_ROUNDS: u32 = 100;
/// The only request that a server may send.
const ELICITATION: &str = "elicitation/create";

/// What waits for an answer.
enum QuestionSource {
    /// A server, with its own request id.
    Server(usize, String),
    /// A call, by our number, with the name of one of its requests.
    Call(FarCall, String),
}

struct Question {
    asker: QuestionSource,
    until: Option<Instant>,
}

impl Question {
    fn is_of(&self, server: usize) -> bool {
        matches!(&self.asker, QuestionSource::Server(at, _) | QuestionSource::Call(FarCall { far: at, .. }, _) if *at == server)
    }
}

/// A call that continues when all of its requests are answered.
#[derive(Default)]
struct WaitingCall {
    round: InputAnswers,
    left: usize,
}

/// The open questions.
pub struct Questions {
    /// The time limit of an answer.
    limit: Limit,
    asked: u64,
    open: BTreeMap<u64, Question>,
    waiting: BTreeMap<FarCall, WaitingCall>,
    /// How often each call has asked.
    rounds: BTreeMap<FarCall, u32>,
}

impl Questions {
    pub fn new(limit: Limit) -> Questions {
        Questions { limit, asked: 0, open: BTreeMap::new(), waiting: BTreeMap::new(), rounds: BTreeMap::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.open.values().filter_map(|question| question.until).min()
    }

    /// Removes all questions of a server.
    pub fn clear(&mut self, at: usize) {
        self.open.retain(|_, question| !question.is_of(at));
        self.waiting.retain(|number, _| number.far != at);
        self.rounds.retain(|number, _| number.far != at);
    }

    /// Whether the server itself waits for an answer; it does not name the call. (A call that asks has no time limit
    /// meanwhile.)
    pub fn has_own_of(&self, at: usize) -> bool {
        self.open.values().any(|question| matches!(question.asker, QuestionSource::Server(of, _) if of == at))
    }

    /// Removes the questions of a call.
    pub fn forget_call(&mut self, id: FarCall) {
        self.waiting.remove(&id);
        self.rounds.remove(&id);
        self.open.retain(|_, question| !matches!(question.asker, QuestionSource::Call(call, _) if call == id));
    }

    fn open(&mut self, asker: QuestionSource) -> u64 {
        self.asked += 1;
        self.open.insert(self.asked, Question { asker, until: self.limit.end() });
        self.asked
    }
}

impl Servers {
    /// Takes a question that the server asks while it works.
    pub(super) fn elicit(&mut self, at: usize, id: &RawValue, params: &str, calls: &Calls, out: &mut Out) {
        let question = self.questions.open(QuestionSource::Server(at, id.get().to_owned()));
        // The question does not name its call; if only one is open, it belongs to that.
        self.ask(at, question, calls.only_flight(at), params, calls, out);
    }

    /// Removes a question that the server has cancelled; gives whether it was open.
    pub(super) fn withdraw(&mut self, at: usize, id: &RawValue) -> bool {
        let before = self.questions.open.len();
        let is_it = |question: &Question| matches!(&question.asker, QuestionSource::Server(of, own) if *of == at && own == id.get());
        self.questions.open.retain(|_, question| !is_it(question));
        self.questions.open.len() < before
    }

    /// Takes the questions in a call's result; the error is why they cannot be asked.
    pub(super) fn ask_for_call(
        &mut self,
        at: usize,
        id: u64,
        result: &RawValue,
        calls: &mut Calls,
        out: &mut Out,
    ) -> Result<(), String> {
        let InputRequiredResult { requests, state } = InputRequiredResult::read(result.get())?;
        if let Some((_, method, _)) = requests.iter().find(|(_, method, _)| method != ELICITATION) {
            return Err(format!("the tool asks for {method}, which is not supported here"));
        }
        if calls.call(FarCall { far: at, id }).is_none() && !self.connections[at].is_setup_call(id) {
            return Ok(());
        }
        let rounds = self.questions.rounds.entry(FarCall { far: at, id }).or_default();
        *rounds += 1;
        if *rounds > MAX_ROUNDS {
            return Err(format!("the tool asked more than {MAX_ROUNDS} times"));
        }
        calls.suspend(FarCall { far: at, id });
        if let Some(call) = self.connections[at].setup_call.as_mut().filter(|call| call.id == id) {
            call.until = None;
        }
        let waiting = WaitingCall {
            round: InputAnswers { responses: Vec::new(), state: state.map(str::to_owned) },
            left: requests.len(),
        };
        self.questions.waiting.insert(FarCall { far: at, id }, waiting);
        for (name, _, params) in requests {
            let question = self.questions.open(QuestionSource::Call(FarCall { far: at, id }, name));
            self.ask(at, question, Some(id), params, calls, out);
        }
        self.call_on(at, id, calls, out);
        Ok(())
    }

    fn ask(&self, at: usize, question: u64, call: Option<u64>, params: &str, calls: &Calls, out: &mut Out) {
        let call = call.and_then(|id| calls.call(FarCall { far: at, id })).map(OwnedCall::call);
        let id = format!("q{question}");
        let params = one_line(params);
        let asked = InputRequest {
            request_id: &id,
            call_id: call.as_ref().and_then(|call| call.id),
            tool: call.as_ref().map(|call| &*call.tool),
            source: "mcp",
            method: ELICITATION,
            params: raw(&params),
            epoch: calls.epoch(at).unwrap_or_default(),
            server: self.connections[at].name(),
        };
        out.to(Side::NEAR).extend_from_slice(asked.line().as_bytes());
    }

    /// Takes an answer to a question; the error is why it is refused.
    pub(super) fn take_answer(
        &mut self,
        answer: &InputResponse<'_>,
        calls: &mut Calls,
        out: &mut Out,
    ) -> Result<(), String> {
        let id = answer.request_id.strip_prefix('q').and_then(|number| number.parse::<u64>().ok());
        match id.filter(|id| format!("q{id}") == answer.request_id).and_then(|id| self.questions.open.remove(&id)) {
            Some(question) => self.deliver_answer(question.asker, &answer.result(), calls, out),
            None => return Err(format!("no open question has request_id {:?}", answer.request_id)),
        }
        Ok(())
    }

    fn deliver_answer(&mut self, asker: QuestionSource, result: &str, calls: &mut Calls, out: &mut Out) {
        match asker {
            QuestionSource::Server(at, id) => {
                self.connections[at].server.client.answer(&id, result, out.to(Side::Far(at)));
                calls.restart_timeouts(at);
                self.restart_timeouts(at);
            }
            QuestionSource::Call(FarCall { far: at, id }, name) => {
                if let Some(waiting) = self.questions.waiting.get_mut(&FarCall { far: at, id }) {
                    waiting.round.responses.push((name, result.to_owned()));
                    waiting.left -= 1;
                }
                self.call_on(at, id, calls, out);
            }
        }
    }

    /// Repeats a call once all of its questions are answered.
    fn call_on(&mut self, at: usize, id: u64, calls: &mut Calls, out: &mut Out) {
        if self.questions.waiting.get(&FarCall { far: at, id }).is_none_or(|waiting| waiting.left > 0) {
            return;
        }
        let Some(WaitingCall { round, .. }) = self.questions.waiting.remove(&FarCall { far: at, id }) else { return };
        let connection = &mut self.connections[at];
        // Set-up calls are made one at a time.
        let setup = connection.setup.get(connection.set_up.saturating_sub(1));
        let is_setup = connection.is_setup_call(id);
        let Some(call) = setup.filter(|_| is_setup).or_else(|| calls.call(FarCall { far: at, id })) else { return };
        let tool = connection.prefix.own_name(call.tool()).unwrap_or(call.tool());
        let arguments = call.call().arguments_text();
        let again = connection.server.client.call_again(tool, arguments, Some(&round), out.to(Side::Far(at)));
        match connection.setup_call.as_mut().filter(|_| is_setup) {
            Some(call) => {
                call.id = again;
                call.until = call.timeout.map(|timeout| Instant::now() + timeout);
            }
            None => calls.renumber(FarCall { far: at, id }, FarCall { far: at, id: again }),
        }
        if let Some(rounds) = self.questions.rounds.remove(&FarCall { far: at, id }) {
            self.questions.rounds.insert(FarCall { far: at, id: again }, rounds);
        }
    }

    /// Cancels all questions, so that no call waits for ever.
    pub(super) fn cancel_questions(&mut self, why: &str, calls: &mut Calls, out: &mut Out) {
        self.cancel_those(|_| true, why, calls, out);
    }

    /// Cancels the questions whose time limit is over.
    pub(super) fn cancel_late_questions(&mut self, now: Instant, calls: &mut Calls, out: &mut Out) {
        let is_late = |question: &Question| question.until.is_some_and(|until| until <= now);
        self.cancel_those(is_late, "not answered in time (--answer-timeout)", calls, out);
    }

    fn cancel_those(&mut self, which: impl Fn(&Question) -> bool, why: &str, calls: &mut Calls, out: &mut Out) {
        let ids: Vec<u64> = self.questions.open.iter().filter(|(_, it)| which(it)).map(|(id, _)| *id).collect();
        for id in ids {
            let Some(question) = self.questions.open.remove(&id) else { continue };
            self.report.fault(format_args!("request q{id}"), format_args!("{why}; the question is cancelled"));
            self.deliver_answer(question.asker, r#"{"action":"cancel"}"#, calls, out);
        }
    }
}
