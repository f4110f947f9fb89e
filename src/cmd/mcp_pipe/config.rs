//! The `mcpServers` files that people have already: `{"mcpServers":{"NAME":{"command","args","env","cwd"}}}`, or `{"url","headers"}`.

use super::url::Url;
use crate::io::child::Surroundings;
use crate::io::report::{Failure, Status};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// A server as a file names it.
pub enum Server {
    /// A program that is started.
    Program { command: Vec<OsString>, around: Surroundings },
    /// One that runs elsewhere.
    Url(Url),
}

#[derive(serde::Deserialize)]
struct File {
    #[serde(rename = "mcpServers", alias = "servers")]
    servers: BTreeMap<String, Entry>,
}

#[derive(serde::Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

/// Reads `FILE:NAME`; of a file with one server, the name may be left out.
///
/// # Errors
/// [`Status::Usage`] with what is wrong; values of variables are never told.
pub fn read(named: &str) -> Result<Server, Failure> {
    let usage = |message: String| Failure::new(Status::Usage, format_args!("--config: {message}"));
    // A path may hold a colon, a server's name hardly does.
    let (path, name) = match named.rsplit_once(':') {
        Some((path, name)) if !std::path::Path::new(named).exists() => (path, Some(name)),
        _ => (named, None),
    };
    let text = std::fs::read_to_string(path).map_err(|error| usage(format!("{path}: {error}")))?;
    let File { mut servers } = serde_json::from_str(&text)
        .map_err(|error| usage(format!("{path}: line {}: {}", error.line(), reason(&error))))?;
    let names = servers.keys().cloned().collect::<Vec<_>>().join(", ");
    let entry = match name {
        Some(name) => {
            servers.remove(name).ok_or_else(|| usage(format!("{path} has no server {name}; it has {names}")))?
        }
        None if servers.len() == 1 => servers.into_values().next().ok_or_else(|| usage(format!("{path} is empty")))?,
        None => return Err(usage(format!("{path} has several servers: name one, {path}:NAME, of {names}"))),
    };
    let Some(command) = entry.command else {
        let Some(url) = &entry.url else { return Err(usage(format!("{path}: it has no command, and no url"))) };
        let mut to = Url { url: expand(url).map_err(&usage)?, headers: Vec::new() };
        for (name, value) in &entry.headers {
            to.headers.push((name.clone(), expand(value).map_err(&usage)?));
        }
        return Ok(Server::Url(to));
    };
    let mut words = vec![expand(&command).map_err(&usage)?.into()];
    for word in &entry.args {
        words.push(expand(word).map_err(&usage)?.into());
    }
    let mut set = Vec::new();
    for (name, value) in &entry.env {
        set.push((name.into(), expand(value).map_err(&usage)?.into()));
    }
    let around = Surroundings { set, folder: entry.cwd, ..Surroundings::default() };
    Ok(Server::Program { command: words, around })
}

/// What is wrong, without what stands in the file: it may hold secrets.
fn reason(error: &serde_json::Error) -> &'static str {
    if error.is_data() { "not what an mcpServers file holds" } else { "no JSON" }
}

/// Replaces `${NAME}` and `${NAME:-otherwise}` by the environment's.
pub fn expand(text: &str) -> Result<String, String> {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, behind)) = after.split_once('}') else { break };
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        out.push_str(before);
        match (std::env::var(name), otherwise) {
            (Ok(value), _) => out.push_str(&value),
            (Err(_), Some(otherwise)) => out.push_str(otherwise),
            (Err(_), None) => return Err(format!("the environment has no {name}, which is asked for")),
        }
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_replaced() {
        assert_eq!(expand("a ${PATH} b").unwrap(), format!("a {} b", std::env::var("PATH").unwrap()));
        assert_eq!(expand("${NO_SUCH_VARIABLE:-x}${NO_SUCH_VARIABLE:-}$y${").unwrap(), "x$y${");
        assert!(expand("${NO_SUCH_VARIABLE}").unwrap_err().contains("NO_SUCH_VARIABLE"));
    }

    #[test]
    fn files_are_read_and_secrets_are_not_told() {
        let folder = std::env::temp_dir().join(format!("pipewright-config-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("mcp.json").display().to_string();
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        write(
            r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"],"env":{"KEY":"s3cret"}},"b":{"url":"http://x","headers":{"A":"s3cret"}},"c":{}}}"#,
        );
        let Server::Program { command, around } = read(&format!("{path}:a")).unwrap() else { panic!() };
        assert_eq!((command.len(), around.set.len()), (3, 1));
        let Server::Url(to) = read(&format!("{path}:b")).unwrap() else { panic!() };
        assert_eq!((to.url.as_str(), to.headers.len()), ("http://x", 1));
        for (named, says) in [
            (path.clone(), "a, b, c"),
            (format!("{path}:d"), "a, b, c"),
            (format!("{path}:c"), "no command, and no url"),
            ("/no/such".to_owned(), "/no/such"),
        ] {
            let Err(error) = read(&named).map_err(|error| error.to_string()) else { panic!() };
            assert!(error.contains(says) && !error.contains("s3cret"), "{error}");
        }
        write(r#"{"mcpServers":{"a":{"command":{"s3cret":1}}}}"#);
        assert!(matches!(read(&path), Err(error) if !error.to_string().contains("s3cret")));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
