//! A virtual display for tests that need a window.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// The display ends with the test.
pub struct Display {
    server: Child,
    /// Its name, for DISPLAY.
    pub name: String,
}

impl Display {
    pub fn start() -> Display {
        let mut xvfb = Command::new("Xvfb");
        xvfb.args(["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]);
        let mut server =
            xvfb.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("Xvfb: scripts/test installs it");
        let mut number = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut number).unwrap();
        Display { server, name: format!(":{}", number.trim()) }
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
