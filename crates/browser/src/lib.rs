//! Drives Chromium over its debugging pipe: no TCP port is open, so no other program can control it. Can also attach to
//! a running browser over a WebSocket.
//!
//! [`Process`] is a started browser with its profile; [`Connection`] sends it commands of the Chrome DevTools Protocol
//! and returns its messages. [`Browser`], with its [`pages`], uses both. All calls block: run a browser on its own
//! thread.

mod addresses;
mod attach;
mod banners;
mod browser;
mod click;
mod connection;
mod console;
mod deal;
mod device;
mod drag;
mod elements;
mod evaluate;
mod extract;
mod fence;
mod files;
mod focus;
mod identity;
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
mod relay;
mod requests;
mod routes;
mod scroll;
mod selection;
mod settle;
mod silent_frames;
mod socket;
mod storage;
mod stream;
mod tabs;
pub mod tools;
mod uploads;
mod wait_condition;
pub mod wire;
mod worlds;

pub use addresses::AddressRules;
pub use banners::{BannerSettings, ClosedBanners, Press, Strategy};
pub use browser::{ActionError, Browser};
pub use click::{ClickOptions, MouseButton};
pub use connection::{Connection, ReceiveError, Waker};
pub use console::{Console, ConsoleMessage};
pub use deal::{Deal, DealRules, PageDeal, PaymentSign};
pub use device::Device;
pub use drag::DragEnd;
pub use elements::{Element, Elements, Scope};
pub use extract::{Extract, Stats};
pub use files::{Download, DownloadState};
pub(crate) use identity::Identity;
pub use input::{InputRefusal, Typing};
pub use interception::DeniedAddress;
pub use keys::Chord;
pub use launch::{Launch, LaunchError, Process, find};
pub use navigation::{NavigationResult, Ready};
pub use picture::{NumberColours, PictureArea, PictureFormat};
pub use pointer::MousePlace;
pub use requests::{Headers, NetworkRequest};
pub use routes::{RouteError, Routes};
pub use scroll::{FieldState, ScrollMove};
pub use settle::{ActionEffects, Focus, Media, Navigation, PageBefore, PageState, WaitFor};
pub use storage::StorageFault;
pub use uploads::FileChooser;
pub use wait_condition::{ElementState, WaitCondition};
