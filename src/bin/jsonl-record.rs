//! See [`pipewright::cmd::jsonl_record`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::jsonl_record::COMMAND)
}
