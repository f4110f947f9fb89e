//! An MCP server for the tests of `mcp-pipe`, with faults that cannot be provoked in real servers.
//!
//!     stand-in-server FAULT [NAME=VALUE]...
//!
//! FAULT is how it starts, initializes, lists and ends (see [`before_it_speaks`] and [`Server::answer`]; `echo` has none). Faults
//! in a call are requested by that call (see `server/tools.rs`). `log=FILE` records every line that it receives, `count=FILE` the calls
//! of its counting tools, also over restarts; `seconds=N` delays its start, `pages=N` is the number of tools per page, `resources=1` adds
//! resources.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

#[path = "server/tools.rs"]
mod tools;

use nix::sys::signal::{SigHandler, Signal, signal};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write, stdin, stdout};
use std::process::{Command, exit};
use std::thread::sleep;
use std::time::Duration;

/// A received line: a request, a notification, or an answer to one of our requests.
#[derive(Deserialize)]
struct ClientMessage<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

struct Server {
    fault: String,
    options: HashMap<String, String>,
    grandchild: Option<u32>,
    log: Option<File>,
    /// The client's answers to our own requests.
    answers: Vec<String>,
    /// The call that waits for such an answer.
    asking: Option<String>,
    /// The methods that it does not answer any more; `*` for all.
    deaf_to: Vec<String>,
    calls: u64,
    has_grown: bool,
    /// The number of calls after which it dies.
    dies_after: Option<u64>,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let fault = arguments.next().expect("stand-in-server FAULT [NAME=VALUE]...");
    let options: HashMap<String, String> =
        arguments.filter_map(|word| word.split_once('=').map(|(name, value)| (name.into(), value.into()))).collect();
    let grandchild = before_it_speaks(&fault, &options);
    let append = |path: &String| OpenOptions::new().append(true).create(true).open(path).unwrap();
    // A different number for each start, without a library.
    let dies_after = (fault == "dies").then(|| u64::from(std::process::id()) % 7);
    let log = options.get("log").map(append);
    let mut server = Server {
        fault,
        options,
        grandchild,
        log,
        answers: Vec::new(),
        asking: None,
        deaf_to: Vec::new(),
        calls: 0,
        has_grown: false,
        dies_after,
    };
    for line in stdin().lock().lines() {
        let Ok(line) = line else { break };
        if let Some(log) = &mut server.log {
            writeln!(log, "{line}").unwrap();
        }
        server.receive(&line);
    }
    if server.fault == "stubborn" {
        forever()
    }
}

/// Shows the faults before the first message. Returns the process that it leaves behind, if any.
fn before_it_speaks(fault: &str, options: &HashMap<String, String>) -> Option<u32> {
    match fault {
        "slow" => sleep(Duration::from_secs_f64(options["seconds"].parse().unwrap())),
        "exits" => {
            eprintln!("loading...\nError: no API_KEY was given");
            exit(7)
        }
        // Only the first start works.
        "once" if File::options().write(true).create_new(true).open(&options["count"]).is_err() => {
            eprintln!("the database is locked");
            exit(8)
        }
        "noisy" => say("Server listening on stdio\n\n[1]\n{\"level\":\"info\"}"),
        "stubborn" => {
            // SAFETY: no handler is installed.
            unsafe { signal(Signal::SIGTERM, SigHandler::SigIgn) }.unwrap();
            return Some(Command::new("sleep").arg("300").spawn().unwrap().id());
        }
        // Like npx: it ends, but the server that it has started stays and holds the pipes.
        "leaves" => return Some(Command::new("sleep").arg("300").spawn().unwrap().id()),
        _ => {}
    }
    None
}

fn forever() -> ! {
    loop {
        sleep(Duration::from_secs(300));
    }
}

/// Writes a line in one write, on any thread.
fn say(line: &str) {
    let mut out = stdout().lock();
    // A client that has ended also closes our stdin.
    let _ = out.write_all(format!("{line}\n").as_bytes()).and_then(|()| out.flush());
}

fn say_result(id: &str, result: &str) {
    say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
}

fn say_error(id: &str, code: &Value, message: &str, data: &Value) {
    say(&json!({"jsonrpc":"2.0","id":serde_json::from_str::<Value>(id).unwrap(),"error":{"code":code,"message":message,"data":data}}).to_string());
}

