//! A browser that is already open: another program has started it, and it stays open when we detach.

use crate::connection::MAX_MESSAGE;
use crate::pages::Document;
use crate::routes::Routes;
use crate::socket::{self, Socket};
use crate::{ActionError, AddressRules, Browser, Connection, LaunchError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};
use url::Url;

/// Time limit for attaching to the open pages.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the pages may take to report their state; a page blocked by a dialog does not answer.
const ADOPT: Duration = Duration::from_secs(3);

/// The longest answer to `/json/version`, in bytes, and its time limit.
const VERSION: u64 = 1 << 16;
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
    /// Attaches to a browser: by its profile folder, by its address (`ws://HOST:PORT/devtools/browser/ID`), or by
    /// `http://HOST:PORT` if the browser gives its address there. The visible page becomes the active one.
    ///
    /// # Errors
    /// There is no such browser, or it does not allow debugging; what to do.
    pub fn attach(place: &str, allowed: AddressRules, routes: Routes) -> Result<Browser, LaunchError> {
        let address = address(place).map_err(LaunchError)?;
        let failed = |why: &dyn fmt::Display| LaunchError(format!("{address}: {why}"));
        let socket = Socket::connect(&address, MAX_MESSAGE).map_err(|why| failed(&why))?;
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

/// The address of a browser, as `ws://HOST:PORT/PATH`.
fn address(place: &str) -> Result<Url, String> {
    let address = match place.split_once("://").map(|(scheme, _)| scheme) {
        Some("ws") => place.to_owned(),
        Some("http") => asked(place)?,
        Some("wss" | "https") => {
            return Err(format!(
                "{place}: TLS is not supported here: forward the port (ssh -L), and attach to ws://127.0.0.1:PORT"
            ));
        }
        _ => of_profile(Path::new(place))?,
    };
    let url = Url::parse(&address).map_err(|error| format!("{address}: {error}"))?;
    if url.scheme() != "ws" {
        return Err(format!("{address} is not a ws:// address"));
    }
    if url.path().starts_with("/devtools/page/") {
        return Err(format!(
            "{address} is the address of one page: use the browser's, which ends with /devtools/browser/ID"
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

/// Asks a browser for its address.
fn asked(place: &str) -> Result<String, String> {
    let url = Url::parse(place).map_err(|error| format!("{place}: {error}"))?;
    let (status, body) = get(&url).map_err(|error| format!("{place}: {error}"))?;
    match status.split(' ').nth(1) {
        Some("200") => {}
        Some("404") => {
            return Err(format!(
                "{place}: no /json/version there: attach by the profile folder, or by the ws:// address (a browser \
                 with debugging allowed at chrome://inspect answers this way)"
            ));
        }
        _ => return Err(format!("{place}: it answered {status:?}: {}", String::from_utf8_lossy(&body).trim())),
    }
    let version: Result<Version, _> = serde_json::from_slice(&body);
    version
        .map(|version| version.web_socket_debugger_url)
        .map_err(|error| format!("{place}: its /json/version cannot be read: {error}"))
}

/// The first line of the answer, and its body. The browser keeps the connection open after it.
fn get(url: &Url) -> io::Result<(String, Vec<u8>)> {
    let mut stream = socket::dial(url)?;
    stream.set_read_timeout(Some(ANSWER))?;
    let host = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let request = format!("GET /json/version HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = BufReader::new(stream.take(VERSION));
    let mut line = || {
        let mut line = String::new();
        answer.read_line(&mut line).map(|_| line.trim_end().to_owned())
    };
    let (status, mut length) = (line()?, VERSION);
    for header in std::iter::from_fn(|| line().ok().filter(|line| !line.is_empty())) {
        let value = header.split_once(':').filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        length = value.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(length);
    }
    let mut body = Vec::new();
    answer.take(length).read_to_end(&mut body)?;
    Ok((status, body))
}
