//! See [`pipewright::cmd::godot_bridge`].

fn main() -> std::process::ExitCode {
    pipewright::cmd::main(&pipewright::cmd::godot_bridge::COMMAND)
}
