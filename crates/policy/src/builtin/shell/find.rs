//! `find`, whose `-exec` runs a command with the names that it has found.

use super::arguments::options;
use pipewright_syntax::shell::Word;

/// Actions that write, delete or ask, and commands that run in the folder of what is found.
const ACTING: &[&str] = &["-delete", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls"];

/// The commands that find runs, with a pattern in place of the names; `None` if it may do more than run them.
pub(super) fn commands(arguments: &[Word]) -> Option<Vec<Vec<Word>>> {
    let (mut own, mut commands, mut rest) = (Vec::new(), Vec::new(), arguments);
    while let Some((word, behind)) = rest.split_first() {
        rest = behind;
        if word.text() == Some("-exec") {
            let end = behind.iter().position(|word| matches!(word.text(), Some(";" | "+")))?;
            commands.push(command(&behind[..end], behind[end].text() == Some(";"))?);
            rest = &behind[end + 1..];
        } else {
            own.push(word.clone());
        }
    }
    // After `--`, find still takes words with a dash for its tests and actions.
    let own = options(&own, false)?;
    // With these, what is found may begin with a dash.
    let names_begin_anyhow = own.iter().any(|option| option.starts_with("-files0") || *option == "-f");
    let reads = !own.iter().any(|option| ACTING.contains(option));
    (reads && (commands.is_empty() || !names_begin_anyhow)).then_some(commands)
}

/// A command, for each name or for several. An expansion in it may end it.
fn command(words: &[Word], is_for_each: bool) -> Option<Vec<Word>> {
    let texts: Vec<&str> = words.iter().map(Word::text).collect::<Option<_>>()?;
    // Some finds take any `+` for the end.
    if !is_for_each && texts.last() != Some(&"{}") {
        return None;
    }
    let is_test = is_for_each && matches!(texts.first(), Some(&"test" | &"["));
    let word = |text: &str| match text {
        "{}" if is_test => Word::One,
        // What is found begins with the folder that is searched, and so is no option.
        "{}" => Word::Pattern("./*".to_owned()),
        _ if text.contains("{}") => Word::Any,
        _ => Word::Text(text.to_owned()),
    };
    Some(texts.into_iter().map(word).collect())
}
