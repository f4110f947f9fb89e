//! A browser that is already open: another program has started it, and it stays open when we detach.

use crate::connection::MAX_MESSAGE;
use crate::pages::Document;
use crate::routes::Routes;
use crate::socket::{Socket, refusal};
use crate::{ActionError, AddressRules, Browser, Connection, LaunchError};
use pipewright_http::exchanges::{Arrival, Exchanges, SizeLimits};
use pipewright_http::{Address, Client, Limits};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use url::Url;

/// Time limit for attaching to the open pages.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the pages may take to report their state; a page blocked by a dialog does not answer.
const ADOPT: Duration = Duration::from_secs(3);

/// The longest answer to `/json/version`, in bytes, and its time limit.
const VERSION: usize = 1 << 16;
const ANSWER: Duration = Duration::from_secs(10);

/// A file in the profile folder: the port on one line, and the path of the browser's address on the next.
const PORT_FILE: &str = "DevToolsActivePort";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    web_socket_debugger_url: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameTreeResult {
    frame_tree: FrameTree,
}

#[derive(Deserialize)]
struct FrameTree {
    frame: Frame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    id: String,
    loader_id: String,
    url: String,
    #[serde(default)]
    url_fragment: String,
}

#[derive(Deserialize)]
struct EvaluateResult {
    result: RemoteObject,
}

#[derive(Deserialize)]
struct RemoteObject {
    value: (String, bool, bool),
}

/// The state of its document, whether it is visible, and whether it has the focus.
const PAGE_STATE_SCRIPT: &str = "[document.readyState, document.visibilityState === 'visible', document.hasFocus()]";

impl Browser {
    /// Attaches to a browser: by its profile folder, by its address (`ws://HOST:PORT/devtools/browser/ID` or
    /// `wss://...`), or by `http://HOST:PORT` or `https://...` if the browser gives its address there. The headers are
    /// sent to that address. The visible page becomes the active one.
    ///
    /// # Errors
    /// There is no such browser, or it does not allow debugging; what to do.
    pub fn attach(
        place: &str,
        headers: &[(String, String)],
        allowed: AddressRules,
        routes: Routes,
    ) -> Result<Browser, LaunchError> {
        let address = address(place, headers).map_err(LaunchError)?;
        let failed = |why: &dyn fmt::Display| LaunchError(format!("{}: {why}", printable(address.as_str())));
        let socket = Socket::connect(&address, headers, MAX_MESSAGE).map_err(|why| failed(&why))?;
        let connection = Connection::from_socket(socket).map_err(|error| failed(&error))?;
        let mut browser = Browser::from_connection(connection, None, (allowed, routes), Vec::new());
        browser.adopt(Instant::now() + ATTACH_TIMEOUT).map_err(|fault| failed(&fault))?;
        Ok(browser)
    }

    /// Takes over the open pages, and opens a new one if none can be used.
    fn adopt(&mut self, until: Instant) -> Result<(), ActionError> {
        self.begin(until)?;
        match self.ask_pages(until.min(Instant::now() + ADOPT))? {
            Some(id) => self.activate(&id),
            None => _ = self.open(until)?,
        }
        Ok(())
    }

    /// Asks all pages at once what they show; gives the one that a person sees.
    fn ask_pages(&mut self, until: Instant) -> Result<Option<String>, ActionError> {
        let pages = self.pages().all().iter().map(|page| (page.id.clone(), page.session.clone()));
        let (mut trees, mut looks) = (HashMap::new(), HashMap::new());
        for (id, session) in pages.collect::<Vec<_>>() {
            trees.insert(self.send(&session, "Page.getFrameTree", &json!({}))?, id.clone());
            let look = json!({"expression": PAGE_STATE_SCRIPT, "returnByValue": true});
            looks.insert(self.send(&session, "Runtime.evaluate", &look)?, id);
        }
        let (mut frames, mut seen) = (HashMap::new(), None);
        while !looks.is_empty() {
            let (number, outcome) = match self.next(until) {
                Ok(Some(answer)) => answer,
                Ok(None) => continue,
                Err(ActionError::Late) => break,
                Err(fault) => return Err(fault),
            };
            let result = outcome.ok();
            let result = result.as_ref().map_or("", |result| result.get());
            if let Some(id) = trees.remove(&number) {
                frames.extend(read(result).map(|FrameTreeResult { frame_tree }| (id, frame_tree.frame)));
            } else if let Some(id) = looks.remove(&number)
                && let (Some(EvaluateResult { result }), Some(frame)) = (read(result), frames.remove(&id))
            {
                let (state, is_visible, is_focused) = result.value;
                self.origins.add(&frame.url);
                self.pages.adopt(&id, document(frame, &state), Instant::now());
                seen = seen.max(Some((is_visible, is_focused, id)));
            }
        }
        Ok(seen.map(|(.., id)| id))
    }
}

