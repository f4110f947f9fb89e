//! Shell text that only reads: each of its simple commands is a program that is known to read, with arguments with
//! which it writes and runs nothing.

mod arguments;
mod awk;
pub mod browser;
mod containers;
mod find;
mod git;
mod program_arguments;
mod programs;
mod readers;
mod sql_clients;

use super::folder_use::FolderUse;
use crate::lists::shell::{PLAIN_VARIABLES, SETTINGS, TAKEN};
use crate::working_folder::WorkingFolder;
use browser::BrowserCommand;
use pipewright_syntax::Unreadable;
use pipewright_syntax::shell::{Command, ShellStep, Word, steps};
use programs::ReadOnlyWhen;

/// The greatest depth of commands within commands: `env nice sh -c "..."`.
const MAX_DEPTH: usize = 5;

/// Whether a shell's text only reads, in its folder.
pub fn only_reads(text: &str, place: &WorkingFolder) -> bool {
    reads_but_browsers(text, place).is_some_and(|browsers| browsers.is_empty())
}

/// The commands of browsers in a text that otherwise only reads, in their order; `None` if it does more.
pub fn reads_but_browsers(text: &str, place: &WorkingFolder) -> Option<Vec<BrowserCommand>> {
    let mut visits = FolderUse::default();
    let reads = text_reads(text, MAX_DEPTH, &mut visits) && visits.run_nothing_else(place);
    (reads && !may_repeat(&visits)).then(|| visits.browsers())
}

/// The parts of a text that may do more than read, for a person.
pub fn causes(text: &str, place: &WorkingFolder) -> Vec<String> {
    let mut visits = FolderUse::default();
    if text_reads(text, MAX_DEPTH, &mut visits) {
        if may_repeat(&visits) {
            return vec!["it repeats the command of a browser".to_owned()];
        }
        let runs = visits.runs_other_code(place);
        return runs.map(|program| format!("files may make {program} run other code")).into_iter().collect();
    }
    visits.causes().to_vec()
}

/// The second time, an element of a page may be another one.
fn may_repeat(visits: &FolderUse) -> bool {
    visits.repeats() && visits.browsers().iter().any(BrowserCommand::may_change)
}

/// The command of a browser that a text consists of: a single simple command, whose output is its own.
pub fn browser_command(text: &str) -> Option<BrowserCommand> {
    let steps = steps(text).ok()?;
    let [ShellStep::Run(Command { assigned, words, written, read, source: _ })] = &steps[..] else { return None };
    let words: Vec<&str> = words.iter().map(Word::text).collect::<Option<_>>()?;
    let (program, words) = words.split_first().filter(|(program, _)| browser::is_browser(program))?;
    let is_alone = assigned.is_empty() && written.is_empty() && read.is_empty();
    is_alone.then(|| browser::command(program, words))
}

/// Whether a program with these arguments only reads, in its folder; no shell expands them.
pub fn command_reads(words: &[String], place: &WorkingFolder) -> bool {
    let words: Vec<Word> = words.iter().cloned().map(Word::Text).collect();
    let mut visits = FolderUse::default();
    program_reads(&words, MAX_DEPTH, &mut visits) && visits.run_nothing_else(place) && visits.browsers().is_empty()
}

fn text_reads(text: &str, deep: usize, visits: &mut FolderUse) -> bool {
    let steps = match steps(text) {
        Ok(steps) => steps,
        Err(Unreadable(why)) => {
            visits.blames(unreadable_part(text, why));
            return false;
        }
    };
    visits.reads(text);
    let mut functions: Vec<String> = Vec::new();
    let mut reads = !steps.is_empty();
    for step in steps {
        let before = visits.causes().len();
        let (step_reads, part) = match step {
            ShellStep::Run(command) => {
                let calls =
                    command.words.first().is_some_and(|name| functions.iter().any(|own| name.text() == Some(own)));
                let reads = opens_reading(&command)
                    && !names_share(&command)
                    && (calls || program_reads(&command.words, deep, visits));
                (reads, command.source)
            }
            ShellStep::Define(name) => {
                let may_be = is_own_name(&name);
                let part = format!("{name}()");
                functions.push(name);
                (may_be, part)
            }
        };
        // A text within this command has named its own part.
        if !step_reads && visits.causes().len() == before {
            visits.blames(format!("{part:?}"));
        }
        reads &= step_reads;
    }
    reads
}

