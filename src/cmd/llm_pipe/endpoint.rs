//! Finds the model, the server's address and the key.

use super::key::{self, KeyOptions};
use super::learnt;
use super::saved::SavedModel;
use crate::cmd::models::{Models, Price, variable};
use crate::cmd::usage;
use pipewright_http::{Address, Client, Limits};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_llm::{Abilities, Ability, PROVIDERS, Provider, is_setting};
use pipewright_record::Usage;
use pipewright_record::json::{one_line, quoted};
use serde_json::value::RawValue;
use std::time::Duration;

/// The model options.
#[derive(Debug, Default, Clone, clap::Args)]
pub struct ModelOptions {
    /// The model: PROVIDER/NAME, or a name in models.toml
    #[arg(short, long, value_name = "PROVIDER/NAME", help_heading = "Model")]
    model: Option<String>,
    /// The server's address, for any server with the provider's API: http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL", help_heading = "Model")]
    base_url: Option<String>,
    #[command(flatten)]
    key: KeyOptions,
    /// A setting of every request: temperature, top_p, seed, stop, reasoning_effort, or another field of the request's body; VALUE is JSON,
    /// or else a text. May be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting, help_heading = "Requests")]
    set: Vec<(String, String)>,
}

fn setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected KEY=VALUE, such as temperature=0.2")?;
    settable(name)?;
    let is_json = serde_json::from_str::<&RawValue>(value).is_ok();
    let value = if is_json { one_line(value.trim()) } else { quoted(value) };
    Ok((name.to_owned(), value))
}

fn settable(name: &str) -> Result<(), String> {
    match is_setting(name) {
        true => Ok(()),
        false => Err(format!("{name:?} is no setting: llm-pipe writes this field itself")),
    }
}

impl ModelOptions {
    /// Whether they name neither a model nor a server.
    pub fn is_empty(&self) -> bool {
        self.model.is_none() && self.base_url.is_none()
    }

    /// These options with any model of a provider.
    pub fn of_provider(&self, provider: &str) -> ModelOptions {
        ModelOptions { model: Some(format!("{}/any", provider.trim_end_matches('/'))), ..self.clone() }
    }

    /// The name and address under which the model is written into models.toml.
    pub fn saved(&self) -> SavedModel {
        SavedModel { name: self.model.clone().unwrap_or_default(), base_url: self.base_url.clone() }
    }
}

/// Shorter secrets are not masked: they may occur in any text.
const MIN_SECRET: usize = 4;

/// A model at a server.
#[derive(Clone)]
pub struct Endpoint {
    pub provider: &'static dyn Provider,
    /// The provider's name for it.
    pub model: String,
    /// The address that requests are sent to.
    pub url: String,
    pub key: Option<String>,
    /// The address that requests are sent to if the server has no such path: with `/v1`.
    pub other_url: Option<String>,
    /// What the server is known to refuse.
    pub abilities: Abilities,
    /// What models.toml declares that it accepts.
    pub declared: Vec<(Ability, bool)>,
    /// Fields of every request, with JSON values.
    pub settings: Vec<(String, String)>,
    headers: Vec<(String, String)>,
    price: Option<Price>,
    /// The address without secrets, for messages.
    pub place: String,
    /// The key, and the secrets in the address: servers may repeat them, so they are masked in all output.
    secrets: Vec<String>,
}

