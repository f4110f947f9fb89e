//! Real harnesses (which `scripts/install-harnesses` installs; PIPEWRIGHT_HARNESSES names their folder) with a model in
//! place of a provider's, in the settings that `policy-check hooks install` writes.

use crate::process::{binary, command, pipe, text};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A command that only reads, and what it prints.
const HARMLESS: &str = "wc -c canary";
const OUTPUT: &str = "0 canary";
const DANGEROUS: &str = "rm canary";

/// A home folder with a harness's settings, a folder to work in, and a model that asks for a command.
struct Place {
    harness: &'static str,
    home: TempDir,
    model: Child,
    /// Where the model listens.
    address: String,
}

impl Place {
    fn new(harness: &'static str, shell: &str) -> Place {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("work")).unwrap();
        std::fs::write(home.path().join("work/canary"), "").unwrap();
        let mut install = command("policy-check");
        install.args(["hooks", "install", harness, "--write"]).env("HOME", home.path());
        let installed = pipe(install.current_dir(home.path().join("work")), b"");
        assert!(installed.status.success(), "{}", text(&installed.stderr));
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/harnesses/model.mjs");
        let mut model = Command::new("node")
            .arg(model)
            .env("COMMAND", shell)
            .env("OUTPUT", OUTPUT)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut port = String::new();
        BufReader::new(model.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Place { harness, home, model, address: format!("http://127.0.0.1:{}", port.trim()) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Changes a part of the settings.
    fn change(&self, from: &str, to: &str) {
        let file = self.path(match self.harness {
            "claude" => ".claude/settings.json",
            "codex" => ".codex/hooks.json",
            "gemini" => ".gemini/settings.json",
            "qwen" => ".qwen/settings.json",
            "copilot" => ".copilot/settings.json",
            "opencode" => "work/.opencode/plugins/policy-check.js",
            _ => ".cline/hooks/PreToolUse",
        });
        let settings = std::fs::read_to_string(&file).unwrap();
        assert!(settings.contains(from), "{settings}");
        std::fs::write(file, settings.replace(from, to)).unwrap();
    }

    /// Puts another program in place of the gate.
    fn replace_gate(&self, program: &Path) {
        self.change(binary("policy-check").to_str().unwrap(), program.to_str().unwrap());
    }

    /// The harness, on the command line and with the settings that lead it to the model.
    fn program(&self) -> Command {
        let folder =
            std::env::var("PIPEWRIGHT_HARNESSES").expect("PIPEWRIGHT_HARNESSES names no folder: run scripts/test");
        let address = &self.address;
        let mut program = Command::new("timeout");
        program.arg("120").arg(Path::new(&folder).join(self.harness));
        program.current_dir(self.path("work")).env("PWD", self.path("work"));
        // The programs of the same folder, and the node that they support, come first.
        let path = std::env::join_paths(
            [PathBuf::from(&folder)].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        program.env("PATH", path.unwrap()).env("HOME", self.home.path()).stdin(Stdio::null());
        match self.harness {
            "claude" => {
                program.args(["-p", "Do it.", "--permission-mode", "bypassPermissions"]).env("IS_SANDBOX", "1");
                program.env("ANTHROPIC_BASE_URL", address).env("ANTHROPIC_API_KEY", "none");
                program.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
            }
            "codex" => {
                let provider = format!(
                    "model = \"m\"\nmodel_provider = \"x\"\n[model_providers.x]\nname = \"x\"\nbase_url = \
                     \"{address}/v1\"\nwire_api = \"responses\"\n"
                );
                std::fs::write(self.path(".codex/config.toml"), provider).unwrap();
                program.args(["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]);
                program.args(["--sandbox", "danger-full-access", "Do it."]);
            }
            "gemini" => {
                self.change(
                    "{\n  \"hooks\"",
                    "{\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}}, \"hooks\"",
                );
                program.args(["--yolo", "--skip-trust", "-m", "gemini-2.5-pro", "-p", "Do it."]);
                program.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", address);
            }
            "qwen" => {
                program.args(["--yolo", "--auth-type", "openai", "-p", "Do it."]).env("OPENAI_API_KEY", "none");
                program.env("OPENAI_BASE_URL", format!("{address}/v1")).env("OPENAI_MODEL", "m");
            }
            "copilot" => {
                program.args(["--allow-all-tools", "-p", "Do it."]).env("COPILOT_OFFLINE", "true");
                program.env("COPILOT_PROVIDER_BASE_URL", format!("{address}/v1")).env("COPILOT_MODEL", "m");
            }
            "opencode" => {
                let provider = serde_json::json!({"model": "x/m", "provider": {"x": {
                    "npm": "@ai-sdk/openai-compatible", "models": {"m": {}},
                    "options": {"baseURL": format!("{address}/v1"), "apiKey": "none"},
                }}});
                std::fs::write(self.path("work/opencode.json"), provider.to_string()).unwrap();
                program.args(["run", "Do it."]).env("OPENCODE_DISABLE_MODELS_FETCH", "1");
                program.env("OPENCODE_DISABLE_AUTOUPDATE", "1");
            }
            _ => {
                // Otherwise it leaves a server behind.
                program.env("CLINE_SESSION_BACKEND_MODE", "local").env("CLINE_NO_AUTO_UPDATE", "1");
            }
        }
        program
    }

    /// Runs the harness until the model ends its turn. Gives whether the harmless command ran.
    fn run(&self) -> bool {
        if self.harness == "cline" {
            let address = format!("{}/v1", self.address);
            let provider = ["auth", "-p", "openai-compatible", "-k", "none", "-m", "m", "-b", &address];
            let set = self.program().args(provider).output().unwrap();
            assert!(set.status.success(), "{set:?}");
        }
        let mut program = self.program();
        if self.harness == "cline" {
            program.arg("Do it.");
        }
        let output = program.output().unwrap();
        let said = text(&output.stdout);
        // There, a denial ends the run.
        let is_ended = self.harness == "cline" && said.contains("[abort]");
        assert!(said.contains("finished: ") || is_ended, "{}: {output:?}", self.harness);
        assert!(self.path("work/canary").exists(), "{}: the file was removed", self.harness);
        said.contains("finished: it ran")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.model.kill();
        let _ = self.model.wait();
    }
}

/// A harmless call runs, and a dangerous one does not; nor does any if the gate is missing or is killed.
fn guards(harness: &'static str) {
    assert!(Place::new(harness, HARMLESS).run(), "{harness}");
    let place = Place::new(harness, DANGEROUS);
    if harness == "gemini" {
        // Without a terminal it waits for an answer to its question.
        place.change("hook --for gemini", "hook --for gemini --unattended");
    }
    assert!(!place.run(), "{harness}");
    let place = Place::new(harness, HARMLESS);
    place.replace_gate(Path::new("/nowhere/policy-check"));
    assert!(!place.run(), "{harness} without the gate");
    let place = Place::new(harness, HARMLESS);
    let killed = place.path("policy-check");
    std::fs::write(&killed, "#!/bin/sh\nkill -9 $$\n").unwrap();
    pipewright_sys::file::make_executable(&killed).unwrap();
    place.replace_gate(&killed);
    assert!(!place.run(), "{harness} with a gate that is killed");
}

macro_rules! harnesses {
    ($($name:ident)*) => {$(
        #[test]
        #[ignore = "needs agent harnesses: run scripts/test"]
        fn $name() {
            guards(stringify!($name));
        }
    )*};
}

harnesses!(claude codex gemini qwen copilot opencode cline);