/// What is not certain in a text, with the only line that is not, if there is one.
fn unreadable_part(text: &str, why: &str) -> String {
    let mut lines = text.lines().filter(|line| steps(line).is_err());
    match (lines.next(), lines.next()) {
        (Some(line), None) if line.len() < text.trim().len() => format!("{why}: {:?}", line.trim()),
        _ => why.to_owned(),
    }
}

/// Whether the assignments and redirections of a command change nothing.
fn opens_reading(command: &Command) -> bool {
    let is_nowhere =
        |file: &Word| file.text().is_some_and(|file| ["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&file));
    // bash opens connections for these names.
    let is_file = |file: &Word| file.text().is_some_and(|file| !file.starts_with("/dev/"));
    let is_set = |(name, value): &(String, Word)| match command.words.first() {
        None => is_own_name(name) || PLAIN_VARIABLES.contains(&name.as_str()),
        // IFS changes only how `read` splits its line.
        Some(program) if program.text() == Some("read") && name == "IFS" => true,
        Some(_) => is_harmless_setting(name, value.text()),
    };
    command.written.iter().all(is_nowhere)
        && command.read.iter().all(|file| is_nowhere(file) || is_file(file))
        && command.assigned.iter().all(is_set)
}

/// Whether a command names a file on another machine, which bash on Windows asks for it: `//host/share`.
fn names_share(command: &Command) -> bool {
    let is_share = |text: &str| {
        let path = text.strip_prefix("//").or_else(|| text.strip_prefix("\\\\")).unwrap_or_default();
        let host = path.split(['/', '\\']).next().unwrap_or_default();
        let is_name = |one: char| one.is_ascii_alphanumeric() || "._-@$".contains(one);
        !host.is_empty() && host.len() < path.len() && host.chars().all(is_name)
    };
    command.words.iter().chain(&command.read).any(|word| match word {
        Word::Text(text) | Word::Pattern(text) => {
            is_share(text) || text.split_once('=').is_some_and(|(_, value)| is_share(value))
        }
        Word::Number | Word::One | Word::Any => false,
    })
}

/// Whether a name may be a text's own variable or function. Shells and programs give names in lower case no meaning,
/// except zsh's tables and lists of folders; and a function must not replace a builtin.
fn is_own_name(name: &str) -> bool {
    let is_plain = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_';
    let begins = name.starts_with(|one: char| one.is_ascii_lowercase());
    begins && name.chars().all(is_plain) && !TAKEN.contains(&name) && !name.ends_with("_proxy")
}

/// Whether a variable of a program, with this value, only changes how it prints.
fn is_harmless_setting(name: &str, value: Option<&str>) -> bool {
    let is = |setting: &str| match setting.split_once('=') {
        Some((known, "*")) => known == name,
        Some((known, "@")) => known == name && value.is_some_and(is_name_of_system),
        // Some shells calculate the value, and run what is in it.
        Some((known, "#")) => known == name && value.is_some_and(|value| value.bytes().all(|one| one.is_ascii_digit())),
        Some((known, known_value)) => known == name && value == Some(known_value),
        None => false,
    };
    name.starts_with("LC_") && value.is_some_and(is_name_of_system) || SETTINGS.iter().any(|setting| is(setting))
}

/// Whether the name of a language or a zone, or several, is looked up below the system's own folders: `:/x` and `../x`
/// are files.
fn is_name_of_system(names: &str) -> bool {
    !names.split(':').any(|name| name.starts_with(['/', '.']) || name.contains(".."))
}

/// Whether a program and its arguments only read; no words run nothing.
fn program_reads(words: &[Word], deep: usize, visits: &mut FolderUse) -> bool {
    let Some((name, arguments)) = words.split_first() else { return true };
    let Some(name) = name.text() else { return false };
    let name = ["/usr/bin/", "/bin/"].into_iter().find_map(|folder| name.strip_prefix(folder)).unwrap_or(name);
    if deep == 0 || name.contains('/') {
        return false;
    }
    visit(name, arguments, visits);
    let known: Option<Vec<&str>> = arguments.iter().map(Word::text).collect();
    if browser::is_browser(name) {
        return known.is_some_and(|arguments| {
            visits.browses(browser::command(name, &arguments));
            true
        });
    }
    if known.as_ref().is_some_and(|arguments| programs::describes_itself(name, arguments)) {
        return true;
    }
    if let Some(inner) = containers::command(name, arguments) {
        // A browser there is none of those whose pages are known.
        let browsers = visits.browsers().len();
        return program_reads(inner, deep - 1, visits) && visits.browsers().len() == browsers;
    }
    match (programs::reading(name), known) {
        (Some(ReadOnlyWhen::Whatever), _) => true,
        (Some(ReadOnlyWhen::Without(options)), _) => {
            arguments::options(arguments, true).is_some_and(|own| arguments::has_none(&own, options))
        }
        (Some(ReadOnlyWhen::If(reads)), Some(arguments)) => reads(&arguments),
        (Some(ReadOnlyWhen::Wrapper(skip)), _) => {
            skip(arguments).is_some_and(|inner| program_reads(inner, deep - 1, visits))
        }
        (Some(ReadOnlyWhen::EachInput), _) => each_input_reads(arguments, deep, visits),
        (Some(ReadOnlyWhen::EachFile), _) => each_file_reads(arguments, deep, visits),
        (Some(ReadOnlyWhen::Shell), Some(arguments)) => match arguments[..] {
            ["-c" | "-lc" | "-ec" | "-euc", text, ..] => text_reads(text, deep - 1, visits),
            _ => arguments == ["--version"],
        },
        (Some(ReadOnlyWhen::IfWords(reads)), _) => reads(arguments),
        (None, Some(arguments)) => {
            let reads = readers::reads(name, &arguments).or_else(|| sql_clients::reads(name, &arguments));
            reads == Some(true)
        }
        _ => false,
    }
}

/// Records where a program runs, or to which folder it changes.
fn visit(name: &str, arguments: &[Word], visits: &mut FolderUse) {
    match (name, arguments) {
        ("cd", []) => visits.changes_to(Some("~")),
        ("cd", [folder]) => {
            let folder = folder.text().filter(|folder| !folder.starts_with(['-', '+']) && !folder.is_empty());
            visits.changes_to(folder);
        }
        ("cd" | "pushd" | "popd", _) => visits.changes_to(None),
        ("git", _) => visits.runs(name, git::folders(arguments)),
        ("docker" | "podman", [subcommand, ..]) if subcommand.text() == Some("compose") => {
            visits.runs(&format!("{name} compose"), Vec::new());
        }
        _ => visits.runs(name, Vec::new()),
    }
}

/// Judges `find` by the commands that it runs. It may repeat them, and so runs none of a browser.
fn each_file_reads(arguments: &[Word], deep: usize, visits: &mut FolderUse) -> bool {
    let browsers = visits.browsers().len();
    find::commands(arguments).is_some_and(|commands| {
        commands.iter().all(|command| !command.is_empty() && program_reads(command, deep - 1, visits))
            && visits.browsers().len() == browsers
    })
}

/// Judges `xargs`: its command gets further words, which may be anything.
fn each_input_reads(arguments: &[Word], deep: usize, visits: &mut FolderUse) -> bool {
    let Some(inner) =
        arguments::behind_options(arguments, &["-0", "-r", "-t", "-x"], &["-n", "-P", "-L", "-d", "-I", "-s"])
    else {
        return false;
    };
    let options = &arguments[..arguments.len() - inner.len()];
    let replaced = replaced_by_input(options);
    let replaces = !replaced.is_empty();
    let (program, rest) = inner.split_at(inner.len().min(1));
    // Some replace it in the program's name, too.
    let is_in_name = |text: &Option<&str>| {
        program.first().and_then(Word::text).is_none_or(|name| text.is_none_or(|text| name.contains(text)))
    };
    if replaced.iter().any(is_in_name) {
        return false;
    }
    let mut words = program.to_vec();
    words.extend(rest.iter().map(|word| if replaces { Word::Any } else { word.clone() }));
    // Without a command it prints.
    words.is_empty() || {
        words.push(Word::Any);
        program_reads(&words, deep - 1, visits)
    }
}

/// The texts that `xargs` replaces by its input, from its options; `None` for one that is not known.
fn replaced_by_input(options: &[Word]) -> Vec<Option<&str>> {
    let value = |at: usize, text: &'_ str| match text.strip_prefix("-I")? {
        "" => Some(options.get(at + 1).and_then(Word::text)),
        _ => Some(options[at].text().map(|text| &text[2..])),
    };
    options.iter().enumerate().filter_map(|(at, word)| value(at, word.text()?)).collect()
}

#[cfg(test)]
mod tests;
