//! A held call, with its line as it came.

use super::progress::Progress;
use crate::cmd::world::queue::Queued;
use pipewright_lines::{Line, text};
use pipewright_record::{Call, Form, OwnedCall};
use std::borrow::Cow;
use std::time::{Duration, Instant};

pub struct HeldCall {
    raw: Vec<u8>,
    number: u64,
    pub call: OwnedCall,
    /// Its fields besides the arguments, as a JSON object.
    pub beside_arguments: Option<String>,
    /// Whether it needs a person's approval.
    pub marked: bool,
    /// Its caller was asked to repeat the call: a person's answer counts for the repetition.
    pub is_answered: bool,
    /// The earlier requests for the same call; each was answered with a request to repeat it.
    earlier: Vec<OwnedCall>,
    /// When to ask its caller to repeat it: in JSON-RPC, if it wants an answer.
    pub answer_by: Option<Instant>,
    pub progress: Option<Progress>,
}

impl HeldCall {
    /// `limit` is how long a JSON-RPC call waits for its answer; `None` is forever.
    pub fn new(line: &Line<'_>, call: &Call<'_>, limit: Option<Duration>) -> HeldCall {
        let (number, marked) = (line.number(), call.requires_approval);
        let waits = call.form == Form::JsonRpc && call.wants_answer();
        let body = text(line.body());
        HeldCall {
            beside_arguments: call.beside_arguments(&body),
            raw: line.raw().to_vec(),
            number,
            call: call.into(),
            marked,
            is_answered: false,
            earlier: Vec::new(),
            answer_by: limit.filter(|_| waits).map(|limit| Instant::now() + limit),
            progress: waits.then(|| Progress::for_call(&body)).flatten(),
        }
    }

    pub fn line(&self) -> Line<'_> {
        Line::new(&self.raw, self.number)
    }

    pub fn text(&self) -> Cow<'_, str> {
        text(self.line().body())
    }

    /// The call that the question is about, as it was first made.
    pub fn asked(&self) -> &OwnedCall {
        self.earlier.first().unwrap_or(&self.call)
    }

    /// The call, each time that it was made, and whether its caller still waits for an answer.
    pub fn calls(&self) -> impl Iterator<Item = (&OwnedCall, bool)> {
        self.earlier.iter().map(|call| (call, false)).chain([(&self.call, !self.is_answered)])
    }

    /// Whether a question about the one call covers the other: the same tool, arguments and other fields, and the same
    /// target and verdict of the gate before this one, since the meaning of a reference may have changed.
    pub fn is_same_action(&self, other_held: &HeldCall) -> bool {
        let (one, other) = (self.call.call(), other_held.call.call());
        let marks = |call: &Call<'_>| [call.target, call.policy].map(|mark| mark.map(|json| json.get().to_owned()));
        one.form == other.form
            && one.tool == other.tool
            && one.arguments_text() == other.arguments_text()
            && marks(&one) == marks(&other)
            && self.beside_arguments == other_held.beside_arguments
    }

    /// Takes the place of `before`, the same call, which its caller repeats.
    pub fn repeat(&mut self, before: HeldCall) {
        self.earlier = before.earlier;
        self.earlier.push(before.call);
    }
}

impl Queued for HeldCall {
    fn call(&self) -> Option<&OwnedCall> {
        Some(&self.call).filter(|_| !self.is_answered)
    }

    fn size(&self) -> usize {
        let beside = self.beside_arguments.as_ref().map_or(0, String::len);
        self.raw.len() + beside + self.calls().map(|(call, _)| call.size()).sum::<usize>()
    }
}
