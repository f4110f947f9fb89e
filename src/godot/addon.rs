//! The addon and the example game, as they stand in the repository: `godot-bridge` brings them along.

/// A text file of the addon or of the example.
#[derive(Debug, Clone, Copy)]
pub struct Asset {
    /// Its path in the folder that it belongs to.
    pub path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

macro_rules! assets {
    ($folder:literal: $($path:literal),* $(,)?) => {
        &[$(Asset { path: $path, text: include_str!(concat!("../../godot/", $folder, "/", $path)) }),*]
    };
}

/// What goes to `addons/agent_bridge` of a project.
pub const ADDON: &[Asset] = assets!("addons/agent_bridge":
    "README.md",
    "agent_answer.gd",
    "agent_bridge.gd",
    "agent_command.gd",
    "agent_commands.gd",
    "agent_decode.gd",
    "agent_diff.gd",
    "agent_events.gd",
    "agent_files.gd",
    "agent_folder.gd",
    "agent_hook.gd",
    "agent_keys.gd",
    "agent_lines.gd",
    "agent_look.gd",
    "agent_owner.gd",
    "agent_place.gd",
    "agent_press.gd",
    "agent_selector.gd",
    "agent_session.gd",
    "agent_sleep.gd",
    "agent_socket.gd",
    "agent_time.gd",
    "agent_tree.gd",
    "agent_values.gd",
    "agent_wait.gd",
);

/// The Triangle Vault, without the addon.
pub const EXAMPLE: &[Asset] = assets!("example":
    "README.md",
    "levels/act1_level01.json",
    "levels/act1_level02.json",
    "levels/act1_level03.json",
    "levels/act1_level04.json",
    "project.godot",
    "scenes/level_scene.tscn",
    "scripts/crystal_node.gd",
    "scripts/edge_renderer.gd",
    "scripts/game_manager.gd",
    "scripts/hud_layer.gd",
    "scripts/key_ring.gd",
    "scripts/level_data.gd",
    "scripts/level_scene.gd",
    "scripts/permutation.gd",
    "scripts/symmetry_finder.gd",
    "tests/check_symmetries.gd",
);

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::path::Path;

    fn files_below(folder: &Path, prefix: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            // What the engine makes itself, and the addon within the example, a link.
            if name == ".godot" || name == "addons" || name.ends_with(".uid") {
                continue;
            }
            match entry.file_type().unwrap().is_dir() {
                true => files_below(&entry.path(), &format!("{name}/"), found),
                false => found.push(name),
            }
        }
    }

    #[test]
    fn nothing_is_left_behind() {
        for (folder, assets) in [("addons/agent_bridge", ADDON), ("example", EXAMPLE)] {
            let mut found = Vec::new();
            files_below(&Path::new(env!("CARGO_MANIFEST_DIR")).join("godot").join(folder), "", &mut found);
            found.sort();
            let mut listed: Vec<&str> = assets.iter().map(|asset| asset.path).collect();
            listed.sort_unstable();
            assert_eq!(found, listed, "{folder}");
        }
    }
}
