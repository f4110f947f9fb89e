//! Projects that differ from the example.

use super::{Game, bridge, small_game};
use crate::process::{pipe, text};
use regex::Regex;
use serde_json::json;
use std::collections::BTreeSet;
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

/// Adds text to a project file.
fn add(folder: &Path, text: &str) {
    let file = folder.join("project.godot");
    let project = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, project + text).unwrap();
}

fn turn_warnings_into_errors(folder: &Path) {
    // 1: the rule includes all folders below; by default addons are left out.
    let mut rules = "\n[debug]\n\ngdscript/warnings/directory_rules={\n\"res://\": 1\n}\n".to_owned();
    rules.extend(WARNINGS.split_whitespace().map(|name| format!("gdscript/warnings/{name}=2\n")));
    add(folder, &rules);
}

#[test]
#[ignore = "needs Godot: run scripts/test"]
fn a_project_may_turn_every_warning_into_an_error() {
    let folder = small_game("extends Control\n");
    turn_warnings_into_errors(folder.path());
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

/// Everything that the addon's scripts give a name to: classes, constants, enums, functions, variables, signals and parameters.
fn names_in_the_addon() -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("godot/addons/agent_bridge");
    let scripts = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let scripts = scripts.filter(|path| path.extension().is_some_and(|of| of == "gd"));
    let scripts: String = scripts.map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let code = Regex::new("(?m)^\\s*#.*$").unwrap().replace_all(&scripts, "");
    let declared = Regex::new(r"\b(?:const|class|enum|func|var|signal|for)[ \t]+(\w+)").unwrap();
    let list = Regex::new(r"\bfunc\b\s*\w*\(([^)]*)\)|\benum\s+\w*\s*\{([^}]*)\}").unwrap();
    let first_word = Regex::new(r"^\W*(\w+)").unwrap();
    let lists = list.captures_iter(&code).filter_map(|found| found.get(1).or_else(|| found.get(2)));
    let listed = lists.flat_map(|list| list.as_str().split(',')).filter_map(|part| first_word.captures(part));
    declared.captures_iter(&code).chain(listed).map(|found| found[1].to_owned()).collect()
}

/// Plays a game whose project has each of the addon's names, and checks that the project's own scripts get the project's meaning.
fn play_with_names(write: impl Fn(&Path, &BTreeSet<String>)) {
    let mut names = names_in_the_addon();
    // The engine's own enumerations are also types, and a project's class goes before them.
    let enumerations = "Side Corner Orientation ClockDirection HorizontalAlignment VerticalAlignment InlineAlignment EulerOrder Key \
                        KeyModifierMask KeyLocation MouseButton MouseButtonMask JoyButton JoyAxis MIDIMessage Error PropertyHint \
                        PropertyUsageFlags MethodFlags";
    names.extend(enumerations.split_whitespace().map(str::to_owned));
    assert!(
        names.len() > 500
            && ["Values", "LIMIT", "press_button", "PHYSICS", "armed"].iter().all(|name| names.contains(*name))
    );
    let folder = small_game(
        "extends Control\nfunc _ready() -> void:\n\tadd_child(Button.new())\n\tget_child(0).name = &\"Go\"\n\t\
         get_child(0).set(&\"text\", \"Go\")\nfunc agent_fields() -> Dictionary:\n\treturn {\"mine\": Values.MINE}\n",
    );
    write(folder.path(), &names);
    turn_warnings_into_errors(folder.path());
    let mut game = Game::start(&mut bridge(folder.path()));
    assert_eq!(game.data("get_property", json!({"path": "#Main", "property": "mine"}))["value"], "the project's");
    assert_eq!(game.data("press_button", json!({"path": "#Go"}))["path"], "/root/Main/Go");
    for command in ["get_tree", "list_actions", "step"] {
        game.data(command, json!({}));
    }
    game.data("expect", json!({"path": "#Go", "text": "Go"}));
    game.data("expect", json!({"no_errors": true}));
}

