//! `project.godot`: adds and removes the autoload line by line; the rest of the file stays unchanged.

/// The autoload's name, and its script in the project.
pub const AUTOLOAD: (&str, &str) = ("AgentBridge", "res://addons/agent_bridge/agent_bridge.gd");

/// A changed project file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectChange {
    /// The new text of the file.
    pub text: String,
    /// The added and removed lines, as in a diff.
    pub diff: Vec<String>,
}

const SECTION: &str = "[autoload]";

/// The `config_version` of Godot 4's projects.
const OF_GODOT_4: u32 = 5;

/// A line that gives the name of our autoload to another script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoloadConflict {
    /// The line's number in the file, from 1.
    pub number: usize,
    /// The line.
    pub line: String,
}

/// Whether the project loads the addon; `uid` is the engine's id of the addon's script, if it has one.
pub fn has_autoload(project: &str, uid: Option<&str>) -> bool {
    find(project, uid).is_ok_and(|found| found.is_some())
}

/// The line that loads the addon, from any folder, and its position.
fn find<'a>(project: &'a str, uid: Option<&str>) -> Result<Option<(usize, &'a str)>, AutoloadConflict> {
    let Some((at, line)) = find_setting(project, SECTION, AUTOLOAD.0) else { return Ok(None) };
    let value = line.split_once('=').map_or("", |(_, value)| value.trim());
    let script = value.trim_matches('"').trim_start_matches('*');
    match script.ends_with("/agent_bridge/agent_bridge.gd") || uid == Some(script) {
        true => Ok(Some((at, line))),
        false => Err(AutoloadConflict { number: project[..at].lines().count() + 1, line: line.trim_end().to_owned() }),
    }
}

/// The line of a section (`[autoload]`) that sets `key`, and its position.
fn find_setting<'a>(project: &'a str, section: &str, key: &str) -> Option<(usize, &'a str)> {
    let (mut in_section, mut next) = (false, 0);
    project.split_inclusive('\n').find_map(|line| {
        let at = next;
        next += line.len();
        if line.starts_with('[') {
            in_section = line.trim_end() == section;
        }
        let value = line.strip_prefix(key).and_then(|rest| rest.trim_start().strip_prefix('='));
        (in_section && value.is_some()).then(|| (at, line.trim_end_matches(['\r', '\n'])))
    })
}

/// The default number of physics ticks per second.
pub const TICKS_PER_SECOND: u32 = 60;

/// The project's number of physics ticks per second.
pub fn ticks_per_second(project: &str) -> u32 {
    let line = find_setting(project, "[physics]", "common/physics_ticks_per_second");
    let value = line.and_then(|(_, line)| line.split_once('=')?.1.trim().parse().ok());
    value.filter(|ticks| *ticks > 0).unwrap_or(TICKS_PER_SECOND)
}

/// Why Godot 4 cannot open a project as it is, as a predicate; `None` if it can.
pub fn unfit(project: &str) -> Option<String> {
    let lines = project.trim_start_matches('\u{feff}').lines().map(str::trim);
    let mut settings = lines.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    let (_, value) = settings.find(|(key, _)| key.trim_end() == "config_version")?;
    let digits = value.trim().split(|other: char| !other.is_ascii_digit()).next()?;
    match digits.parse::<u32>().ok()? {
        OF_GODOT_4 => None,
        version if version < OF_GODOT_4 => Some(format!(
            "is of Godot 3 (config_version={version}), and Godot 4 would convert it: convert a copy in the editor of \
             Godot 4, and use that"
        )),
        version => {
            Some(format!("is of a later Godot than 4 (config_version={version}), which this version does not play"))
        }
    }
}

