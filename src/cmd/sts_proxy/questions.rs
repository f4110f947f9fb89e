//! Which question an answer belongs to.

use std::collections::VecDeque;

/// The questions sent to an agent.
///
/// An answer that names its decision counts only for that decision. An answer that names none belongs to the oldest
/// unanswered question, since each question is answered with one line. That way a late answer is recognised as late.
#[derive(Debug, Default)]
pub(super) struct Questions {
    /// The unanswered questions, oldest first.
    unanswered: VecDeque<Question>,
    /// The number of the last decision that was asked.
    last_asked: u64,
}

/// A line that was sent to the agent.
#[derive(Debug)]
struct Question {
    /// The decision's number.
    decision: u64,
    /// Whether its time is over, and the decision is asked again.
    is_late: bool,
}

/// What an answer is for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum AnswerClass {
    /// The open decision.
    Open,
    /// The open decision, although it names another: what is wrong, in words that follow "the answer".
    Wrong(String),
    /// A question that is over: why, in words that follow "the answer came late".
    Late(&'static str),
    /// Nothing that was asked.
    Nothing,
}

impl Questions {
    /// The decision was asked, or asked again.
    pub(super) fn asked(&mut self, decision: u64) {
        self.unanswered.push_back(Question { decision, is_late: false });
        self.last_asked = decision;
    }

    /// Whether a timely answer to this decision may still come.
    pub(super) fn awaits(&self, decision: u64) -> bool {
        self.unanswered.iter().any(|question| question.decision == decision && !question.is_late)
    }

    /// Marks all open questions as late.
    pub(super) fn mark_late(&mut self) {
        self.unanswered.iter_mut().for_each(|question| question.is_late = true);
    }

    /// Forgets all questions: a new process answers from now on.
    pub(super) fn forget(&mut self) {
        self.unanswered.clear();
    }

    /// Takes an answer, and finds the question that it answers, which is then no longer unanswered. The answer may have
    /// `named` its decision. `open` is the decision that waits for an answer. `refused` is the decision whose answer
    /// was refused and that was not asked again yet: a second answer to its question counts. `is_repeated` means that
    /// the answer equals the one that was carried out last, which does not count again.
    pub(super) fn take_answer(
        &mut self,
        named: Option<u64>,
        open: Option<u64>,
        refused: Option<u64>,
        is_repeated: bool,
    ) -> AnswerClass {
        let refused = refused.filter(|_| refused == open);
        let last_asked = self.last_asked;
        let was_asked = |number: u64| (1..=last_asked).contains(&number);
        if let Some(named) = named.filter(|named| was_asked(*named)) {
            let place = self.unanswered.iter().position(|question| question.decision == named);
            if let Some(place) = place {
                self.unanswered.drain(..=place);
            }
            if open == Some(named) && (place.is_some() || refused.is_some()) {
                return AnswerClass::Open;
            }
            if place.is_some() {
                return AnswerClass::Late("the game has gone on");
            }
            if is_repeated {
                return AnswerClass::Late("it was given before");
            }
        }
        let refused = refused.map(|decision| Question { decision, is_late: false });
        let Some(question) = self.unanswered.pop_front().or(refused) else {
            return AnswerClass::Nothing;
        };
        if question.is_late {
            return AnswerClass::Late("it was asked again");
        }
        if open != Some(question.decision) {
            return AnswerClass::Late("the game has gone on");
        }
        match named {
            None => AnswerClass::Open,
            Some(named) => {
                let why = if was_asked(named) { "is over" } else { "was never asked" };
                AnswerClass::Wrong(format!("is for decision {named}, which {why}; this is {}", question.decision))
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

    fn repeated(questions: &mut Questions, named: u64, open: u64) -> AnswerClass {
        questions.take_answer(Some(named), Some(open), None, true)
    }

    #[test]
    fn an_answer_without_a_number_is_for_the_oldest_question() {
        let mut questions = asked(&[1, 2]);
        assert_eq!(questions.take_answer(None, Some(2), None, false), AnswerClass::Late("the game has gone on"));
        assert_eq!(questions.take_answer(None, Some(2), None, false), AnswerClass::Open);
        assert_eq!(questions.take_answer(None, Some(3), None, false), AnswerClass::Nothing);
        assert_eq!(
            questions.take_answer(None, Some(2), Some(2), false),
            AnswerClass::Open,
            "it may answer the earlier question"
        );
        assert_eq!(questions.take_answer(None, Some(3), Some(2), false), AnswerClass::Nothing);
        questions.asked(4);
        questions.mark_late();
        questions.asked(4);
        assert_eq!(questions.take_answer(None, Some(4), None, false), AnswerClass::Late("it was asked again"));
        assert_eq!(questions.take_answer(None, Some(4), None, false), AnswerClass::Open);
    }

    #[test]
    fn an_answer_with_a_number_is_for_that_decision_alone() {
        let mut questions = asked(&[1, 2, 2]);
        assert_eq!(
            questions.take_answer(Some(2), Some(2), None, false),
            AnswerClass::Open,
            "the first was passed over"
        );
        assert_eq!(questions.take_answer(Some(2), None, None, false), AnswerClass::Late("the game has gone on"));
        assert_eq!(questions.take_answer(Some(2), None, None, false), AnswerClass::Nothing);
        questions.asked(3);
        assert_eq!(repeated(&mut questions, 2, 3), AnswerClass::Late("it was given before"));
        let over = "is for decision 2, which is over; this is 3".to_owned();
        assert_eq!(
            questions.take_answer(Some(2), Some(3), None, false),
            AnswerClass::Wrong(over),
            "of another bot's count"
        );
        assert!(!questions.awaits(3), "it counts as an answer");
        questions.asked(3);
        assert!(matches!(questions.take_answer(Some(0), Some(3), None, false), AnswerClass::Wrong(_)));
        questions.asked(3);
        questions.mark_late();
        assert_eq!(
            questions.take_answer(Some(3), Some(3), None, false),
            AnswerClass::Open,
            "late, but for the open decision"
        );
        assert_eq!(questions.take_answer(Some(9), None, None, false), AnswerClass::Nothing);
        questions.asked(4);
        assert!(matches!(questions.take_answer(Some(9), Some(4), None, false), AnswerClass::Wrong(_)));
        assert!(!questions.awaits(4), "it counts as an answer");
    }
}
