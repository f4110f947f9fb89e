//! A game for the tests of `godot-bridge`: the addon's side of the protocol (`godot/addons/agent_bridge/README.md`), with
//! faults that cannot be provoked in a real engine.
//!
//!     AGENT_BRIDGE_MODE=1 AGENT_BRIDGE_DIR=DIR [AGENT_BRIDGE_CONNECT=ADDRESS] stand-in-game [ARGUMENTS] FAULT
//!
//! It returns other variables for the addon, and its arguments, on request (`started_with`).
//!
//! FAULT is how it starts, writes and ends (see [`greet`] and its neighbours; `echo` has none). Faults in a command are
//! requested by that command (see [`carry_out`]); any other command is answered with its own name and arguments. It ignores
//! its owner, so that tests can see what is left when the bridge is killed.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod wire;

#[cfg(unix)]
use nix::sys::signal::{SigHandler, Signal, signal};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, exit};
use std::thread::sleep;
use std::time::Duration;
use wire::Wire;

/// A received command.
#[derive(Deserialize)]
struct BridgeCommand<'a> {
    id: u64,
    cmd: String,
    #[serde(borrow)]
    args: &'a RawValue,
    timeout: f64,
}

impl BridgeCommand<'_> {
    fn number(&self, name: &str) -> Option<f64> {
        serde_json::from_str::<Value>(self.args.get()).unwrap()[name].as_f64()
    }
}

struct Game {
    fault: String,
    wire: Wire,
    grandchild: Option<u32>,
}

fn main() {
    let fault = std::env::args().next_back().unwrap();
    assert_eq!(option("MODE").as_deref(), Some("1"), "not in agent mode");
    let folder = PathBuf::from(option("DIR").unwrap());
    fs::create_dir_all(&folder).unwrap();
    println!("AgentBridge: session {}", folder.display());
    let grandchild = before_it_speaks(&fault);
    let wire = match option("CONNECT") {
        Some(address) => {
            let token = fs::read_to_string(folder.join("token")).unwrap();
            if fault == "wrong-token" {
                Wire::dial(&address, "wrong").read();
            }
            Wire::dial(&address, &token)
        }
        None => Wire::open(&folder),
    };
    fs::write(folder.join("game.json"), json!({"protocol":"1.0","pid":std::process::id()}).to_string()).unwrap();
    let mut game = Game { fault, wire, grandchild };
    if game.fault == "stale" {
        game.wire.write(b"{\"ok\":true,\"id\":7000000,\"data\":1,\"events\":[],\"frame\":1}\n\n{\"ok\":tr\n");
    }
    while let Some(line) = game.wire.read() {
        match serde_json::from_str::<BridgeCommand>(&line) {
            Ok(asked) => game.answer(&asked),
            Err(error) => game.say(&json!({"ok":false,"id":null,"error":error.to_string(),"code":"BAD_JSON"})),
        }
    }
}

/// The value of an environment variable for the addon; `None` if it is empty.
fn option(name: &str) -> Option<String> {
    std::env::var(format!("AGENT_BRIDGE_{name}")).ok().filter(|value| !value.is_empty())
}

/// Shows the faults before the first message. Returns the process that was left behind, if any.
fn before_it_speaks(fault: &str) -> Option<u32> {
    match fault {
        "exits" => {
            println!("Error: the main scene is missing");
            exit(7)
        }
        "silent" => forever(),
        "broken-script" => {
            println!("SCRIPT ERROR: Parse Error: Expected an expression.");
            println!("   at: GDScript::reload (res://addons/agent_bridge/agent_bridge.gd:3)");
            forever()
        }
        "chatter" => {
            std::io::stdout().write_all(&vec![b'x'; 6 << 20]).unwrap();
            println!("\nthe last line");
        }
        "stubborn" => {
            // SAFETY: no handler is installed.
            #[cfg(unix)]
            unsafe { signal(Signal::SIGTERM, SigHandler::SigIgn) }.unwrap();
            return Some(Command::new("sleep").arg("300").spawn().unwrap().id());
        }
        _ => {}
    }
    None
}

fn forever() -> ! {
    loop {
        sleep(Duration::from_secs(300));
    }
}

/// Reports a crash like the engine does.
fn crash() -> ! {
    println!("handle_crash: Program crashed with signal 11");
    println!("[1] /lib/libc.so.6(+0x3c050)");
    std::process::abort()
}

impl Game {
    fn answer(&mut self, asked: &BridgeCommand<'_>) {
        match asked.cmd.as_str() {
            "hello" => self.greet(asked),
            _ => self.carry_out(asked),
        }
    }

    fn say(&mut self, message: &Value) {
        self.say_text(&message.to_string());
    }

    fn say_text(&mut self, text: &str) {
        let line = format!("{text}\n");
        if self.fault == "half-lines" {
            for part in line.as_bytes().chunks(line.len() / 4 + 1) {
                self.wire.write(part);
                sleep(Duration::from_millis(8));
            }
        } else {
            self.wire.write(line.as_bytes());
        }
        if self.fault == "rotates" {
            self.wire.go_on_in_the_next();
        }
    }

    fn done(&mut self, asked: &BridgeCommand<'_>, data: &Value) {
        self.say(&json!({"ok":true,"id":asked.id,"data":data,"events":[],"frame":1}));
    }