impl Endpoint {
    /// Combines the options with `models.toml`. An option takes precedence over the file.
    ///
    /// # Errors
    /// [`usage`]: the model, the address or the key is missing.
    pub fn find(options: &ModelOptions, report: &Report) -> Result<Endpoint, Failure> {
        let Some(name) = &options.model else {
            return Err(usage(
                "no model is named: add --model PROVIDER/NAME; `llm-pipe models` lists models and providers",
            ));
        };
        let (model, configured) = Models::read()?.find(name);
        let (provider, model) = provider(&model, name)?;
        let own_url = provider.base_url();
        let given = options.base_url.clone().or_else(|| configured.base_url.clone());
        let base = given.or_else(|| of_environment(provider)).unwrap_or_else(|| own_url.to_owned());
        let shown = Address::read(&base, &[]).map_err(|why| usage(format!("--base-url: {why}")))?;
        // Azure's addresses have a query.
        let (base, query) = base.split_once('?').map_or((&*base, None), |(base, query)| (base, Some(query)));
        let base = base.trim_end_matches('/');
        let path = provider.path(model);
        // The complete address of requests is understood, too.
        let base = base.strip_suffix(&*path).unwrap_or(base);
        let is_own = base == own_url;
        let variables = if is_own { provider.key_variables() } else { &[] };
        // The key in the file is for the file's address only.
        let configured_key = configured.key_env.as_deref().filter(|_| options.base_url.is_none());
        let key = key::key(&options.key, configured_key, variables)?;
        let place = shown.shown();
        // Headers in the file are for the file's address only, as its key.
        let headers = configured.headers.into_iter().filter(|_| options.base_url.is_none());
        let headers: Vec<(String, String)> = headers.map(|(name, value)| (name.to_lowercase(), value)).collect();
        let secret_headers = headers.iter().filter(|(name, _)| is_secret_name(name)).map(|(_, value)| value.clone());
        let secrets: Vec<String> = key.iter().cloned().chain(shown.secrets()).chain(secret_headers).collect();
        let has_secret = !secrets.is_empty();
        let secrets = Vec::from_iter(secrets.into_iter().filter(|secret| secret.len() >= MIN_SECRET));
        let join = |base: &str| match query {
            Some(query) if path.contains('?') => format!("{base}{path}&{query}"),
            Some(query) => format!("{base}{path}?{query}"),
            None => format!("{base}{path}"),
        };
        let url = join(base);
        let is_version =
            |part: &str| part.strip_prefix('v').is_some_and(|rest| rest.starts_with(|one: char| one.is_ascii_digit()));
        // Behind the scheme and the host.
        let has_version = base.split('/').skip(3).any(is_version);
        let takes_v1 = ["authorization", "x-api-key"].contains(&provider.key_header("").0) && !has_version;
        let other_url = takes_v1.then(|| join(&format!("{base}/v1")));
        let mut settings = Vec::new();
        for (key, value) in &configured.set {
            settable(key).map_err(|why| usage(format_args!("{name} in models.toml: {why}")))?;
            settings.push((key.clone(), serde_json::to_string(value).map_err(usage)?));
        }
        for (key, value) in &options.set {
            settings.retain(|(other, _)| other != key);
            settings.push((key.clone(), value.clone()));
        }
        let named = configured.abilities.iter().filter_map(|(name, has)| Some((Ability::named(name)?, *has)));
        let declared: Vec<(Ability, bool)> = named.collect();
        let mut abilities = learnt::read(&url, model);
        declared.iter().for_each(|(ability, has)| abilities.set(*ability, *has));
        let endpoint = Endpoint {
            provider,
            model: model.to_owned(),
            url,
            key,
            other_url,
            abilities,
            declared,
            settings,
            headers,
            price: configured.price,
            place,
            secrets,
        };
        let Endpoint { place, .. } = &endpoint;
        let address = endpoint.address()?;
        if has_secret && !address.is_encrypted() && !address.is_loopback() {
            return Err(usage(format!(
                "{place}: a key or password is only sent over https, or over http to this machine; use an https address"
            )));
        }
        if endpoint.key.is_none() && is_own && !variables.is_empty() {
            let names = variables.join(" or ");
            return Err(usage(format!("{} needs a key: set {names}, or use --key-env or --key-file", provider.name())));
        }
        for (name, _) in &endpoint.settings {
            if endpoint.abilities.leaves_out(provider.setting(name).first().unwrap_or(&"")) {
                report.note(format_args!("the setting {name:?} is left out: the server refused it"));
            }
        }
        let unsent = provider.key_variables().iter().find(|name| variable(name).is_some());
        if let (None, false, false, Some(name)) = (&endpoint.key, is_own, address.is_loopback(), unsent) {
            report.note(format_args!("{name} is sent to {own_url} only; --key-env {name} sends it to {place}"));
        }
        Ok(endpoint)
    }

