//! Pictures that a world has made, read from disk for the page.

use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use pipewright_sys::regular;
use std::io;
use std::path::Path;
use tokio::fs::File;
use tokio::io::AsyncReadExt;
use tokio::task::spawn_blocking;

/// The largest picture that is served, in bytes.
const MAX_IMAGE: u64 = 32 << 20;
/// The most bytes that are read at once.
const CHUNK: usize = 64 << 10;

/// The picture at a path that a session's records contain.
///
/// # Errors
/// 404: it does not exist, or is not a regular file, too large, or not a picture.
pub(super) async fn open(path: String) -> Result<Response, StatusCode> {
    let missing = |_| StatusCode::NOT_FOUND;
    let opened = spawn_blocking(move || regular::open(Path::new(&path))).await;
    let file = opened.ok().and_then(Result::ok).ok_or(StatusCode::NOT_FOUND)?;
    let mut file = File::from_std(file);
    let metadata = file.metadata().await.map_err(missing)?;
    if metadata.len() > MAX_IMAGE {
        return Err(StatusCode::NOT_FOUND);
    }
    let first = read(&mut file, CHUNK).await.map_err(missing)?;
    let media_type = media_type(&first).ok_or(StatusCode::NOT_FOUND)?;
    let rest = stream::unfold((Some(first), file), |(first, mut file)| async move {
        let chunk = match first {
            Some(first) => Ok(first),
            None => read(&mut file, CHUNK).await,
        };
        let is_end = chunk.as_ref().is_ok_and(Bytes::is_empty);
        (!is_end).then_some((chunk, (None, file)))
    });
    let length = metadata.len().to_string();
    let headers = [(header::CONTENT_TYPE, media_type), (header::CONTENT_LENGTH, &length)];
    Ok((headers, Body::from_stream(rest)).into_response())
}

async fn read(file: &mut File, most: usize) -> io::Result<Bytes> {
    let mut bytes = vec![0; most];
    let count = file.read(&mut bytes).await?;
    bytes.truncate(count);
    Ok(bytes.into())
}

/// The media type by the first bytes.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
