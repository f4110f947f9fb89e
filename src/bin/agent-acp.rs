//! See [`pipewright::cmd::agent_acp`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::agent_acp::COMMAND)
}
