//! The tools of the stand-in server, with their faults.

use super::{Server, forever, say, say_error, say_result};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::fs::OpenOptions;
use std::io::{Write, stdout};
use std::os::fd::AsRawFd;
use std::process::{Command, exit};
use std::thread;
use std::time::Duration;

/// The tools for `tools/list`; one more after the list has grown.
pub fn listed(has_grown: bool) -> Vec<String> {
    let echo = r#"{"name":"echo","description":"Says it again.\nWhatever it is.","inputSchema":{"type":"object","properties":{"message":{"type":"string"},"names":{"type":"array","items":{"type":"string"}}}},"unknown":1.10}"#;
    let mut tools = vec![echo.to_owned()];
    let plain = "sleep fail contract_ok contract_error contract_text die count env image big deep processes rpc_error tell forget heard hang_up grow bad_result hangs_in ask deafen run_command say";
    let tool = |name: &str, more: &str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}{more}}}"#);
    tools.extend(plain.split(' ').map(|name| tool(name, "")));
    tools.push(tool("count_safe", r#","annotations":{"readOnlyHint":true}"#));
    tools.push(tool("count_again", r#","annotations":{"idempotentHint":true}"#));
    // A schema that refers to itself, and one that refers to a file.
    tools.push(r##"{"name":"loop","inputSchema":{"$ref":"#"}}"##.to_owned());
    tools.push(r#"{"name":"outside","inputSchema":{"$ref":"file:///etc/passwd"}}"#.to_owned());
    if has_grown {
        tools.push(tool("grown", ""));
    }
    tools
}

#[derive(Deserialize)]
struct CallParams<'a> {
    name: String,
    #[serde(borrow)]
    arguments: &'a RawValue,
    #[serde(rename = "_meta")]
    meta: Option<Value>,
    #[serde(borrow, rename = "inputResponses")]
    responses: Option<&'a RawValue>,
    #[serde(borrow, rename = "requestState")]
    state: Option<&'a RawValue>,
}

fn text(text: &str) -> Value {
    json!({"content":[{"type":"text","text":text}]})
}

impl Server {
    pub fn call(&mut self, id: &str, params: &str) {
        let asked: CallParams = serde_json::from_str(params).unwrap();
        self.calls += 1;
        if self.dies_after.is_some_and(|after| self.calls > after) {
            eprintln!("it has had enough");
            exit(3)
        }
        self.misbehave_before(id);
        let arguments: Value = serde_json::from_str(asked.arguments.get()).unwrap_or_default();
        let number = |name: &str| arguments[name].as_f64();
        match asked.name.as_str() {
            // For so many seconds, or until a file exists.
            "sleep" => {
                let (id, seconds) = (id.to_owned(), number("seconds").unwrap_or_default());
                let until = arguments["until"].as_str().map(std::path::PathBuf::from);
                thread::spawn(move || {
                    thread::sleep(Duration::from_secs_f64(seconds));
                    while until.as_ref().is_some_and(|file| !file.exists()) {
                        thread::sleep(Duration::from_millis(10));
                    }
                    say_result(&id, &text("rested").to_string());
                });
            }
            "fail" => say_result(id, r#"{"content":[{"type":"text","text":"no such page"},{"type":"image","data":"","mimeType":"image/png"}],"structuredContent":{"url":"x","n":1.10},"isError":true}"#),
            "contract_ok" => say_result(id, r#"{"content":[],"structuredContent":{"status":"ok","data":{"url":"x","n":1.10}}}"#),
            "contract_error" => say_result(id, r#"{"content":[],"structuredContent":{"status":"error","error":"gone","data":{"n":1.10}}}"#),
            "contract_text" => say_result(id, &text("{\n  \"status\": \"ok\",\r\n  \"data\": {\n    \"url\": \"x\"\n  }\n}").to_string()),
            "die" => {
                eprintln!("panicked at the third step");
                exit(number("code").unwrap() as i32)
            }
            "count" | "count_safe" | "count_again" => {
                let counted = self.count();
                if number("dies").is_some_and(|times| counted <= times as usize) {
                    exit(5)
                }
                say_result(id, &json!({"content":[],"structuredContent":{"count":counted}}).to_string());
            }
            "env" => say_result(id, &json!({"content":[],"structuredContent":std::env::vars().collect::<std::collections::BTreeMap<_, _>>()}).to_string()),
            "image" => say_result(id, &json!({"content":[{"type":"image","data":"AAAA".repeat(1000),"mimeType":"image/png"}]}).to_string()),
            "big" => {
                let long = "x".repeat(number("bytes").unwrap() as usize);
                if arguments["id_last"] == true {
                    say(&format!(r#"{{"jsonrpc":"2.0","result":{{"content":[{{"type":"text","text":"{long}"}}]}},"id":{id}}}"#));
                } else if arguments["log"] == true {
                    say(&json!({"jsonrpc":"2.0","method":"notifications/message","params":{"id":1,"data":long}}).to_string());
                    say_result(id, &text("told").to_string());
                } else {
                    say_result(id, &text(&long).to_string());
                }
            }
            "deep" => {
                let levels = number("levels").unwrap() as usize;
                say_result(id, &format!(r#"{{"content":[],"structuredContent":{}1{}}}"#, "[".repeat(levels), "]".repeat(levels)));
            }
            "processes" => {
                let grandchild = self.grandchild;
                say_result(id, &json!({"content":[],"structuredContent":{"server":std::process::id(),"grandchild":grandchild}}).to_string());
            }
            "rpc_error" => say_error(id, &arguments["code"], "so it is", &json!({"why":[1]})),
            "tell" => self.tell(id, &asked, &arguments),
            "forget" => {}
            "heard" => say_result(id, &format!(r#"{{"content":[],"structuredContent":[{}]}}"#, self.answers.join(","))),
            "hang_up" => {
                // SAFETY: nothing is written to stdout any more.
                unsafe { nix::libc::close(stdout().as_raw_fd()) };
                forever()
            }
            "hangs_in" => forever(),
            "ask" => self.ask(id, &asked, &arguments),
            "deafen" => {
                self.deaf_to = arguments["to"].as_array().unwrap().iter().map(|to| to.as_str().unwrap().to_owned()).collect();
                say_result(id, &text("deaf").to_string());
            }
            "grow" => {
                self.has_grown = true;
                for _ in 0..number("times").unwrap_or(1.0) as usize {
                    say(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
                }
                say_result(id, &text("grown").to_string());
            }
            // Any line, with the call's id for ID.
            "say" => say(&arguments["line"].as_str().unwrap().replace("ID", id)),
            "run_command" => {
                let ran = Command::new("sh").args(["-c", arguments["command"].as_str().unwrap()]).output().unwrap();
                say_result(id, &text(&String::from_utf8(ran.stdout).unwrap()).to_string());
            }
            "bad_result" => say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{},"error":null}}"#, arguments["result"])),
            _ => {
                let arguments = asked.arguments.get();
                say_result(id, &format!(r#"{{"content":[{{"type":"text","text":"echo"}}],"structuredContent":{arguments},"more":{{"n":12345678901234567890123,"x":1.10}}}}"#));
            }
        }
        if self.fault == "twice" {
            say_result(id, "{\"content\":[],\"again\":true}");
        }
    }

    /// Sends questions to the client: `times` rounds of two questions in the modern protocol; one question in the legacy protocol, which
    /// is cancelled if the call `withdraws` it.
    fn ask(&mut self, id: &str, asked: &CallParams, arguments: &Value) {
        if self.fault != "modern" {
            say(r#"{"jsonrpc":"2.0","id":"e1","method":"elicitation/create","params":{"message":"Who?","n":1.10}}"#);
            self.asking = Some(id.to_owned());
            if arguments["withdraws"] == true {
                say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"e1"}}"#);
                say_result(&self.asking.take().unwrap(), &text("never mind").to_string());
            }
            return;
        }
        let round = asked.state.map_or(0, |state| state.get().trim_matches('"').parse::<u64>().unwrap());
        if round < arguments["times"].as_u64().unwrap_or(1) {
            let method = arguments["method"].as_str().unwrap_or("elicitation/create");
            let one = |message| json!({"method":method,"params":{"message":message}});
            let requests = if arguments["only_state"] == true {
                json!({})
            } else {
                json!({"who":one("Who?"),"why \"\"":one("Why?")})
            };
            let asked =
                json!({"resultType":"input_required","inputRequests":requests,"requestState":(round + 1).to_string()});
            return say_result(id, &asked.to_string());
        }
        let (responses, state) =
            (asked.responses.map_or("null", RawValue::get), asked.state.map_or("null", RawValue::get));
        let given = format!(r#"{{"responses":{responses},"state":{state},"args":{}}}"#, asked.arguments);
        say_result(id, &format!(r#"{{"resultType":"complete","content":[],"structuredContent":{given}}}"#));
    }

    fn misbehave_before(&self, id: &str) {
        match self.fault.as_str() {
            "noisy" => say("handling a request\n\u{1b}[31mwarning\u{1b}[0m\n{\"jsonrpc\":\"2.0\",\"id\":"),
            "unknown-ids" => {
                for id in ["99999", "\"1\"", "-1", "null", "1e99", "{}"] {
                    say_result(id, "{\"content\":[],\"wrong\":true}");
                }
            }
            "asks" => {
                for (own, method) in
                    [("\"p\"", "ping"), ("7", "sampling/createMessage"), ("[1.10]", "elicitation/create")]
                {
                    say(&format!(
                        r#"{{"jsonrpc":"2.0","id":{own},"method":"{method}","params":{{"message":"secret?"}}}}"#
                    ));
                }
                // The client's ids may be the same as ours.
                say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}"#));
            }
            _ => {}
        }
    }

    /// The number of its calls, over all its starts.
    pub fn count(&self) -> usize {
        let path = &self.options["count"];
        let mut file = OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(b"x\n").unwrap();
        std::fs::read_to_string(path).unwrap().lines().count()
    }

    /// Sends many notifications, then answers.
    fn tell(&self, id: &str, asked: &CallParams<'_>, arguments: &Value) {
        let token = asked.meta.as_ref().map_or(Value::Null, |meta| meta["progressToken"].clone());
        let pad = "x".repeat(arguments["bytes"].as_u64().unwrap_or(0) as usize);
        eprintln!("on stderr, sk-123");
        for step in 0..arguments["times"].as_u64().unwrap_or(1) {
            let progress = json!({"progressToken":token,"progress":step,"message":pad});
            say(&json!({"jsonrpc":"2.0","method":"notifications/progress","params":progress}).to_string());
            say(&json!({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":step}})
                .to_string());
        }
        say_result(id, &text("told").to_string());
    }
}
