//! `--protocol mod` with `--fallback`: when the bot is lost, the proxy plays on in its place.

use super::fallback::Fallback;
use super::proxy::{Proxy, Settings};
use super::relay::Relay;
use crate::io::report::{Failure, Status};
use crate::io::stage::{Event, Out, Stage};
use std::time::Instant;

pub(super) struct Relieved {
    /// Either `relay` or `proxy` is set.
    relay: Option<Relay>,
    proxy: Option<Box<Proxy>>,
    /// For the proxy.
    settings: Option<(Settings, Fallback)>,
}

impl Relieved {
    pub(super) fn new(relay: Relay, settings: Settings, fallback: Option<Fallback>) -> Relieved {
        Relieved { relay: Some(relay), proxy: None, settings: fallback.map(|fallback| (settings, fallback)) }
    }

    fn stage(&mut self) -> Option<&mut dyn Stage> {
        let relay = self.relay.as_mut().map(|relay| relay as &mut dyn Stage);
        relay.or(self.proxy.as_deref_mut().map(|proxy| proxy as &mut dyn Stage))
    }

    /// Gives the game to the proxy if the failure is the loss of the bot.
    fn relieve(&mut self, result: Result<(), Failure>, out: &mut Out) -> Result<(), Failure> {
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

impl Stage for Relieved {
    fn on(&mut self, event: Event<'_>, out: &mut Out) -> Result<(), Failure> {
        let result = self.stage().map_or(Ok(()), |stage| stage.on(event, out));
        self.relieve(result, out)
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.stage().map_or(Ok(()), Stage::commit)
    }

    fn not_started(&mut self, failure: Failure, out: &mut Out) -> Result<(), Failure> {
        let result = self.stage().map_or(Ok(()), |stage| stage.not_started(failure, out));
        self.relieve(result, out)
    }

    fn deadline(&self) -> Option<Instant> {
        let relay = self.relay.as_ref().and_then(Stage::deadline);
        relay.or(self.proxy.as_ref().and_then(|proxy| proxy.deadline()))
    }
}
