//! Finds the model, the server's address and the key.

use super::key::{self, KeyOptions};
use crate::cmd::models::{Models, Price, variable};
use crate::cmd::usage;
use pipewright_http::{Address, Client, Limits};
use pipewright_io::report::{Failure, Report, Status};
use pipewright_llm::{PROVIDERS, Provider};
use pipewright_record::Usage;
use std::time::Duration;

/// The model options.
#[derive(Debug, Default, clap::Args)]
pub struct ModelOptions {
    /// The model: PROVIDER/NAME, or a name in models.toml
    #[arg(short, long, value_name = "PROVIDER/NAME", help_heading = "Model")]
    model: Option<String>,
    /// The server's address, for any server with the provider's API: http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL", help_heading = "Model")]
    base_url: Option<String>,
    #[command(flatten)]
    key: KeyOptions,
}

/// Shorter secrets are not masked: they may occur in any text.
const MIN_SECRET: usize = 4;

/// A model at a server.
pub struct Endpoint {
    pub provider: &'static dyn Provider,
    /// The provider's name for it.
    pub model: String,
    /// The address that requests are sent to.
    pub url: String,
    pub key: Option<String>,
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
        let base =
            options.base_url.as_deref().or(configured.base_url.as_deref()).unwrap_or(own_url).trim_end_matches('/');
        let is_own = base == own_url;
        let variables = if is_own { provider.key_variables() } else { &[] };
        // The key in the file is for the file's address only.
        let configured_key = configured.key_env.as_deref().filter(|_| options.base_url.is_none());
        let key = key::key(&options.key, configured_key, variables)?;
        let shown = Address::read(base, &[]).map_err(|why| usage(format!("--base-url: {why}")))?;
        let place = shown.shown();
        let secrets =
            Vec::from_iter(key.iter().cloned().chain(shown.secrets()).filter(|secret| secret.len() >= MIN_SECRET));
        let has_secret = key.is_some() || shown.secrets().next().is_some();
        let url = format!("{base}{}", provider.path(model));
        let endpoint =
            Endpoint { provider, model: model.to_owned(), url, key, price: configured.price, place, secrets };
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
        Usage { cost: self.price.and_then(|price| price.of(usage)), ..usage }
    }

    /// Whether a text contains one of the secrets.
    pub fn is_secret(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| text.contains(secret.as_str()))
    }

    fn address(&self) -> Result<Address, Failure> {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut headers: Vec<_> = self.provider.headers().iter().copied().map(own).collect();
        headers.extend(
            self.key.as_deref().map(|key| self.provider.key_header(key)).map(|(name, value)| (name.to_owned(), value)),
        );
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