    /// `text` without the secrets, even if a message was cut within one.
    pub fn without_secrets(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| {
            let text = text.replace(secret.as_str(), "***");
            let begun = (MIN_SECRET..secret.len()).rev().filter_map(|length| secret.get(..length));
            match begun.clone().find_map(|begun| text.strip_suffix(begun)) {
                Some(rest) => format!("{rest}***"),
                None => text,
            }
        })
    }

    /// The counted usage, with its cost.
    pub fn priced(&self, usage: Usage) -> Usage {
        // OpenRouter reports the cost itself.
        Usage { cost: usage.cost.or_else(|| self.price.and_then(|price| price.of(usage))), ..usage }
    }

    /// Whether a text contains one of the secrets.
    pub fn is_secret(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| text.contains(secret.as_str()))
    }

    /// The addresses at which the server may list its models.
    pub fn list_urls(&self) -> Vec<String> {
        let path = self.provider.path(&self.model);
        let base = |url: &String| {
            let (base, query) = url.rsplit_once(&*path)?;
            let query = query.get(1..).map_or_else(String::new, |query| format!("?{query}"));
            Some(format!("{base}/models{query}"))
        };
        [Some(&self.url), self.other_url.as_ref()].into_iter().flatten().filter_map(base).collect()
    }

    /// Changes to the other address, if there is one and it is valid. Returns it.
    pub fn take_other_url(&mut self) -> Option<Address> {
        let other = Endpoint { url: self.other_url.take()?, ..self.clone() };
        let address = other.address().ok()?;
        self.url = other.url;
        Some(address)
    }

    /// The address of requests without secrets, for messages.
    pub fn asked(&self) -> String {
        Address::read(&self.url, &[]).map_or_else(|_| self.place.clone(), |address| address.shown())
    }

    /// The address of requests, with their headers.
    ///
    /// # Errors
    /// [`usage`]: the address or a header is invalid.
    pub fn address(&self) -> Result<Address, Failure> {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut headers: Vec<_> = self.provider.headers().iter().copied().map(own).collect();
        headers.extend(
            self.key.as_deref().map(|key| self.provider.key_header(key)).map(|(name, value)| (name.to_owned(), value)),
        );
        headers.extend(self.headers.iter().cloned());
        Address::read(&self.url, &headers).map_err(|why| usage(format_args!("{}: {why}", self.place)))
    }

    /// A client for the server. `total` limits each request, `idle` the time without data.
    ///
    /// # Errors
    /// [`Status::NotStarted`]: the system's certificates cannot be read, or the proxy named in the environment is invalid.
    pub fn client(&self, total: Option<Duration>, idle: Option<Duration>) -> Result<Client, Failure> {
        let limits = Limits {
            first_byte: idle,
            idle,
            total,
            // The key must only reach the configured address.
            redirects: 0,
            ..Limits::default()
        };
        Client::new(&self.address()?, limits).map_err(|error| Failure::new(Status::NotStarted, error))
    }
}

/// The address in the usual variable of a provider's programs.
fn of_environment(provider: &dyn Provider) -> Option<String> {
    match provider.name() {
        "openai" | "openai-responses" => variable("OPENAI_BASE_URL"),
        "ollama" => variable("OLLAMA_HOST").map(|host| ollama(&host)),
        _ => None,
    }
}

/// The address for OLLAMA_HOST: a host, a port, both, or a URL. A server that listens at every address is on this machine.
fn ollama(host: &str) -> String {
    let (scheme, host) = host.split_once("://").unwrap_or(("http", host));
    let host = host.trim_end_matches('/').trim_end_matches("/v1");
    let (name, port) = match host.rsplit_once(':') {
        // An address of version 6 without brackets, and so without a port.
        Some((name, _)) if name.contains(':') && !name.ends_with(']') && !host.ends_with(']') => {
            (&*format!("[{host}]"), "11434")
        }
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => (name, port),
        _ if scheme == "https" => (host, "443"),
        _ => (host, "11434"),
    };
    let name = if ["", "0.0.0.0", "[::]", "::"].contains(&name) { "127.0.0.1" } else { name };
    format!("{scheme}://{name}:{port}/v1")
}

/// Whether a header of this name probably has a secret value.
fn is_secret_name(name: &str) -> bool {
    ["auth", "key", "token", "cookie", "secret"].iter().any(|part| name.contains(part))
}

/// `name` is the value of `--model`, which stands for `model` if models.toml has a table of that name.
fn provider<'a>(model: &'a str, name: &str) -> Result<(&'static dyn Provider, &'a str), Failure> {
    let place = if model == name { String::new() } else { format!("{name} in models.toml: ") };
    let wrong = |why: String| usage(format!("--model: {place}{why}"));
    let names = || Vec::from_iter(PROVIDERS.iter().map(|provider| provider.name())).join(", ");
    let Some((name, model)) = model.split_once('/').filter(|(_, model)| !model.is_empty()) else {
        return Err(wrong(format!(
            "{model:?} is neither PROVIDER/NAME nor a name in models.toml; the providers are {}",
            names()
        )));
    };
    match PROVIDERS.iter().find(|provider| provider.name() == name) {
        Some(provider) => Ok((*provider, model)),
        None => Err(wrong(format!(
            "unknown provider {name:?}; known are {}. For another server, name the provider whose API it has, and \
             --base-url",
            names()
        ))),
    }
}
