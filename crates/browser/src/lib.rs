//! Drives Chromium over its debugging pipe: no TCP port is open, so no other program can control it. Can also attach to a running
//! browser over a WebSocket.
//!
//! [`Process`] is a started browser with its profile; [`Connection`] sends it commands of the Chrome DevTools Protocol and
//! returns its messages. [`Browser`], with its [`pages`], uses both. All calls block: run a browser on its own thread.

mod addresses;
mod attach;
mod banners;
mod browser;
mod connection;
mod console;
mod elements;
mod evaluate;
mod extract;
mod files;
mod focus;
mod happened;
mod input;
mod interception;
mod keys;
mod launch;
mod navigation;
pub mod pages;
mod picture;
mod placement;
mod pointer;
mod print;
mod profile;
mod requests;
mod scroll;
mod socket;
mod storage;
mod tabs;
pub mod tools;
mod wait;
pub mod wire;
mod worlds;

pub use addresses::Allowed;
pub use banners::{Click, Closed, Settings, Strategy};
pub use browser::{Browser, Fault};
pub use connection::{Connection, Gone, Waker};
pub use console::{Console, ConsoleMessage};
pub use elements::{Element, Elements, Scope};
pub use extract::{Extract, Stats};
pub use files::{Download, Progress};
pub use happened::{Before, Focus, Happened, Media, Navigation, Settle, State};
pub use input::{Refusal, Typing};
pub use interception::Denied;
pub use keys::Chord;
pub use launch::{Launch, NotStarted, Process, find};
pub use navigation::{Arrived, Ready};
pub use picture::{Extent, Scheme};
pub use requests::{FailedRequest, Failure};
pub use storage::StorageFault;
pub use wait::{Condition, Presence};
