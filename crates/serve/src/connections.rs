//! Accepts connections: a limited number at once, each with a time limit for the head of a request.

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

/// The time limit for the head of a request, the first or a later one of a connection.
const HEAD_TIME: Duration = Duration::from_secs(30);
/// A client that accepts no data for this long, while there is some to write, is disconnected.
const WRITE_TIME: Duration = Duration::from_secs(30);
/// The delay after a connection that could not be accepted (the process may be out of file descriptors).
const ACCEPT_RETRY: Duration = Duration::from_millis(100);
/// The answer when all connections are in use.
const SERVICE_UNAVAILABLE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

/// A permit for one open connection; an extension of its requests. A connection that becomes a WebSocket keeps it.
#[derive(Clone)]
pub struct ConnectionPermit(#[expect(dead_code)] Arc<OwnedSemaphorePermit>);

/// Serves at most `most` connections at once, until `is_over` is set and all started answers have been written.
///
/// # Errors
/// The system's error from the listener.
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
            tokio::time::sleep(ACCEPT_RETRY).await;
            continue;
        };
        // Events are small, and should be sent at once.
        let _ = stream.set_nodelay(true);
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            // A client that does not accept this much at once gets nothing.
            let _ = stream.try_write(SERVICE_UNAVAILABLE);
            continue;
        };
        let (router, place) = (router.clone(), ConnectionPermit(Arc::new(place)));
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
            // The end of a connection affects no other.
            tokio::select! {
                _ = &mut connection => return,
                _ = over.wait_for(|is_over| *is_over) => {}
            }
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        });
    }
    drop(listener);
    // All permits are free again once all connections have ended.
    let _ = places.acquire_many(most).await;
    Ok(())
}
