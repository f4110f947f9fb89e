//! See [`pipewright::cmd::tool_call`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::tool_call::COMMAND)
}
