//! See [`pipewright::cmd::jsonl_log`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::jsonl_log::COMMAND)
}
