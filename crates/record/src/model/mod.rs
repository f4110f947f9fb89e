//! The model side: `model_request` asks a model for one turn; `model_turn` is that turn, or the reason why there is none.
//!
//! A request carries the complete conversation, so its reader keeps no state.

mod choices;
mod request;
mod turn;

pub use choices::{ActionChoice, Choices, ShownChoices};
pub use request::{Image, ImageSource, Message, ModelRequest, OwnTurn, Part, ToolChoice};
pub use turn::{Arguments, Attempts, CallForm, ModelCall, ModelTurn, Stop, TurnFailure, TurnRecord, Usage};
