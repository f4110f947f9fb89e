//! Which question an answer belongs to.

use std::collections::VecDeque;

/// What an agent was asked.
///
/// An answer that names its decision counts for that decision alone. One that names none belongs to the question that is
/// unanswered longest, since each question is answered with one line: one that comes late is known to be late.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// What was asked and not yet answered, oldest first.
    unanswered: VecDeque<Question>,
    /// The number of the last decision that was asked.
    last: u64,
}

/// A line that was sent to the agent.
#[derive(Debug)]
struct Question {
    /// The decision's number.
    decision: u64,
    /// It should have been answered by now, and was asked again.
    late: bool,
}

/// What an answer is taken for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum For {
    /// The open decision.
    Open,
    /// The open decision, but it names one that was never asked: what is wrong with it, words to follow "the answer".
    Unknown(String),
    /// A decision that is over, or a question that was asked again: which of them.
    Late(String),
    /// Nothing that was asked.
    Nothing,
}

impl Questions {
    /// The decision was asked, or asked again.
    pub(super) fn asked(&mut self, decision: u64) {
        self.unanswered.push_back(Question { decision, late: false });
        self.last = decision;
    }

    /// Whether an answer in time to this decision may still come.
    pub(super) fn awaits(&self, decision: u64) -> bool {
        self.unanswered.iter().any(|question| question.decision == decision && !question.late)
    }

    /// The time for all of them is over.
    pub(super) fn are_late(&mut self) {
        self.unanswered.iter_mut().for_each(|question| question.late = true);
    }

    /// Another process answers from now on: it owes nothing.
    pub(super) fn forget(&mut self) {
        self.unanswered.clear();
    }

    /// Takes an answer, which may name its decision; the question that it belongs to is answered then. `open` is the decision that
    /// waits for an answer, `refused` one of which an answer was refused and that wasn't asked again yet: what comes is still said
    /// to what it was asked before.
    pub(super) fn answered(&mut self, named: Option<u64>, open: Option<u64>, refused: Option<u64>) -> For {
        let refused = refused.filter(|_| refused == open);
        if let Some(named) = named.filter(|named| *named <= self.last) {
            let place = self.unanswered.iter().position(|question| question.decision == named);
            if let Some(place) = place {
                self.unanswered.drain(..=place);
            }
            let is_open = open == Some(named) && (place.is_some() || refused.is_some());
            return match (is_open, place) {
                (true, _) => For::Open,
                (false, Some(_)) => For::Late("the game has gone on".to_owned()),
                (false, None) => For::Late(format!("decision {named} is over")),
            };
        }
        let refused = refused.map(|decision| Question { decision, late: false });
        let Some(question) = self.unanswered.pop_front().or(refused) else {
            return For::Nothing;
        };
        if question.late {
            return For::Late("it was asked again".to_owned());
        }
        if open != Some(question.decision) {
            return For::Late("the game has gone on".to_owned());
        }
        match named {
            None => For::Open,
            Some(named) => {
                For::Unknown(format!("is for decision {named}, which was never asked; this is {}", question.decision))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(decisions: &[u64]) -> Questions {
        let mut questions = Questions::default();
        decisions.iter().for_each(|&decision| questions.asked(decision));
        questions
    }

    #[test]
    fn an_answer_without_a_number_is_for_the_oldest_question() {
        let mut questions = asked(&[1, 2]);
        assert_eq!(questions.answered(None, Some(2), None), For::Late("the game has gone on".to_owned()));
        assert_eq!(questions.answered(None, Some(2), None), For::Open);
        assert_eq!(questions.answered(None, Some(3), None), For::Nothing);
        assert_eq!(questions.answered(None, Some(2), Some(2)), For::Open, "it may be said to what was asked before");
        assert_eq!(questions.answered(None, Some(3), Some(2)), For::Nothing);
        questions.asked(4);
        questions.are_late();
        questions.asked(4);
        assert_eq!(questions.answered(None, Some(4), None), For::Late("it was asked again".to_owned()));
        assert_eq!(questions.answered(None, Some(4), None), For::Open);
    }

    #[test]
    fn an_answer_with_a_number_is_for_that_decision_alone() {
        let mut questions = asked(&[1, 2, 2]);
        assert_eq!(questions.answered(Some(2), Some(2), None), For::Open, "the first was passed over");
        assert_eq!(questions.answered(Some(1), Some(2), None), For::Late("decision 1 is over".to_owned()));
        assert_eq!(questions.answered(Some(2), None, None), For::Late("the game has gone on".to_owned()));
        assert_eq!(questions.answered(Some(2), None, None), For::Late("decision 2 is over".to_owned()));
        questions.asked(3);
        questions.are_late();
        assert_eq!(questions.answered(Some(3), Some(3), None), For::Open, "late, and yet for what is open");
        assert_eq!(questions.answered(Some(9), None, None), For::Nothing);
        questions.asked(4);
        assert!(matches!(questions.answered(Some(9), Some(4), None), For::Unknown(_)));
        assert!(!questions.awaits(4), "it counts as an answer");
    }
}
