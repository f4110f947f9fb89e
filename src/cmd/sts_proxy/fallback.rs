//! `--fallback`: continues to play when the agent is lost.

use super::decision::Decision;
use super::player::{Player, PlayerReply};
use clap::ValueEnum;
use pipewright_games::spire::action::Action;
use pipewright_io::report::Failure;
use pipewright_io::stage::Out;
use pipewright_lines::Piece;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Which action is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FallbackPolicy {
    /// The first legal action, in the order of the ids
    First,
    /// Any legal action; runs with the same seed get the same ones
    Random,
    /// The end of the turn if it is legal, else the first
    End,
}

pub(super) struct Fallback {
    policy: FallbackPolicy,
    /// The agent is lost.
    pub(super) is_active: bool,
    count: u64,
    floor: i64,
    /// How often each state has been decided on this floor. A shop can be entered and left forever, so each time a
    /// state comes again, the next action is taken.
    times: HashMap<u64, usize>,
}

impl Fallback {
    pub(super) fn new(policy: FallbackPolicy) -> Fallback {
        Fallback { policy, is_active: false, count: 0, floor: 0, times: HashMap::new() }
    }

    /// One of the decision's actions. There is at least one.
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
            FallbackPolicy::First => *times,
            FallbackPolicy::End => end().unwrap_or(0) + *times,
            FallbackPolicy::Random => {
                let seed = decision.run.seed.unwrap_or_default().cast_unsigned();
                split_mix(seed.wrapping_add(self.count)) as usize
            }
        };
        *times += 1;
        self.count += 1;
        actions.get(wanted % actions.len().max(1)).copied()
    }
}

/// Maps a number to one without a pattern (SplitMix64).
fn split_mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Takes the place of a lost agent.
pub(super) struct NoPlayer;

impl Player for NoPlayer {
    fn ask(&mut self, _decision: &Decision, _out: &mut Out) {}

    fn withdraw(&mut self, _out: &mut Out) {}

    fn receive(&mut self, _: Piece<'_>, _: Option<&Decision>, _: &mut Out) -> Result<PlayerReply, Failure> {
        Ok(PlayerReply::Nothing)
    }
}
