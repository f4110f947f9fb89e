//! `--fallback`: plays on without an agent that is lost.

use super::decision::Decision;
use super::player::{Player, Reply};
use crate::io::lines::Piece;
use crate::io::report::Failure;
use crate::io::stage::Out;
use crate::spire::action::Action;
use clap::ValueEnum;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Policy {
    /// The first legal action, in the order of the ids
    First,
    /// Any legal action; with the same seed of the run, the same ones
    Random,
    /// The end of the turn, where it is legal; else the first
    End,
}

pub(super) struct Fallback {
    policy: Policy,
    /// The agent is lost.
    pub(super) is_active: bool,
    count: u64,
    floor: i64,
    /// How often each state was decided on this floor. A shop can be entered and left for ever: in a state that comes again, the
    /// next action is taken.
    times: HashMap<u64, usize>,
}

impl Fallback {
    pub(super) fn new(policy: Policy) -> Fallback {
        Fallback { policy, is_active: false, count: 0, floor: 0, times: HashMap::new() }
    }

    /// One of the decision's actions, of which there are some.
    pub(super) fn choose(&mut self, decision: &Decision) -> Option<Action> {
        let actions = &decision.actions;
        if self.floor != decision.floor {
            self.floor = decision.floor;
            self.times.clear();
        }
        let mut hasher = DefaultHasher::new();
        decision.raw.hash(&mut hasher);
        let times = self.times.entry(hasher.finish()).or_insert(0);
        let end = || actions.iter().position(|&action| action == Action::End);
        let wanted = match self.policy {
            Policy::First => *times,
            Policy::End => end().unwrap_or(0) + *times,
            Policy::Random => {
                let seed = decision.run.seed.unwrap_or_default().cast_unsigned();
                scattered(seed.wrapping_add(self.count)) as usize
            }
        };
        *times += 1;
        self.count += 1;
        actions.get(wanted % actions.len().max(1)).copied()
    }
}

/// A number for a number, without a pattern (SplitMix64).
fn scattered(number: u64) -> u64 {
    let mut scattered = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    scattered = (scattered ^ (scattered >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    scattered = (scattered ^ (scattered >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    scattered ^ (scattered >> 31)
}

/// In the place of an agent that is lost.
pub(super) struct Nobody;

impl Player for Nobody {
    fn ask(&mut self, _decision: &Decision, _out: &mut Out) {}

    fn withdraw(&mut self, _out: &mut Out) {}

    fn receive(&mut self, _: Piece<'_>, _: Option<&Decision>, _: &mut Out) -> Result<Reply, Failure> {
        Ok(Reply::Nothing)
    }
}
