//! Commands that docker, podman and kubectl run in a container.

use super::arguments::behind_options;
use pipewright_syntax::shell::Word;

/// The command in a container, with its arguments; `None` if there is none, or other options may do more than choose
/// where it runs.
pub(super) fn command<'a>(program: &str, arguments: &'a [Word]) -> Option<&'a [Word]> {
    let (subcommand, rest) = arguments.split_first()?;
    if subcommand.text() != Some("exec") {
        return None;
    }
    let inner = match program {
        "docker" | "podman" => behind_name(rest, &["-w", "--workdir"])?,
        "kubectl" => {
            let end = rest.iter().position(|word| word.text() == Some("--"))?;
            const CHOOSING: &[&str] = &["-c", "--container", "-n", "--namespace"];
            let behind = behind_name(&rest[..end], CHOOSING)?;
            if !behind_options(behind, ALONE, CHOOSING)?.is_empty() {
                return None;
            }
            &rest[end + 1..]
        }
        _ => return None,
    };
    (!inner.is_empty()).then_some(inner)
}

/// Options for a terminal.
const ALONE: &[&str] = &["-i", "-t", "-it", "-ti"];

/// The words behind a container's name, before which there are options.
fn behind_name<'a>(words: &'a [Word], choosing: &[&str]) -> Option<&'a [Word]> {
    let (name, behind) = behind_options(words, ALONE, choosing)?.split_first()?;
    name.text().is_some_and(|name| !name.starts_with('-')).then_some(behind)
}
