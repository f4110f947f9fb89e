//! See [`pipewright::cmd::agent_loop`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::agent_loop::COMMAND)
}
