//! Runs of the AG-UI protocol. Each is a request that is answered with the stream of its events.

use super::exchange::Outbound;
use super::sessions::REPLAY;
use super::stage::AgentServer;
use pipewright_clients::agui::{RecordEvents, RunInput, Thread};
use pipewright_clients::session::Session;
use pipewright_io::stage::Out;
use pipewright_lines::deeper_than;
use pipewright_record::json::Object;
use pipewright_record::{Cancel, Record, UserMessage};

impl AgentServer {
    pub(super) fn take_run(&mut self, client: u64, text: &str, out: &mut Out) {
        let input = match deeper_than(text.as_bytes(), self.settings.max_depth) {
            true => Err(crate::cmd::options::TOO_DEEP.into()),
            false => RunInput::read(text),
        };
        let begun = input.and_then(|input| match self.number_for_run(&input, out) {
            Ok(number) => Ok((number, input)),
            Err(why) => {
                // The protocol requires a run to start before it fails.
                let run = (&input.thread, &input.run);
                let mut thread = Thread::new(run.0, Session::default());
                let (begun, _) = thread.begin(&RunInput { messages: Vec::new(), answers: Vec::new(), ..input });
                begun.events.iter().for_each(|event| self.send(&Outbound::Line { client, text: event }, out));
                Err(why.into())
            }
        });
        match begun {
            Ok((number, input)) => self.begin_run(number, client, &input, out),
            Err(why) => {
                let event =
                    Object::default().text("type", "RUN_ERROR").text("message", &why).text("code", "refused").end();
                self.send(&Outbound::Line { client, text: &event }, out);
                self.send(&Outbound::End { client }, out);
            }
        }
    }

    /// The number of the run's session, which is started if it does not exist.
    fn number_for_run(&mut self, input: &RunInput, out: &mut Out) -> Result<usize, String> {
        if self.is_replay {
            return Err(REPLAY.to_owned());
        }
        let number = self.begin(&input.thread, out).map_err(|refused| refused.why)?.number;
        let has_run = self.sessions.get(number).is_some_and(|session| session.run_client.is_some());
        if has_run { Err("another run of this thread is open: wait for its end".to_owned()) } else { Ok(number) }
    }

    fn begin_run(&mut self, number: usize, client: u64, input: &RunInput, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        session.run_client = Some(client);
        let thread = session.thread.get_or_insert_with(|| {
            let mut thread = Thread::new(&input.thread, session.records.clone());
            // The thread was kept since the previous run.
            let open = session.held.values().filter(|held| !held.is_answered);
            open.for_each(|held| _ = thread.hold(&held.question));
            thread
        });
        let (begun, messages) = thread.begin(input);
        self.give_run(number, begun, out);
        for answer in &input.answers {
            let fields = answer.response.trim_start_matches('{');
            let response = Object::default().text("type", "hitl_response").text("nonce", &answer.interrupt).end();
            let text = format!("{},{fields}", response.trim_end_matches('}'));
            if let Err(why) = self.answer_held(number, None, &text, out) {
                return self.fail_run(number, &format!("interrupt {}: {why}", answer.interrupt), out);
            }
        }
        for message in &messages {
            let record = UserMessage::new(message).json();
            if let Err(why) = self.give_agent(number, &record, out) {
                return self.fail_run(number, &why, out);
            }
        }
        // An agent that is starting will report its state by itself.
        if messages.is_empty()
            && self.sessions.get(number).is_some_and(|session| session.state() != "starting")
            && let Some(thread) = self.sessions.get_mut(number).and_then(|session| session.thread.as_mut())
        {
            let taken = thread.end_if_idle();
            self.give_run(number, taken, out);
        }
    }

    /// Sends the client of a session's run the events that follow.
    pub(super) fn give_run(&mut self, number: usize, taken: RecordEvents, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(number) else { return };
        let Some(client) = session.run_client else { return };
        if taken.is_over {
            session.run_client = None;
        }
        for event in &taken.events {
            self.send(&Outbound::Line { client, text: event }, out);
        }
        if taken.is_over {
            self.send(&Outbound::End { client }, out);
        }
    }

    fn fail_run(&mut self, number: usize, why: &str, out: &mut Out) {
        let thread = self.sessions.get_mut(number).and_then(|session| session.thread.as_mut());
        if let Some(taken) = thread.map(|thread| thread.fail(why, "refused")) {
            self.give_run(number, taken, out);
        }
    }

    /// Ends the run of a session whose agent has ended.
    pub(super) fn end_run(&mut self, number: usize, why: &str, out: &mut Out) {
        let thread = self.sessions.get_mut(number).and_then(|session| session.thread.as_mut());
        if let Some(taken) = thread.map(|thread| thread.ended(why)) {
            self.give_run(number, taken, out);
        }
    }

    /// A client is gone. If it was reading a run, the agent's turn is cancelled.
    pub(super) fn leave_run(&mut self, client: u64, out: &mut Out) {
        let Some(number) = self.sessions.find(|session| session.run_client == Some(client)) else { return };
        let Some(session) = self.sessions.get_mut(number) else { return };
        session.run_client = None;
        if let Some(thread) = &mut session.thread {
            thread.abandon();
        }
        // An agent that does not take the record ends its turn by itself.
        let _ = self.give_agent(number, &Cancel::TURN.json(), out);
    }
}
