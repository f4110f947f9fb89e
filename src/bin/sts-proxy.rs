//! See [`pipewright::cmd::sts_proxy`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::sts_proxy::COMMAND)
}
