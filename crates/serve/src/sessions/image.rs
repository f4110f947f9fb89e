//! Pictures that a world has made, read from the disk for the page.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use tokio::io::AsyncReadExt;

/// No picture of a page is larger.
const LARGEST: u64 = 32 << 20;

/// The picture at a path that a session's records name.
///
/// # Errors
/// 404: it is not there, is no regular file, too large, or no picture.
pub(super) async fn read(path: String) -> Result<Response, StatusCode> {
    let missing = |_| StatusCode::NOT_FOUND;
    // Opening a FIFO would wait for its other end.
    if !tokio::fs::metadata(&path).await.map_err(missing)?.is_file() {
        return Err(StatusCode::NOT_FOUND);
    }
    let file = tokio::fs::File::open(&path).await.map_err(missing)?;
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).await.map_err(missing)?;
    let media_type = media_type(&bytes).filter(|_| bytes.len() as u64 <= LARGEST).ok_or(StatusCode::NOT_FOUND)?;
    Ok(([(header::CONTENT_TYPE, media_type)], bytes).into_response())
}

/// By the first bytes.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
