//! What the server asks whoever there is (`--interactive`): each question is a record on stdout, which the next stage answers with
//! one on stdin. In the legacy era the server asks by itself while it works on a call; in the modern one a call's result asks, and
//! the call is made once more with the answers.

use super::world::Servers;
use crate::cmd::world::{Calls, Number, World};
use crate::io::stage::{Out, Side};
use crate::json::quoted;
use crate::mcp::{InputRequiredResult, Round};
use crate::record::{InputRequest, InputResponse, OwnedCall};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// A tool that asks more often than this over one call is not to be asked for ever.
const MOST_ROUNDS: u32 = 100;
/// The only thing that a server may ask of us.
const ELICITATION: &str = "elicitation/create";

/// Who waits for an answer.
enum Asker {
    /// A server, by its own id.
    Server(usize, String),
    /// A call, by our number, under one of the names that it has asked for.
    Call(Number, String),
}

struct Question {
    asker: Asker,
    until: Option<Instant>,
}

impl Question {
    fn is_of(&self, server: usize) -> bool {
        matches!(&self.asker, Asker::Server(at, _) | Asker::Call((at, _), _) if *at == server)
    }
}

/// A call that goes on when all that it has asked for is answered.
#[derive(Default)]
struct Waiting {
    round: Round,
    left: usize,
}

/// What is asked, until it is answered.
pub struct Questions {
    /// How long whoever is asked may take; none is for ever.
    patience: Option<Duration>,
    asked: u64,
    open: BTreeMap<u64, Question>,
    waiting: BTreeMap<Number, Waiting>,
    /// How often a call has asked for something.
    rounds: BTreeMap<Number, u32>,
}

impl Questions {
    pub fn new(patience: Option<Duration>) -> Questions {
        Questions { patience, asked: 0, open: BTreeMap::new(), waiting: BTreeMap::new(), rounds: BTreeMap::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.open.values().filter_map(|question| question.until).min()
    }

    /// Nothing of a server's waits for an answer any more.
    pub fn clear(&mut self, at: usize) {
        self.open.retain(|_, question| !question.is_of(at));
        self.waiting.retain(|number, _| number.0 != at);
        self.rounds.retain(|number, _| number.0 != at);
    }

    /// Whether a server itself waits for an answer; it does not say for which call. (A call that asks has no time limit meanwhile.)
    pub fn has_own_of(&self, at: usize) -> bool {
        self.open.values().any(|question| matches!(question.asker, Asker::Server(of, _) if of == at))
    }

    /// A call waits for no answer any more.
    pub fn forget_call(&mut self, id: Number) {
        self.waiting.remove(&id);
        self.rounds.remove(&id);
        self.open.retain(|_, question| !matches!(question.asker, Asker::Call(call, _) if call == id));
    }

    fn open(&mut self, asker: Asker) -> u64 {
        self.asked += 1;
        self.open
            .insert(self.asked, Question { asker, until: self.patience.map(|patience| Instant::now() + patience) });
        self.asked
    }
}

impl Servers {
    /// The server asks while it works.
    pub(super) fn elicit(&mut self, at: usize, id: &RawValue, params: &str, calls: &Calls, out: &mut Out) {
        let question = self.questions.open(Asker::Server(at, id.get().to_owned()));
        // It doesn't say for which call; where there is one only, it is for that.
        self.ask(at, question, calls.only_flight(at), params, calls, out);
    }

    /// The server no longer waits for the answer to what it had asked by that id; says whether it had.
    pub(super) fn withdraw(&mut self, at: usize, id: &RawValue) -> bool {
        let before = self.questions.open.len();
        let is_it =
            |question: &Question| matches!(&question.asker, Asker::Server(of, own) if *of == at && own == id.get());
        self.questions.open.retain(|_, question| !is_it(question));
        self.questions.open.len() < before
    }

