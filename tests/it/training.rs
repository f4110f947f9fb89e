//! docs/spire.md from the bot to the policy: plays games on the engine, then runs the page's commands and Python code as written.
//! (PIPEWRIGHT_TRAINING names a folder with `duckdb` and a `python3` with scikit-learn: scripts/install-training.)

use crate::documents::path_with_our_programs;
use crate::engine::launcher;
use crate::process::{binary, text};
use pipewright::cmd::sts_proxy;
use std::path::Path;
use std::process::Command;

const PAGE: &str = include_str!("../../docs/spire.md");

/// The fenced code blocks of a language, without their fences.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    let inside = PAGE.split(&*fence).skip(1);
    inside.map(|rest| rest.split("```").next().unwrap()).collect()
}

/// The code block that contains these words.
fn block(language: &str, words: &str) -> &'static str {
    let found: Vec<_> = blocks(language).into_iter().filter(|block| block.contains(words)).collect();
    assert_eq!(found.len(), 1, "{words}");
    found[0]
}

/// The beginnings of the blocks, in the order in which they are run here; `documents` runs the one-line bot.
const RUN_HERE: [&str; 3] = ["ln -s ~/.local", "jsonl-log csv", "duckdb <examples/spire-table.sql"];

#[test]
fn each_command_of_the_page_is_run_or_marked() {
    for commands in blocks("sh") {
        let is_run = RUN_HERE.iter().any(|words| commands.starts_with(words));
        let is_known = is_run || commands.starts_with("echo ready; valid-actions | jq");
        assert!(
            is_known || commands.starts_with("# not run by the tests: "),
            "docs/spire.md: no test runs\n{commands}"
        );
    }
    assert_eq!(blocks("python").len(), 1);
}

#[test]
fn each_configuration_of_the_page_is_accepted_by_sts_proxy() {
    let commands =
        blocks("properties").into_iter().flat_map(str::lines).filter_map(|line| line.strip_prefix("command="));
    let commands: Vec<&str> = commands.filter_map(|command| command.strip_prefix("/usr/local/bin/")).collect();
    assert!(commands.len() >= 5, "{commands:?}");
    for command in commands {
        let taken = (sts_proxy::COMMAND.clap)().try_get_matches_from(command.split_whitespace());
        assert!(taken.is_ok(), "docs/spire.md: {command}\n{}", taken.unwrap_err());
    }
}

fn play_games(count: &str, place: &Path) {
    let bot = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/spire-bot.py");
    let mut games = launcher();
    games.args(["--seed", "5", "--games", count, "--report", "report", "--stderr", "stderr", "--"]);
    games.env("HOME", place).env_remove("XDG_DATA_HOME").env_remove("AI_STS_PROXY_DATA_DIR");
    games.arg(binary("sts-proxy")).args(["--start", "SILENT", "0", "--games", count, "--", "python3"]);
    let output = games.arg(bot).current_dir(place).output().unwrap();
    let stderr = std::fs::read_to_string(place.join("stderr")).unwrap();
    assert!(output.status.success(), "{}\n{stderr}", text(&output.stderr));
}

#[test]
#[ignore = "needs the engine, DuckDB and scikit-learn: scripts/test installs them"]
fn recorded_games_become_a_table_and_a_policy() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    play_games("8", place);
    std::os::unix::fs::symlink(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"), place.join("examples")).unwrap();
    let tools = std::env::var("PIPEWRIGHT_TRAINING").expect("PIPEWRIGHT_TRAINING must name a folder: run scripts/test");
    let run = |command: &mut Command| {
        command.current_dir(place).env("HOME", place).env("PATH", format!("{tools}:{}", path_with_our_programs()));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{command:?}\n{}", text(&output.stderr));
        text(&output.stdout)
    };
    for words in RUN_HERE {
        run(Command::new("bash").args(["-ec", block("sh", words)]));
    }

    let decisions = std::fs::read_to_string(place.join("decisions.csv")).unwrap();
    let count = decisions.lines().count() - 1;
    assert!(count > 500, "{count} decisions");
    let outcomes = std::fs::read_to_string(place.join("outcomes.csv")).unwrap();
    assert_eq!(outcomes.lines().count(), 1 + 8, "a row for each run\n{outcomes}");

    let wrong = "count_if(NOT list_contains(legal_ids, action_id) OR victory IS NULL OR score IS NULL OR last_floor < floor OR seed < 2^53 OR decided_by IS NOT NULL)";
    let query = format!(
        "SELECT count(*), count(DISTINCT run), {wrong}, count_if(len(hand) > 0), count_if(len(choices) > 0) FROM 'decisions.parquet'"
    );
    let row = run(Command::new("duckdb").args(["-csv", "-noheader", "-c", &query]));
    let found: Vec<usize> = row.trim().split(',').map(|cell| cell.parse().unwrap()).collect();
    assert_eq!(found[..3], [count, 8, 0], "{row}");
    assert!(found[3] > count / 2 && found[4] > 50, "fights have a hand, other screens choices: {row}");

    std::fs::write(place.join("train.py"), block("python", "sklearn")).unwrap();
    let trained = run(Command::new("python3").arg("train.py"));
    let numbers: Vec<usize> = trained.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [runs, _, held_out, hits, chance] = numbers[..] else { panic!("{trained}") };
    assert_eq!(runs, 8, "{trained}");
    assert!(hits > 2 * chance && hits < held_out, "better than chance, but not perfect: {trained}");
}
