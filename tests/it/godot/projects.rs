//! Projects that are not like the example.

use super::{Game, bridge, small_game};
use serde_json::json;

/// Every warning of GDScript that there is, but `empty_file` and `renamed_in_godot_4_hint`, which say nothing about code.
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
fn a_project_may_make_an_error_of_every_warning() {
    let folder = small_game("extends Control\n");
    let file = folder.path().join("project.godot");
    let mut project = std::fs::read_to_string(&file).unwrap();
    // 1: the rule includes what is below; by default addons are left out.
    project.push_str("\n[debug]\n\ngdscript/warnings/directory_rules={\n\"res://\": 1\n}\n");
    project.extend(WARNINGS.split_whitespace().map(|name| format!("gdscript/warnings/{name}=2\n")));
    std::fs::write(&file, project).unwrap();
    let mut game = Game::start(&mut bridge(folder.path()));
    assert_eq!(game.data("find", json!({"selector": "#Main"}))["count"], 1);
    game.end();
    // That the rules are in force: the game's own script breaks one.
    std::fs::write(folder.path().join("main.gd"), "extends Control\nvar untyped = 1\n").unwrap();
    let mut game = Game::start(bridge(folder.path()).arg("--verbose"));
    assert_eq!(game.data("get_node", json!({"path": "#Main"}))["type"], "Control");
    let printed = game.talk.end_after_close().stderr;
    assert!(printed.contains("Warning treated as error"), "{printed}");
}
