//! The client against servers that take too long, send too much, or redirect it. Each server is a real one on this
//! machine that writes its answer byte by byte.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use pipewright_http::{Address, Client, Error, Limits, Method, Response};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream as Connecting};
use tokio::time::{sleep, timeout};

/// A limit that is to pass, and the time in which everything else must happen.
const SHORT: Duration = Duration::from_secs(1);
const LONG: Duration = Duration::from_secs(60);

const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";

/// Serves one connection after the other; gives the server's URL. `serve` gets each connection with the head of its
/// first request.
fn server(serve: impl Fn(&str, TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming().map(Result::unwrap) {
            serve(&head(&stream), stream);
        }
    });
    url
}

/// Reads byte by byte, so that the body is left.
fn head(mut stream: &TcpStream) -> String {
    let (mut head, mut byte) = (String::new(), [0]);
    while !head.ends_with("\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
        head.push(byte[0].into());
    }
    head
}

/// Sends `answer`, and reports when the client has closed the connection.
fn server_that_answers(answer: impl Into<Vec<u8>>) -> (String, Receiver<()>) {
    let (answer, (closed, is_closed)) = (answer.into(), channel());
    let url = server(move |_, mut stream| {
        stream.write_all(&answer).unwrap();
        // The end of the connection, or a reset.
        while stream.read(&mut [0; 1024]).is_ok_and(|length| length > 0) {}
        let _ = closed.send(());
    });
    (url, is_closed)
}

/// Lets the runtime run until the server has noticed the end of the connection.
async fn closes(is_closed: Receiver<()>) {
    while is_closed.try_recv().is_err() {
        sleep(Duration::from_millis(5)).await;
    }
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { timeout(LONG, test).await.expect("it hangs") })
}

fn client(url: &str, limits: Limits) -> Client {
    let headers = [("Authorization".to_owned(), "Bearer s3cret".to_owned())];
    Client::new(&Address::read(url, &headers).unwrap(), limits).unwrap()
}

async fn get(url: &str, limits: Limits) -> Result<Response, Error> {
    client(url, limits).request(Method::GET).send().await
}

#[test]
fn a_server_that_does_not_answer_ends_at_the_first_byte_limit() {
    run(async {
        let (url, is_closed) = server_that_answers("");
        let error = get(&url, Limits { first_byte: Some(SHORT), ..Limits::default() }).await.unwrap_err();
        assert_eq!(error, Error::FirstByte(SHORT));
        assert_eq!(error.to_string(), "the server did not answer within 1s");
        closes(is_closed).await;
    });
}

#[test]
fn a_server_that_takes_no_connection_ends_at_the_connect_limit() {
    run(async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        let address = listener.local_addr().unwrap();
        // The kernel accepts only as many as fit into the queue.
        let mut queued = Vec::new();
        while let Ok(connection) = timeout(SHORT, Connecting::connect(address)).await {
            queued.push(connection.unwrap());
        }
        let error =
            get(&format!("http://{address}/"), Limits { connect: SHORT, ..Limits::default() }).await.unwrap_err();
        assert!(matches!(error, Error::Connect(_)), "{error:?}");
        assert_eq!(error.to_string(), "the server cannot be reached: no connection within 1s");
    });
}

#[test]
fn a_stream_that_stalls_ends_at_the_idle_limit() {
    run(async {
        let (url, is_closed) = server_that_answers(format!("{STREAM}data: 1\n\ndata: 2\n\ndata: 3"));
        let limits = Limits { idle: Some(SHORT), ..Limits::default() };
        let mut events = get(&url, limits).await.unwrap().events(100);
        for data in ["1", "2"] {
            assert_eq!(events.next().await.unwrap().unwrap().data, data.as_bytes());
        }
        assert_eq!(events.next().await, Err(Error::Idle(SHORT)));
        drop(events);
        closes(is_closed).await;
    });
}

#[test]
fn an_endless_stream_ends_at_the_total_limit() {
    run(async {
        let url = server(|_, mut stream| {
            stream.write_all(STREAM.as_bytes()).unwrap();
            while stream.write_all(b": wait\n\n").is_ok() {
                thread::sleep(Duration::from_millis(10));
            }
        });
        let limits = Limits { idle: Some(LONG), total: Some(SHORT), ..Limits::default() };
        let mut events = get(&url, limits).await.unwrap().events(100);
        assert_eq!(events.next().await, Err(Error::Total(SHORT)));
        drop(events);
        let body = get(&url, limits).await.unwrap().body(usize::MAX).await;
        assert_eq!(body, Err(Error::Total(SHORT)));
    });
}

#[test]
fn a_body_above_the_limit_is_an_error_with_its_beginning() {
    run(async {
        let (url, is_closed) = server_that_answers("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n0123456789");
        let response = get(&url, Limits::default()).await.unwrap();
        let error = response.body(9).await.unwrap_err();
        assert_eq!(error, Error::TooLong { limit: 9, beginning: b"0123456789".to_vec() });
        assert_eq!(error.to_string(), "the answer is longer than 9 bytes");
        closes(is_closed).await;
        let (url, _) = server_that_answers("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789");
        assert_eq!(get(&url, Limits::default()).await.unwrap().body(10).await.unwrap(), b"0123456789");
    });
}