impl Server {
    fn receive(&mut self, line: &str) {
        let ClientMessage { id, method, params } = serde_json::from_str(line).unwrap();
        if self.fault == "silent" {
            return;
        }
        if method.as_deref() == Some("initialize") {
            self.die_of_greeting();
        }
        match (id, method) {
            (Some(id), Some(method)) => self.answer(id.get(), &method, params.map_or("{}", RawValue::get)),
            (Some(_), None) => {
                self.answers.push(line.to_owned());
                if let Some(call) = self.asking.take() {
                    say_result(&call, &format!(r#"{{"content":[],"structuredContent":{line}}}"#));
                }
            }
            (None, _) => {}
        }
    }

    /// Dies on the first requests to initialize: `killed-first` twice, `exits-first` once.
    fn die_of_greeting(&self) {
        match self.fault.as_str() {
            "killed-first" if self.count() <= 2 => _ = nix::sys::signal::raise(Signal::SIGKILL),
            "exits-first" if self.count() <= 1 => exit(1),
            _ => {}
        }
    }

    fn answer(&mut self, id: &str, method: &str, params: &str) {
        let quoted = format!("{id:?}");
        let id = if self.fault == "string-ids" { quoted.as_str() } else { id };
        if self.deaf_to.iter().any(|deaf| deaf == method || deaf == "*") {
            return;
        }
        let speaks = |server: &Server, era: &str| match server.fault.as_str() {
            "modern" | "modern-ends" | "first-exits" => era == "modern",
            "dual" => true,
            _ => era == "legacy",
        };
        match method {
            "initialize" if self.fault == "first-exits" => {
                eprintln!("unexpected message");
                exit(9)
            }
            "initialize" if speaks(self, "legacy") => say_result(
                id,
                &json!({"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"stand-in","version":"0"}}).to_string(),
            ),
            "initialize" => {
                say_error(id, &json!(-32022), "unsupported version", &json!({"supported":["2026-07-28"]}));
                if self.fault == "modern-ends" {
                    exit(0)
                }
            }
            "server/discover" if speaks(self, "modern") => say_result(
                id,
                &json!({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"stand-in","version":"0"}}).to_string(),
            ),
            "tools/list" if self.fault == "relist-silent" && self.has_grown => {}
            "tools/list" => self.list(id, &serde_json::from_str(params).unwrap()),
            "tools/call" => self.call(id, params),
            "resources/list" if self.fault == "resources-refused" => {
                say_error(id, &json!(-32603), "no list today", &Value::Null);
            }
            "resources/list" if self.options.contains_key("resources") => {
                let page = match serde_json::from_str::<Value>(params).unwrap()["cursor"].as_str() {
                    None => json!({"resources":[{"uri":"file:///a","name":"a"}],"nextCursor":"2"}),
                    Some(_) => json!({"resources":[{"uri":"file:///b","name":"b"}]}),
                };
                say_result(id, &page.to_string());
            }
            "resources/templates/list" if self.options.contains_key("resources") => {
                say_result(id, r#"{"resourceTemplates":[{"uriTemplate":"file:///{path}","name":"any","n":1.10}]}"#);
            }
            "resources/read" if self.options.contains_key("resources") => {
                let params: Value = serde_json::from_str(params).unwrap();
                say_result(id, &json!({"contents":[{"uri":params["uri"],"text":"hi"},{"uri":"u","blob":"aGk="}]}).to_string());
            }
            "ping" => say_result(id, "{}"),
            _ => say_error(id, &json!(-32601), "Method not found", &Value::Null),
        }
    }

    fn list(&mut self, id: &str, params: &Value) {
        if self.fault == "list-refused" || (self.fault == "relist-refused" && self.has_grown) {
            return say_error(id, &json!(-32603), "no list today", &Value::Null);
        }
        let tools = tools::listed(self.has_grown);
        let from: usize = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        if self.fault == "endless" {
            let page = json!({"tools":[{"name":format!("t{from}")}],"nextCursor":(from + 1).to_string()});
            return say_result(id, &page.to_string());
        }
        let size = self.options.get("pages").map_or(tools.len(), |size| size.parse().unwrap());
        let page = &tools[from.min(tools.len())..(from + size).min(tools.len())];
        let mut result = format!(r#"{{"tools":[{}]"#, page.join(","));
        if from + size < tools.len() {
            result += &format!(r#","nextCursor":"{}""#, from + size);
        }
        say_result(id, &format!("{result}}}"));
    }
}
