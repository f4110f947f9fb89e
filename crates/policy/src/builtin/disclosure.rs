//! Calls that only read, but may give something away: they read a secret, or contact another machine, to which any
//! address may carry data. The policy lets them pass as reading; a client that asks about them itself must go on asking.

use super::lexicon::is_about_access;
use super::{plain_key, powershell, secret_files};
use crate::lists::disclosure::{REQUESTING_PROGRAMS, REQUESTING_SUBCOMMANDS, SECRETS};
use pipewright_record::Call;
use pipewright_record::identifier::words;
use pipewright_syntax::shell::{ShellStep, Word, steps};
use serde_json::{Map, Value};
use url::Url;

/// Keys for an address, which may lack its scheme.
const ADDRESSES: &[&str] = &["address", "endpoint", "href", "link", "links", "uri", "uris", "url", "urls"];
/// Words of tools that contact another machine.
const NETWORK: &[&str] = &[
    "browse",
    "crawl",
    "curl",
    "dig",
    "dns",
    "download",
    "fetch",
    "host",
    "http",
    "https",
    "nslookup",
    "page",
    "ping",
    "request",
    "resolve",
    "scrape",
    "url",
    "web",
    "webfetch",
    "webhook",
    "websearch",
    "website",
    "whois",
];
/// Keys for a shell's text.
const COMMANDS: &[&str] = &["bash", "cmd", "command", "commandline", "commands", "script", "shell"];
/// Keys for the words of a command.
const WORDS: &[&str] = &["args", "arguments", "argv"];

/// A longer call is not searched: the client would not wait, and let it pass.
const MAX_LEN: usize = 20_000;

/// Whether a call that only reads may give something away. `folder` is the client's, if it is known.
pub fn may_disclose(call: &Call<'_>, folder: Option<&str>) -> bool {
    let arguments = Some(call.arguments_text()).filter(|arguments| arguments.len() <= MAX_LEN).unwrap_or_default();
    let Ok(fields) = serde_json::from_str::<Map<String, Value>>(arguments) else { return true };
    let tool = words(&call.tool);
    let is_secret = |word: &String| is_about_access(word) || SECRETS.contains(&&**word);
    let is_request = tool.iter().any(|word| NETWORK.contains(&&**word));
    let searches = tool.iter().any(|word| word.ends_with("grep"));
    folder.is_some_and(secret_files::may_name)
        || is_request
        // Its paths are not read here.
        || powershell::is_name(&call.tool)
        || tool.iter().any(is_secret)
        || fields.iter().any(|(key, value)| {
            let key = plain_key(key);
            // What is searched for is no path.
            let is_text = key == "description" || searches && ["pattern", "regex"].contains(&&*key);
            !is_text && discloses(&key, value)
        })
}

