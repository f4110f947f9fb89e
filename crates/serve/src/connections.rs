//! Connections that are accepted: so many at once, each with a limit on the time in which the head of a request has to come.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio_io_timeout::TimeoutStream;
use tower::ServiceExt;

/// The head of a request, the first of a connection or a later one, has to come within this time.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// A client that takes nothing for so long, of what is to be written, has gone.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// After a connection that could not be accepted (the process may have no descriptor left), the next is waited for so much later.
const NEXT_TRY: Duration = Duration::from_millis(100);
/// What a client gets for which there is no connection left.
const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// The place of a connection among those that may be open; an extension of its requests. A connection that becomes a WebSocket keeps it.
#[derive(Clone)]
pub struct Place(#[expect(dead_code)] Arc<OwnedSemaphorePermit>);

/// Serves at most so many connections until `is_over` says so, and what was begun has been written.
///
/// # Errors
/// What the system says to the listener.
pub async fn serve(
    listener: std::net::TcpListener,
    router: Router,
    most: u32,
    mut is_over: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(most as usize));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME);
    loop {
        let mut over = is_over.clone();
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = is_over.wait_for(|is_over| *is_over) => break,
        };
        let Ok((stream, _)) = accepted else {
            tokio::time::sleep(NEXT_TRY).await;
            continue;
        };
        // Events are small, and each is to arrive at once.
        let _ = stream.set_nodelay(true);
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            // A client that does not take so much at once gets nothing.
            let _ = stream.try_write(FULL);
            continue;
        };
        let (router, place) = (router.clone(), Place(Arc::new(place)));
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let mut request: Request = request.map(Body::new);
            request.extensions_mut().insert(place.clone());
            router.clone().oneshot(request)
        });
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(WRITE_TIME));
        let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service).with_upgrades();
        tokio::spawn(async move {
            let mut connection = std::pin::pin!(connection);
            // How a connection ends concerns nobody else.
            tokio::select! {
                _ = &mut connection => return,
                _ = over.wait_for(|is_over| *is_over) => {}
            }
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        });
    }
    drop(listener);
    // All places are free again once all connections have ended.
    let _ = places.acquire_many(most).await;
    Ok(())
}
