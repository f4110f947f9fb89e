@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Converts Godot's values to JSON text without loss, and back. The format is described in README.md, "Values".
##
## Not JSON.stringify, which converts INF to 1e99999, NaN to null and a vector to a string, and does not escape control characters. Not
## JSON.parse_string, which reports bad input as an error of the engine.

const Raw := preload("agent_raw.gd")

const MAX_DEPTH := 32
## An answer with more values than this is truncated: arrays that share their parts can describe far more than fits into memory.
const MAX_VALUES := 500_000

const ROOM_IN_CACHE := 20_000

static var _awkward := RegEx.create_from_string("[\\x00-\\x1f\"\\\\\\x{d800}-\\x{dfff}]")
static var _keys := {}
static var _values_left := 0

## The JSON text of any value.
static func text(value: Variant) -> String:
	_values_left = MAX_VALUES
	return _text(value, [])

static func raw(json: String) -> RefCounted:
	return Raw.new(json)

## An object of fields whose values are already JSON.
static func object(fields: Dictionary) -> String:
	var out := PackedStringArray()
	for name: String in fields:
		# Not by key(): the call would cost more than its work.
		var known: Variant = _keys.get(name)
		out.append((known if known != null else key(name)) + fields[name])
	return "{" + ",".join(out) + "}"

## A string in quotes.
static func quote(string: String) -> String:
	if _awkward.search(string) == null:
		return "\"" + string + "\""
	var out := PackedStringArray()
	for character in string:
		var code := character.unicode_at(0)
		if character == "\"" or character == "\\":
			out.append("\\" + character)
		elif code < 0x20:
			out.append("\\u%04x" % code)
		elif code >= 0xd800 and code <= 0xdfff:
			out.append("\\ufffd")
		else:
			out.append(character)
	return "\"" + "".join(out) + "\""

## A string in quotes and a colon; cached, since names repeat often.
static func key(string: String) -> String:
	var found: Variant = _keys.get(string)
	if found != null:
		return found
	if _keys.size() >= ROOM_IN_CACHE:
		_keys.clear()
	var made := quote(string) + ":"
	_keys[string] = made
	return made

## A finite number that reads back as the same value, with a point or an exponent.
static func number(value: float) -> String:
	if is_nan(value):
		return "{\"$type\":\"float\",\"value\":\"nan\"}"
	if is_inf(value):
		return "{\"$type\":\"float\",\"value\":\"%s\"}" % ("inf" if value > 0 else "-inf")
	if value == 0.0:
		return "-0.0" if 1.0 / value < 0 else "0.0"
	var digits := String.num_scientific(value)
	return digits if "." in digits or "e" in digits else digits + ".0"

## A component of a vector has 32 bits; its shortest text is far shorter than that of the same number with 64 bits.
static func component(value: float) -> String:
	if not is_finite(value) or value == 0.0:
		return number(value)
	return var_to_str(value)

static func _text(value: Variant, inside: Array) -> String:
	var kind := typeof(value)
	# An if for each type, frequent ones first: a match would take twice the time.
	if kind == TYPE_STRING:
		return quote(value)
	if kind == TYPE_BOOL:
		return "true" if value else "false"
	if kind == TYPE_INT:
		return str(value)
	if kind == TYPE_DICTIONARY:
		return _dictionary(value, inside)
	if kind == TYPE_ARRAY:
		return _array(value, inside)
	if kind == TYPE_OBJECT:
		return _object(value)
	if kind == TYPE_FLOAT:
		return number(value)
	if kind == TYPE_NIL:
		return "null"
	if kind == TYPE_STRING_NAME:
		return quote(String(value))
	var plain: Variant = flat(value)
	if plain != null:
		return "{\"$type\":\"%s\",\"value\":%s}" % [type_string(kind), _numbers(plain)]
	if kind >= TYPE_PACKED_BYTE_ARRAY:
		return "{\"$type\":\"%s\",\"value\":%s}" % [type_string(kind), _packed(value)]
	return "{\"$type\":\"%s\",\"value\":%s}" % [type_string(kind), quote(str(value))]

static func _dictionary(value: Dictionary, inside: Array) -> String:
	if _too_much(value, inside):
		return "{\"$type\":\"Dictionary\",\"truncated\":true}"
	inside.append(value)
	if value.is_empty():
		inside.pop_back()
		return "{}"
	var out := PackedStringArray()
	var plain := not value.has("$type")
	for name: Variant in value:
		plain = plain and (name is String or name is StringName)
	for name: Variant in value:
		if plain:
			out.append(key(String(name)) + _text(value[name], inside))
		else:
			out.append("[" + _text(name, inside) + "," + _text(value[name], inside) + "]")
	inside.pop_back()
	if plain:
		return "{" + ",".join(out) + "}"
	return "{\"$type\":\"Dictionary\",\"value\":[" + ",".join(out) + "]}"

