//! Writes the abilities of a model into `models.toml`. Everything else in the file is kept, with its comments.

use crate::cmd::models::Models;
use crate::cmd::usage;
use pipewright_io::report::Failure;
use pipewright_llm::Ability;
use pipewright_record::json::quoted;
use pipewright_sys::private;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// A model's table.
#[derive(Debug)]
pub struct SavedModel {
    /// The name of `--model`.
    pub name: String,
    /// The address of `--base-url`.
    pub base_url: Option<String>,
}

impl SavedModel {
    /// Writes the abilities, and gives the file's path.
    ///
    /// # Errors
    /// [`usage`]: there is no place for the file, it cannot be written, or it would not say what is meant.
    pub fn write(&self, found: &[(Ability, bool)]) -> Result<PathBuf, Failure> {
        let path = Models::read()?.path().to_owned();
        let failed = |why: &dyn std::fmt::Display| usage(format_args!("--save: {}: {why}", path.display()));
        if path.as_os_str().is_empty() {
            return Err(usage("--save: there is no folder for models.toml: set HOME"));
        }
        let old = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failed(&error)),
        };
        let new = self.text(&old, found);
        if !self.is_meant(&new, found) {
            let line = line(found);
            return Err(failed(&format_args!(
                "the table of {:?} is in an unusual form: add this line yourself: {line}",
                self.name
            )));
        }
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        }
        let beside = path.with_extension("toml.new");
        let written = private::file().write(true).create(true).truncate(true).open(&beside);
        let written = written.and_then(|mut file| file.write_all(new.as_bytes()));
        written.and_then(|()| fs::rename(&beside, &path)).map_err(|error| failed(&error))?;
        Ok(path)
    }

    /// The file's text with the abilities directly behind the head of the model's table, or with a new table.
    fn text(&self, old: &str, found: &[(Ability, bool)]) -> String {
        let is_head = |text: &str| {
            let text = text.split('#').next().unwrap_or_default().trim();
            let name = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or_default().trim();
            let bare = name.strip_prefix(['"', '\'']).and_then(|name| name.strip_suffix(['"', '\'']));
            !name.is_empty() && bare.unwrap_or(name) == self.name
        };
        let mut lines: Vec<&str> = old.lines().collect();
        let line = line(found);
        let Some(head) = lines.iter().position(|text| is_head(text)) else {
            let gap = if old.trim().is_empty() { "" } else { "\n" };
            let end = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
            let url = self.base_url.as_ref().map(|url| format!("base_url = {}\n", quoted(url))).unwrap_or_default();
            return format!("{old}{end}{gap}[{}]\n{url}{line}\n", quoted(&self.name));
        };
        let end = lines[head + 1..].iter().position(|text| text.trim_start().starts_with('['));
        let end = end.map_or(lines.len(), |at| head + 1 + at);
        let is_own = |text: &&str| {
            text.trim_start().strip_prefix("abilities").is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        match lines[head..end].iter().position(is_own) {
            Some(at) => lines[head + at] = &line,
            None => lines.insert(head + 1, &line),
        }
        lines.join("\n") + "\n"
    }

    /// Whether the text is a file in which the model has these abilities.
    fn is_meant(&self, text: &str, found: &[(Ability, bool)]) -> bool {
        let Ok(table) = toml::from_str::<toml::Table>(text) else { return false };
        let own = table.get(&self.name).and_then(|own| own.get("abilities"));
        found.iter().all(|(ability, has)| {
            own.and_then(|own| own.get(ability.name())).and_then(toml::Value::as_bool) == Some(*has)
        })
    }
}

fn line(found: &[(Ability, bool)]) -> String {
    let each: Vec<String> = found.iter().map(|(ability, has)| format!("{} = {has}", ability.name())).collect();
    format!("abilities = {{ {} }}", each.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_file_is_kept() {
        let found = [(Ability::Tools, true), (Ability::Images, false)];
        let line = "abilities = { tools = true, images = false }";
        let saved = |name: &str| SavedModel { name: name.to_owned(), base_url: None };
        for (name, old, new) in [
            ("a/b", "", format!("[\"a/b\"]\n{line}\n")),
            ("b", "[a]\nmodel = \"x\"", format!("[a]\nmodel = \"x\"\n\n[\"b\"]\n{line}\n")),
            ("a", "# mine\n[a] # first\nmodel = \"x\"\n", format!("# mine\n[a] # first\n{line}\nmodel = \"x\"\n")),
            ("a", "[a]\nabilities = {}\n[b]\nabilities={}\n", format!("[a]\n{line}\n[b]\nabilities={{}}\n")),
        ] {
            assert_eq!(saved(name).text(old, &found), new);
            assert!(saved(name).is_meant(&new, &found), "{new}");
        }
        assert!(!saved("a").is_meant("[a]\nabilities = { tools = true }\n", &found));
        assert!(!saved("a").is_meant("[a]\n[a.abilities]\nabilities = 1\n", &found));
    }
}
