@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## performance: the measurements of the engine, and the game's own monitors.

## The engine's monitors by the names of the fields.
const MONITORS := {"fps": Performance.TIME_FPS, "draw_calls": Performance.RENDER_TOTAL_DRAW_CALLS_IN_FRAME,
	"objects": Performance.OBJECT_COUNT, "resources": Performance.OBJECT_RESOURCE_COUNT, "nodes": Performance.OBJECT_NODE_COUNT,
	"orphan_nodes": Performance.OBJECT_ORPHAN_NODE_COUNT, "memory_static_bytes": Performance.MEMORY_STATIC,
	"memory_video_bytes": Performance.RENDER_VIDEO_MEM_USED}

func performance(_args: Dictionary) -> Dictionary:
	var out := {"frame_ms": Performance.get_monitor(Performance.TIME_PROCESS) * 1000.0,
		"physics_ms": Performance.get_monitor(Performance.TIME_PHYSICS_PROCESS) * 1000.0}
	for name: String in MONITORS:
		out[name] = int(Performance.get_monitor(MONITORS[name]))
	var custom := {}
	for name in Performance.get_custom_monitor_names():
		custom[String(name)] = Performance.get_custom_monitor(name)
	out["custom"] = custom
	return out
