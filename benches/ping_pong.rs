//! The other side of `scripts/bench`: sends lines to several programs in turn, and measures how long each takes to answer a line.
//!
//!     ping-pong MESSAGE FIELD WARM_UPS ROUNDS :: PROGRAM ARGUMENTS.. [:: PROGRAM ARGUMENTS..]..
//!
//! The file MESSAGE contains one line. The number in its FIELD is counted up, so each line sent is a new one. A program first prints
//! `ready`. Prints one JSON object per program, in their order: `{"p50_us","p99_us","peak_kib"}`.

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use percentile::percentile;

mod percentile;

/// How many rounds a program has before the next one's turn, so a slowdown of the machine affects all of them.
const BLOCK: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut parts = arguments.split(|argument| argument == "::");
    let Some([path, field, warm_ups, rounds]) = parts.next() else {
        return Err("usage: ping-pong MESSAGE FIELD WARM_UPS ROUNDS :: PROGRAM ARGUMENTS.. [:: ..]".into());
    };
    let (warm_ups, rounds): (usize, usize) = (warm_ups.parse()?, rounds.parse()?);
    let message = Message::read(path, field)?;
    let mut players = parts.map(Player::start).collect::<Result<Vec<_>, _>>()?;
    for player in &mut players {
        player.play(&message, warm_ups)?;
        player.took.clear();
    }
    for done in (0..rounds).step_by(BLOCK) {
        for player in &mut players {
            player.play(&message, BLOCK.min(rounds - done))?;
        }
    }
    for player in players {
        let report = player.end()?;
        std::io::stdout().write_all(report.as_bytes())?;
    }
    Ok(())
}

/// A message, split around the number that is counted up.
struct Message {
    before: String,
    after: String,
}

impl Message {
    fn read(path: &str, field: &str) -> Result<Message, Box<dyn Error>> {
        let text = std::fs::read_to_string(path)?;
        let line = text.lines().next().unwrap_or_default();
        let key = format!("\"{field}\":");
        let (before, after) = line.split_once(&key).ok_or_else(|| format!("the message has no {field}"))?;
        let after = after.trim_start_matches(|digit: char| digit.is_ascii_digit());
        Ok(Message { before: format!("{before}{key}"), after: format!("{after}\n") })
    }

    fn numbered(&self, number: usize) -> String {
        format!("{}{number}{}", self.before, self.after)
    }
}

/// A program that answers each line with one.
struct Player {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    number: usize,
    took: Vec<Duration>,
}

impl Player {
    fn start(command: &[String]) -> Result<Player, Box<dyn Error>> {
        let [program, arguments @ ..] = command else {
            return Err("a program is missing after ::".into());
        };
        let mut child = Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let to = child.stdin.take().ok_or("no stdin")?;
        let from = BufReader::new(child.stdout.take().ok_or("no stdout")?);
        // Always six digits, so all messages have the same length.
        let mut player = Player { child, to, from, number: 100_000, took: Vec::new() };
        let ready = player.receive()?;
        if ready != "ready\n" {
            return Err(format!("{program} printed {ready:?} instead of ready").into());
        }
        Ok(player)
    }

    fn receive(&mut self) -> Result<String, Box<dyn Error>> {
        let mut line = String::new();
        if self.from.read_line(&mut line)? == 0 {
            return Err("a program ended too early".into());
        }
        Ok(line)
    }

    fn play(&mut self, message: &Message, rounds: usize) -> Result<(), Box<dyn Error>> {
        for _ in 0..rounds {
            let line = message.numbered(self.number);
            self.number += 1;
            let sent = Instant::now();
            self.to.write_all(line.as_bytes())?;
            self.receive()?;
            self.took.push(sent.elapsed());
        }
        Ok(())
    }

    /// Ends the program, and returns its figures.
    fn end(mut self) -> Result<String, Box<dyn Error>> {
        let peak = peak_memory(self.child.id())?;
        drop(self.to);
        let status = self.child.wait()?;
        if !status.success() {
            return Err(format!("a program ended with {status}").into());
        }
        self.took.sort_unstable();
        let (p50, p99) = (percentile(&self.took, 50), percentile(&self.took, 99));
        Ok(format!("{{\"p50_us\":{p50:.1},\"p99_us\":{p99:.1},\"peak_kib\":{peak}}}\n"))
    }
}

/// The peak resident memory, in KiB. Not wait4's, which also counts the process before its exec.
fn peak_memory(process: u32) -> Result<u64, Box<dyn Error>> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("no VmHWM")?;
    Ok(peak.trim().trim_end_matches(" kB").parse()?)
}
