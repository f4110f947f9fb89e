//! JSON as the readers of other languages accept it, each in its most lenient mode. A call that a gate passes must be the same
//! for all of them.
//!
//! Sources: Go's encoding/json (case-insensitive keys, lone surrogates replaced, several values in a row), Python's json (NaN and
//! Infinity), JavaScript's JSON.parse (the last of equal keys), and readers that take the first of equal keys.

use std::fmt::Write;

/// The behaviour of a reader in cases that the specification leaves open, or in which it deviates.
#[derive(Debug, Clone, Copy)]
pub struct Reader {
    pub ignores_case: bool,
    pub takes_first: bool,
    pub takes_nan: bool,
    /// Text after the first value is ignored, or read as another value.
    pub takes_rest: bool,
}

pub const READERS: [Reader; 4] = [
    Reader { ignores_case: true, takes_first: false, takes_nan: false, takes_rest: true },
    Reader { ignores_case: false, takes_first: false, takes_nan: true, takes_rest: false },
    Reader { ignores_case: false, takes_first: false, takes_nan: false, takes_rest: false },
    Reader { ignores_case: false, takes_first: true, takes_nan: false, takes_rest: true },
];

#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// null, true, false, a number or NaN, as written.
    Plain(String),
    Text(String),
    Array(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Reader {
    /// The first value of a line; `None` if this reader fails.
    pub fn read(self, line: &str) -> Option<Value> {
        let mut parser = Parser { rest: line, depth: 0, takes_nan: self.takes_nan };
        let value = parser.value()?;
        parser.skip_blanks();
        (self.takes_rest || parser.rest.is_empty()).then_some(value)
    }

    /// The value under a key.
    pub fn get<'a>(self, value: &'a Value, key: &str) -> Option<&'a Value> {
        let Value::Object(entries) = value else { return None };
        let is_key = |own: &str| if self.ignores_case { folded(own) == key } else { own == key };
        let mut found = entries.iter().filter(|(own, value)| is_key(own) && *value != Value::Plain("null".to_owned()));
        let entry = if self.takes_first { found.next() } else { found.last() };
        entry.map(|(_, value)| value)
    }

    pub fn text<'a>(self, value: &'a Value, key: &str) -> Option<&'a str> {
        match self.get(value, key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as JSON that all readers read in the same way, with each key once.
    pub fn write(self, value: &Value) -> String {
        match value {
            Value::Plain(plain) if plain.ends_with(['N', 'y']) => "null".to_owned(),
            Value::Plain(plain) => plain.clone(),
            Value::Text(text) => quoted(text),
            Value::Array(items) => {
                format!("[{}]", items.iter().map(|item| self.write(item)).collect::<Vec<_>>().join(","))
            }
            Value::Object(entries) => {
                let mut out = String::from("{");
                for (index, (key, value)) in entries.iter().enumerate() {
                    let (before, behind) = (&entries[..index], &entries[index + 1..]);
                    let others = if self.takes_first { before } else { behind };
                    if others.iter().all(|(other, _)| other != key) {
                        let comma = if out.len() > 1 { "," } else { "" };
                        let _ = write!(out, "{comma}{}:{}", quoted(key), self.write(value));
                    }
                }
                out + "}"
            }
        }
    }
}

/// Folds the ASCII letters of a name as Go's reader does.
fn folded(key: &str) -> String {
    let fold = |letter: char| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        other => other.to_ascii_lowercase(),
    };
    key.chars().map(fold).collect()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
    takes_nan: bool,
}

impl Parser<'_> {
    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, word: &str) -> bool {
        let after = self.rest.strip_prefix(word);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self) -> Option<Value> {
        self.skip_blanks();
        self.depth += 1;
        if self.depth > 100 {
            return None;
        }
        let value = match self.rest.chars().next()? {
            '"' => Value::Text(self.text()?),
            '[' => self.array()?,
            '{' => self.object()?,
            _ => self.plain()?,
        };
        self.depth -= 1;
        Some(value)
    }

    fn plain(&mut self) -> Option<Value> {
        const WORDS: [&str; 6] = ["null", "true", "false", "NaN", "-Infinity", "Infinity"];
        let known = if self.takes_nan { &WORDS[..] } else { &WORDS[..3] };
        for word in known {
            if self.take(word) {
                return Some(Value::Plain((*word).to_owned()));
            }
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_number = serde_json::from_str::<&serde_json::value::RawValue>(number).is_ok();
        (is_number && !number.is_empty()).then(|| Value::Plain(number.to_owned()))
    }

    fn array(&mut self) -> Option<Value> {
        self.take("[");
        let mut items = Vec::new();
        self.skip_blanks();
        while !self.take("]") {
            if !items.is_empty() && !self.take(",") {
                return None;
            }
            items.push(self.value()?);
            self.skip_blanks();
        }
        Some(Value::Array(items))
    }

    fn object(&mut self) -> Option<Value> {
        self.take("{");
        let mut entries = Vec::new();
        self.skip_blanks();
        while !self.take("}") {
            if !entries.is_empty() && !self.take(",") {
                return None;
            }
            self.skip_blanks();
            let key = self.text()?;
            self.skip_blanks();
            if !self.take(":") {
                return None;
            }
            entries.push((key, self.value()?));
            self.skip_blanks();
        }
        Some(Value::Object(entries))
    }

    /// A lone surrogate becomes U+FFFD, as in Go; Python and JavaScript keep it.
    fn text(&mut self) -> Option<String> {
        if !self.take("\"") {
            return None;
        }
        let mut units: Vec<u16> = Vec::new();
        let mut letters = self.rest.chars();
        loop {
            match letters.next()? {
                '"' => break,
                '\\' => match letters.next()? {
                    'u' => {
                        let digits: String = letters.by_ref().take(4).collect();
                        let is_hex = digits.len() == 4 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                        units.push(u16::from_str_radix(&digits, 16).ok().filter(|_| is_hex)?);
                    }
                    escaped => units.push(match escaped {
                        '"' | '\\' | '/' => escaped as u16,
                        'b' => 8,
                        'f' => 12,
                        'n' => 10,
                        'r' => 13,
                        't' => 9,
                        _ => return None,
                    }),
                },
                control if control < ' ' => return None,
                letter => units.extend(letter.encode_utf16(&mut [0; 2]).iter()),
            }
        }
        self.rest = letters.as_str();
        Some(String::from_utf16_lossy(&units))
    }
}
