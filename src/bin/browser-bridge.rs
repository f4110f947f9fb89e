//! See [`pipewright::cmd::browser_bridge`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::browser_bridge::COMMAND)
}
