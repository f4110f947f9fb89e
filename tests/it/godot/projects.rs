//! Projects that differ from the example.

use super::{Game, bridge, small_game};
use serde_json::json;
use std::path::Path;

/// All warnings of GDScript, except `empty_file` and `renamed_in_godot_4_hint`, which are not about code.
const WARNINGS: &str = "unassigned_variable unassigned_variable_op_assign unused_variable unused_local_constant \
    unused_private_class_variable unused_parameter unused_signal shadowed_variable shadowed_variable_base_class \
    shadowed_global_identifier unreachable_code unreachable_pattern standalone_expression standalone_ternary \
    incompatible_ternary untyped_declaration inferred_declaration unsafe_property_access unsafe_method_access unsafe_cast \
    unsafe_call_argument unsafe_void_return return_value_discarded static_called_on_instance missing_tool \
    redundant_static_unload redundant_await missing_await assert_always_true assert_always_false integer_division \
    narrowing_conversion int_as_enum_without_cast int_as_enum_without_match enum_variable_without_default \
    deprecated_keyword confusable_identifier confusable_local_declaration confusable_local_usage \
    confusable_capture_reassignment confusable_temporary_modification inference_on_variant native_method_override \
    get_node_default_without_onready onready_with_export";

#[test]
#[ignore = "needs Godot: run scripts/test"]
fn a_project_may_turn_every_warning_into_an_error() {
    let folder = small_game("extends Control\n");
    let file = folder.path().join("project.godot");
    let mut project = std::fs::read_to_string(&file).unwrap();
    // 1: the rule includes all folders below; by default addons are left out.
    project.push_str("\n[debug]\n\ngdscript/warnings/directory_rules={\n\"res://\": 1\n}\n");
    project.extend(WARNINGS.split_whitespace().map(|name| format!("gdscript/warnings/{name}=2\n")));
    std::fs::write(&file, project).unwrap();
    let mut game = Game::start(&mut bridge(folder.path()));
    assert_eq!(game.data("find", json!({"selector": "#Main"}))["count"], 1);
    game.end();
    // To check that the rules are active, the game's own script breaks one.
    std::fs::write(folder.path().join("main.gd"), "extends Control\nvar untyped = 1\n").unwrap();
    let mut game = Game::start(bridge(folder.path()).arg("--verbose"));
    assert_eq!(game.data("get_node", json!({"path": "#Main"}))["type"], "Control");
    let printed = game.talk.end_after_close().stderr;
    assert!(printed.contains("Warning treated as error"), "{printed}");
}

/// The bridge's stderr while it starts and ends the game.
fn notes(folder: &Path) -> String {
    let mut game = Game::start(&mut bridge(folder));
    assert_eq!(game.data("find", json!({"selector": "#Main"}))["count"], 1);
    game.talk.end_after_close().stderr
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_project_is_imported_once_even_if_some_files_are_never_imported() {
    let folder = small_game("extends Control\nvar text := \"\"\"\nclass_name Text\n\"\"\"\nvar ball := Ball.new()\n");
    // A class, a missing asset, an invalid asset, and a script that cannot be parsed.
    for (name, text) in [
        ("ball.gd", "@icon(\"res://icon.svg\") class_name Ball extends RefCounted\n"),
        (
            "gone.png.import",
            "[remap]\n\nimporter=\"texture\"\ntype=\"CompressedTexture2D\"\npath=\"res://.godot/imported/gone.png-1.ctex\"\n",
        ),
        ("broken.png", "no picture"),
        ("half.gd", "class_name Half extends NoSuchClass\nfunc (\n"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    assert_eq!(notes(folder.path()).matches("importing the project once").count(), 1);
    assert_eq!(notes(folder.path()), "");
    std::fs::write(folder.path().join("other.gd"), "class_name Other\n").unwrap();
    assert_eq!(notes(folder.path()).matches("importing the project once").count(), 1);
    assert_eq!(notes(folder.path()), "");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_project_file_that_an_import_rewrites_is_backed_up() {
    let folder = small_game("extends Control\n");
    let plugin = folder.path().join("addons/saves");
    std::fs::create_dir(&plugin).unwrap();
    for (name, text) in [
        (
            "plugin.cfg",
            "[plugin]\nname=\"saves\"\ndescription=\"\"\nauthor=\"\"\nversion=\"1\"\nscript=\"plugin.gd\"\n",
        ),
        ("plugin.gd", "@tool\nextends EditorPlugin\nfunc _enter_tree() -> void:\n\tProjectSettings.save()\n"),
        ("named.gd", "class_name Named\n"),
    ] {
        std::fs::write(plugin.join(name), text).unwrap();
    }
    let file = folder.path().join("project.godot");
    let enabled = "\n[editor_plugins]\n\nenabled=PackedStringArray(\"res://addons/saves/plugin.cfg\")\n";
    let former = "; mine\n".to_owned() + &std::fs::read_to_string(&file).unwrap() + enabled;
    std::fs::write(&file, &former).unwrap();
    let stderr = notes(folder.path());
    assert!(stderr.contains("the import has changed"), "{stderr}");
    assert_ne!(std::fs::read_to_string(&file).unwrap(), former);
    assert_eq!(std::fs::read_to_string(folder.path().join("project.godot.before-import")).unwrap(), former);
    assert_eq!(notes(folder.path()), "", "the engine has saved the autoload so that it is known again");
}
