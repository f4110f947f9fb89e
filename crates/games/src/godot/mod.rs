//! Godot: the protocol between the bridge and the AgentBridge addon in a game, as described in
//! `godot/addons/agent_bridge/README.md`. Pure functions: no stream, file, process or clock.

mod addon;
mod answer;
mod engine;
mod project;
mod script;
mod tools;
mod view;
mod wire;

pub use addon::{ADDON, Asset};
pub use answer::{GameLoss, answer, kind_of};
pub use engine::{EngineOutput, PrintedLine};
pub use project::{
    AUTOLOAD, AutoloadConflict, ProjectChange, TICKS_PER_SECOND, has_autoload, install, remove, ticks_per_second, unfit,
};
pub use script::class_name;
pub use tools::{declared_tools, tools};
pub use view::tree;
pub use wire::{Hello, Message, Response, command};

/// The version of the protocol; an addon with another major number is refused.
pub const PROTOCOL: &str = "1.0";

/// Whether an addon with protocol `version` is compatible.
fn is_compatible(version: &str) -> bool {
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    major(version) == major(PROTOCOL)
}