const OF_PROJECT: &str = "extends Node\nconst MINE: String = \"the project's\"\n";

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_project_may_have_an_autoload_with_any_name_of_the_addon() {
    play_with_names(|folder, names| {
        std::fs::write(folder.join("mine.gd"), OF_PROJECT).unwrap();
        // The section of the addon's own autoload is the last one.
        add(folder, &names.iter().map(|name| format!("{name}=\"*res://mine.gd\"\n")).collect::<String>());
    });
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_project_may_have_a_class_with_any_name_of_the_addon() {
    play_with_names(|folder, names| {
        // The engine's own list of classes: an import of so many scripts takes long.
        let entry = |name: &String| {
            format!(
                "{{\"base\": &\"Node\", \"class\": &\"{name}\", \"icon\": \"\", \"is_abstract\": false, \"is_tool\": false, \
                 \"language\": &\"GDScript\", \"path\": \"res://{name}_.gd\"}}"
            )
        };
        let entries: Vec<String> = names.iter().map(entry).collect();
        std::fs::create_dir(folder.join(".godot")).unwrap();
        let list = folder.join(".godot/global_script_class_cache.cfg");
        std::fs::write(list, format!("list=[{}]\n", entries.join(", "))).unwrap();
        for name in names {
            std::fs::write(folder.join(format!("{name}_.gd")), format!("class_name {name}\n{OF_PROJECT}")).unwrap();
        }
    });
}

/// What happens when a project with these files is launched: the exit status, the first answer, and stderr.
fn launched(files: &[(&str, &str)], settings: &str) -> (Option<i32>, String, String) {
    let folder = small_game("extends Control\n");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    add(folder.path(), settings);
    let output = pipe(&mut bridge(folder.path()), b"{\"cmd\":\"get_tree\",\"id\":1}\n");
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_project_that_needs_csharp_is_an_error_on_an_engine_without_it() {
    let csharp = "using Godot;\npublic partial class Mine : Control { }\n";
    let scene = "[gd_scene format=3]\n\n[ext_resource type=\"Script\" path=\"res://Mine.cs\" id=\"1\"]\n\n\
                 [node name=\"Main\" type=\"Control\"]\nscript = ExtResource(\"1\")\n";
    let outer = "[gd_scene format=3]\n\n[ext_resource type=\"PackedScene\" path=\"res://part.tscn\" id=\"1\"]\n\n\
                 [node name=\"Main\" type=\"Control\"]\n\n[node name=\"Part\" parent=\".\" instance=ExtResource(\"1\")]\n";
    for (files, settings) in [
        (&[("Mine.cs", csharp), ("main.tscn", scene)][..], ""),
        (&[("Mine.cs", csharp), ("part.tscn", scene), ("main.tscn", outer)], ""),
        // The section of the addon's own autoload is the last one, so this autoload comes after it; the next one before.
        (&[("Mine.cs", csharp)], "Mine=\"*res://Mine.cs\"\n"),
        (
            &[("Mine.cs", csharp)],
            "AgentBridge=\"\"\nMine=\"*res://Mine.cs\"\nAgentBridge=\"*res://addons/agent_bridge/agent_bridge.gd\"\n",
        ),
    ] {
        let (status, answer, stderr) = launched(files, settings);
        assert_eq!(status, Some(3), "{files:?}: {answer}");
        assert!(answer.contains("GAME_START_FAILED") && stderr.contains("Godot's .NET build"), "{answer} {stderr}");
    }
    // A part that a script only tries to load, as addons do, is not needed.
    let tries = [("Mine.cs", csharp), ("main.gd", "extends Control\nvar part: Variant = load(\"res://Mine.cs\")\n")];
    let (status, answer, stderr) = launched(&tries, "\n[dotnet]\n\nproject/assembly_name=\"Mine\"\n");
    assert_eq!((status, stderr.as_str()), (Some(0), ""), "{answer}");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_fresh_clone_may_name_its_main_scene_by_uid() {
    let scene = "[gd_scene format=3 uid=\"uid://b4xtest12345\"]\n\n[node name=\"Other\" type=\"Control\"]\n";
    let settings = "\n[application]\n\nrun/main_scene=\"uid://b4xtest12345\"\n";
    let (status, answer, stderr) = launched(&[("other.tscn", scene)], settings);
    assert!(status == Some(0) && answer.contains("/root/Other"), "{answer} {stderr}");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_extension_without_a_library_for_this_system_is_reported() {
    let extension = "[configuration]\n\nentry_symbol=\"own_init\"\ncompatibility_minimum=\"4.1\"\n\n[libraries]\n\nwindows=\"res://own.dll\"\n";
    let scene = "[gd_scene format=3]\n\n[node name=\"Main\" type=\"ClassOfItsOwn\"]\n";
    let (status, answer, stderr) = launched(&[("own.gdextension", extension), ("main.tscn", scene)], "");
    let note = "GDExtension dynamic library not found: 'res://own.gdextension'.; the game runs without its classes";
    assert!(status == Some(0) && answer.contains("/root/Main") && stderr.contains(note), "{answer} {stderr}");
}
