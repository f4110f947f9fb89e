@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The options that the game was started with. Each is an argument after `--` on the command line (`--agent-dir=DIR`), or an environment
## variable (`AGENT_BRIDGE_DIR=DIR`), for games that parse their own arguments. An argument takes precedence over a variable.
##
## The variables are unset after they are read, so that a program started by the game does not use its session.

## The session's folder; empty if the addon chooses it, or needs none.
var folder: String
## The socket to connect to, `tcp:HOST:PORT` or `unix:PATH`; empty for the file transport.
var address: String
## The owner process: the game ends when it does; 0 for none.
var owner: int
var lockstep: bool
## The seed of the global random numbers, or null.
var seed: Variant
## Whether commands may change properties, call methods and run code.
var allow_edit: bool
## The folder for screenshots and other files; empty if none was given.
var output: String

func _init() -> void:
	# Already read by the autoload.
	_take("mode")
	folder = _take("dir")
	address = _take("connect")
	owner = int(_take("owner"))
	lockstep = _take("lockstep") == "1"
	seed = _whole_number("seed", _take("seed"))
	allow_edit = _take("allow-edit") == "1"
	output = _take("output")

## The value of an option, "1" for an argument without a value; empty if it was not given.
func _take(name: String) -> String:
	var variable := "AGENT_BRIDGE_" + name.to_upper().replace("-", "_")
	var value := OS.get_environment(variable)
	OS.unset_environment(variable)
	for argument in OS.get_cmdline_user_args():
		if argument == "--agent-" + name:
			value = "1"
		elif argument.begins_with("--agent-%s=" % name):
			value = argument.trim_prefix("--agent-%s=" % name)
	return value

func _whole_number(name: String, value: String) -> Variant:
	if value.is_valid_int():
		return value.to_int()
	if value != "":
		push_error("AgentBridge: %s must be an integer, not %s" % [name, value])
	return null
