//! `--protocol mod` with `--fallback`: when the bot is lost, the proxy plays on in its place.

use super::fallback::Fallback;
use super::proxy::{Proxy, ProxySettings};
use super::relay::Relay;
use pipewright_io::report::{Failure, Status};
use pipewright_io::stage::{Event, Out, Stage};
use std::time::Instant;

pub(super) struct RelayWithFallback {
    /// Either `relay` or `proxy` is set.
    relay: Option<Relay>,
    proxy: Option<Box<Proxy>>,
    /// For the proxy.
    settings: Option<(ProxySettings, Fallback)>,
}

impl RelayWithFallback {
    pub(super) fn new(relay: Relay, settings: ProxySettings, fallback: Option<Fallback>) -> RelayWithFallback {
        RelayWithFallback { relay: Some(relay), proxy: None, settings: fallback.map(|fallback| (settings, fallback)) }
    }

    fn stage(&mut self) -> Option<&mut dyn Stage> {
        let relay = self.relay.as_mut().map(|relay| relay as &mut dyn Stage);
        relay.or(self.proxy.as_deref_mut().map(|proxy| proxy as &mut dyn Stage))
    }

    /// Gives the game to the proxy if the failure is the loss of the bot.
    fn replace_bot(&mut self, result: Result<(), Failure>, out: &mut Out) -> Result<(), Failure> {
        let Err(failure) = result else { return Ok(()) };
        let is_lost = failure.status == Status::Lost;
        let Some(mut relay) = self.relay.take() else { return Err(failure) };
        let Some((settings, fallback)) = self.settings.take().filter(|_| is_lost) else {
            relay.end();
            self.relay = Some(relay);
            return Err(failure);
        };
        self.proxy = Some(Box::new(Proxy::in_place_of(relay, settings, fallback, &failure, out)));
        Ok(())
    }
}

impl Stage for RelayWithFallback {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        let result = self.stage().map_or(Ok(()), |stage| stage.on(event, out));
        self.replace_bot(result, out)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.stage().map_or(Ok(()), Stage::commit)
    }

    fn not_started(&mut self, far: usize, failure: Failure, out: &mut Out) -> Result<(), Failure> {
        let result = self.stage().map_or(Ok(()), |stage| stage.not_started(far, failure, out));
        self.replace_bot(result, out)
    }

    fn deadline(&self) -> Option<Instant> {
        let relay = self.relay.as_ref().and_then(Stage::deadline);
        relay.or(self.proxy.as_ref().and_then(|proxy| proxy.deadline()))
    }
}