fn read<T: DeserializeOwned>(result: &str) -> Option<T> {
    serde_json::from_str(result).ok()
}

fn document(frame: Frame, state: &str) -> Document {
    Document {
        frame: frame.id,
        loader: frame.loader_id,
        url: frame.url + &frame.url_fragment,
        status: None,
        is_parsed: state != "loading",
        is_loaded: state == "complete",
    }
}

/// An address without its query and password, which may be secrets.
fn printable(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return address.to_owned() };
    url.set_query(None);
    let _ = url.set_password(None);
    url.into()
}

/// The address of a browser, as `ws://HOST:PORT/PATH` or `wss://...`.
fn address(place: &str, headers: &[(String, String)]) -> Result<Url, String> {
    let address = match place.split_once("://").map(|(scheme, _)| scheme) {
        Some("ws" | "wss") => place.to_owned(),
        Some("http" | "https") => return asked(place, headers).map_err(|why| format!("{}: {why}", printable(place))),
        _ => of_profile(Path::new(place))?,
    };
    let url = Url::parse(&address).map_err(|error| format!("{}: {error}", printable(&address)))?;
    if url.path().starts_with("/devtools/page/") {
        return Err(format!(
            "{} is the address of one page: use the browser's, which ends with /devtools/browser/ID",
            printable(&address)
        ));
    }
    Ok(url)
}

/// Reads the address of a debuggable browser from its profile folder.
fn of_profile(folder: &Path) -> Result<String, String> {
    let file = folder.join(PORT_FILE);
    let written = std::fs::read_to_string(&file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!(
            "{}: no browser with debugging uses this profile: start one with --remote-debugging-port=0 \
             --user-data-dir=FOLDER (not its default profile: Chrome refuses that since version 136), or allow it at \
             chrome://inspect/#remote-debugging",
            file.display()
        ),
        _ => format!("{}: {error}", file.display()),
    })?;
    let mut lines = written.lines();
    match (lines.next().and_then(|port| port.parse::<u16>().ok()), lines.next()) {
        (Some(port), Some(path)) if path.starts_with('/') => Ok(format!("ws://127.0.0.1:{port}{path}")),
        _ => Err(format!("{}: the file has no port and path", file.display())),
    }
}

/// Asks a browser for its address. Only the path and the query of the answer are used: what stands before a browser
/// often gives a host that only itself can reach.
fn asked(place: &str, headers: &[(String, String)]) -> Result<Url, String> {
    let mut url = Url::parse(place).map_err(|error| error.to_string())?;
    let (status, body) = get(&url, headers)?;
    match status {
        200 => {}
        404 => {
            return Err(
                "no /json/version there: attach by the profile folder, or by the ws:// address (a browser with \
                        debugging allowed at chrome://inspect answers this way)"
                    .to_owned(),
            );
        }
        401 | 403 => return Err(refusal(status)),
        _ => return Err(format!("it answered {status}: {}", String::from_utf8_lossy(&body).trim())),
    }
    let unreadable = |why: &dyn fmt::Display| format!("its /json/version cannot be read: {why}");
    let version: Version = serde_json::from_slice(&body).map_err(|error| unreadable(&error))?;
    let named = Url::parse(&version.web_socket_debugger_url).map_err(|error| unreadable(&error))?;
    let query = named.query().or(url.query()).map(str::to_owned);
    url.set_path(named.path());
    url.set_query(query.as_deref());
    let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
    url.set_scheme(scheme).map_err(|()| "it cannot be a WebSocket".to_owned())?;
    Ok(url)
}

/// The status of `/json/version`, and what it contains.
fn get(url: &Url, headers: &[(String, String)]) -> Result<(u16, Vec<u8>), String> {
    let mut version = url.clone();
    version.set_path("/json/version");
    let address = Address::read(version.as_str(), headers).map_err(|why| why.to_string())?;
    let limits = Limits { total: Some(ANSWER), ..Limits::default() };
    let client = Client::new(&address, limits).map_err(|error| error.to_string())?;
    let (sent, pieces) = channel();
    let sizes = SizeLimits { event: VERSION, body: VERSION };
    let deliver = move |_, piece| _ = sent.send(piece);
    let exchanges = Exchanges::start(client, sizes, deliver).map_err(|error| error.to_string())?;
    exchanges.get(1);
    let mut status = 0;
    for piece in pieces {
        match piece {
            Arrival::Head(code, _) => status = code,
            Arrival::Body(body) => return Ok((status, body)),
            Arrival::Failed(error) => return Err(error.to_string()),
            Arrival::Event(_) | Arrival::End => break,
        }
    }
    Err("it answers with a stream of events".to_owned())
}
