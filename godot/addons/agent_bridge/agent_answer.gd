@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The answer to a command: its data, or a failure. A failure is a dictionary with `error` and `code`, also in a game's own hooks.

## A failure: `text` says what happened, `hint` what to do about it; `details` are for programs.
static func fail(code: String, text: String, hint := "", details := {}) -> Dictionary:
	return {"error": text, "code": code, "hint": hint, "details": details}

static func is_failure(answer: Variant) -> bool:
	return answer is Dictionary and answer.has("error") and answer.has("code")

## Checks `args` against a declaration such as `{"path": "string", "force": "bool?"}` (also the format of a game's agent_commands()). Returns null, or
## the failure. Integers become floats if floats are declared.
static func check(command: String, declared: Dictionary, args: Dictionary) -> Variant:
	for key: Variant in args:
		if not declared.has(key):
			return _invalid(command, declared, "%s has no argument %s" % [command, key])
	for key: String in declared:
		var kind := str(declared[key]).to_lower()
		# Null counts as a missing argument, except for arguments that may have any value.
		if not args.has(key) or args[key] == null and kind.ends_with("?") and kind != "value?":
			if not kind.ends_with("?"):
				return _invalid(command, declared, "%s needs the argument %s" % [command, key])
			args.erase(key)
		elif not _is_a(args[key], kind.trim_suffix("?")):
			return _invalid(command, declared, "%s of %s must be: %s" % [key, command, kind.trim_suffix("?")])
		elif kind.begins_with("float"):
			args[key] = float(args[key])
	return null

static func _invalid(command: String, declared: Dictionary, text: String) -> Dictionary:
	var names: Array = declared.keys().map(func(key: String) -> String: return key + ("?" if str(declared[key]).ends_with("?") else ""))
	var hint := "%s takes no arguments" % command if names.is_empty() else "%s takes %s" % [command, ", ".join(names)]
	return fail("INVALID_ARGS", text, hint, {"args": declared})

static func _is_a(value: Variant, kind: String) -> bool:
	match kind:
		"string": return value is String
		"int": return value is int
		"float", "number": return value is int or value is float
		"bool": return value is bool
		"array": return value is Array
		"object", "dictionary": return value is Dictionary
		_: return true
