//! Both sides of `agent-loop` for `scripts/bench`: `agent-sides model LOG STEPS` and `agent-sides world LOG`. The model calls `look` in
//! each turn, and ends after STEPS turns; each look returns 15,000 bytes. Neither parses what it reads. Both append to LOG when they have
//! read a line (and its length) and when they begin to answer it, in nanoseconds: `model got TIME BYTES`, `model sent TIME`.

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::time::{SystemTime, UNIX_EPOCH};

const LOOK: usize = 15_000;

const TOOLS: &str = r#"{"type":"tool_list","request_id":"tools","world":"bench","tools":[{"name":"look","description":"Looks","input_schema":{"type":"object"}}]}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["model", log, steps] => {
            let steps: u32 = steps.parse()?;
            let mut turns = 0;
            answer("model", log, |line| {
                let id = text(line, "\"request_id\":\"").ok_or("a request without an id")?;
                turns += 1;
                let (tool, arguments) = match turns <= steps {
                    true => ("look", format!("{{\"n\":{turns}}}")),
                    false => ("assistant_done", r#"{"reason":"seen"}"#.to_owned()),
                };
                let call = format!("{{\"call_id\":\"c{turns}\",\"tool_name\":\"{tool}\",\"arguments\":{arguments}}}");
                let usage = r#""usage":{"input":1,"output":1},"provider":"bench","model":"m","raw":{}"#;
                Ok(format!(
                    "{{\"type\":\"model_turn\",\"request_id\":\"{id}\",\"status\":\"ok\",\"stop\":\"call\",\"text\":\"Step {turns}.\",\"calls\":[{call}],{usage}}}"
                ))
            })
        }
        ["world", log] => answer("world", log, |line| {
            let Some(id) = text(line, "\"call_id\":\"") else { return Ok(TOOLS.to_owned()) };
            let result = format!("{id} {}", "seen ".repeat(LOOK / 5));
            Ok(format!(
                "{{\"type\":\"tool_result\",\"call_id\":\"{id}\",\"tool_name\":\"look\",\"status\":\"ok\",\"result\":\"{result}\"}}"
            ))
        }),
        _ => Err("usage: agent-sides model LOG STEPS, or agent-sides world LOG".into()),
    }
}

fn answer(
    side: &str,
    log: &str,
    mut answer: impl FnMut(&[u8]) -> Result<String, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut log = File::options().append(true).create(true).open(log)?;
    let mut lines = BufReader::with_capacity(1 << 20, stdin().lock());
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line)? > 0 {
        let got = now()?;
        let answer = answer(&line)? + "\n";
        let sent = now()?;
        stdout().write_all(answer.as_bytes())?;
        log.write_all(format!("{side} got {got} {}\n{side} sent {sent}\n", line.len()).as_bytes())?;
        line.clear();
    }
    Ok(())
}

/// The text after a mark, near the beginning of a line.
fn text<'a>(line: &'a [u8], mark: &str) -> Option<&'a str> {
    let begin = line.get(..line.len().min(200))?;
    let at = begin.windows(mark.len()).position(|window| window == mark.as_bytes())? + mark.len();
    let end = begin[at..].iter().position(|byte| *byte == b'"')?;
    std::str::from_utf8(&begin[at..at + end]).ok()
}

fn now() -> Result<u128, Box<dyn Error>> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos())
}
