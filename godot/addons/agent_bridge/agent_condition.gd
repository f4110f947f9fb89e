@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## One armed condition of wait_for or expect.

## Returns the data if the condition is met, otherwise null.
var met: Callable
## Disarms the condition after the wait, with any result.
var disarm := func() -> void: pass
## The condition in words, as the rest of a sentence that begins with "expected".
var expected := ""
## The actual state: in words, and as a value.
var found := func() -> Array: return ["it did not come", null]
