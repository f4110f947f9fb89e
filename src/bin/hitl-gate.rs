//! See [`pipewright::cmd::hitl_gate`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::hitl_gate::COMMAND)
}
