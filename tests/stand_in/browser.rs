//! A stand-in for a browser, for the tests of browser-bridge that do not need a real one: it answers every command over
//! its debugging pipe, has one empty page, and shows the fault that `STAND_IN_BROWSER` names.

use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};

struct Browser {
    messages: File,
    fault: String,
}

impl Browser {
    fn send(&mut self, message: &Value) -> io::Result<()> {
        self.messages.write_all(&[message.to_string().as_bytes(), b"\0"].concat())
    }

    fn open(&mut self) -> io::Result<()> {
        let target = json!({"targetId": "T1", "type": "page", "title": "", "url": "about:blank"});
        let attached = json!({"sessionId": "S1", "targetInfo": target, "waitingForDebugger": true});
        self.send(&json!({"method": "Target.attachedToTarget", "params": attached}))?;
        for name in ["init", "DOMContentLoaded", "load"] {
            let params = json!({"frameId": "T1", "loaderId": "L1", "name": name});
            self.send(&json!({"method": "Page.lifecycleEvent", "sessionId": "S1", "params": params}))?;
        }
        Ok(())
    }

    /// Answers a command; false ends the browser.
    fn take(&mut self, command: &Value) -> io::Result<bool> {
        let method = command["method"].as_str().unwrap_or_default();
        let result = match method {
            "Target.createTarget" => {
                self.open()?;
                json!({"targetId": "T1"})
            }
            "Target.getTargets" if self.fault == "crash" => return Ok(false),
            "Target.getTargets" if self.fault == "silence" => return Ok(true),
            "Target.getTargets" => json!({"targetInfos": [{"targetId": "T1", "title": "Nothing"}]}),
            "Page.createIsolatedWorld" => json!({"executionContextId": 1}),
            "Runtime.callFunctionOn" => {
                let thrown = json!({"description": "TypeError: one.two is not a function\n    at <anonymous>:1:2"});
                json!({"result": {}, "exceptionDetails": {"text": "Uncaught", "exception": thrown}})
            }
            _ => json!({}),
        };
        self.send(&json!({"id": command["id"], "result": result}))?;
        Ok(method != "Browser.close")
    }
}

fn main() -> io::Result<()> {
    let fault = std::env::var("STAND_IN_BROWSER").unwrap_or_default();
    if fault == "start" {
        writeln!(io::stderr(), "no display")?;
        return Ok(());
    }
    let messages = OpenOptions::new().write(true).open("/dev/fd/4")?;
    let mut browser = Browser { messages, fault };
    for command in BufReader::new(File::open("/dev/fd/3")?).split(0) {
        if !browser.take(&serde_json::from_slice(&command?)?)? {
            break;
        }
    }
    Ok(())
}
