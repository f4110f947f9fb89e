//! See [`pipewright::cmd::agent_serve`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::agent_serve::COMMAND)
}