    /// A call's result asks for something before it goes on; why it can't be asked for.
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
            return Err(format!("the tool asks for {method}, which nobody here can give"));
        }
        if calls.call((at, id)).is_none() && !self.connections[at].is_setup_call(id) {
            return Ok(());
        }
        let rounds = self.questions.rounds.entry((at, id)).or_default();
        *rounds += 1;
        if *rounds > MOST_ROUNDS {
            return Err(format!("the tool has asked more than {MOST_ROUNDS} times"));
        }
        calls.suspend((at, id));
        if let Some(call) = self.connections[at].setup_call.as_mut().filter(|call| call.id == id) {
            call.until = None;
        }
        let waiting =
            Waiting { round: Round { responses: Vec::new(), state: state.map(str::to_owned) }, left: requests.len() };
        self.questions.waiting.insert((at, id), waiting);
        for (name, _, params) in requests {
            let question = self.questions.open(Asker::Call((at, id), name));
            self.ask(at, question, Some(id), params, calls, out);
        }
        self.call_on(at, id, calls, out);
        Ok(())
    }

    fn ask(&self, at: usize, question: u64, call: Option<u64>, params: &str, calls: &Calls, out: &mut Out) {
        let call = call.and_then(|id| calls.call((at, id))).map(OwnedCall::call);
        let id = format!("q{question}");
        let call = call.as_ref().map(|call| (call.id, &*call.tool));
        let asked = InputRequest { id: &id, call, source: "mcp", method: ELICITATION, params };
        let connection = &self.connections[at];
        let (epoch, server) = (calls.epoch(at).unwrap_or_default().to_string(), connection.name().map(quoted));
        let server = server.as_deref().map(|server| ("server", server));
        let record = asked.record(&Vec::from_iter([("epoch", epoch.as_str())].into_iter().chain(server)));
        out.to(Side::Near).extend_from_slice(format!("{record}\n").as_bytes());
    }

    /// Whoever was asked answers; why nobody waits for that.
    pub(super) fn take_answer(
        &mut self,
        answer: &InputResponse<'_>,
        calls: &mut Calls,
        out: &mut Out,
    ) -> Result<(), String> {
        let id = answer.id.strip_prefix('q').and_then(|number| number.parse::<u64>().ok());
        match id.filter(|id| format!("q{id}") == answer.id).and_then(|id| self.questions.open.remove(&id)) {
            Some(question) => self.give(question.asker, &answer.result(), calls, out),
            None => return Err(format!("nobody waits for an answer to request_id {:?}", answer.id)),
        }
        Ok(())
    }

    fn give(&mut self, asker: Asker, result: &str, calls: &mut Calls, out: &mut Out) {
        match asker {
            Asker::Server(at, id) => {
                out.choose_far(at);
                self.connections[at].server.client.answer(&id, result, out.to(Side::Far));
                calls.wait_anew(at);
                self.wait_anew(at);
            }
            Asker::Call((at, id), name) => {
                if let Some(waiting) = self.questions.waiting.get_mut(&(at, id)) {
                    waiting.round.responses.push((name, result.to_owned()));
                    waiting.left -= 1;
                }
                self.call_on(at, id, calls, out);
            }
        }
    }

    /// Makes a call once more, where all that it has asked for is answered.
    fn call_on(&mut self, at: usize, id: u64, calls: &mut Calls, out: &mut Out) {
        if self.questions.waiting.get(&(at, id)).is_none_or(|waiting| waiting.left > 0) {
            return;
        }
        let Some(Waiting { round, .. }) = self.questions.waiting.remove(&(at, id)) else { return };
        let connection = &mut self.connections[at];
        // Those of the set-up go one at a time.
        let setup = connection.setup.get(connection.set_up.saturating_sub(1));
        let is_setup = connection.is_setup_call(id);
        let Some(call) = setup.filter(|_| is_setup).or_else(|| calls.call((at, id))) else { return };
        out.choose_far(at);
        let tool = connection.prefix.own_name(call.tool()).unwrap_or(call.tool());
        let arguments = call.call().arguments_text();
        let again = connection.server.client.call_again(tool, arguments, Some(&round), out.to(Side::Far));
        match connection.setup_call.as_mut().filter(|_| is_setup) {
            Some(call) => {
                call.id = again;
                call.until = call.timeout.map(|timeout| Instant::now() + timeout);
            }
            None => calls.renumber((at, id), (at, again)),
        }
        if let Some(rounds) = self.questions.rounds.remove(&(at, id)) {
            self.questions.rounds.insert((at, again), rounds);
        }
    }

    /// Nobody can answer: what was asked is cancelled, so that no call waits for ever.
    pub(super) fn cancel_questions(&mut self, why: &str, calls: &mut Calls, out: &mut Out) {
        self.cancel_those(|_| true, why, calls, out);
    }

    /// The same for what was asked too long ago.
    pub(super) fn cancel_late_questions(&mut self, now: Instant, calls: &mut Calls, out: &mut Out) {
        let is_late = |question: &Question| question.until.is_some_and(|until| until <= now);
        self.cancel_those(is_late, "not answered in time (--answer-timeout)", calls, out);
    }

    fn cancel_those(&mut self, which: impl Fn(&Question) -> bool, why: &str, calls: &mut Calls, out: &mut Out) {
        let ids: Vec<u64> = self.questions.open.iter().filter(|(_, it)| which(it)).map(|(id, _)| *id).collect();
        for id in ids {
            let Some(question) = self.questions.open.remove(&id) else { continue };
            self.report
                .fault(format_args!("request q{id}"), format_args!("{why}; the server is told that it is cancelled"));
            self.give(question.asker, r#"{"action":"cancel"}"#, calls, out);
        }
    }
}
