//! Runs the caller's scripts in the page's own world.

use crate::{ActionError, Browser};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Instant;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvaluateResult {
    result: RemoteObject,
    exception_details: Option<ExceptionDetails>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RemoteObject {
    object_id: Option<String>,
    #[serde(default)]
    value: Value,
    /// A number that JSON cannot represent.
    unserializable_value: Option<String>,
}

#[derive(Deserialize)]
struct ExceptionDetails {
    text: String,
    exception: Option<ThrownValue>,
}

#[derive(Deserialize)]
struct ThrownValue {
    description: Option<String>,
    value: Option<Value>,
}

impl EvaluateResult {
    /// # Errors
    /// The script has thrown an exception.
    fn remote(self) -> Result<RemoteObject, ActionError> {
        let Some(ExceptionDetails { text, exception }) = self.exception_details else { return Ok(self.result) };
        let thrown =
            exception.and_then(|thrown| thrown.description.or_else(|| thrown.value.map(|value| value.to_string())));
        let thrown = thrown.as_deref().and_then(|thrown| thrown.lines().next()).unwrap_or(&text);
        Err(ActionError::Thrown(thrown.to_owned()))
    }
}

impl Browser {
    /// The value of an expression, or the return value of a function; a promise is awaited. Values without a JSON form
    /// become null.
    ///
    /// # Errors
    /// The script has thrown an exception, or has not ended in time.
    pub fn evaluate(&mut self, script: &str, until: Instant) -> Result<Value, ActionError> {
        let asked = json!({"expression": script, "awaitPromise": true, "replMode": true, "userGesture": true, "objectGroup": "evaluated"});
        let evaluated: EvaluateResult = self.call_page("Runtime.evaluate", &asked, until)?;
        let remote = evaluated.remote()?;
        let Some(object) = remote.object_id else {
            return Ok(remote.unserializable_value.map_or(remote.value, Value::from));
        };
        let value = "function () { return typeof this === \"function\" ? this() : this; }";
        let asked = json!({"functionDeclaration": value, "objectId": object, "awaitPromise": true, "returnByValue": true, "userGesture": true});
        let called: Result<EvaluateResult, ActionError> = self.call_page("Runtime.callFunctionOn", &asked, until);
        let released: Result<serde::de::IgnoredAny, ActionError> =
            self.call_page("Runtime.releaseObjectGroup", &json!({"objectGroup": "evaluated"}), until);
        let remote = called?.remote()?;
        released?;
        Ok(remote.unserializable_value.map_or(remote.value, Value::from))
    }
}
