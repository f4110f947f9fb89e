//! The agent of `scripts/bench`: prints `ready`, then answers every line at once with its first argument, or without one with the line
//! itself. It does as little as possible, so the agent does not distort the measurement.

use std::io::{BufRead, BufReader, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let answer = std::env::args().nth(1).map(|answer| answer + "\n");
    // Stdout is flushed at each line feed: one write per line.
    let mut output = std::io::stdout();
    output.write_all(b"ready\n")?;
    let mut input = BufReader::with_capacity(64 << 10, std::io::stdin());
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        output.write_all(answer.as_ref().map_or(&line, |answer| answer.as_bytes()))?;
        line.clear();
    }
    Ok(())
}
