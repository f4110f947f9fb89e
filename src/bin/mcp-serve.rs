//! See [`pipewright::cmd::mcp_serve`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::mcp_serve::COMMAND)
}
