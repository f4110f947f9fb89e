//! See [`pipewright::cmd::agent_chat`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::agent_chat::COMMAND)
}
