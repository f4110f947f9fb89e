//! The connected gates, each at the socket of a session, and their questions.

use super::connections::Connections;
use crate::cmd::options::TOO_LONG;
use pipewright_clients::approvals::{Queue, QueueChange, Settlement};
use pipewright_io::report::Report;
use pipewright_io::stage::{Event, Out, Side};
use pipewright_lines::{Piece, text};
use std::collections::BTreeMap;
use std::sync::Arc;

const GATE_ENDED: &str = "this question is withdrawn: the gate has ended";
const CLOSED: &str = "this question is withdrawn: its connection is closed";
const SECOND_QUESTION: &str = "it asks a second question while its first is open; its connection is closed";

/// The gates by number, and the questions by session.
pub struct Gates {
    connections: Connections,
    queues: BTreeMap<usize, Queue>,
    /// The queue of a session without questions.
    none: Queue,
    report: Arc<Report>,
}

impl Gates {
    /// `connections` are those that the listener of the run accepts.
    pub fn new(connections: Connections, report: Arc<Report>) -> Gates {
        Gates { connections, queues: BTreeMap::new(), none: Queue::default(), report }
    }

    /// The open questions of a session, and its rules in force.
    pub fn queue(&self, session: usize) -> &Queue {
        self.queues.get(&session).unwrap_or(&self.none)
    }

    /// The process of a gate, for people; printable.
    pub fn describe(&self, gate: usize) -> String {
        self.connections.describe(gate)
    }

    /// Forgets a session: its gates are disconnected, and its questions are no longer open.
    pub fn close(&mut self, session: usize, out: &mut Out) {
        for gate in self.connections.gates(session) {
            out.close_near(gate);
            self.connections.leave(gate);
        }
        self.queues.remove(&session);
    }

    /// Takes an event about a gate. Gives the session of the gate and what has changed in its queue. A question that is
    /// withdrawn because its gate has gone is [settled](QueueChange::Settled). Faulty lines are reported.
    pub fn take(&mut self, event: Event<'_>, out: &mut Out) -> Option<(usize, QueueChange)> {
        match event {
            Event::Joined(gate) => {
                self.connections.join(gate);
                None
            }
            Event::Piece(Side::Near(gate), piece) => self.take_line(gate, &piece, out),
            Event::Closed(Side::Near(gate)) => {
                out.close_near(gate);
                self.leave(gate, GATE_ENDED)
            }
            Event::Broken(Side::Near(gate), _) => self.leave(gate, GATE_ENDED),
            _ => None,
        }
    }

    fn take_line(&mut self, gate: usize, piece: &Piece<'_>, out: &mut Out) -> Option<(usize, QueueChange)> {
        // The line may have been sent before the connection was closed.
        let session = self.connections.session(gate)?;
        let queue = self.queues.entry(session).or_default();
        let change = match piece {
            Piece::Line(line) if line.is_blank() => return None,
            Piece::Line(line) => queue.take(gate, &text(line.body())).map_err(|error| error.to_string()),
            Piece::Part { last: true, .. } => Err(TOO_LONG.to_owned()),
            Piece::Part { .. } => return None,
        };
        match change {
            Ok(QueueChange::SecondQuestion) => {
                self.report_fault(gate, piece, SECOND_QUESTION);
                out.close_near(gate);
                self.leave(gate, CLOSED)
            }
            Ok(change) => Some((session, change)),
            Err(why) => {
                self.report_fault(gate, piece, &why);
                None
            }
        }
    }

    fn report_fault(&self, gate: usize, piece: &Piece<'_>, why: &str) {
        self.report.fault(format_args!("{}:{}", self.connections.describe(gate), piece.number()), why);
    }

    /// `note` gives the reason, for people, why its question is withdrawn.
    fn leave(&mut self, gate: usize, note: &str) -> Option<(usize, QueueChange)> {
        let session = self.connections.session(gate)?;
        self.connections.leave(gate);
        let nonce = self.queues.get_mut(&session)?.leave(gate)?;
        let (verdict, by) = ("rejected".to_owned(), "end".to_owned());
        let settlement = Settlement { verdict, by, sha256: None, note: note.to_owned() };
        Some((session, QueueChange::Settled { nonce, settlement }))
    }

    /// Sends an answer, or a [revocation](pipewright_clients::approvals::revocation), to a gate.
    pub fn send(&self, gate: usize, line: &str, out: &mut Out) {
        out.add_line(Side::Near(gate), line);
    }
}
