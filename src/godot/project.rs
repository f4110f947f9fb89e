//! `project.godot`: the autoload is put in, and taken out, line by line; nothing else of the file changes.

/// The autoload's name, and its script in the project.
pub const AUTOLOAD: (&str, &str) = ("AgentBridge", "res://addons/agent_bridge/agent_bridge.gd");

/// What became of a project file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The whole file, as it is to be.
    pub text: String,
    /// The lines that came or went, as a diff shows them.
    pub diff: Vec<String>,
}

const SECTION: &str = "[autoload]";

/// Whether the project starts the bridge.
pub fn has_autoload(project: &str) -> bool {
    find(project).is_some()
}

/// The line that starts the bridge, whatever script of that name it starts.
fn find(project: &str) -> Option<&str> {
    let mut in_section = false;
    project.lines().find(|line| {
        if line.starts_with('[') {
            in_section = line.trim_end() == SECTION;
        }
        let value = line.strip_prefix(AUTOLOAD.0).and_then(|rest| rest.trim_start().strip_prefix('='));
        in_section && value.is_some()
    })
}

/// The project with the autoload, first of all of them, so that it is there before what it looks at; `None` where it is
/// there already.
pub fn install(project: &str) -> Option<Change> {
    let line = format!("{}=\"*{}\"", AUTOLOAD.0, AUTOLOAD.1);
    if let Some(found) = find(project) {
        let changed =
            || Change { text: project.replacen(found, &line, 1), diff: vec![format!("-{found}"), format!("+{line}")] };
        return (found.trim_end() != line).then(changed);
    }
    let feed = if project.contains("\r\n") { "\r\n" } else { "\n" };
    let begins = |line: &str| line.trim_end() == SECTION;
    let header = project.split_inclusive('\n').position(begins);
    let mut text = String::with_capacity(project.len() + 128);
    let mut diff = vec![format!("+{line}")];
    match header {
        Some(header) => {
            let lines: Vec<&str> = project.split_inclusive('\n').collect();
            // A blank line behind the header stays there.
            let blank = lines.get(header + 1).is_some_and(|line| line.trim().is_empty());
            let at = header + 1 + usize::from(blank);
            text.extend(lines[..at].iter().copied());
            if !text.ends_with('\n') {
                text.push_str(feed);
            }
            text.push_str(&format!("{line}{feed}"));
            text.extend(lines[at..].iter().copied());
        }
        None => {
            text.push_str(project);
            if !project.is_empty() && !project.ends_with('\n') {
                text.push_str(feed);
            }
            text.push_str(&format!("{feed}{SECTION}{feed}{feed}{line}{feed}"));
            diff.insert(0, format!("+{SECTION}"));
        }
    }
    Some(Change { text, diff })
}

/// The project without the autoload, and without the section where nothing else is in it; `None` where it isn't there.
pub fn remove(project: &str) -> Option<Change> {
    let found = find(project)?;
    let mut diff = vec![format!("-{}", found.trim_end())];
    let lines: Vec<&str> = project.split_inclusive('\n').collect();
    let header = lines.iter().position(|line| line.trim_end() == SECTION)?;
    let end =
        lines[header + 1..].iter().position(|line| line.starts_with('[')).map_or(lines.len(), |at| header + 1 + at);
    let is_found = |line: &str| line.trim_end() == found.trim_end();
    let is_alone = lines[header + 1..end].iter().all(|line| line.trim().is_empty() || is_found(line));
    let mut text = String::with_capacity(project.len());
    for (at, line) in lines.iter().enumerate() {
        let in_section = (header..end).contains(&at);
        if !(in_section && (is_alone || is_found(line))) {
            text.push_str(line);
        }
    }
    if is_alone {
        diff.insert(0, format!("-{SECTION}"));
        if end == lines.len() {
            // The blank line that stood before the section.
            let feed = if project.contains("\r\n") { "\r\n" } else { "\n" };
            while text.ends_with(&feed.repeat(2)) {
                text.truncate(text.len() - feed.len());
            }
        }
    }
    Some(Change { text, diff })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const PLAIN: &str = "config_version=5\n\n[application]\n\nconfig/name=\"x\"\n";
    const WITH_OTHERS: &str =
        "config_version=5\n\n[autoload]\n\nGame=\"*res://game.gd\"\n\n[display]\n\nwindow/size=1\n";

    #[test]
    fn it_is_put_in_once_and_taken_out_without_a_trace() {
        for project in [PLAIN, WITH_OTHERS, ""] {
            for project in [project.to_owned(), project.replace('\n', "\r\n")] {
                let installed = install(&project).unwrap();
                assert!(has_autoload(&installed.text), "{project}");
                assert_eq!(install(&installed.text), None, "{project}");
                assert_eq!(installed.text.contains("\r\n"), project.contains("\r\n"));
                let removed = remove(&installed.text).unwrap();
                // An empty file keeps the one line feed.
                assert_eq!(removed.text.trim_start_matches(['\r', '\n']), project, "{project}");
                assert_eq!(remove(&project), None);
            }
        }
    }

    #[test]
    fn it_comes_first_and_its_place_is_told() {
        let change = install(WITH_OTHERS).unwrap();
        assert_eq!(change.diff, ["+AgentBridge=\"*res://addons/agent_bridge/agent_bridge.gd\""]);
        assert!(
            change.text.contains("[autoload]\n\nAgentBridge=\"*res://addons/agent_bridge/agent_bridge.gd\"\nGame=")
        );
        assert_eq!(install(PLAIN).unwrap().diff[0], "+[autoload]");
    }

    #[test]
    fn another_script_of_that_name_is_replaced_and_other_sections_are_not_meant() {
        let old = "[autoload]\nAgentBridge=\"*res://src/agent/agent_bridge.gd\"\n";
        let change = install(old).unwrap();
        assert_eq!(change.text, "[autoload]\nAgentBridge=\"*res://addons/agent_bridge/agent_bridge.gd\"\n");
        assert_eq!(change.diff.len(), 2);
        assert!(!has_autoload("[other]\nAgentBridge=1\n"));
    }
}
