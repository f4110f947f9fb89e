//! Routes requests.

use super::{Client, ClientMessage, Inbound, REQUEST_TIME, Server, events, image, socket};
use axum::Router;
use axum::body::to_bytes;
use axum::extract::{FromRequestParts, Request, State, WebSocketUpgrade};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use pipewright_record::json::quoted;
use std::borrow::Cow;
use tokio::time::timeout;

/// A page may only contain our own files and pictures, and may not be embedded in other pages.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The headers of every answer.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

const LOCKED: &str = "The token is missing: open the address that agent-serve printed when it started, which ends with \
                      ?token=..., or send the header 'Authorization: Bearer TOKEN'.\n";

pub(super) fn router(server: Server) -> Router {
    Router::new().fallback(answer).with_state(server)
}

async fn answer(State(server): State<Server>, request: Request) -> Response {
    let mut response = route(&server, request).await.unwrap_or_else(refused);
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

fn refused(status: StatusCode) -> Response {
    match status {
        StatusCode::UNAUTHORIZED => (status, [(header::WWW_AUTHENTICATE, "Bearer")], LOCKED).into_response(),
        status => (status, format!("{status}\n")).into_response(),
    }
}

async fn route(server: &Server, request: Request) -> Result<Response, StatusCode> {
    let access = &server.0.access;
    access.check_place(request.headers())?;
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().to_owned();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    let method = |allowed: Method| if parts.method == allowed { Ok(()) } else { Err(StatusCode::METHOD_NOT_ALLOWED) };
    if path == "/healthz" {
        return Ok("ok\n".into_response());
    }
    if let Some(token) = query(&parts, "token").filter(|_| path == "/") {
        method(Method::GET)?;
        let cookie = access.cookie_for(&token).ok_or(StatusCode::UNAUTHORIZED)?;
        return Ok((StatusCode::SEE_OTHER, [(header::SET_COOKIE, &*cookie), (header::LOCATION, "/")]).into_response());
    }
    access.check(&parts.headers)?;
    match segments[..] {
        ["sessions"] if parts.method == Method::POST => {
            let text = read(server, &parts.headers, body).await?;
            let client = server.join();
            server.queue_event(Inbound::Begin { client: client.number, text }).await;
            let (status, body) = reply(client).await?;
            Ok((status, [(header::CONTENT_TYPE, "application/json")], body).into_response())
        }
        ["sessions"] => {
            method(Method::GET)?;
            let client = server.join();
            server.queue_event(Inbound::List { client: client.number }).await;
            let (status, body) = reply(client).await?;
            Ok((status, [(header::CONTENT_TYPE, "application/json")], body).into_response())
        }
        ["sessions", id, "events"] => {
            method(Method::GET)?;
            let backlog = server.existing(id).ok_or(StatusCode::NOT_FOUND)?;
            let after = match parts.headers.get("last-event-id") {
                Some(after) => {
                    Some(after.to_str().ok().and_then(|after| after.parse().ok()).ok_or(StatusCode::BAD_REQUEST)?)
                }
                None => after(&parts)?,
            };
            Ok(events::of_session(server, id, backlog, after).await)
        }
        ["sessions", id, "ws"] => {
            method(Method::GET)?;
            if !(server.0.settings.is_session_id)(id) {
                return Err(StatusCode::NOT_FOUND);
            }
            let (id, after) = (id.to_owned(), after(&parts)?);
            upgrade(server, parts, id, after).await
        }
        ["sessions", id, "image"] => {
            method(Method::GET)?;
            let path = query(&parts, "path").ok_or(StatusCode::BAD_REQUEST)?.into_owned();
            let client = server.join();
            server
                .queue_event(Inbound::Image { client: client.number, session: id.to_owned(), path: quoted(&path) })
                .await;
            match reply(client).await? {
                (StatusCode::OK, _) => image::open(path).await,
                (status, _) => Err(status),
            }
        }
        ["ag-ui"] => {
            method(Method::POST)?;
            let text = read(server, &parts.headers, body).await?;
            let client = server.join();
            server.queue_event(Inbound::Run { client: client.number, text }).await;
            Ok(events::of_run(client))
        }
        _ => {
            method(Method::GET)?;
            let file = server.0.settings.files.iter().find(|file| file.path == path).ok_or(StatusCode::NOT_FOUND)?;
            Ok(([(header::CONTENT_TYPE, file.media_type)], file.content).into_response())
        }
    }
}

async fn upgrade(server: &Server, mut parts: Parts, id: String, after: Option<u64>) -> Result<Response, StatusCode> {
    let place = parts.extensions.get().cloned();
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
    let upgrade = upgrade.map_err(|_| StatusCode::UPGRADE_REQUIRED)?;
    let longest = server.0.settings.longest;
    let server = server.clone();
    let upgrade = upgrade.max_message_size(longest).max_frame_size(longest);
    Ok(upgrade.on_upgrade(move |socket| socket::converse(server, socket, id, after, place)))
}

/// A JSON body, without line ends. A page of another origin may send a form without asking first, but not JSON.
async fn read(server: &Server, headers: &HeaderMap, body: axum::body::Body) -> Result<String, StatusCode> {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.and_then(|value| value.split(';').next()).unwrap_or_default();
    if !media_type.trim().eq_ignore_ascii_case("application/json") {
        return Err(StatusCode::UNSUPPORTED_MEDIA_TYPE);
    }
    let body = timeout(REQUEST_TIME, to_bytes(body, server.0.settings.longest)).await;
    let body = body.map_err(|_| StatusCode::REQUEST_TIMEOUT)?.map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    Ok(std::str::from_utf8(&body).map_err(|_| StatusCode::BAD_REQUEST)?.replace(['\n', '\r'], " "))
}

/// The only answer that a client waits for.
async fn reply(mut client: Client) -> Result<(StatusCode, String), StatusCode> {
    match timeout(REQUEST_TIME, client.next()).await {
        Ok(Some(ClientMessage::Reply(status, body))) => {
            Ok((StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR), body))
        }
        Ok(_) => Err(StatusCode::SERVICE_UNAVAILABLE),
        Err(_) => Err(StatusCode::GATEWAY_TIMEOUT),
    }
}

/// The number of the last record that the client has read.
fn after(parts: &Parts) -> Result<Option<u64>, StatusCode> {
    query(parts, "after").map(|after| after.parse().map_err(|_| StatusCode::BAD_REQUEST)).transpose()
}

/// The first parameter of this name.
fn query<'a>(parts: &'a Parts, name: &str) -> Option<Cow<'a, str>> {
    let pairs = parts.uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.into_iter().find(|(own, _)| *own == name)?.1;
    percent_encoding::percent_decode_str(value).decode_utf8().ok()
}
