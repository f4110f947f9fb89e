@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## One item of a menu, a list, a tree or of tabs.

## Names that are unique, and names that count only if no other item has the same.
var paths: Array[String] = []
var labels: Array[String] = []
## The indices of the way to it, from menu to submenu.
var way: Array[int] = []
var row: TreeItem = null
var is_disabled := false
