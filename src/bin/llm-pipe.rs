//! See [`pipewright::cmd::llm_pipe`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::llm_pipe::COMMAND)
}