    fn greet(&mut self, asked: &BridgeCommand<'_>) {
        match self.fault.as_str() {
            "other-version" => self.done(asked, &json!({"version":"2.0"})),
            "no-version" => self.done(asked, &json!({"engine":"4.6"})),
            "no-hello" => self.say(&json!({"ok":false,"id":asked.id,"error":"Unknown command: hello"})),
            "long-hello" => self.done(asked, &json!({"version":"1.0","pad":"x".repeat(5 << 20)})),
            "few-commands" => self.done(asked, &json!({"version":"1.0","commands":["get_tree","quit","none of ours"]})),
            _ => self.done(asked, &json!({"version":"1.0","pid":std::process::id()})),
        }
        if self.fault == "hangs" {
            forever();
        }
    }

    fn carry_out(&mut self, asked: &BridgeCommand<'_>) {
        match asked.cmd.as_str() {
            "quit" => {
                self.done(asked, &json!({}));
                match self.fault.as_str() {
                    "never-ends" => forever(),
                    "ends-late" => sleep(Duration::from_secs(3)),
                    "crashes-at-the-end" | "crashes-with-a-tree" => crash(),
                    // The status that a shell around the engine gives for a signal.
                    "ends-like-a-crash" => exit(139),
                    "ends-badly" => exit(7),
                    _ => {}
                }
                exit(asked.number("code").unwrap_or_default() as i32)
            }
            "sleep" => {
                sleep(Duration::from_secs_f64(asked.number("seconds").unwrap()));
                self.done(asked, &json!({}));
            }
            "exit" => {
                println!("it has had enough");
                exit(asked.number("code").unwrap_or_default() as i32)
            }
            "abort" => crash(),
            "hang" => forever(),
            "hang_up" => {
                self.wire.hang_up();
                forever()
            }
            "long" => self.done(asked, &json!("x".repeat(asked.number("bytes").unwrap() as usize))),
            "fail" => self.say(&json!({"ok":false,"id":asked.id,"error":"no node /root/X","code":"NODE_NOT_FOUND",
                "hint":"there is /root/Y","details":{"path":"/root/X"},"events":[],"frame":2})),
            // Like the addon, whose parser is stricter than the bridge's.
            "unread" => self.say(&json!({"ok":false,"id":null,"error":"no JSON","code":"BAD_JSON","events":[]})),
            "forget" => {}
            "babble" => {
                self.wire
                    .write(b"no JSON\n[1]\n{\"ok\":true,\"id\":99999}\n\xff\xfe\n\n{\"ok\":1,\"id\":1}\n{\"ok\"\n");
                self.done(asked, &json!({}));
            }
            "mutter" => {
                for _ in 0..asked.number("lines").unwrap() as u64 {
                    self.wire.write(b"{\"ok\":true,\"id\":99999}\n");
                }
                self.done(asked, &json!({}));
            }
            "emit" => {
                for seq in 1..=asked.number("events").unwrap() as u64 {
                    self.wire.write(
                        format!("{{\"events\":[{{\"type\":\"tick\",\"seq\":{seq}}}],\"frame\":3}}\n").as_bytes(),
                    );
                }
                self.say(&json!({"ok":true,"id":asked.id,"data":{},"events":[{"type":"done","seq":0}],"frame":4}));
            }
            "print" => {
                let arguments: Value = serde_json::from_str(asked.args.get()).unwrap();
                println!("{}", arguments["text"].as_str().unwrap());
                self.done(asked, &json!({}));
            }
            "processes" => {
                let grandchild = self.grandchild;
                self.done(asked, &json!({"game":std::process::id(),"grandchild":grandchild}));
            }
            "started_with" => {
                let arguments: Vec<String> = std::env::args().skip(1).collect();
                let names = ["OWNER", "LOCKSTEP", "SEED", "ALLOW_EDIT", "OUTPUT"];
                self.done(asked, &json!({"arguments":arguments,"variables":names.map(option)}));
            }
            "list_actions" if self.fault == "declares" => {
                let commands = json!({"swap":{"about":"Swaps two","args":{"from":"int","to":"int?"}}});
                self.done(asked, &json!({"actions":[],"commands":commands}));
            }
            // A command of the game with the name of one of the addon's commands.
            "list_actions" if self.fault == "few-commands" => {
                self.done(
                    asked,
                    &json!({"actions":[],"commands":{"click":{"about":"Its own"},"quit":{"about":"Not this"}}}),
                );
            }
            "list_actions" if self.fault == "cannot-list" => {
                self.say(&json!({"ok":false,"id":asked.id,"error":"no","code":"UNKNOWN_COMMAND","events":[]}));
            }
            "list_actions" if self.fault == "lists-too-much" => self.done(asked, &json!("x".repeat(5 << 20))),
            "list_actions" if self.fault == "forgets-to-list" => {}
            "get_tree" if self.fault == "crashes-with-a-tree" => {
                self.done(asked, &json!({"tree":{"name":"root","type":"Window","path":"/root"}}));
            }
            // The unchanged arguments: the test checks their digits.
            name => {
                let (id, arguments, timeout) = (asked.id, asked.args.get(), asked.timeout);
                let data = format!("{{\"cmd\":{},\"args\":{arguments},\"timeout\":{timeout}}}", json!(name));
                self.say_text(&format!("{{\"ok\":true,\"id\":{id},\"data\":{data},\"events\":[],\"frame\":1}}"));
            }
        }
    }
}
