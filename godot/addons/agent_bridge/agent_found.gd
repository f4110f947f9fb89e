@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The result of a walk of the tree.

## The tree as JSON.
var text: String
## By path: a node's fields (name to JSON), without its children.
var nodes := {}
## By path: the names of its children, in order.
var children := {}
var truncated := false
