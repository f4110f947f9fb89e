//! Real harnesses (which `scripts/install-harnesses` installs; PIPEWRIGHT_HARNESSES names their folder) with a model in
//! place of a provider's, in the settings that `policy-check hooks install` writes.

use crate::process::{command, pipe, text};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const HARNESSES: [&str; 3] = ["claude", "codex", "qwen"];
/// A command that only reads, and what it prints.
const HARMLESS: &str = "wc -c canary";
const OUTPUT: &str = "0 canary";

/// A home folder with a harness's settings, a folder to work in, and a model that asks for a command.
struct Place {
    home: TempDir,
    model: Child,
    port: String,
}

impl Place {
    fn new(harness: &str, shell: &str) -> Place {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("work")).unwrap();
        std::fs::write(home.path().join("work/canary"), "").unwrap();
        let mut install = command("policy-check");
        let installed = pipe(install.args(["hooks", "install", harness, "--write"]).env("HOME", home.path()), b"");
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
        Place { home, model, port: port.trim().to_owned() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Replaces the gate in the settings by a program that does not exist.
    fn remove_gate(&self, file: &str) {
        let file = self.path(file);
        let settings = std::fs::read_to_string(&file).unwrap();
        let own = crate::process::binary("policy-check");
        let removed = settings.replace(own.to_str().unwrap(), "/nowhere/policy-check");
        assert_ne!(settings, removed);
        std::fs::write(file, removed).unwrap();
    }

    /// Runs the harness until the model ends its turn. Gives whether the harmless command ran.
    fn run(&self, harness: &str) -> bool {
        let folder =
            std::env::var("PIPEWRIGHT_HARNESSES").expect("PIPEWRIGHT_HARNESSES names no folder: run scripts/test");
        let address = format!("http://127.0.0.1:{}", self.port);
        let mut program = Command::new("timeout");
        program.arg("120").arg(Path::new(&folder).join(harness)).current_dir(self.path("work")).stdin(Stdio::null());
        // The programs of the same folder, and the node that they support, come first.
        let path = std::env::join_paths(
            [PathBuf::from(&folder)].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
        );
        program.env("PATH", path.unwrap()).env("HOME", self.home.path());
        match harness {
            "claude" => {
                program.args(["-p", "Do it.", "--permission-mode", "bypassPermissions"]).env("IS_SANDBOX", "1");
                program.env("ANTHROPIC_BASE_URL", &address).env("ANTHROPIC_API_KEY", "none");
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
            _ => {
                program.args(["--yolo", "--auth-type", "openai", "-p", "Do it."]).env("OPENAI_API_KEY", "none");
                program.env("OPENAI_BASE_URL", format!("{address}/v1")).env("OPENAI_MODEL", "m");
            }
        }
        let output = program.output().unwrap();
        let said = text(&output.stdout);
        assert!(said.contains("finished: "), "{harness}: {output:?}");
        assert!(self.path("work/canary").exists(), "{harness}: the file was removed");
        said.contains("finished: it ran")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.model.kill();
        let _ = self.model.wait();
    }
}

#[test]
#[ignore = "needs agent harnesses: run scripts/test"]
fn a_harmless_call_runs_and_a_dangerous_one_does_not() {
    for harness in HARNESSES {
        assert!(Place::new(harness, HARMLESS).run(harness), "{harness}");
        assert!(!Place::new(harness, "rm canary").run(harness), "{harness}");
    }
}

#[test]
#[ignore = "needs agent harnesses: run scripts/test"]
fn a_gate_that_is_missing_lets_nothing_run() {
    for (harness, settings) in
        [("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json"), ("qwen", ".qwen/settings.json")]
    {
        let place = Place::new(harness, HARMLESS);
        place.remove_gate(settings);
        assert!(!place.run(harness), "{harness}");
    }
}
