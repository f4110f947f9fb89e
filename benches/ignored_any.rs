//! A lower bound for `scripts/bench`: reads stdin and scans each line with serde_json's `IgnoredAny`, the minimum for a command that must
//! know whether a line is JSON.

use std::io::{BufRead, BufReader, Read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = BufReader::with_capacity(64 << 10, std::io::stdin());
    let mut line = Vec::new();
    let mut lines = 0u64;
    while input.read_until(b'\n', &mut line)? > 0 {
        serde_json::from_slice::<serde::de::IgnoredAny>(&line)?;
        lines += 1;
        line.clear();
    }
    input.read_to_end(&mut line)?;
    std::io::Write::write_all(&mut std::io::stderr(), format!("{lines} lines\n").as_bytes())?;
    Ok(())
}
