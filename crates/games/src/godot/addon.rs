//! The files of the addon, which `godot-bridge install` copies into a project.

/// A text file of the addon.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Its path in the addon's folder.
    pub path: &'static str,
    /// Its contents.
    pub text: &'static str,
}

macro_rules! assets {
    ($($path:literal),* $(,)?) => {
        &[$(Asset { path: $path, text: include_str!(concat!("../../../../godot/addons/agent_bridge/", $path)) }),*]
    };
}

/// The files that are installed in `addons/agent_bridge` of a project.
pub const ADDON: &[Asset] = assets!(
    "README.md",
    "agent_about.gd",
    "agent_actions.gd",
    "agent_aim.gd",
    "agent_answer.gd",
    "agent_bridge.gd",
    "agent_catcher.gd",
    "agent_choose.gd",
    "agent_command.gd",
    "agent_commands.gd",
    "agent_compact.gd",
    "agent_comparison.gd",
    "agent_condition.gd",
    "agent_conditions.gd",
    "agent_controls.gd",
    "agent_decode.gd",
    "agent_devices.gd",
    "agent_diff.gd",
    "agent_edit.gd",
    "agent_errors.gd",
    "agent_events.gd",
    "agent_expect.gd",
    "agent_files.gd",
    "agent_fill.gd",
    "agent_folder.gd",
    "agent_found.gd",
    "agent_hook.gd",
    "agent_item.gd",
    "agent_items.gd",
    "agent_keys.gd",
    "agent_lines.gd",
    "agent_look.gd",
    "agent_mouse.gd",
    "agent_options.gd",
    "agent_owner.gd",
    "agent_performance.gd",
    "agent_picture.gd",
    "agent_place.gd",
    "agent_raw.gd",
    "agent_reach.gd",
    "agent_refs.gd",
    "agent_scripts.gd",
    "agent_selector.gd",
    "agent_session.gd",
    "agent_sleep.gd",
    "agent_socket.gd",
    "agent_time.gd",
    "agent_touch.gd",
    "agent_tree.gd",
    "agent_values.gd",
    "agent_wait.gd",
);

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::path::Path;

    fn files_below(folder: &Path, prefix: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            // Files that the engine generates.
            if name == ".godot" || name.ends_with(".uid") {
                continue;
            }
            match entry.file_type().unwrap().is_dir() {
                true => files_below(&entry.path(), &format!("{name}/"), found),
                false => found.push(name),
            }
        }
    }

    #[test]
    fn every_file_of_the_addon_is_installed() {
        let mut found = Vec::new();
        files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../godot/addons/agent_bridge"), "", &mut found);
        found.sort();
        let mut listed: Vec<&str> = ADDON.iter().map(|asset| asset.path).collect();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }
}