fn discloses(key: &str, value: &Value) -> bool {
    match value {
        Value::String(_) if WORDS.contains(&key) => true,
        Value::String(text) if COMMANDS.contains(&key) => command_discloses(text),
        Value::String(text) => ADDRESSES.contains(&key) || text_discloses(text),
        // Only a text tells which words belong together.
        Value::Array(_) if WORDS.contains(&key) || COMMANDS.contains(&key) && key != "commands" => true,
        Value::Array(items) => items.iter().any(|item| discloses(key, item)),
        Value::Object(fields) => fields.iter().any(|(key, value)| discloses(&plain_key(key), value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn text_discloses(text: &str) -> bool {
    text.contains("://") || Url::parse(text).is_ok_and(|url| url.has_host()) || secret_files::may_name(text)
}

/// Whether a shell's text, or a word of a command, names a secret, prints the environment, or has a word that is not
/// known.
fn command_discloses(text: &str) -> bool {
    // Variables may hold secrets, and the steps do not show those of here-documents.
    if text.contains(['$', '`']) {
        return true;
    }
    let Ok(steps) = steps(text) else { return true };
    let folders: Vec<&str> = steps.iter().filter_map(changed_to).collect();
    let names_secret = |word: &String| {
        text_discloses(word) || folders.iter().any(|folder| secret_files::may_name(&format!("{folder}/{word}")))
    };
    steps.iter().any(|step| match step {
        ShellStep::Run(command) => {
            // A pattern names the files that match it.
            let text = |word: &Word| match word {
                Word::Text(text) | Word::Pattern(text) => Some(text.clone()),
                Word::Number | Word::One | Word::Any => None,
            };
            let texts = |words: &[Word]| words.iter().map(text).collect();
            let (words, read): (Option<Vec<String>>, Option<Vec<String>>) =
                (texts(&command.words), texts(&command.read));
            match (words, read) {
                (Some(words), Some(read)) => {
                    (0..words.len()).any(|at| program_discloses(&words[at..]))
                        || words.iter().chain(&read).any(names_secret)
                }
                _ => true,
            }
        }
        ShellStep::Define(_) => false,
    })
}

/// The folder to which a step changes.
fn changed_to(step: &ShellStep) -> Option<&str> {
    match step {
        ShellStep::Run(command) if command.words.first().and_then(Word::text) == Some("cd") => {
            command.words.last()?.text()
        }
        _ => None,
    }
}

/// Whether a program prints secrets that are in no file of its arguments. Any word may be the program: others start it.
fn program_discloses(words: &[String]) -> bool {
    let Some((program, arguments)) = words.split_first() else { return false };
    let program = program.rsplit('/').next().unwrap_or_default();
    let has = |part: &str| arguments.iter().any(|argument| argument.to_lowercase().contains(part));
    match program {
        "crontab" | "declare" | "env" | "export" | "history" | "printenv" | "readonly" | "typeset" => true,
        "php" => has_flag(arguments, "i", &["inf"]),
        "set" => arguments.is_empty(),
        // Its paths are not read here.
        "powershell" | "pwsh" => true,
        // Their pages have a person's logins, and an action is no reading.
        "agent-browser" | "playwright-cli" => true,
        // Without a folder it leads home.
        "cd" => arguments.is_empty() || arguments == ["-"],
        program if REQUESTING_PROGRAMS.contains(&program) || requests(program, arguments) => true,
        "bash" | "dash" | "sh" => arguments.iter().any(|text| command_discloses(text)),
        "docker" | "podman" => has("inspect"),
        "npm" | "pnpm" => has_word(arguments, &["c", "config"]),
        // Versions are compared with those of an index.
        "pip" | "pip3" => has_word(arguments, &["config", "inspect"]) || has_flag(arguments, "ou", &["out", "upt"]),
        // It reads files of any name.
        "find" => has("-exec"),
        "go" => has("env"),
        // Long options may be abbreviated.
        "du" | "sort" | "wc" => arguments.iter().any(|argument| {
            let name = argument.strip_prefix("--").and_then(|long| long.split('=').next()).unwrap_or_default();
            !name.is_empty() && "files0-from".starts_with(name)
        }),
        // `diff -r` reads all files of a folder.
        "diff" => has_flag(arguments, "r", &["rec"]),
        "git" => {
            let reads_more = ["cat-file", "config", "remote", "fetch"].into_iter().any(has);
            reads_more || has_flag(arguments, "", &["no-i", "no-e", "unt", "exc"])
        }
        // `grep -r` searches hidden files as well, and those that are not committed.
        "grep" | "egrep" | "fgrep" => has_flag(arguments, "rRd", &["rec", "der", "dir"]),
        "rg" => has_flag(arguments, "u.", &["hid", "unr", "no-ig"]),
        "jq" | "yq" => has("env") || has("load"),
        "ps" => arguments
            .iter()
            .any(|argument| argument.contains('E') || !argument.starts_with('-') && argument.contains('e')),
        "systemctl" => has("show") || has("cat"),
        // xargs reads the names of files.
        "xargs" => true,
        _ => false,
    }
}

/// Whether a subcommand contacts another machine, often with names that the caller chooses.
fn requests(program: &str, arguments: &[String]) -> bool {
    let mut listed = REQUESTING_SUBCOMMANDS.iter().filter_map(|listed| listed.split_once(' '));
    listed.any(|(name, word)| name == program && has_word(arguments, &[word]))
}

fn has_word(arguments: &[String], words: &[&str]) -> bool {
    arguments.iter().any(|argument| words.contains(&argument.as_str()))
}

/// Whether a short option has one of these letters, or a long one begins so.
fn has_flag(arguments: &[String], letters: &str, long: &[&str]) -> bool {
    arguments.iter().any(|argument| match (argument.strip_prefix("--"), argument.strip_prefix('-')) {
        (Some(name), _) => long.iter().any(|long| name.starts_with(long)),
        (None, Some(name)) => name.contains(|letter| letters.contains(letter)),
        (None, None) => false,
    })
}