#[test]
fn an_incomplete_body_is_an_error() {
    run(async {
        let url = server(|_, mut stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n0123456789").unwrap();
        });
        let error = get(&url, Limits::default()).await.unwrap().body(100).await.unwrap_err();
        assert!(matches!(error, Error::Broken(_)), "{error:?}");
    });
}

#[test]
fn an_error_keeps_its_status_headers_and_body() {
    run(async {
        let says = "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 34\r\nContent-Type: Application/JSON; \
                    charset=utf-8\r\n\
            Content-Length: 12\r\n\r\n{\"error\":{}}";
        let (url, _) = server_that_answers(says);
        let response = get(&url, Limits::default()).await.unwrap();
        assert_eq!((response.status().as_u16(), response.header("retry-after")), (429, Some("34")));
        assert_eq!(response.media_type(), "application/json");
        assert_eq!(response.body(1000).await.unwrap(), b"{\"error\":{}}");
    });
}

#[test]
fn a_request_has_its_own_headers_the_headers_of_its_address_and_its_body() {
    run(async {
        let url = server(|head, mut stream| {
            let mut body = [0; 2];
            stream.read_exact(&mut body).unwrap();
            let received = format!("{head}{}", String::from_utf8_lossy(&body)).to_ascii_lowercase();
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{received}", received.len()).unwrap();
        });
        let request = client(&url, Limits::default()).request(Method::POST).header("X-Own", "1").body(b"{}".to_vec());
        let received = String::from_utf8(request.send().await.unwrap().body(10_000).await.unwrap()).unwrap();
        assert!(received.starts_with("post /v1 http/1.1\r\n") && received.ends_with("\r\n\r\n{}"), "{received}");
        for header in ["x-own: 1", "authorization: bearer s3cret", "user-agent: pipewright/"] {
            assert!(received.contains(&format!("\r\n{header}")), "{received}");
        }
        let bad =
            client(&url, Limits::default()).request(Method::GET).header("x-own", "a\nb").send().await.unwrap_err();
        assert!(matches!(bad, Error::Client(_)), "{bad:?}");
    });
}

#[test]
fn a_redirect_to_another_origin_is_not_followed_and_one_within_it_is() {
    let (reach, was_reached) = channel();
    let elsewhere = server(move |head, _| reach.send(head.to_owned()).unwrap());
    let (ask, was_asked) = channel();
    let url = server(move |head, mut stream| {
        ask.send(head.to_owned()).unwrap();
        let location = match head.split(' ').nth(1).unwrap() {
            "/v1" => "/v2",
            "/v2" => &elsewhere,
            other => panic!("{other}"),
        };
        write!(stream, "HTTP/1.1 307 To\r\nLocation: {location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            .unwrap();
    });
    run(async {
        let response = get(&url, Limits::default()).await.unwrap();
        assert_eq!(response.status().as_u16(), 307);
    });
    for path in ["/v1", "/v2"] {
        let head = was_asked.try_recv().unwrap();
        assert!(head.starts_with(&format!("GET {path} ")) && head.contains("Bearer s3cret"), "{head}");
    }
    assert!(was_reached.recv_timeout(SHORT).is_err());
}

#[test]
fn redirects_in_a_circle_end() {
    run(async {
        let url = server(|_, mut stream| {
            stream
                .write_all(b"HTTP/1.1 307 To\r\nLocation: /v1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                .unwrap();
        });
        assert_eq!(get(&url, Limits::default()).await.unwrap().status().as_u16(), 307);
    });
}

#[test]
fn cancelling_closes_the_connection() {
    run(async {
        for says in ["", STREAM] {
            let (url, is_closed) = server_that_answers(says);
            let client = client(&url, Limits::default());
            let exchange = async { client.request(Method::GET).send().await.unwrap().events(100).next().await };
            timeout(SHORT, exchange).await.unwrap_err();
            closes(is_closed).await;
        }
    });
}

#[test]
fn errors_have_no_url() {
    run(async {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let says = get(&format!("http://{closed}/s3cret?key=s3cret"), Limits::default()).await.unwrap_err().to_string();
        assert!(says.starts_with("the server cannot be reached: Connection refused"), "{says}");
        let (url, _) = server_that_answers("s3cret, and no HTTP\r\n\r\n");
        let says = get(&url, Limits::default()).await.unwrap_err().to_string();
        assert!(says.starts_with("the connection to the server broke: ") && !says.contains("s3cret"), "{says}");
    });
}

#[test]
fn a_connection_that_the_server_has_closed_is_not_used_again() {
    let ((close, may_close), (closed, is_closed)) = (channel(), channel());
    let url = server(move |_, mut stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
        may_close.recv().unwrap();
        drop(stream);
        closed.send(()).unwrap();
    });
    run(async {
        let client = client(&url, Limits::default());
        for _ in 0..20 {
            let response = client.request(Method::POST).send().await.expect("a new connection");
            assert_eq!(response.body(9).await.unwrap(), b"ok");
            // The runtime waits as well, so it polls no socket.
            close.send(()).unwrap();
            is_closed.recv().unwrap();
        }
    });
}
