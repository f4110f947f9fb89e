@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends Node
## The AgentBridge autoload: lets a program observe and play this game if it was started with `--agent-mode` after `--`, or with the
## environment variable `AGENT_BRIDGE_MODE=1`.
##
## This script only decides whether the bridge is active. The bridge itself is agent_session.gd, which is otherwise not even loaded, so
## that in a game played by people this node does nothing. The protocol is described in README.md beside this file.
##
## No script has an inner class or names another script in a type: the engine would take a class_name or an autoload of the project that has the
## same name. Elsewhere, the constants of a script go before those.
##
## The first line of each script is for projects that turn these warnings into errors: the types of command values are not known statically.

const RELEASE_SETTING := "agent_bridge/allow_in_release"

var _is_agent_mode := OS.get_cmdline_user_args().has("--agent-mode") or OS.get_environment("AGENT_BRIDGE_MODE") == "1"
var _session: Node = null

func _init() -> void:
	if not _is_agent_mode:
		return
	if not OS.is_debug_build() and not ProjectSettings.get_setting(RELEASE_SETTING, false):
		_is_agent_mode = false
		push_error("AgentBridge: a release build takes no commands unless the project setting %s allows it" % RELEASE_SETTING)
		return
	var options := _script("agent_options.gd")
	var script := _script("agent_session.gd")
	if not _is_whole(options, {}) or not _is_whole(script, {}):
		return
	# Here, not in _enter_tree: all nodes of the autoloads and of the main scene are created before any of them enters the tree. The session must
	# catch their errors, and the seed must apply to the random numbers that their scripts use.
	_session = script.new()
	_session.options = options.new()
	if _session.options.seed != null:
		seed(_session.options.seed)

func _enter_tree() -> void:
	# In _enter_tree, not _ready: the main scene's nodes enter the tree before any autoload is ready, and the bridge must be complete by then.
	if not _is_agent_mode or get_child_count(true) > 0:
		return
	if _session == null:
		# Without this, the engine would run on without a working bridge, and no command would ever be answered.
		push_error("AgentBridge: its scripts cannot be loaded")
		get_tree().quit(1)
		return
	_session.name = "Session"
	# Internal, so that get_children() does not return it to the game.
	add_child(_session, false, INTERNAL_MODE_FRONT)

func _script(file: String) -> GDScript:
	return load(get_script().resource_path.get_base_dir().path_join(file))

## Whether a script and all scripts that it refers to could be compiled: load() returns a script even if a part of it is broken.
func _is_whole(script: GDScript, seen: Dictionary) -> bool:
	if script == null or not script.can_instantiate():
		return false
	seen[script] = true
	for constant: Variant in script.get_script_constant_map().values():
		if constant is GDScript and not seen.has(constant) and not _is_whole(constant, seen):
			return false
	return true
