//! Which model is asked, at which address, with which key.

use super::key::{self, KeyOptions};
use super::models::{Models, Price};
use crate::io::report::{Failure, Report, Status};
use crate::llm::{PROVIDERS, Provider};
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

/// A model at a server.
pub struct Endpoint {
    pub provider: &'static dyn Provider,
    /// As the provider names it.
    pub model: String,
    /// Where requests are sent.
    pub url: String,
    pub key: Option<String>,
    pub price: Option<Price>,
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
        let (provider, model) = provider(&model)?;
        let own_url = provider.base_url();
        let base =
            options.base_url.as_deref().or(configured.base_url.as_deref()).unwrap_or(own_url).trim_end_matches('/');
        let is_own = base == own_url;
        let variables = if is_own { provider.key_variables() } else { &[] };
        let key = key::key(&options.key, configured.key_env.as_deref(), variables)?;
        let endpoint = Endpoint {
            provider,
            model: model.to_owned(),
            url: format!("{base}{}", provider.path(model)),
            key,
            price: configured.price,
        };
        let address = endpoint.address()?;
        match &endpoint.key {
            Some(_) if !address.is_encrypted() && !address.is_loopback() => {
                Err(usage(format!("{base}: a key is sent over https only, or over http to this machine")))
            }
            None if is_own && !variables.is_empty() => {
                let names = variables.join(" or ");
                Err(usage(format!("{} needs a key: set {names}, or use --key-env or --key-file", provider.name())))
            }
            None if !is_own && !address.is_loopback() => {
                if let Some(name) = provider.key_variables().iter().find(|name| key::variable(name).is_some()) {
                    report.note(format_args!("{name} is sent to {own_url} only; --key-env {name} sends it to {base}"));
                }
                Ok(endpoint)
            }
            _ => Ok(endpoint),
        }
    }

    /// `text` without the key, which servers may repeat.
    pub fn without_key(&self, text: &str) -> String {
        match &self.key {
            // A shorter one is none, and stands in common words.
            Some(key) if key.len() >= 8 => text.replace(key.as_str(), "***"),
            _ => text.to_owned(),
        }
    }

    fn address(&self) -> Result<Address, Failure> {
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut headers: Vec<_> = self.provider.headers().iter().copied().map(own).collect();
        headers.extend(
            self.key.as_deref().map(|key| self.provider.key_header(key)).map(|(name, value)| (name.to_owned(), value)),
        );
        Address::read(&self.url, &headers)
            .map_err(|why| Failure::new(Status::Usage, format_args!("{}: {why}", self.url)))
    }

    /// A client that sends requests there, each of which may take so long, and be silent for so long.
    ///
    /// # Errors
    /// [`Status::NotStarted`]: the system's certificates cannot be read, or a proxy that the environment names.
    pub fn client(&self, total: Duration, idle: Duration) -> Result<Client, Failure> {
        let limits = Limits {
            first_byte: Some(idle),
            idle: Some(idle),
            total: Some(total),
            // The key goes to the address that was named, and nowhere else.
            redirects: 0,
            ..Limits::default()
        };
        Client::new(&self.address()?, limits).map_err(|error| Failure::new(Status::NotStarted, error))
    }
}

fn provider(model: &str) -> Result<(&'static dyn Provider, &str), Failure> {
    let usage = |why: String| Failure::new(Status::Usage, format!("--model: {why}"));
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
