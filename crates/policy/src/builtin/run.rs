//! Tools that run what is written in their arguments, as shell text, as a program's arguments, or as SQL.

use super::database::{self, SqlUse};
use super::shell::browser::BrowserCommand;
use super::{JudgedCall, allow, found, plain_key, powershell, shell, sql};
use crate::detector::ActionKind;
use crate::lists::run::{NEUTRAL_KEYS, OTHER_LANGUAGES};
use crate::verdict::Decision;
use crate::working_folder::WorkingFolder;
use pipewright_record::Fields;
use pipewright_record::hook::OwnToolUse;
use serde_json::{Map, Value};
use std::path::Path;

const SHELL: &[&str] =
    &["command", "cmd", "commands", "commandline", "shellcommand", "script", "bash", "argv", "args", "arguments"];
const SQL: &[&str] = &["sql", "query", "queries", "statement", "statements", "sqlquery"];

const QUERY: &str = "the query only reads";

/// The folder in which the text runs.
const FOLDER: &[&str] = &["cwd", "workdir", "workingdir", "workingdirectory", "directory", "dir", "dirpath"];

/// Whether an argument, by its key without punctuation, does not change what is run.
pub fn is_harmless(key: &str) -> bool {
    NEUTRAL_KEYS.contains(&key)
}

/// Judges a tool that runs its arguments, of which those that are SQL have been judged. `judge` judges the commands of
/// browsers in text that otherwise only reads, if the tool is a shell.
pub fn judge_run(
    call: &JudgedCall<'_>,
    sql: Option<SqlUse>,
    place: &WorkingFolder,
    judge: impl FnOnce(Vec<BrowserCommand>) -> Option<Decision>,
) -> Decision {
    let run = || may_do_more(&[]);
    match sql {
        Some(SqlUse::Read) => return allow(QUERY),
        Some(SqlUse::MayWrite) => return may_do_more(&database::causes(call)),
        Some(SqlUse::None) | None => {}
    }
    let mut fields = Map::new();
    for (key, raw) in call.arguments.iter() {
        let Ok(value) = serde_json::from_str(raw.get()) else { return run() };
        fields.insert(plain_key(key).into_owned(), value);
    }
    let has = |keys: &[&str]| fields.keys().any(|key| keys.contains(&key.as_str()));
    let of_client = match call.own_tool {
        Some(OwnToolUse::Runs(keys)) => keys,
        _ => &[],
    };
    let is_known = |key: &String| [SHELL, SQL, NEUTRAL_KEYS, of_client].iter().any(|keys| keys.contains(&key.as_str()));
    let is_foreign = call.words.iter().any(|word| OTHER_LANGUAGES.contains(&word.as_str()));
    let is_powershell = powershell::is_name(call.tool);
    match (has(SHELL), has(SQL)) {
        (true, false) if is_powershell && fields.keys().all(is_known) && powershell_reads(&fields) => {
            allow("the command only reads")
        }
        _ if !fields.keys().all(is_known) || is_foreign || is_powershell => run(),
        (true, false) if let Some(browsers) = browsers_of(&fields, place) => judge(browsers).unwrap_or_else(run),
        (true, false) if places_of(&fields, place).iter().all(|place| shell_reads(&fields, place)) => {
            allow("the command only reads")
        }
        (false, true) if sql_reads(&fields) => allow(QUERY),
        (true, false) => may_do_more(&shell_causes(&fields, place)),
        (false, true) => may_do_more(&sql_causes(&fields)),
        _ => run(),
    }
}

/// The decision about text that may do more than read, with the parts that may.
fn may_do_more(causes: &[String]) -> Decision {
    let because = "it runs what is written in its arguments".to_owned();
    found(ActionKind::Run, "builtin.run", because).with_parts(causes)
}

