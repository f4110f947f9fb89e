//! Passes bytes on between two connections until one of them ends.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;

/// Passes everything on, in both directions.
pub(crate) fn tunnel(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    thread::scope(|scope| {
        let upwards = thread::Builder::new().spawn_scoped(scope, || pass(client, server))?;
        pass(server, client);
        // A panic has been printed by now.
        let _ = upwards.join();
        Ok(())
    })
}

/// Passes the rest of one request on, and its answer. `sent`: what has come of the body, which has `length` bytes.
/// A second request on the same connection ends both: the browser sends it again on a new one.
pub(crate) fn exchange(client: &TcpStream, mut server: &TcpStream, sent: &[u8], length: u64) -> io::Result<()> {
    let sent = &sent[..sent.len().min(usize::try_from(length).unwrap_or(usize::MAX))];
    server.write_all(sent)?;
    thread::scope(|scope| {
        let upwards = thread::Builder::new().spawn_scoped(scope, || {
            let mut client = client;
            let _ = io::copy(&mut client.take(length - sent.len() as u64), &mut { server });
            // The end of the connection, or a byte of another request.
            let _ = client.read(&mut [0]);
            end(client, server);
        })?;
        let _ = io::copy(&mut { server }, &mut { client });
        end(client, server);
        let _ = upwards.join();
        Ok(())
    })
}

fn pass(mut from: &TcpStream, mut to: &TcpStream) {
    let copied = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
    if copied.is_err() {
        end(from, to);
    }
}

fn end(one: &TcpStream, other: &TcpStream) {
    let _ = one.shutdown(Shutdown::Both);
    let _ = other.shutdown(Shutdown::Both);
}
