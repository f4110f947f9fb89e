//! Cookies and local storage in a file, in the format of Playwright's `storageState`, so a login can be kept and
//! exchanged.
//!
//! The browser lists its cookies, but not the origins that have stored data. Known are those of the pages shown, and
//! those of the loaded file. Local storage is reached through an empty page at its origin, which we answer ourselves:
//! nothing is requested.

use crate::wire::Event;
use crate::{ActionError, Browser, Ready};
use pipewright_sys::private;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;
use url::Url;

/// How many origins are remembered.
const ORIGINS: usize = 1000;

/// Origins that may have stored data.
#[derive(Debug, Default)]
pub(crate) struct Origins(BTreeSet<String>);

/// Why storage was not loaded or saved.
#[derive(Debug, thiserror::Error)]
pub enum StorageFault {
    /// A problem of the file.
    #[error("{0}")]
    File(String),
    /// A fault of the browser.
    #[error(transparent)]
    Fault(#[from] ActionError),
}

#[derive(Serialize, Deserialize)]
struct StorageState {
    #[serde(default)]
    cookies: Vec<Cookie>,
    #[serde(default)]
    origins: Vec<OriginStorage>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cookie {
    name: String,
    value: String,
    /// Begins with a dot if the cookie also counts for subdomains.
    domain: String,
    path: String,
    /// Seconds since 1970; -1 for the browser's session.
    expires: f64,
    http_only: bool,
    secure: bool,
    same_site: String,
    /// The site of the page in which it was set, if it is only sent there.
    #[serde(skip_serializing_if = "Option::is_none")]
    partition_key: Option<String>,
    #[serde(rename = "_crHasCrossSiteAncestor", skip_serializing_if = "Option::is_none")]
    has_cross_site_ancestor: Option<bool>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct OriginStorage {
    origin: String,
    #[serde(default)]
    local_storage: Vec<StorageItem>,
}

#[derive(Serialize, Deserialize)]
struct StorageItem {
    name: String,
    value: String,
}

#[derive(Deserialize)]
struct Cookies {
    cookies: Vec<BrowserCookie>,
}

/// A cookie in the protocol's form.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BrowserCookie {
    name: String,
    value: String,
    domain: String,
    path: String,
    expires: f64,
    http_only: bool,
    secure: bool,
    same_site: Option<String>,
    partition_key: Option<PartitionKey>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PartitionKey {
    top_level_site: String,
    has_cross_site_ancestor: bool,
}

#[derive(Deserialize)]
struct FrameNavigated {
    frame: NavigatedFrame,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct NavigatedFrame {
    parent_id: Option<IgnoredAny>,
    url: String,
}

#[derive(Deserialize)]
struct EvaluateResult {
    result: RemoteObject,
}

#[derive(Deserialize)]
struct RemoteObject {
    #[serde(default)]
    value: Value,
}

impl Origins {
    /// Takes the origins of pages.
    pub(crate) fn take(&mut self, event: &Event) {
        if event.method == "Page.frameNavigated"
            && let Ok(FrameNavigated { frame }) = serde_json::from_str(event.params.get())
            && frame.parent_id.is_none()
        {
            self.add(&frame.url);
        }
    }

    pub(crate) fn add(&mut self, url: &str) {
        let origin =
            Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https")).map(|url| url.origin());
        if let Some(origin) = origin
            && self.0.len() < ORIGINS
        {
            self.0.insert(origin.ascii_serialization());
        }
    }
}

impl From<BrowserCookie> for Cookie {
    fn from(cookie: BrowserCookie) -> Cookie {
        let BrowserCookie { name, value, domain, path, expires, http_only, secure, same_site, partition_key } = cookie;
        let (partition_key, has_cross_site_ancestor) =
            partition_key.map(|key| (key.top_level_site, key.has_cross_site_ancestor)).unzip();
        // Browsers treat a cookie without this attribute as lax.
        let same_site = same_site.unwrap_or_else(|| "Lax".to_owned());
        Cookie {
            name,
            value,
            domain,
            path,
            expires,
            http_only,
            secure,
            same_site,
            partition_key,
            has_cross_site_ancestor,
        }
    }
}

impl Cookie {
    /// The parameters of `Storage.setCookies`.
    fn asked(&self) -> Value {
        let mut asked = json!({
            "name": self.name, "value": self.value, "path": self.path, "httpOnly": self.http_only, "secure": self.secure,
            "sameSite": self.same_site,
        });
        if self.domain.starts_with('.') {
            asked["domain"] = self.domain.as_str().into();
        } else {
            // With a domain it would also count for subdomains.
            let scheme = if self.secure { "https" } else { "http" };
            asked["url"] = format!("{scheme}://{}{}", self.domain, self.path).into();
        }
        if self.expires >= 0.0 {
            asked["expires"] = self.expires.into();
        }
        if let Some(site) = &self.partition_key {
            let has_cross_site_ancestor = self.has_cross_site_ancestor.unwrap_or(false);
            asked["partitionKey"] = json!({"topLevelSite": site, "hasCrossSiteAncestor": has_cross_site_ancestor});
        }
        asked
    }
}

const READ_SCRIPT: &str =
    "() => [location.origin, Object.keys(localStorage).map((name) => ({ name, value: localStorage.getItem(name) }))]";
const WRITE: &str =
    "(items) => [location.origin, items.forEach(({ name, value }) => localStorage.setItem(name, value))]";

impl Browser {
    /// Loads cookies and local storage from a file written by [`Browser::save_storage`] or Playwright. Existing data is
    /// kept, unless it has the same name.
    ///
    /// # Errors
    /// The file cannot be read, or the browser refuses some of its contents.
    pub fn load_storage(&mut self, path: &Path, until: Instant) -> Result<(), StorageFault> {
        let wrong = |why: &dyn fmt::Display| StorageFault::File(format!("{}: {why}", path.display()));
        let text = fs::read(path).map_err(|error| wrong(&error))?;
        let StorageState { cookies, origins } = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
        for cookie in &cookies {
            let taken: Result<IgnoredAny, ActionError> =
                self.call_browser("Storage.setCookies", &json!({"cookies": [cookie.asked()]}), until);
            match taken {
                Err(ActionError::Refused(why)) => {
                    return Err(wrong(&format!("the cookie {:?}: {}", cookie.name, why.message)));
                }
                taken => _ = taken?,
            }
        }
        let origins: Vec<OriginStorage> =
            origins.into_iter().filter(|stored| !stored.local_storage.is_empty()).collect();
        for stored in &origins {
            self.origins.add(&stored.origin);
        }
        let asked =
            origins.iter().map(|OriginStorage { origin, local_storage }| (origin.clone(), WRITE, json!(local_storage)));
        let written = self.at_origins(asked.collect(), until)?;
        match origins.iter().zip(written).find(|(_, written)| written.is_none()) {
            Some((stored, _)) => Err(wrong(&format!("the browser stores nothing for {:?}", stored.origin))),
            None => Ok(()),
        }
    }

    /// Saves all cookies, and the local storage of all origins that pages have been at, to a file that only its owner
    /// can read. The file is replaced atomically.
    ///
    /// # Errors
    /// The file cannot be written, or the browser does not answer in time.
    pub fn save_storage(&mut self, path: &Path, until: Instant) -> Result<(), StorageFault> {
        let Cookies { cookies } = self.call_browser("Storage.getCookies", &json!({}), until)?;
        let asked: Vec<_> = self.origins.0.iter().map(|origin| (origin.clone(), READ_SCRIPT, json!([]))).collect();
        let names: Vec<String> = asked.iter().map(|(origin, ..)| origin.clone()).collect();
        let read = self.at_origins(asked, until)?;
        let stored = names.into_iter().zip(read).filter_map(|(origin, items)| {
            let local_storage: Vec<StorageItem> = serde_json::from_value(items?).ok()?;
            (!local_storage.is_empty()).then_some(OriginStorage { origin, local_storage })
        });
        let state =
            StorageState { cookies: cookies.into_iter().map(Cookie::from).collect(), origins: stored.collect() };
        write(path, &state).map_err(|error| StorageFault::File(format!("{}: {error}", path.display())))
    }

    /// Runs a function with an argument at each origin, in an empty page there; `None` if there is no such page.
    fn at_origins(
        &mut self,
        asked: Vec<(String, &str, Value)>,
        until: Instant,
    ) -> Result<Vec<Option<Value>>, ActionError> {
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let active = self.page().ok().map(|page| page.id.clone());
        let helper = self.open(until)?;
        let session = self.page()?.session.clone();
        self.interception.answer_for(Some(session));
        let results = self.run_at_origins(&asked, until);
        self.interception.answer_for(None);
        if let Some(active) = active {
            self.switch(&active, until)?;
        }
        self.close_page(&helper, until)?;
        results
    }

    fn run_at_origins(
        &mut self,
        asked: &[(String, &str, Value)],
        until: Instant,
    ) -> Result<Vec<Option<Value>>, ActionError> {
        // A service worker would answer before us.
        let IgnoredAny = self.call_page("Network.setBypassServiceWorker", &json!({"bypass": true}), until)?;
        asked.iter().map(|(origin, function, argument)| self.at_origin(origin, function, argument, until)).collect()
    }

    fn at_origin(
        &mut self,
        origin: &str,
        function: &str,
        argument: &Value,
        until: Instant,
    ) -> Result<Option<Value>, ActionError> {
        match self.visit(&format!("{origin}/"), Ready::Parsed, until) {
            Ok(_) => {}
            Err(ActionError::Refused(_)) => return Ok(None),
            Err(fault) => return Err(fault),
        }
        let asked = json!({"expression": format!("({function})({argument})"), "returnByValue": true});
        let EvaluateResult { result } = self.call_page("Runtime.evaluate", &asked, until)?;
        // The origin is another one if the browser insists on https.
        Ok(Some(result.value).filter(|value| value[0] == origin).map(|mut value| value[1].take()))
    }
}

fn write(path: &Path, state: &StorageState) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it has no file name"))?;
    let beside = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    // An existing file is not ours: it is left over from a process with our pid, or a link created by another user.
    let _ = fs::remove_file(&beside);
    let mut file = private::file().write(true).create_new(true).open(&beside)?;
    let mut text = serde_json::to_vec_pretty(state)?;
    text.push(b'\n');
    let written = file.write_all(&text).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}
