//! See [`pipewright::cmd::valid_actions`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::valid_actions::COMMAND)
}
