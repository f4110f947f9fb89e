//! The commands that need Unix, on a system that is none: each says so when it is started.
//!
//! They need sockets whose other end is a known process, a terminal that one program lends another, or a browser over
//! inherited descriptors.

macro_rules! commands {
    ($($module:ident $name:literal),+ $(,)?) => {$(
        /// A command that needs Unix.
        pub mod $module {
            use crate::cmd::Command;
            use clap::Arg;
            use pipewright_io::report::{Failure, Status};

            /// The command, which takes any arguments and does not start.
            pub const COMMAND: Command = Command {
                name: $name,
                clap: || {
                    let rest = Arg::new("arguments").num_args(0..).trailing_var_arg(true).allow_hyphen_values(true);
                    clap::Command::new($name).disable_help_flag(true).arg(rest)
                },
                run: |_, _| {
                    let why = "this command needs Unix; on Windows, run it in the Windows Subsystem for Linux (WSL)";
                    Err(Failure::new(Status::NotStarted, why))
                },
            };
        }
    )+};
}

commands! {
    agent_acp "agent-acp",
    agent_chat "agent-chat",
    agent_loop "agent-loop",
    agent_serve "agent-serve",
    browser_bridge "browser-bridge",
    hitl_gate "hitl-gate",
    llm_pipe "llm-pipe",
    mcp_pipe "mcp-pipe",
    mcp_serve "mcp-serve",
    tool_call "tool-call",
}