/// The project with the autoload as the first one, so that it is loaded before the nodes that it observes; `None` if
/// the project already has it.
///
/// # Errors
/// If the project has another autoload of that name.
pub fn install(project: &str, uid: Option<&str>) -> Result<Option<ProjectChange>, AutoloadConflict> {
    let line = format!("{}=\"*{}\"", AUTOLOAD.0, AUTOLOAD.1);
    if let Some((at, found)) = find(project, uid)? {
        // Replace at this position: another section may have the same line.
        let (before, after) = (&project[..at], &project[at + found.len()..]);
        let diff = vec![format!("-{found}"), format!("+{line}")];
        let changed = || ProjectChange { text: format!("{before}{line}{after}"), diff };
        return Ok((found.trim_end() != line).then(changed));
    }
    let feed = if project.contains("\r\n") { "\r\n" } else { "\n" };
    let begins = |line: &str| line.trim_end() == SECTION;
    let header = project.split_inclusive('\n').position(begins);
    let mut text = String::with_capacity(project.len() + 128);
    let mut diff = vec![format!("+{line}")];
    match header {
        Some(header) => {
            let lines: Vec<&str> = project.split_inclusive('\n').collect();
            // A blank line after the header stays there.
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
            text.push_str(&section(feed, &line));
            diff.insert(0, format!("+{SECTION}"));
        }
    }
    Ok(Some(ProjectChange { text, diff }))
}

/// The section as it is added. `remove` recognizes exactly this text, to remove it without a trace.
fn section(feed: &str, line: &str) -> String {
    format!("{feed}{SECTION}{feed}{feed}{line}{feed}")
}

/// The project without the autoload, and without the section if that is then empty; `None` if it has no such autoload.
///
/// # Errors
/// If the project has another autoload of that name.
pub fn remove(project: &str, uid: Option<&str>) -> Result<Option<ProjectChange>, AutoloadConflict> {
    Ok(find(project, uid)?.and_then(|(_, found)| without(project, found)))
}

