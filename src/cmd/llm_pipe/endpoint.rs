//! Which model is asked, at which address, with which key.

use super::key::{self, KeyOptions};
use crate::cmd::models::{Models, Price, variable};
use crate::io::report::{Failure, Report, Status};
use crate::llm::{PROVIDERS, Provider};
use crate::record::Usage;
use pipewright_http::{Address, Client, Limits};
use std::time::Duration;

/// The model, as the options name it.
#[derive(Debug, Default, clap::Args)]
pub struct ModelOptions {
    /// The model: PROVIDER/NAME, or a name in models.toml
    #[arg(short, long, value_name = "PROVIDER/NAME", help_heading = "Model")]
    model: Option<String>,
    /// The server's address, for anything that has the provider's API: http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL", help_heading = "Model")]
    base_url: Option<String>,
    #[command(flatten)]
    key: KeyOptions,
}

/// Shorter words stand in any text.
const SHORTEST: usize = 4;

/// A model at a server.
pub struct Endpoint {
    pub provider: &'static dyn Provider,
    /// As the provider names it.
    pub model: String,
    /// Where requests are sent.
    pub url: String,
    pub key: Option<String>,
    price: Option<Price>,
    /// How the address is shown.
    pub place: String,
    /// The key, and what is secret in the address: servers may repeat them, and nothing shows them.
    secrets: Vec<String>,
}

impl Endpoint {
    /// Finds out what the options and `models.toml` name. An option counts for more than the file.
    ///
    /// # Errors
    /// [`Status::Usage`]: they name no model, no address or no key.
    pub fn find(options: &ModelOptions, report: &Report) -> Result<Endpoint, Failure> {
        let usage = |why: String| Failure::new(Status::Usage, why);
        let Some(name) = &options.model else {
            return Err(usage(
                "name the model: --model PROVIDER/NAME; `llm-pipe models` prints what there is".to_owned(),
            ));
        };
        let (model, configured) = Models::read()?.find(name);
        let (provider, model) = provider(&model, name)?;
        let own_url = provider.base_url();
        let base =
            options.base_url.as_deref().or(configured.base_url.as_deref()).unwrap_or(own_url).trim_end_matches('/');
        let is_own = base == own_url;
        let variables = if is_own { provider.key_variables() } else { &[] };
        // The file's key is for the file's address.
        let configured_key = configured.key_env.as_deref().filter(|_| options.base_url.is_none());
        let key = key::key(&options.key, configured_key, variables)?;
        let shown = Address::read(base, &[]).map_err(|why| usage(format!("--base-url: {why}")))?;
        let place = shown.shown();
        let secrets =
            Vec::from_iter(key.iter().cloned().chain(shown.secrets()).filter(|secret| secret.len() >= SHORTEST));
        let has_secret = key.is_some() || shown.secrets().next().is_some();
        let url = format!("{base}{}", provider.path(model));
        let endpoint =
            Endpoint { provider, model: model.to_owned(), url, key, price: configured.price, place, secrets };
        let Endpoint { place, .. } = &endpoint;
        let address = endpoint.address()?;
        if has_secret && !address.is_encrypted() && !address.is_loopback() {
            return Err(usage(format!(
                "{place}: a key or password is sent over https only, or over http to this machine"
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

    /// `text` without the secrets, also where a message was cut within one.
    pub fn without_secrets(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| {
            let text = text.replace(secret.as_str(), "***");
            let begun = (SHORTEST..secret.len()).rev().filter_map(|length| secret.get(..length));
            match begun.clone().find_map(|begun| text.strip_suffix(begun)) {
                Some(rest) => format!("{rest}***"),
                None => text,
            }
        })
    }

    /// What was counted, with what it costs.
    pub fn priced(&self, usage: Usage) -> Usage {
        Usage { cost: self.price.and_then(|price| price.of(usage)), ..usage }
    }

    /// Whether it has one of the secrets in it.
    pub fn is_secret(&self, text: &str) -> bool {
        self.secrets.iter().any(|secret| text.contains(secret.as_str()))
    }

    fn address(&self) -> Result<Address, Failure> {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut headers: Vec<_> = self.provider.headers().iter().copied().map(own).collect();
        headers.extend(
            self.key.as_deref().map(|key| self.provider.key_header(key)).map(|(name, value)| (name.to_owned(), value)),
        );
        Address::read(&self.url, &headers)
            .map_err(|why| Failure::new(Status::Usage, format_args!("{}: {why}", self.place)))
    }

    /// A client that sends requests there, each of which may take so long, and be silent for so long; for ever where that is 0.
    ///
    /// # Errors
    /// [`Status::NotStarted`]: the system's certificates cannot be read, or a proxy that the environment names.
    pub fn client(&self, total: Duration, idle: Duration) -> Result<Client, Failure> {
        let [idle, total] = [idle, total].map(|limit| Some(limit).filter(|limit| !limit.is_zero()));
        let limits = Limits {
            first_byte: idle,
            idle,
            total,
            // The key goes to the address that was named, and nowhere else.
            redirects: 0,
            ..Limits::default()
        };
        Client::new(&self.address()?, limits).map_err(|error| Failure::new(Status::NotStarted, error))
    }
}

/// `name` is what `--model` says, which may stand for `model` in models.toml.
fn provider<'a>(model: &'a str, name: &str) -> Result<(&'static dyn Provider, &'a str), Failure> {
    let place = if model == name { String::new() } else { format!("{name} in models.toml: ") };
    let usage = |why: String| Failure::new(Status::Usage, format!("--model: {place}{why}"));
    let names = || Vec::from_iter(PROVIDERS.iter().map(|provider| provider.name())).join(", ");
    let Some((name, model)) = model.split_once('/').filter(|(_, model)| !model.is_empty()) else {
        return Err(usage(format!(
            "{model:?} is neither PROVIDER/NAME nor a name in models.toml; providers are {}",
            names()
        )));
    };
    match PROVIDERS.iter().find(|provider| provider.name() == name) {
        Some(provider) => Ok((*provider, model)),
        None => Err(usage(format!(
            "there is no provider {name:?}, but {}; for others, name the one whose API the server has, and --base-url",
            names()
        ))),
    }
}
