//! See [`pipewright::cmd::jsonl_mask`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::jsonl_mask::COMMAND)
}
