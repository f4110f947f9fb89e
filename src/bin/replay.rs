//! See [`pipewright::cmd::replay`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::replay::COMMAND)
}
