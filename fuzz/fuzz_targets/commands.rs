//! Any shell text and SQL is read without a fault. A text runs the same commands within a group, and a query reads at least the
//! same with blanks around it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_syntax::shell::{Command, ShellStep, steps};
use pipewright_syntax::sql::functions;

fuzz_target!(|text: &str| {
    if let Ok(alone) = steps(text)
        && let Ok(grouped) = steps(&format!("{{\n{text}\n}}"))
    {
        assert_eq!(run(alone), run(grouped), "a group runs other commands");
    }
    if let Ok(called) = functions(text) {
        assert_eq!(functions(&format!(" {text}\n")), Ok(called), "blanks change what a query calls");
    }
});

fn run(steps: Vec<ShellStep>) -> Vec<Command> {
    let command = |step| match step {
        ShellStep::Run(command) => Some(command).filter(|command| *command != Command::default()),
        ShellStep::Define(_) => None,
    };
    steps.into_iter().filter_map(command).collect()
}
