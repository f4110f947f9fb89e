//! `agent-chat`, with the real agent-loop and hitl-gate, a scripted model, and a stand-in world.

mod lines;
mod terminal;

use crate::process::{binary, command, example};
use std::path::PathBuf;
use std::process::Command;

/// A folder with the model's script, and rules that hold each call of `echo`.
pub struct Place {
    pub folder: tempfile::TempDir,
}

impl Place {
    /// Each line is a turn of the model: see tests/stand_in/model.rs.
    pub fn new(script: &[&str]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script"), script.join("\n")).unwrap();
        let rules = "[[rule]]\nid = \"ask\"\nverdict = \"confirm\"\ntool = \"echo\"\n";
        std::fs::write(folder.path().join("rules.toml"), rules).unwrap();
        Place { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The chat with an agent that has these options, over the stand-in world behind gates.
    fn chat(&self, options: &[&str], of_agent: &[&str]) -> Command {
        let mut chat = command("agent-chat");
        chat.env("XDG_DATA_HOME", self.folder.path()).current_dir(self.folder.path());
        chat.args(options).arg("--").arg(binary("agent-loop")).arg("--llm").arg(self.model()).args(of_agent).arg("--");
        chat.arg(binary("policy-check")).args(["--confirm", "mark", "--rules"]).arg(self.path("rules.toml")).arg("--");
        chat.arg(binary("hitl-gate")).arg("--").arg(example("stand-in-world"));
        chat
    }

    /// The model command.
    pub fn model(&self) -> String {
        let words = [example("stand-in-model"), self.path("script"), self.path("requests")];
        words.map(|word| format!("'{}'", word.display())).join(" ")
    }

    /// Writes a file for which the model waits.
    fn write(&self, name: &str) {
        std::fs::write(self.path(name), "").unwrap();
    }

    /// The requests to the model.
    pub fn requests(&self) -> String {
        std::fs::read_to_string(self.path("requests")).unwrap_or_default()
    }
}

const ECHO: &str = r#"{"calls":[{"tool_name":"echo","arguments":{"n":1}}]}"#;
const DONE: &str =
    r#"{"reasoning":"It is easy.","calls":[{"tool_name":"assistant_done","arguments":{"reason":"It is **done**."}}]}"#;
