//! Reads the `mcpServers` files of other clients: `{"mcpServers":{"NAME":{"command","args","env","cwd"}}}`, or
//! `{"url","headers"}`.

use super::url::Url;
use crate::cmd::environment::expand;
use crate::cmd::usage;
use pipewright_io::child::Environment;
use pipewright_io::report::Failure;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// A server in a file.
pub enum Server {
    /// A program to start.
    Program { command: Vec<OsString>, environment: Environment },
    /// A server to connect to.
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
    /// Several clients let a person disable a server.
    #[serde(default)]
    disabled: bool,
}

/// Reads the server of `FILE:NAME`, or all servers of `FILE` that are not disabled; they have names if there are
/// several. Comments and trailing commas, as written by VS Code, are allowed.
///
/// # Errors
/// [`usage`] with the reason, without any value of a variable.
pub fn read(named: &str) -> Result<Vec<(Option<String>, Server)>, Failure> {
    // A path may contain a colon; a server's name hardly does.
    let (path, name) = match named.rsplit_once(':') {
        Some((path, name)) if !std::path::Path::new(named).exists() => (path, Some(name)),
        _ => (named, None),
    };
    let wrong = |message: String| usage(format_args!("--config: {path}: {message}"));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let mut text = text.trim_start_matches('\u{feff}').to_owned();
    // An invalid comment is reported as invalid JSON below.
    let _ = json_strip_comments::strip(&mut text);
    let File { mut servers } =
        serde_json::from_str(&text).map_err(|error| wrong(format!("line {}: {}", error.line(), reason(&error))))?;
    let names = servers.keys().cloned().collect::<Vec<_>>().join(", ");
    let has_names = name.is_none() && servers.len() > 1;
    match name {
        Some(name) => {
            let missing = || wrong(format!("unknown server {name}; the file has {names}"));
            let entry = servers.remove(name).ok_or_else(missing)?;
            servers = BTreeMap::from([(name.to_owned(), entry)]);
        }
        None => servers.retain(|_, entry| !entry.disabled),
    }
    if servers.is_empty() {
        return Err(wrong("the file has no enabled server".to_owned()));
    }
    let server = |(name, entry)| match server(entry) {
        Ok(server) => Ok((Some(name).filter(|_| has_names), server)),
        Err(why) => Err(wrong(format!("{name}: {why}"))),
    };
    servers.into_iter().map(server).collect()
}

fn server(entry: Entry) -> Result<Server, String> {
    let Some(command) = entry.command else {
        let Some(url) = &entry.url else { return Err("it has neither a command nor a url".to_owned()) };
        let header = |(name, value): (&String, &String)| Ok::<_, String>((name.clone(), expand(value)?));
        let headers = entry.headers.iter().map(header).collect::<Result<_, _>>()?;
        return Ok(Server::Url(Url { url: expand(url)?, headers }));
    };
    let words = [&command].into_iter().chain(&entry.args);
    let command = words.map(|word| expand(word).map(OsString::from)).collect::<Result<_, _>>()?;
    let variable = |(name, value): (&String, &String)| Ok::<_, String>((name.into(), expand(value)?.into()));
    let set = entry.env.iter().map(variable).collect::<Result<_, _>>()?;
    Ok(Server::Program { command, environment: Environment { set, folder: entry.cwd, ..Environment::default() } })
}

/// The reason without content of the file, which may contain secrets.
fn reason(error: &serde_json::Error) -> &'static str {
    if error.is_data() { "not the structure of an mcpServers file" } else { "invalid JSON" }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_without_revealing_secrets() {
        let folder = std::env::temp_dir().join(format!("pipewright-config-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("mcp.json").display().to_string();
        let write = |text: &str| std::fs::write(&path, text).unwrap();
        write(
            r#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"],"env":{"KEY":"s3cret"}},"b":{"url":"http://x","headers":{"A":"s3cret"}},"c":{}}}"#,
        );
        let one = |named: &str| read(named).unwrap().remove(0);
        let (name, Server::Program { command, environment: around }) = one(&format!("{path}:a")) else { panic!() };
        assert_eq!((name, command.len(), around.set.len()), (None, 3, 1));
        let (_, Server::Url(to)) = one(&format!("{path}:b")) else { panic!() };
        assert_eq!((to.url.as_str(), to.headers.len()), ("http://x", 1));
        for (named, says) in [
            (path.clone(), "c: it has neither a command nor a url"),
            (format!("{path}:d"), "a, b, c"),
            (format!("{path}:c"), "neither a command nor a url"),
            ("/no/such".to_owned(), "/no/such"),
        ] {
            let Err(error) = read(&named).map_err(|error| error.to_string()) else { panic!() };
            assert!(error.contains(says) && !error.contains("s3cret"), "{error}");
        }
        write(r#"{"mcpServers":{"a":{"command":{"s3cret":1}}}}"#);
        assert!(matches!(read(&path), Err(error) if !error.to_string().contains("s3cret")));
        write(
            "{\n// mine\n\"servers\": {\"x\": {\"url\": \"http://x//y\"}, /* off */ \"y\": {\"disabled\": true},},\n}",
        );
        let (name, Server::Url(to)) = one(&path) else { panic!() };
        assert_eq!((name.as_deref(), to.url.as_str(), read(&path).unwrap().len()), (Some("x"), "http://x//y", 1));
        write("{\n// mine\n\"servers\": {x}}");
        assert!(read(&path).err().is_some_and(|error| error.to_string().contains("line 3: invalid JSON")));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
