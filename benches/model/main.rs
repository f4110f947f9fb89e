//! The other sides of `scripts/bench llm`: a mock server of a model, and a minimal client of it.
//!
//!     model serve                                              prints its base URL, and serves until stdin ends
//!     model ask URL WARM_UPS REQUESTS                          the bare client: one request after the other
//!     model first-token WARM_UPS ROUNDS PROGRAM ARGUMENTS..    how long a token takes through a program, from the server's write
//!                                                              to the line on stdout; {url} in the arguments is the server
//!
//! The last two print one JSON object, `{"p50_us","p99_us"}`.

use std::error::Error;
use std::io::{Read, Write, stdin, stdout};
use std::time::{Duration, Instant};

use percentile::percentile;
use pipewright_http::{Address, Client, Limits, Method};

mod first_token;
#[path = "../percentile.rs"]
mod percentile;
mod server;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut took = match *arguments {
        ["serve"] => return serve(),
        ["ask", url, warm_ups, requests] => ask(url, warm_ups.parse()?, requests.parse()?)?,
        ["first-token", warm_ups, rounds, program, ref rest @ ..] => {
            first_token::measure(warm_ups.parse()?, rounds.parse()?, program, rest)?
        }
        _ => return Err("usage: model serve|ask|first-token ARGUMENTS..".into()),
    };
    took.sort_unstable();
    let (p50, p99) = (percentile(&took, 50), percentile(&took, 99));
    writeln!(stdout(), "{{\"p50_us\":{p50:.1},\"p99_us\":{p99:.1}}}")?;
    Ok(())
}

fn serve() -> Result<(), Box<dyn Error>> {
    let url = server::start(|to| {
        server::head(to)?;
        server::EVENTS.split_inclusive("\n\n").try_for_each(|event| server::piece(to, event))
    })?;
    writeln!(stdout(), "{url}")?;
    stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// The body that `llm-pipe` sends for the prompt `hi`.
const BODY: &str = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}"#;

fn ask(url: &str, warm_ups: usize, requests: usize) -> Result<Vec<Duration>, Box<dyn Error>> {
    let address = Address::read(&format!("{url}/chat/completions"), &[])?;
    let client = Client::new(&address, Limits::default())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut took = Vec::new();
        for _ in 0..warm_ups + requests {
            let sent = Instant::now();
            let request = client.request(Method::POST).header("content-type", "application/json");
            let mut events = request.body(BODY.into()).send().await?.events(1 << 20);
            while events.next().await?.is_some() {}
            took.push(sent.elapsed());
        }
        Ok(took.split_off(warm_ups))
    })
}
