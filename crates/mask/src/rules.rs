//! Masking rules that people write, in TOML.
//!
//! ```toml
//! [[rule]]
//! name = "CUSTOMER"           # becomes <CUSTOMER_1>
//! regex = 'C-\d{6}'           # its form, anywhere in a text
//! fields = ["customer_id"]    # names of its fields, in any spelling
//! ```

use super::finding::{Finding, Kind};
use pipewright_record::Reason;
use pipewright_record::identifier::unspelled;
use pipewright_record::toml_error::{describe, place};
use regex::Regex;
use serde::Deserialize;
use toml::Spanned;

/// The kinds to mask in addition to the built-in ones.
#[derive(Debug)]
pub struct Rules {
    /// The names of all kinds, the built-in ones first.
    names: Vec<String>,
    patterns: Vec<(Regex, Kind)>,
    /// Names of fields, normalised.
    fields: Vec<(String, Kind)>,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { names: Kind::NAMES.map(str::to_owned).to_vec(), patterns: Vec::new(), fields: Vec::new() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Spanned<Rule>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    name: String,
    regex: Option<String>,
    #[serde(default)]
    fields: Vec<String>,
}

impl Rules {
    /// Reads a rules file.
    ///
    /// ```
    /// use pipewright_mask::{Masker, Rules};
    /// let rules = Rules::read("[[rule]]\nname = \"CUSTOMER\"\nregex = 'C-\\d{6}'")?;
    /// assert_eq!(Masker::new(rules, 512).text("for C-123456"), "for <CUSTOMER_1>");
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// `LINE:COLUMN: WHY` if the text is not a valid rules file.
    pub fn read(text: &str) -> Result<Rules, Reason> {
        let file: File = toml::from_str(text).map_err(|error| describe(text, &error))?;
        let mut rules = Rules::default();
        for rule in file.rule {
            let (line, column) = place(text, rule.span().start);
            rules.add(rule.into_inner()).map_err(|why| format!("{line}:{column}: {why}"))?;
        }
        Ok(rules)
    }

    fn add(&mut self, Rule { name, regex, fields }: Rule) -> Result<(), String> {
        let is_plain = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_';
        if !name.starts_with(|first: char| first.is_ascii_uppercase()) || !name.bytes().all(is_plain) || name.len() > 40
        {
            return Err(format!(
                "rule {name:?}: a name has up to 40 characters (A to Z, 0 to 9 and _) and begins with a letter"
            ));
        }
        if regex.is_none() && fields.is_empty() {
            return Err(format!("rule {name:?}: it masks nothing; add a regex or fields"));
        }
        let kind = match self.kind_named(&name) {
            Some(kind) => kind,
            None => {
                let number = u16::try_from(self.names.len()).ok().filter(|number| Kind(*number) != Kind::LOOKALIKE);
                self.names.push(name.clone());
                Kind(number.ok_or("there are too many rules")?)
            }
        };
        if let Some(regex) = regex {
            let regex = Regex::new(&regex).map_err(|error| format!("rule {name:?}: regex: {error}"))?;
            if regex.is_match("") {
                return Err(format!("rule {name:?}: regex: it matches the empty text, so it would match everywhere"));
            }
            self.patterns.push((regex, kind));
        }
        self.fields.extend(fields.iter().map(|field| (unspelled(field), kind)));
        Ok(())
    }

    /// The kind with that name.
    pub(super) fn kind_named(&self, name: &str) -> Option<Kind> {
        let number = self.names.iter().position(|known| known == name)?;
        u16::try_from(number).ok().map(Kind)
    }

    pub(super) fn name(&self, kind: Kind) -> &str {
        self.names.get(usize::from(kind.0)).map_or("SECRET", String::as_str)
    }

    pub(super) fn kinds(&self) -> usize {
        self.names.len()
    }

    /// The kind of this field's values, if a rule names the field.
    pub(super) fn field(&self, name: &str) -> Option<Kind> {
        if self.fields.is_empty() {
            return None;
        }
        let name = unspelled(name);
        self.fields.iter().find(|(field, _)| *field == name).map(|(_, kind)| *kind)
    }

    /// Finds the matches of the patterns.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Finding>) {
        for (pattern, kind) in &self.patterns {
            let matched = pattern.find_iter(text).filter(|matched| !matched.is_empty());
            found.extend(matched.map(|matched| Finding::new(text, matched.range(), *kind)));
        }
    }
}
