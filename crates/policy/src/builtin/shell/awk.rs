//! Programs in awk that have `|` or `>` in a pattern, a text or a condition, and open neither a file nor a pipe.

/// Where a slash begins a pattern: at the begin, and behind these signs. Behind others it may divide, too.
const BEFORE_PATTERNS: &[char] = &['{', '}', ';', '\n', '(', ',', '!', '~', '&', '|'];

/// Whether a program's `>` compares and its `|` belongs to `||`. Where awks could split a program differently, it does
/// not count as harmless.
pub(super) fn opens_nothing(program: &str) -> bool {
    without_texts(program).is_some_and(|code| code_opens_nothing(&code))
}

/// The program without what is in texts, patterns and comments; `None` if their ends are not certain.
fn without_texts(program: &str) -> Option<String> {
    let mut code = String::new();
    let mut rest = program;
    while let Some(sign) = rest.chars().next() {
        rest = &rest[sign.len_utf8()..];
        match sign {
            '"' => {
                rest = behind_end(rest, '"')?.1;
                code.push('"');
            }
            '/' => {
                let before = code.trim_end_matches([' ', '\t']).chars().last();
                if before.is_none_or(|before| BEFORE_PATTERNS.contains(&before)) {
                    let (pattern, behind) = behind_end(rest, '/')?;
                    rest = is_certain(pattern).then_some(behind)?;
                    code.push('"');
                } else if before.is_some_and(|before| before.is_ascii_digit() || before == ']') {
                    code.push('/');
                } else {
                    return None;
                }
            }
            '#' => rest = rest.find('\n').map_or("", |end| &rest[end..]),
            _ if sign.is_ascii_alphanumeric() || " \t\n_$.,;:?!~=<>+-*%^()[]{}&|".contains(sign) => code.push(sign),
            _ => return None,
        }
    }
    Some(code)
}

/// A text and what is behind its end; `None` if it has no end in its line.
fn behind_end(text: &str, end: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (at, sign) in text.char_indices() {
        match sign {
            '\n' => return None,
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if sign == end => return Some((&text[..at], &text[at + 1..])),
            _ => {}
        }
    }
    None
}

/// Whether all awks find the same end of a pattern: a slash in brackets ends it only for some, and `/=` divides.
fn is_certain(pattern: &str) -> bool {
    let mut plain = String::new();
    let mut signs = pattern.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '\\' => drop(signs.next()),
            sign => plain.push(sign),
        }
    }
    let is_open = plain.rsplit_once('[').is_some_and(|(_, behind)| !behind.contains(']'));
    !pattern.starts_with('=') && !is_open && !plain.contains("[]") && !plain.contains("[^]")
}

fn code_opens_nothing(code: &str) -> bool {
    let code = code.replace("||", "&&").replace(">=", "==");
    let (mut braces, mut parentheses) = (0_usize, 0_usize);
    let mut word = String::new();
    for sign in code.chars() {
        if sign.is_ascii_alphanumeric() || sign == '_' {
            word.push(sign);
            continue;
        }
        // A loop's parentheses may have a statement.
        if parentheses > 0 && ["print", "printf"].contains(&word.as_str()) {
            return false;
        }
        word.clear();
        let is_balanced = match sign {
            '{' => change(&mut braces, parentheses == 0),
            '(' => change(&mut parentheses, true),
            '}' if braces > 0 && parentheses == 0 => {
                braces -= 1;
                true
            }
            ')' if parentheses > 0 => {
                parentheses -= 1;
                true
            }
            '}' | ')' | '|' => false,
            '>' => braces == 0 || parentheses > 0,
            _ => true,
        };
        if !is_balanced {
            return false;
        }
    }
    braces == 0 && parentheses == 0 && !code.contains(">>")
}

fn change(depth: &mut usize, may: bool) -> bool {
    *depth += 1;
    may
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_and_alternatives_open_nothing() {
        for program in [
            "/a|b/",
            "/a|b/{print $1}",
            "{if ($3>100) print}",
            "$3 > 100 || $4 > 2 {print}",
            "{ if ($1 ~ /x|y/ || $2 > 3) { n++ } } END { print $1/2 }",
            "{print (a > b) ? \"x\" : \"y>z\"}",
            "!/a|\\/b/ { print \"a | b\" } # > x",
            "/[a-z]+|[[:digit:]]/",
            "(/a|b/ && !/c/)",
        ] {
            assert!(opens_nothing(program), "{program}");
        }
        for program in [
            "{print > \"f\"}",
            "/a|b/ {print > $1}",
            "{print | \"sh\"}",
            "{print |& \"sh\"}",
            "{\"ls\" | x}",
            "{if (x) print > \"f\"}",
            "{print (a) > \"f\"}",
            "{print(a)>\"f\"}",
            "{printf(\"%s\", a) > \"f\"}",
            "{for (;;print \"x\" > \"f\") {}}",
            "{print a >> \"f\"}",
            "/[/]|/ {print > \"f\"}",
            "/[/]/ | \"/]/\"",
            "/[]/]|x/ {print}",
            "/a[\\]/|\"sh/]\"",
            "a /b|\"sh\"/ c",
            "{x = 1 / 2; y /z|\"sh\"/ 1}",
            "/=|/ {print}",
            "{print \"a\\\n\" > \"f\"}",
            "{print a\\\n> \"f\"}",
            "{(print) > \"f\"}",
            "}{ print > \"f\"",
            ") | (",
            "{print \"a\" > 'f'}",
            "{print /a/ > \"f\"}",
        ] {
            assert!(!opens_nothing(program), "{program}");
        }
    }
}
