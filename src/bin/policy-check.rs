//! See [`pipewright::cmd::policy_check`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::policy_check::COMMAND)
}