/// The project without this line of its autoloads.
fn without(project: &str, found: &str) -> Option<ProjectChange> {
    let mut diff = vec![format!("-{}", found.trim_end())];
    let ours = ["\n", "\r\n"].into_iter().find_map(|feed| project.strip_suffix(&section(feed, found)));
    if let Some(before) = ours {
        diff.insert(0, format!("-{SECTION}"));
        return Some(ProjectChange { text: before.to_owned(), diff });
    }
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
            // The blank line before the section.
            let feed = if project.contains("\r\n") { "\r\n" } else { "\n" };
            while text.ends_with(&feed.repeat(2)) {
                text.truncate(text.len() - feed.len());
            }
        }
    }
    Some(ProjectChange { text, diff })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const PLAIN: &str = "config_version=5\n\n[application]\n\nconfig/name=\"x\"\n";
    const WITH_OTHERS: &str =
        "config_version=5\n\n[autoload]\n\nGame=\"*res://game.gd\"\n\n[display]\n\nwindow/size=1\n";

    #[test]
    fn the_autoload_is_added_once_and_removed_without_a_trace() {
        let no_line_feed = PLAIN.trim_end();
        let many = &format!("{PLAIN}\n\n\n");
        for project in [PLAIN, WITH_OTHERS, "", no_line_feed, many] {
            for project in [project.to_owned(), project.replace('\n', "\r\n")] {
                let installed = install(&project, None).unwrap().unwrap();
                assert!(has_autoload(&installed.text, None), "{project}");
                assert_eq!(install(&installed.text, None), Ok(None), "{project}");
                assert_eq!(installed.text.contains("\r\n"), project.contains("\r\n"));
                let removed = remove(&installed.text, None).unwrap().unwrap();
                assert_eq!(removed.text, project);
                assert_eq!(remove(&project, None), Ok(None));
            }
        }
    }

    #[test]
    fn the_autoload_is_removed_after_the_editor_moved_it() {
        let line = "AgentBridge=\"*res://addons/agent_bridge/agent_bridge.gd\"\n";
        let moved = format!("a=1\n\n[autoload]\n\n{line}\n[display]\n\nb=1\n");
        assert_eq!(remove(&moved, None).unwrap().unwrap().text, "a=1\n\n[display]\n\nb=1\n");
        let last = format!("a=1\n\n[autoload]\n{line}");
        assert_eq!(remove(&last, None).unwrap().unwrap().text, "a=1\n");
    }

    #[test]
    fn a_line_of_another_section_is_unchanged() {
        let other = "[other]\nAgentBridge=\"a\"\n[autoload]\nAgentBridge=\"res://agent_bridge/agent_bridge.gd\"\n";
        let installed = install(other, None).unwrap().unwrap().text;
        assert!(installed.starts_with("[other]\nAgentBridge=\"a\"\n[autoload]\nAgentBridge=\"*res"), "{installed}");
        assert_eq!(remove(other, None).unwrap().unwrap().text, "[other]\nAgentBridge=\"a\"\n");
    }

    #[test]
    fn the_autoload_is_the_first_and_reported_as_a_diff() {
        let change = install(WITH_OTHERS, None).unwrap().unwrap();
        assert_eq!(change.diff, ["+AgentBridge=\"*res://addons/agent_bridge/agent_bridge.gd\""]);
        assert!(
            change.text.contains("[autoload]\n\nAgentBridge=\"*res://addons/agent_bridge/agent_bridge.gd\"\nGame=")
        );
        assert_eq!(install(PLAIN, None).unwrap().unwrap().diff[0], "+[autoload]");
    }

    #[test]
    fn an_older_line_of_the_addon_is_updated() {
        for old in
            ["res://addons/agent_bridge/agent_bridge.gd", "*res://src/agent_bridge/agent_bridge.gd", "*uid://b4x"]
        {
            let old = format!("[autoload]\r\nAgentBridge = \"{old}\"\r\n");
            let change = install(&old, Some("uid://b4x")).unwrap().unwrap();
            assert_eq!(change.text, "[autoload]\r\nAgentBridge=\"*res://addons/agent_bridge/agent_bridge.gd\"\r\n");
            assert_eq!(change.diff.len(), 2);
            assert!(has_autoload(&old, Some("uid://b4x")));
            assert_eq!(remove(&old, Some("uid://b4x")).unwrap().unwrap().text, "");
        }
    }

    #[test]
    fn another_autoload_of_that_name_is_neither_replaced_nor_removed() {
        for script in ["*res://agent_bridge.gd", "*uid://other", "res://my_agent_bridge/agent_bridge.gd", ""] {
            let project = format!("{PLAIN}\n[autoload]\nAgentBridge=\"{script}\"\n");
            let foreign = AutoloadConflict { number: 8, line: format!("AgentBridge=\"{script}\"") };
            for uid in [None, Some("uid://b4x")] {
                assert_eq!(install(&project, uid), Err(foreign.clone()));
                assert_eq!(remove(&project, uid), Err(foreign.clone()));
                assert!(!has_autoload(&project, uid));
            }
        }
        assert!(!has_autoload("[other]\nAgentBridge=1\n", None));
    }

    #[test]
    fn only_a_project_of_godot_4_fits() {
        for version in
            ["config_version=5", "config_version = 5 ; the engine's", "", "; config_version=4", "config/name=4"]
        {
            assert_eq!(unfit(&format!("{version}\n\n[application]\n\nconfig_version=4\n")), None, "{version}");
        }
        for (version, of) in [
            ("config_version=4", "Godot 3"),
            ("\u{feff}; a comment\r\n  config_version = 3\r\n", "Godot 3"),
            ("config_version=6", "a later Godot"),
        ] {
            assert!(unfit(version).unwrap().contains(of), "{version}");
        }
    }

    #[test]
    fn the_number_of_physics_ticks_is_read_from_the_project() {
        let line = "common/physics_ticks_per_second";
        assert_eq!(ticks_per_second(&format!("{PLAIN}\n[physics]\n\n{line}=120\n")), 120);
        for nothing in [PLAIN.to_owned(), format!("{line}=120\n"), format!("[physics]\n{line}=0\n")] {
            assert_eq!(ticks_per_second(&nothing), TICKS_PER_SECOND, "{nothing}");
        }
    }
}
