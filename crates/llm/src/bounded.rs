//! The size limit of a turn: a server that never ends its answer must not fill the memory.

use super::{Failure, Retry, Token, TurnReader};
use pipewright_record::{Kind, ModelTurn, Usage};

/// The most bytes of event data in a turn, 64 MiB. The longest turns of models have a tenth of that.
pub(super) const MAX_TURN: usize = 64 << 20;

/// A reader that accepts this many more bytes.
pub(super) struct Bounded {
    pub(super) inner: Box<dyn TurnReader>,
    pub(super) left: usize,
}

impl TurnReader for Bounded {
    fn take(&mut self, name: &str, data: &[u8], tokens: &mut Vec<Token>) -> Result<(), Failure> {
        let Some(left) = self.left.checked_sub(data.len()) else {
            let message = format!("the turn is too large: it has more than {} MiB of events", MAX_TURN >> 20);
            return Err(Failure::new(Kind::TooLarge, message, Retry::Never));
        };
        self.left = left;
        self.inner.take(name, data, tokens)
    }

    fn is_complete(&self) -> bool {
        self.inner.is_complete()
    }

    fn is_ending(&self) -> bool {
        self.inner.is_ending()
    }

    fn usage(&self) -> Usage {
        self.inner.usage()
    }

    fn finish(self: Box<Self>) -> Result<ModelTurn, Failure> {
        self.inner.finish()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::tests::short;
    use super::super::{ChatServer, Provider};
    use super::*;

    #[test]
    fn an_endless_turn_is_too_large() {
        let mut reader = ChatServer::OPENAI.reader(&short(), "m");
        let text = "x".repeat(1 << 20);
        let event = format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}}}}]}}"#);
        let mut tokens = Vec::new();
        for _ in 0..63 {
            reader.take("", event.as_bytes(), &mut tokens).unwrap();
            tokens.clear();
        }
        let failure = reader.take("", event.as_bytes(), &mut tokens).unwrap_err();
        assert_eq!((failure.what.kind, failure.retry, tokens.len()), (Kind::TooLarge, Retry::Never, 0));
    }
}
