//! Tool discovery in a recording of a world: `list_tools` is answered at any time and any number of times, wherever it
//! is in the recording.

use pipewright_lines::{Change, change};
use pipewright_record::{ListTools, Tool, ToolList};
use std::collections::BTreeSet;

/// Whether a line belongs to tool discovery: a request of the agent, or an answer of the world.
pub fn is_discovery(line: &[u8], from_world: bool) -> bool {
    let Ok(text) = std::str::from_utf8(line) else { return false };
    if from_world { matches!(ToolList::read(text), Ok(Some(_))) } else { matches!(ListTools::read(text), Ok(Some(_))) }
}

/// The tools of a recorded world.
#[derive(Debug, Default)]
pub struct Discovery {
    /// The last `tool_list` that has tools.
    list: Option<String>,
    /// The names of the tools that were called in one of our own forms.
    called: BTreeSet<String>,
}

impl Discovery {
    /// Takes the next line of the recording, without its end.
    pub fn take_line(&mut self, line: &[u8], from_world: bool) {
        // A world that has lost its server may have no tools to list.
        if from_world
            && let Ok(text) = std::str::from_utf8(line)
            && matches!(ToolList::read(text), Ok(Some(list)) if !list.tools.is_empty())
        {
            self.list = Some(text.to_owned());
        }
        if !from_world && let Some(call) = super::calls::own_call(line) {
            self.called.insert(call.tool.into_owned());
        }
    }

    /// The `tool_list` for a request, without a line feed: the recorded one with the id of this request. If none with
    /// tools was recorded, it lists the tools that were called.
    pub fn answer(&self, world: &str, request: &ListTools<'_>) -> String {
        let id = request.request_id.map_or(Change::Remove, |id| Change::Set(id.get().as_bytes()));
        let mut answer = Vec::new();
        if let Some(list) = &self.list
            && change(list, &[("request_id", id)], &mut answer).is_ok()
            && let Ok(answer) = String::from_utf8(answer)
        {
            return answer;
        }
        let tool = |name: &String| {
            let description = "A tool from a recording, without its description. Only the recorded calls are answered.";
            Tool { name, description, input_schema: r#"{"type":"object"}"#, annotations: None }.json()
        };
        request.answer(world, &Vec::from_iter(self.called.iter().map(tool)), None)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn answer(recorded: &[&str], request: &str) -> String {
        let mut discovery = Discovery::default();
        recorded.iter().for_each(|line| discovery.take_line(&line.as_bytes()[1..], line.starts_with('>')));
        discovery.answer("replay", &ListTools::read(request).unwrap().unwrap())
    }

    #[test]
    fn the_last_recorded_list_gets_the_id_of_the_request_and_is_otherwise_unchanged() {
        let list = r#">{"type":"tool_list", "request_id":1,"world":"w","tools":[{"name":"a","x":1.10}],"more":12345678901234567890}"#;
        let first = r#">{"type":"tool_list","world":"w","tools":[{"name":"b"}]}"#;
        let lost = r#">{"type":"tool_list","world":"w","tools":[]}"#;
        let recorded = [first, r#"<{"tool":"b"}"#, list, lost];
        assert_eq!(
            answer(&recorded, r#"{"type":"list_tools","request_id":"\u0041"}"#),
            list[1..].replace("\"request_id\":1", r#""request_id":"\u0041""#)
        );
        assert_eq!(answer(&recorded, r#"{"type":"list_tools"}"#), list[1..].replace(" \"request_id\":1,", ""));
    }

    #[test]
    fn without_a_list_the_tools_are_those_called_in_our_own_forms() {
        let recorded = [
            r#"<{"cmd":"b","id":1}"#,
            r#"<{"tool":"a"}"#,
            r#"<{"type":"tool_call","tool_name":"b"}"#,
            r#"<{"id":1,"method":"tools/call","params":{"name":"c"}}"#,
            r#"<{"type":"list_tools"}"#,
            r#">{"tool":"d"}"#,
            r#">{"type":"tool_list","tools":1}"#,
        ];
        let answer = answer(&recorded, r#"{"type":"list_tools","request_id":7}"#);
        let list = ToolList::read(&answer).unwrap().unwrap();
        assert_eq!(list.request_id.unwrap().get(), "7");
        assert_eq!(list.tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["a", "b"]);
        assert!(list.tools.iter().all(|tool| tool.input_schema == r#"{"type":"object"}"#));
    }
}