static func _array(value: Array, inside: Array) -> String:
	if _too_much(value, inside):
		return "{\"$type\":\"Array\",\"truncated\":true}"
	inside.append(value)
	var out := PackedStringArray()
	for item: Variant in value:
		out.append(_text(item, inside))
	inside.pop_back()
	return "[" + ",".join(out) + "]"

static func _too_much(container: Variant, inside: Array) -> bool:
	_values_left -= container.size() + 1
	if inside.size() >= MAX_DEPTH or _values_left < 0:
		return true
	for outer: Variant in inside:
		if is_same(outer, container):
			return true
	return false

static func _object(value: Variant) -> String:
	if not is_instance_valid(value):
		return "null"
	if is_instance_of(value, Raw):
		return value.text
	var type := quote(value.get_class())
	if value is Node:
		if value.is_inside_tree():
			return "{\"$type\":%s,\"path\":%s}" % [type, quote(String(value.get_path()))]
		return "{\"$type\":%s,\"path\":null,\"id\":%d}" % [type, value.get_instance_id()]
	if value is Resource:
		return "{\"$type\":%s,\"resource\":%s}" % [type, quote(value.resource_path) if value.resource_path != "" else "null"]
	return "{\"$type\":%s,\"id\":%d}" % [type, value.get_instance_id()]

static func _numbers(plain: Array) -> String:
	var out := PackedStringArray()
	for item: Variant in plain:
		out.append(component(item) if item is float else str(item))
	return "[" + ",".join(out) + "]"

static func _packed(value: Variant) -> String:
	var out := PackedStringArray()
	var kind := typeof(value)
	for item: Variant in value:
		if kind == TYPE_PACKED_FLOAT32_ARRAY:
			out.append(component(item))
		else:
			var plain: Variant = flat(item)
			out.append(_numbers(plain) if plain != null else _text(item, []))
	return "[" + ",".join(out) + "]"

## A vector as a plain array.
static func numbers(vector: Variant) -> String:
	return _numbers(flat(vector))

## The components of a vector, colour, transform and the like; null for anything else.
static func flat(v: Variant) -> Variant:
	match typeof(v):
		TYPE_VECTOR2, TYPE_VECTOR2I: return [v.x, v.y]
		TYPE_VECTOR3, TYPE_VECTOR3I: return [v.x, v.y, v.z]
		TYPE_VECTOR4, TYPE_VECTOR4I, TYPE_QUATERNION: return [v.x, v.y, v.z, v.w]
		TYPE_RECT2, TYPE_RECT2I: return [v.position.x, v.position.y, v.size.x, v.size.y]
		TYPE_COLOR: return [v.r, v.g, v.b, v.a]
		TYPE_PLANE: return [v.normal.x, v.normal.y, v.normal.z, v.d]
		TYPE_AABB: return flat(v.position) + flat(v.size)
		TYPE_BASIS: return flat(v.x) + flat(v.y) + flat(v.z)
		TYPE_TRANSFORM2D: return flat(v.x) + flat(v.y) + flat(v.origin)
		TYPE_TRANSFORM3D: return flat(v.basis) + flat(v.origin)
		TYPE_PROJECTION: return flat(v.x) + flat(v.y) + flat(v.z) + flat(v.w)
	return null

## The name of its type: the class of an object, or else the Variant type.
static func type_name(value: Variant) -> String:
	return value.get_class() if typeof(value) == TYPE_OBJECT and is_instance_valid(value) else type_string(typeof(value))

## Whether a value equals the argument of a command: compares numbers of both types, strings of both kinds, and vectors also with arrays.
static func same(value: Variant, wanted: Variant) -> bool:
	if (value is int or value is float) and (wanted is int or wanted is float):
		return value == wanted
	if (value is String or value is StringName or value is NodePath) and wanted is String:
		return String(value) == wanted
	if wanted is Array and flat(value) != null:
		var numbers: Array = flat(value)
		return numbers.size() == wanted.size() and range(numbers.size()).all(func(i: int) -> bool: return same(numbers[i], wanted[i]))
	if typeof(value) != typeof(wanted):
		return false
	return value == wanted or (value is Array or value is Dictionary) and text(value) == text(wanted)
