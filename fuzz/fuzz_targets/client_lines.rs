//! For any lines of a client and a world, the server side of MCP reads them without a fault, with headers and without. Its output
//! to either is JSON, one value per line. Every call to the world has our id and no gate marks. The input is lines; those that
//! begin with `>` are the world's.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pipewright_mcp::{Header, Origin, Outbox, Server};
use pipewright_record::recognise;
use serde_json::value::RawValue;

fuzz_target!(|input: &str| {
    for header in [None, Some("2026-07-28"), Some("2025-06-18")] {
        let headers: Option<Vec<Header>> = header.map(|version| {
            let method = ("mcp-method".to_owned(), "tools/call".to_owned());
            vec![("mcp-protocol-version".to_owned(), version.to_owned()), method]
        });
        let (mut server, mut out) = (Server::default(), Outbox::default());
        let from = Origin { link: 1, session: 1, headers: headers.as_deref() };
        for line in input.lines() {
            match line.strip_prefix('>') {
                Some(line) => _ = server.take_world_line(line, &mut out),
                None => _ = server.take_client_line(from, line, &mut out),
            }
        }
        server.close_link(1, &mut out);
        server.lose_world("it has ended", &mut out);
        for line in out.world.iter().chain(out.clients.iter().map(|(_, line)| line)) {
            assert!(line.ends_with('\n') && line.lines().count() == 1, "not one line");
            serde_json::from_str::<&RawValue>(line.trim_end()).expect("the output is JSON");
        }
        for line in &out.world {
            if let Some(call) = recognise(line.trim_end()).expect("our own call can be read") {
                assert!(!call.requires_approval && call.policy.is_none() && call.target.is_none());
                assert!(call.id.is_some_and(|id| id.get().starts_with("\"c")));
            }
        }
    }
});