/// The parts of a shell's text, or several, that may do more than read.
fn shell_causes(fields: &Map<String, Value>, place: &WorkingFolder) -> Vec<String> {
    let texts = fields.iter().filter(|(key, _)| SHELL.contains(&key.as_str())).flat_map(|(key, value)| match value {
        Value::Array(texts) if key == "commands" => texts.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(text) => vec![text.clone()],
        Value::Array(words) => vec![words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")],
        _ => Vec::new(),
    });
    let texts: Vec<String> = texts.collect();
    // A program and its arguments are one command.
    let has_arguments = ["args", "arguments"].iter().any(|key| fields.contains_key(*key));
    let texts = if has_arguments { vec![texts.join(" ")] } else { texts };
    let mut causes: Vec<String> = Vec::new();
    for place in places_of(fields, place) {
        for cause in texts.iter().flat_map(|text| shell::causes(text, &place)) {
            if !causes.contains(&cause) {
                causes.push(cause);
            }
        }
    }
    causes
}

/// The SQL that may do more than read.
fn sql_causes(fields: &Map<String, Value>) -> Vec<String> {
    let values = fields.iter().filter(|(key, _)| SQL.contains(&key.as_str())).flat_map(|(_, value)| match value {
        Value::Array(texts) => texts.iter().filter_map(Value::as_str).collect(),
        value => value.as_str().into_iter().collect::<Vec<_>>(),
    });
    values.filter(|text| !sql::only_reads(text)).map(sql::cause).collect()
}

/// Whether a call has a program's arguments as text or a list of words: then a tool of unknown effect may be named
/// after that program.
pub fn takes_arguments(arguments: &Fields<'_>) -> bool {
    let is_text = |json: &str| {
        let value = serde_json::from_str::<Value>(json).unwrap_or_default();
        value.is_string() || value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
    };
    arguments.iter().any(|(key, raw)| ["args", "arguments", "argv"].contains(&&*plain_key(key)) && is_text(raw.get()))
}

/// Whether the value of a key for commands only reads.
pub fn command_reads(value: &Value) -> bool {
    shell_reads(&Map::from_iter([("command".to_owned(), value.clone())]), &WorkingFolder::default())
}

/// The parts of a key's value that do not only read.
pub fn command_causes(value: &Value) -> Vec<String> {
    shell_causes(&Map::from_iter([("command".to_owned(), value.clone())]), &WorkingFolder::default())
}

/// The places that the arguments of a call name: a server may take any of them.
fn places_of(fields: &Map<String, Value>, place: &WorkingFolder) -> Vec<WorkingFolder> {
    let named = FOLDER.iter().filter_map(|key| fields.get(*key)?.as_str()).filter(|folder| !folder.is_empty());
    let places: Vec<WorkingFolder> = named
        .map(Path::new)
        .map(|named| {
            let folder = place.folder.as_ref().map(|start| start.join(named));
            WorkingFolder { folder: folder.or_else(|| named.is_absolute().then(|| named.to_owned())), ..place.clone() }
        })
        .collect();
    if places.is_empty() { vec![place.clone()] } else { places }
}

/// The commands of browsers in a shell's text, or several, that otherwise only reads; `None` if there are none.
fn browsers_of(fields: &Map<String, Value>, place: &WorkingFolder) -> Option<Vec<BrowserCommand>> {
    let mut shell = fields.iter().filter(|(key, _)| SHELL.contains(&key.as_str()));
    let texts: Vec<&str> = match (shell.next()?, shell.next()) {
        ((_, Value::String(text)), None) => vec![text],
        ((key, Value::Array(texts)), None) if key == "commands" => {
            texts.iter().map(Value::as_str).collect::<Option<_>>()?
        }
        _ => return None,
    };
    let mut browsers = Vec::new();
    for place in places_of(fields, place) {
        for text in &texts {
            browsers.extend(shell::reads_but_browsers(text, &place)?);
        }
    }
    Some(browsers).filter(|browsers| !browsers.is_empty())
}

fn shell_reads(fields: &Map<String, Value>, place: &WorkingFolder) -> bool {
    let mut commands = fields
        .iter()
        .filter(|(key, _)| SHELL.contains(&key.as_str()) && !["args", "arguments"].contains(&key.as_str()));
    let Some((key, command)) = commands.next() else { return false };
    let arguments: Vec<&Value> = ["args", "arguments"].iter().filter_map(|key| fields.get(*key)).collect();
    if commands.next().is_some() || arguments.len() > 1 {
        return false;
    }
    match (command, arguments.first()) {
        (Value::Array(texts), None) if key == "commands" => {
            // One shell may run them all, each where the one before has gone.
            let texts: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
            texts.is_some_and(|texts| {
                let all = texts.join("\n");
                !texts.is_empty() && texts.iter().chain([&&*all]).all(|text| shell::only_reads(text, place))
            })
        }
        (Value::String(text), None) => shell::only_reads(text, place),
        (Value::String(text), Some(Value::String(arguments))) => {
            shell::only_reads(&format!("{text} {arguments}"), place)
        }
        (Value::String(program), Some(Value::Array(arguments))) => {
            words_read(std::iter::once(program.as_str()).map(Some).chain(arguments.iter().map(Value::as_str)), place)
        }
        (Value::Array(words), None) => words_read(words.iter().map(Value::as_str), place),
        _ => false,
    }
}

/// A program and its arguments. Some servers join them by blanks and give them to a shell, so that text must only read,
/// too.
fn words_read<'a>(words: impl Iterator<Item = Option<&'a str>>, place: &WorkingFolder) -> bool {
    let Some(words) = words.map(|word| word.map(str::to_owned)).collect::<Option<Vec<String>>>() else { return false };
    !words.is_empty() && shell::command_reads(&words, place) && shell::only_reads(&words.join(" "), place)
}

/// PowerShell's text, under a single key.
fn powershell_reads(fields: &Map<String, Value>) -> bool {
    let mut texts = fields.iter().filter(|(key, _)| SHELL.contains(&key.as_str()));
    let text = texts.next().and_then(|(_, text)| text.as_str());
    texts.next().is_none() && text.is_some_and(powershell::only_reads)
}

fn sql_reads(fields: &Map<String, Value>) -> bool {
    let reads = |value: &Value| value.as_str().is_some_and(sql::only_reads);
    fields.iter().filter(|(key, _)| SQL.contains(&key.as_str())).all(|(_, value)| match value {
        Value::Array(texts) => !texts.is_empty() && texts.iter().all(reads),
        value => reads(value),
    })
}
