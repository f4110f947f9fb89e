@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## What is known about one script of the game.

var type := ""
var has_fields := false
var variables := PackedStringArray()
## The engine's own input actions that occur in its source.
var ui_actions := {}
