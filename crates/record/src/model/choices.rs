//! The actions that fit what a world shows, by name. A small model chooses well among names; among tools, numbers and what fits which
//! element it does not.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// `choices` of a request: what a model that answers with one JSON object by schema gets in place of the conversation.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Choices {
    /// The instructions.
    pub system: String,
    /// Answers as examples.
    #[serde(default)]
    pub example: String,
    /// What the world shows, the goal, and what was done.
    pub prompt: String,
    /// Whether the answer is a plan: the steps of the goal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wants_plan: bool,
    /// Whether anything was done.
    #[serde(default)]
    pub has_begun: bool,
    /// The step of the plan that is next. Without it, the answer begins with one in its own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The prompt lists them in this order.
    #[serde(default)]
    pub actions: Vec<ActionChoice>,
}

/// `choices` in a result of a world.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ShownChoices {
    /// What the world shows, a line each, by the names that the actions use.
    pub shown: Vec<String>,
    /// The actions; one without elements does not fit now, but may later.
    pub actions: Vec<ActionChoice>,
}

/// A kind of action: one call for each element.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ActionChoice {
    /// `click`.
    pub verb: String,
    /// What it does, for the model: `writes into a field`.
    pub means: String,
    /// `Typed "{text}" into {element}`, for what was done.
    pub past: String,
    /// The tool that is called.
    pub tool: String,
    /// The arguments that all its calls have.
    #[serde(default)]
    pub arguments: Map<String, Value>,
    /// The argument that tells the elements apart.
    pub argument: String,
    /// The values of that argument, by the elements' names.
    #[serde(default)]
    pub elements: Map<String, Value>,
    /// The argument with a text that the model adds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The texts that are possible; any if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// Whether several of the texts can be chosen, one after the other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub several: bool,
}

impl ActionChoice {
    /// The arguments of the call for an element; `None` if there is no such element.
    pub fn arguments_for(&self, element: &str, text: Option<&str>) -> Option<Map<String, Value>> {
        let mut arguments = self.arguments.clone();
        arguments.insert(self.argument.clone(), self.elements.get(element)?.clone());
        if let (Some(argument), Some(text)) = (&self.text, text) {
            arguments.insert(argument.clone(), text.into());
        }
        Some(arguments)
    }

    /// The element and the text that a call is about; `None` if it is not one of these calls.
    pub fn element_of<'a>(&'a self, tool: &str, given: &'a Map<String, Value>) -> Option<(&'a str, Option<&'a str>)> {
        let has_arguments = self.arguments.iter().all(|(name, value)| given.get(name) == Some(value));
        let value = given.get(&self.argument).filter(|_| tool == self.tool && has_arguments)?;
        let (element, _) = self.elements.iter().find(|(_, own)| *own == value)?;
        let text = self.text.as_ref().and_then(|argument| given.get(argument)?.as_str());
        Some((element, text))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_that_of_its_element() {
        let choice: ActionChoice = serde_json::from_str(
            r#"{"verb":"type","means":"writes","past":"Typed","tool":"act","arguments":{"action":"type"},"argument":"index","elements":{"textbox a":1,"textbox b":2},"text":"text"}"#,
        )
        .unwrap();
        let call = choice.arguments_for("textbox b", Some("x")).unwrap();
        assert_eq!(Value::from(call.clone()).to_string(), r#"{"action":"type","index":2,"text":"x"}"#);
        assert_eq!(choice.element_of("act", &call), Some(("textbox b", Some("x"))));
        assert_eq!((choice.element_of("other", &call), choice.arguments_for("textbox c", None)), (None, None));
        let click = Map::from_iter([("action".to_owned(), "click".into()), ("index".to_owned(), 2.into())]);
        assert_eq!(choice.element_of("act", &click), None);
    }
}
