//! The proxy without its agent: `--fallback` decides.

use super::{Phase, Proxy, ProxySettings, open};
use crate::cmd::sts_proxy::fallback::{Fallback, NoPlayer};
use crate::cmd::sts_proxy::player::PlayerReply;
use crate::cmd::sts_proxy::relay::Relay;
use pipewright_games::spire::record::Outcome;
use pipewright_io::report::{Failure, Status};
use pipewright_io::stage::Out;

impl Proxy {
    /// Plays on in place of a lost bot that used the mod's own protocol.
    pub(in super::super) fn in_place_of(
        mut relay: Relay,
        settings: ProxySettings,
        fallback: Fallback,
        failure: &Failure,
        out: &mut Out,
    ) -> Proxy {
        let start = relay.start.take();
        let unanswered = std::mem::take(&mut relay.unanswered);
        let mut proxy = Proxy::new(ProxySettings { start, ..settings }, Box::new(NoPlayer), Some(fallback), relay.game);
        for sent in unanswered {
            proxy.game.ledger.settle(sent.decided, Outcome::Unknown);
        }
        proxy.lose_agent(failure, out);
        proxy.ask_for_state(out);
        proxy
    }

    /// Whether the agent is lost and --fallback plays.
    pub(super) fn is_alone(&self) -> bool {
        self.fallback.as_ref().is_some_and(|fallback| fallback.is_active)
    }

    /// Decides without the lost agent. A screen that no action leaves is left to the watchdog, as a person may close
    /// it.
    pub(super) fn play_alone(&mut self, out: &mut Out) {
        let open = open(&self.decision, &self.phase);
        if self.is_alone() && open.is_some_and(|open| open.needs_a_command) {
            self.phase = Phase::Idle;
            return;
        }
        if let (Some(fallback), Some(decision)) = (self.fallback.as_mut().filter(|it| it.is_active), open)
            && let Some(action) = fallback.choose(decision)
        {
            self.reply(PlayerReply::Act(action), out);
        }
    }

    /// Continues without the agent.
    fn lose_agent(&mut self, failure: &Failure, out: &mut Out) {
        self.report.fault("agent", format_args!("{failure}; the game continues without it (--fallback)"));
        if let Some(fallback) = &mut self.fallback {
            fallback.is_active = true;
        }
        self.player = Box::new(NoPlayer);
        out.end_far(0);
        self.play_alone(out);
    }

    /// A failure ends the run. The command that was sent is recorded without an answer. If the failure is the loss of
    /// the agent and --fallback is given, the game continues.
    pub(super) fn play_on(&mut self, result: Result<(), Failure>, out: &mut Out) -> Result<(), Failure> {
        match result {
            Err(failure) if failure.status == Status::Lost && self.fallback.is_some() && !self.is_alone() => {
                self.lose_agent(&failure, out);
                Ok(())
            }
            result => result.inspect_err(|_| self.give_up_waiting()),
        }
    }
}
