//! The reasoning that a server leaves in the text of a model: it stands before an end mark, with or without a begin mark.

/// Parts of the names of marks, in lower case: `<think>`, `<seed:think>`, `[THINK]`, `◁think▷`, `<|END_THINKING|>`, `<inner_thoughts>`.
const NAMES: [&str; 7] = ["think", "thought", "reasoning", "reflection", "analysis", "scratchpad", "monologue"];

/// The most characters of a mark.
const LONGEST: usize = 40;

struct Mark {
    begin: usize,
    end: usize,
    is_end: bool,
}

/// The reasoning at the beginning of a text, and the rest. An end mark without a begin mark counts if it ends its line: the text may be
/// about marks.
pub fn reasoning(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let begin = mark_at(text, 0).filter(|mark| !mark.is_end).map(|mark| mark.end);
    let ends = || marks(text).filter(|mark| mark.is_end);
    let last = ends().filter(|mark| text[mark.end..].trim_start_matches([' ', '\r']).starts_with('\n')).last();
    let end = last.or_else(|| begin.and_then(|_| ends().next()))?;
    if super::is_within_call(&text[..end.begin]) {
        return None;
    }
    Some((text[begin.unwrap_or(0)..end.begin].trim(), text[end.end..].trim_start()))
}

/// The text behind all reasoning: calls stand only there. `None` if the reasoning has no end, or if its end is text of a call.
pub(super) fn behind(text: &str) -> Option<&str> {
    let last = marks(text).filter(|mark| mark.is_end).last();
    if last.as_ref().is_some_and(|mark| super::is_within_call(&text[..mark.begin])) {
        return None;
    }
    let behind = last.map_or(text, |mark| &text[mark.end..]);
    let begins_line = |mark: &Mark| behind[..mark.begin].trim_end_matches([' ', '\t']).ends_with('\n');
    let is_open = mark_at(behind.trim_start(), 0).is_some() || marks(behind).any(|mark| begins_line(&mark));
    (!is_open).then_some(behind)
}

fn marks(text: &str) -> impl Iterator<Item = Mark> {
    text.match_indices(['<', '[', '\u{25c1}']).filter_map(|(at, _)| mark_at(text, at))
}

fn mark_at(text: &str, begin: usize) -> Option<Mark> {
    let mut characters = text[begin..].char_indices();
    let (_, open) = characters.next()?;
    let close = match open {
        '<' => '>',
        '[' => ']',
        '\u{25c1}' => '\u{25b7}',
        _ => return None,
    };
    let (length, _) = characters.take(LONGEST).find(|(_, character)| *character == close)?;
    let inner = &text[begin + open.len_utf8()..begin + length];
    let name = inner.trim_end().trim_matches(['|', '\u{ff5c}']);
    let end = begin + length + close.len_utf8();
    if name == "channel" {
        return Some(channel(text, begin, end, inner.starts_with('|')));
    }
    let lower = name.trim_start_matches('/').to_ascii_lowercase();
    let is_word = lower.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_:-".contains(&byte));
    // A word in square brackets is plain text, except for the mark of Mistral's models.
    let is_mark = is_word && NAMES.iter().any(|part| lower.contains(part)) && (open != '[' || name.ends_with("THINK"));
    is_mark.then(|| Mark { begin, end, is_end: name.starts_with('/') || lower.starts_with("end") })
}

/// `<|channel|>analysis<|message|>` of gpt-oss and `<|channel>thought` of Gemma begin reasoning; another channel, or none, ends it.
fn channel(text: &str, begin: usize, end: usize, is_named: bool) -> Mark {
    let letters = text[end..].bytes().take_while(u8::is_ascii_alphabetic).count();
    let (name, rest) = text[end..].split_at(if is_named { letters } else { 0 });
    let message = if rest.starts_with("<|message|>") { "<|message|>".len() } else { 0 };
    Mark { begin, end: end + name.len() + message, is_end: !NAMES.contains(&name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_found_under_every_mark() {
        for (begin, end) in [
            ("<think>", "</think>"),
            ("<thinking>", "</thinking>"),
            ("<seed:think>", "</seed:think>"),
            ("<reasoning>", "</reasoning>"),
            ("[THINK]", "[/THINK]"),
            ("\u{25c1}think\u{25b7}", "\u{25c1}/think\u{25b7}"),
            ("<|START_THINKING|>", "<|END_THINKING|>"),
            ("<|begin_of_thought|>", "<|end_of_thought|>"),
            ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
            ("<|channel>thought", "<channel|>"),
        ] {
            assert_eq!(reasoning(&format!(" {begin} a\nb {end} c")), Some(("a\nb", "c")), "{begin}");
            assert_eq!(reasoning(&format!("a\n{end} \r\n c")), Some(("a", "c")), "{end}");
            assert_eq!(behind(&format!("{begin} a {begin} b{end} c{end} d")), Some(" d"), "{begin}");
            assert_eq!(
                (behind(&format!("a{end}b\n {begin} c")), behind(&format!(" {begin} c"))),
                (None, None),
                "{begin}"
            );
        }
    }

    #[test]
    fn other_text_is_no_reasoning() {
        for text in [
            "",
            "<",
            "[think] a",
            "a <b> c",
            "the mark <think> in a line",
            "<reason>a",
            "[x](y)",
            "<\u{e9}think",
            "<thinking of it>",
        ] {
            assert_eq!((reasoning(text), behind(text)), (None, Some(text)), "{text}");
        }
        assert_eq!(reasoning("The mark </think> ends it."), None);
    }
}
