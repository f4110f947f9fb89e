//! The model side: `model_request` asks a model for one turn, `model_turn` is that turn or why there is none.
//!
//! A request carries the whole conversation, so its reader keeps no state.

mod request;
mod turn;

pub use request::{Image, ImageSource, Message, ModelRequest, OwnTurn, Part, ToolChoice};
pub use turn::{Arguments, Attempts, ModelCall, ModelTurn, Stop, TurnFailure, Usage};
