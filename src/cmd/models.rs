//! The models that the user names in `models.toml`.

use crate::cmd::usage;
use pipewright_http::Address;
use pipewright_io::report::{Failure, Status};
use pipewright_llm::{Ability, PROVIDERS};
use pipewright_record::json::Object;
use pipewright_record::{Usage, toml_error};
use pipewright_sys::{folders, regular};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The models of `models.toml` by name; empty without the file.
#[derive(Debug, Default)]
pub struct Models {
    path: PathBuf,
    models: BTreeMap<String, Model>,
}

/// A table of the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table for each model")]
pub struct Model {
    /// PROVIDER/NAME; by default the table's own name.
    model: Option<String>,
    /// The server's address.
    pub base_url: Option<String>,
    /// The environment variable of its key.
    pub key_env: Option<String>,
    /// What its tokens cost.
    pub price: Option<Price>,
    /// Additional headers for its address.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Settings of its requests: fields of the body.
    #[serde(default)]
    pub set: BTreeMap<String, toml::Value>,
    /// What its server accepts.
    #[serde(default, deserialize_with = "known")]
    pub abilities: BTreeMap<String, bool>,
}

/// Abilities by name; a name that is not known is an error.
fn known<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, bool>, D::Error> {
    let abilities = BTreeMap::<String, bool>::deserialize(from)?;
    match abilities.keys().find(|name| Ability::named(name).is_none()) {
        None => Ok(abilities),
        Some(name) => {
            let names = Ability::ALL.map(Ability::name).join(", ");
            Err(D::Error::custom(format!("unknown ability {name:?}; known are {names}")))
        }
    }
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with the prices of input and output")]
pub struct Price {
    #[serde(deserialize_with = "dollars")]
    input: f64,
    #[serde(deserialize_with = "dollars")]
    output: f64,
    /// For cached input; by default the price of other input.
    #[serde(default, deserialize_with = "some_dollars")]
    cached: Option<f64>,
}

fn dollars<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let price = f64::deserialize(from)?;
    (price >= 0.0 && price.is_finite())
        .then_some(price)
        .ok_or_else(|| D::Error::custom("a price is a number that is at least 0"))
}

fn some_dollars<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    dollars(from).map(Some)
}

impl Models {
    /// Reads the file.
    ///
    /// # Errors
    /// [`usage`]: it cannot be read.
    pub fn read() -> Result<Models, Failure> {
        let Some(folder) = folders::configuration() else { return Ok(Models::default()) };
        let path = folder.join("pipewright/models.toml");
        let wrong = |why: String| usage(format_args!("{}:{why}", path.display()));
        let text = match regular::read_text(&path, MAX_FILE) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(Models { path, models: BTreeMap::new() });
            }
            Err(error) => return Err(wrong(format!(" {error}"))),
        };
        let models = toml::from_str(&text).map_err(|error| wrong(toml_error::describe(&text, &error)))?;
        Ok(Models { path, models })
    }

    /// The PROVIDER/NAME that `name` stands for, and its table; `name` itself if the file has no such table.
    pub fn find(&self, name: &str) -> (String, Model) {
        match self.models.get(name) {
            Some(model) => (model.model.clone().unwrap_or_else(|| name.to_owned()), model.clone()),
            None => (name.to_owned(), Model::default()),
        }
    }

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The environment variables that the tables name for their keys.
    pub fn key_variables(&self) -> impl Iterator<Item = &str> {
        self.models.values().filter_map(|model| model.key_env.as_deref())
    }

    /// Prints the values that `--model` accepts: a line for each table of the file, then one for each provider.
    ///
    /// # Errors
    /// [`usage`]: the file cannot be read. [`Status::Fault`]: stdout cannot be written.
    pub fn print() -> Result<Status, Failure> {
        let models = Models::read()?;
        let mut lines = String::new();
        for (name, model) in &models.models {
            let object = Object::default().text("name", name).text("model", model.model.as_deref().unwrap_or(name));
            let object = object.text_some("base_url", model.base_url.as_deref().map(without_secrets).as_deref());
            let price = model.price.map(|price| price.json());
            let keys = Vec::from_iter(model.key_env.as_deref());
            let object = with_keys(object, &keys).put_some("price", price);
            lines += &format!("{}\n", object.text("file", &models.path.to_string_lossy()).end());
        }
        for provider in PROVIDERS {
            let object = Object::default().text("provider", provider.name()).text("base_url", provider.base_url());
            lines += &format!("{}\n", with_keys(object, provider.key_variables()).end());
        }
        match std::io::stdout().write_all(lines.as_bytes()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failure::new(Status::Fault, format!("stdout: {error}")))
            }
            _ => Ok(Status::Success),
        }
    }
}

/// An address without a password and a query.
fn without_secrets(url: &str) -> String {
    Address::read(url, &[]).map_or_else(|_| "not a URL".to_owned(), |address| address.shown())
}

fn with_keys(object: Object, variables: &[&str]) -> Object {
    if variables.is_empty() {
        return object;
    }
    let is_set = variables.iter().any(|name| variable(name).is_some());
    object.text("key_env", &variables.join(" or ")).put("has_key", is_set)
}

/// The variable's value without surrounding blanks; `None` if it is unset or empty.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|key| key.trim().to_owned()).filter(|key| !key.is_empty())
}

impl Price {
    /// The cost of these tokens in US dollars; `None` if the provider reports none.
    pub fn of(self, usage: Usage) -> Option<f64> {
        usage.input.or(usage.output)?;
        let cached = usage.cached.unwrap_or(0);
        let input = usage.input.unwrap_or(0).saturating_sub(cached);
        let million = |tokens: u64, price: f64| tokens as f64 * price / 1e6;
        let cached = million(cached, self.cached.unwrap_or(self.input));
        Some(million(input, self.input) + cached + million(usage.output.unwrap_or(0), self.output))
    }

    fn json(self) -> String {
        let object = Object::default().put("input", self.input).put("output", self.output);
        object.put_some("cached", self.cached).end()
    }
}
