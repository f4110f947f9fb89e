//! Runs of the AG-UI protocol: each is a request, whose answer is the stream of its events.

use super::exchange::Outbound;
use super::sessions::REPLAY;
use super::stage::Serving;
use crate::agui::{RunInput, Taken, Thread};
use crate::io::lines::deeper_than;
use crate::io::stage::Out;
use crate::json::Object;
use crate::session::Session;

impl Serving {
    pub(super) fn take_run(&mut self, client: u64, text: &str, out: &mut Out) {
        let input = match deeper_than(text.as_bytes(), self.settings.max_depth) {
            true => Err(crate::cmd::options::TOO_DEEP.to_owned()),
            false => RunInput::read(text),
        };
        let begun = input.and_then(|input| match self.number_for_run(&input, out) {
            Ok(number) => Ok((number, input)),
            Err(why) => {
                // The client of the protocol expects a run that begins.
                let run = (&input.thread, &input.run);
                let mut thread = Thread::new(run.0, Session::default());
                let (begun, _) = thread.begin(&RunInput { messages: Vec::new(), answers: Vec::new(), ..input });
                begun.events.iter().for_each(|event| self.send(&Outbound::Line { client, text: event }, out));
                Err(why)
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

    /// The session that a run is in, which begins with it where it does not exist.
    fn number_for_run(&mut self, input: &RunInput, out: &mut Out) -> Result<usize, String> {
        if self.is_replay {
            return Err(REPLAY.to_owned());
        }
        let (number, _) = self.begin(&input.thread, out).map_err(|(_, why)| why)?;
        let has_run = self.sessions.get(&number).is_some_and(|session| session.run_client.is_some());
        if has_run { Err("a run of this thread is open: wait for its end".to_owned()) } else { Ok(number) }
    }

    fn begin_run(&mut self, number: usize, client: u64, input: &RunInput, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
        session.run_client = Some(client);
        let thread = session.thread.get_or_insert_with(|| {
            let mut thread = Thread::new(&input.thread, session.records.clone());
            // Between runs: it is kept for this one.
            session.held.values().for_each(|held| _ = thread.hold(&held.question));
            thread
        });
        let (begun, messages) = thread.begin(input);
        self.give_run(number, begun, out);
        for answer in &input.answers {
            let fields = answer.response.trim_start_matches('{');
            let response = Object::default().text("type", "hitl_response").text("nonce", &answer.interrupt).end();
            let text = format!("{},{fields}", response.trim_end_matches('}'));
            match self.answer_held(number, None, &text, out) {
                // It is asked about no more, unless the gate refuses the answer.
                Ok(()) => {
                    if let Some(thread) = self.sessions.get_mut(&number).and_then(|session| session.thread.as_mut()) {
                        thread.release(&answer.interrupt);
                    }
                }
                Err(why) => return self.fail_run(number, &format!("interrupt {}: {why}", answer.interrupt), out),
            }
        }
        for message in &messages {
            let record =
                Object::default().text("type", "user_message").text("content", message).text("role", "user").end();
            if let Err(why) = self.give_agent(number, &record, out) {
                return self.fail_run(number, &why, out);
            }
        }
        // An agent that starts says then what it does.
        if messages.is_empty()
            && self.sessions.get(&number).is_some_and(|session| session.state() != "starting")
            && let Some(thread) = self.sessions.get_mut(&number).and_then(|session| session.thread.as_mut())
        {
            let taken = thread.end_if_idle();
            self.give_run(number, taken, out);
        }
    }

    /// Gives the client of a session's run what follows for it.
    pub(super) fn give_run(&mut self, number: usize, taken: Taken, out: &mut Out) {
        let Some(session) = self.sessions.get_mut(&number) else { return };
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
        let thread = self.sessions.get_mut(&number).and_then(|session| session.thread.as_mut());
        if let Some(taken) = thread.map(|thread| thread.fail(why, "refused")) {
            self.give_run(number, taken, out);
        }
    }

    /// The agent of a session has ended.
    pub(super) fn end_run(&mut self, number: usize, why: &str, out: &mut Out) {
        let thread = self.sessions.get_mut(&number).and_then(|session| session.thread.as_mut());
        if let Some(taken) = thread.map(|thread| thread.ended(why)) {
            self.give_run(number, taken, out);
        }
    }

    /// A client has gone. Where it has read a run, that is how it ends the run: the agent's turn is cancelled.
    pub(super) fn leave_run(&mut self, client: u64, out: &mut Out) {
        let session = self.sessions.iter_mut().find(|(_, session)| session.run_client == Some(client));
        let Some((&number, session)) = session else { return };
        session.run_client = None;
        if let Some(thread) = &mut session.thread {
            thread.abandon();
        }
        // An agent that does not take it ends its turn by itself.
        let _ = self.give_agent(number, r#"{"type":"cancel"}"#, out);
    }
}
