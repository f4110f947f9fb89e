//! A form in which a person edits a call's arguments.

use super::permission::call_id;
use crate::approvals::Question;
use pipewright_record::json::{Object, quoted};
use pipewright_record::{Fields, Reason};

/// The kind of an argument's field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Text,
    Integer,
    Number,
    Boolean,
    /// Any other value: a text field with its JSON text.
    Json,
}

/// A form for the arguments of a held call: one field per argument.
#[derive(Debug)]
pub struct EditForm {
    /// Each argument by name, with its JSON text.
    fields: Vec<(String, FieldKind, String)>,
}

impl EditForm {
    /// The form for a call's arguments; `None` if they cannot be shown in a form.
    pub fn of(question: &Question) -> Option<EditForm> {
        let call = question.call.call();
        let arguments = Fields::read(call.arguments_text()).ok()?;
        let fields = arguments.iter().map(|(name, json)| (name.to_owned(), kind(json.get()), json.get().to_owned()));
        Some(EditForm { fields: fields.collect() }).filter(|form| !form.fields.is_empty())
    }

    /// The parameters of `elicitation/create`, JSON text; `why` says why an earlier answer was refused.
    pub fn request(&self, session: &str, question: &Question, why: Option<&str>) -> String {
        let properties = self.fields.iter().fold(Object::default(), |properties, (name, kind, json)| {
            let type_name = match kind {
                FieldKind::Text | FieldKind::Json => "string",
                FieldKind::Integer => "integer",
                FieldKind::Number => "number",
                FieldKind::Boolean => "boolean",
            };
            let field = Object::default().text("type", type_name).text("title", name);
            let field = match kind {
                FieldKind::Json => field.text("description", "JSON").text("default", json),
                _ => field.put("default", json),
            };
            properties.put_any(name, field.end())
        });
        let names = self.fields.iter().map(|(name, ..)| quoted(name)).collect::<Vec<_>>().join(",");
        let schema = Object::default().text("type", "object").put("properties", properties.end());
        let schema = schema.put("required", format_args!("[{names}]")).end();
        let message = format!("Arguments of {}", question.call.call().tool);
        let message = why.map_or(message.clone(), |why| format!("{message}\n{why}"));
        let params = Object::default().text("mode", "form").text("sessionId", session);
        params.put("toolCallId", call_id(question)).text("message", &message).put("requestedSchema", schema).end()
    }

    /// The edited arguments as JSON text, from the `content` of the answer.
    ///
    /// # Errors
    /// What is wrong with the answer, for the person.
    pub fn arguments(&self, content: &str) -> Result<String, Reason> {
        let content = Fields::read(content).map_err(|why| why.to_string())?;
        if let Some((name, _)) = content.iter().find(|(name, _)| self.fields.iter().all(|(own, ..)| own != name)) {
            return Err(format!("{name} is not an argument of the call").into());
        }
        let mut arguments = Object::default();
        for (name, own, _) in &self.fields {
            let json = content.get(name).ok_or(format!("{name} is missing"))?.get();
            let is_right = match own {
                FieldKind::Number => is_number(json),
                FieldKind::Integer => kind(json) == FieldKind::Integer,
                FieldKind::Text | FieldKind::Json => json.starts_with('"'),
                FieldKind::Boolean => kind(json) == FieldKind::Boolean,
            };
            if !is_right {
                return Err(format!("{name} has a different type than before").into());
            }
            let parsed = (*own == FieldKind::Json).then(|| parse(json)).transpose();
            let parsed = parsed.map_err(|why| format!("{name} is not valid JSON: {why}"))?;
            arguments = arguments.put_any(name, parsed.as_deref().unwrap_or(json));
        }
        Ok(arguments.end())
    }
}

/// Decodes a JSON string.
fn parse(json: &str) -> Result<String, serde_json::Error> {
    let text: String = serde_json::from_str(json)?;
    let value: Box<serde_json::value::RawValue> = serde_json::from_str(&text)?;
    Ok(pipewright_record::json::one_line(value.get()))
}

fn is_number(json: &str) -> bool {
    json.starts_with(|first: char| first.is_ascii_digit() || first == '-')
}

/// A number that an editor could not keep exactly is edited as JSON text.
fn kind(json: &str) -> FieldKind {
    match json.as_bytes().first() {
        // An unpaired surrogate cannot be shown.
        Some(b'"') if serde_json::from_str::<String>(json).is_ok() => FieldKind::Text,
        Some(b't' | b'f') => FieldKind::Boolean,
        _ if json.parse::<i32>().is_ok() => FieldKind::Integer,
        _ if is_number(json) && json.len() <= 15 => FieldKind::Number,
        _ => FieldKind::Json,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn form(arguments: &str) -> Option<EditForm> {
        let question = format!(
            r#"{{"type":"status","status":"waiting_human","call_id":"a1","nonce":"n","tool_name":"t","arguments":{arguments},"arguments_sha256":"x"}}"#
        );
        EditForm::of(&Question::read(&question).unwrap().unwrap())
    }

    #[test]
    fn only_edited_arguments_change() {
        let form =
            form(r#"{"text":"a","n":7,"x":1.5,"big":12345678901234567890.10,"on":true,"list":[1,"b"],"none":null}"#)
                .unwrap();
        let content =
            r#"{"text":"","n":8,"x":2,"big":"12345678901234567890.10","on":false,"list":"[\n2]","none":"null"}"#;
        assert_eq!(
            form.arguments(content).unwrap(),
            r#"{"text":"","n":8,"x":2,"big":12345678901234567890.10,"on":false,"list":[ 2],"none":null}"#
        );
    }

    #[test]
    fn an_invalid_answer_is_refused() {
        let form = form(r#"{"text":"a","n":7,"list":[1]}"#).unwrap();
        for bad in [
            r#"{"text":"a","n":7}"#,
            r#"{"text":"a","n":7,"list":"[","extra":1}"#,
            r#"{"text":"a","n":7,"list":"["}"#,
            r#"{"text":1,"n":7,"list":"[]"}"#,
            r#"{"text":"a","n":7.5,"list":"[]"}"#,
            "[]",
        ] {
            assert!(form.arguments(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn unsuitable_arguments_have_no_form() {
        assert!(form("{}").is_none());
        assert!(form(r#"{"a":1,"A":2}"#).is_none(), "two readers could take it for different arguments");
    }
}
