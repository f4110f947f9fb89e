//! See [`pipewright::cmd::mcp_pipe`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::mcp_pipe::COMMAND)
}
