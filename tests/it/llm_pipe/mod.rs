//! `llm-pipe`, run as a process, against a server that plays the provider.

pub mod aimock;
mod bare;
mod batches;
mod cache;
mod check;
mod dialects;
mod documented;
mod failures;
mod forms;
mod models;
mod other_servers;
mod protection;
mod requests;
mod secrets;
pub mod server;
mod settings;
mod signatures;
mod streams;

use crate::process::{command, text};
use serde_json::Value;
use server::Server;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// `llm-pipe` with a Gemini model of this server, and a key.
fn gemini(server: &Server) -> Command {
    let mut command = keyless(server);
    command.args(["--key-env", "GEMINI_API_KEY"]);
    command
}

/// The same with a key that is not sent to this server, because no option allows it.
fn keyless(server: &Server) -> Command {
    let mut command = model(server, "gemini/g");
    command.env_remove("GOOGLE_API_KEY").env("GEMINI_API_KEY", "k3y-of-all");
    command
}

/// `llm-pipe` with any model of this server.
fn model(server: &Server, model: &str) -> Command {
    let mut command = command("llm-pipe");
    command.args(["--model", model, "--base-url", &server.url]);
    command
}

/// The printed records.
#[track_caller]
fn records(output: &Output) -> Vec<Value> {
    let lines = text(&output.stdout);
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))).collect()
}

/// The address of a server that runs as long as this process, and answers every request with `x`.
pub fn server() -> &'static str {
    static SERVER: OnceLock<Server> = OnceLock::new();
    &SERVER.get_or_init(|| Server::start(|_, _| server::Reply::gemini("x"))).url
}
