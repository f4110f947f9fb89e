@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends Logger
## Receives the engine's errors, on any thread.

const LONGEST_STACK := 16
const KINDS := ["error", "warning", "script", "shader"]

var errors: WeakRef
## The addon's folder: its own stack frames are left out.
var own_folder: String

func _log_error(function: String, file: String, line: int, code: String, rationale: String, _notify: bool, type: int,
		backtraces: Array[ScriptBacktrace]) -> void:
	var to: RefCounted = errors.get_ref()
	if to == null or to.is_muted():
		return
	var about := {"error": rationale if rationale != "" else code, "file": file, "line": line, "function": function, "kind": KINDS[type]}
	for trace in backtraces:
		var frames := _frames(trace)
		if not frames.is_empty():
			about["stack"] = frames
	to.report(about)

func _frames(trace: ScriptBacktrace) -> Array[String]:
	var out: Array[String] = []
	for i in trace.get_frame_count():
		var file := trace.get_frame_file(i)
		if not file.begins_with(own_folder) and out.size() < LONGEST_STACK:
			out.append("%s:%d in %s" % [file, trace.get_frame_line(i), trace.get_frame_function(i)])
	return out
