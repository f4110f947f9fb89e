@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Decodes the arguments of a command from JSON: integers become ints again, and `{"$type":T,"value":V}` becomes a T.

## The number of components of each type.
const FLAT := {"Vector2": 2, "Vector2i": 2, "Vector3": 3, "Vector3i": 3, "Vector4": 4, "Vector4i": 4, "Rect2": 4, "Rect2i": 4, "Color": 4,
	"Quaternion": 4, "Plane": 4, "AABB": 6, "Basis": 9, "Transform2D": 6, "Transform3D": 12, "Projection": 16}
const NOT_FINITE := {"inf": INF, "-inf": -INF, "nan": NAN}
const EXACT := 9007199254740992.0

## What could not be decoded, in words; empty if everything could.
var problem := ""
var _tree: SceneTree

func _init(tree: SceneTree) -> void:
	_tree = tree

## The value of a piece of parsed JSON.
func value(json: Variant) -> Variant:
	match typeof(json):
		TYPE_FLOAT:
			return int(json) if json == floorf(json) and absf(json) <= EXACT else json
		TYPE_ARRAY:
			return json.map(value)
		TYPE_DICTIONARY:
			if json.has("$type"):
				return _typed(json)
			var out := {}
			for key: Variant in json:
				out[key] = value(json[key])
			return out
	return json

func _typed(json: Dictionary) -> Variant:
	var type := str(json["$type"])
	if json.has("path"):
		return _node(json)
	if json.has("resource"):
		return _resource(json)
	var plain: Variant = json.get("value")
	if FLAT.has(type):
		return _flat(type, plain)
	match type:
		"float":
			if json.has("bits"):
				return _of_bits(json)
			if NOT_FINITE.has(plain):
				return NOT_FINITE[plain]
			if plain is float or plain is String and plain.is_valid_float():
				return float(plain)
		"int":
			if plain is float or plain is String and _fits(plain):
				return int(plain)
		"NodePath":
			return NodePath(str(plain))
		"StringName":
			return StringName(str(plain))
		"Dictionary":
			return _pairs(json, plain)
	if type.begins_with("Packed") and plain is Array:
		return _packed(type, plain)
	return _cannot(json)

## The engine itself reads a number with many digits slightly wrong.
func _of_bits(json: Dictionary) -> Variant:
	var bits := str(json["bits"])
	if bits.length() != 16 or not bits.is_valid_hex_number():
		return _cannot(json)
	var bytes := bits.hex_decode()
	bytes.reverse()
	return bytes.decode_double(0)

## Whether it is an integer of 64 bits. The engine would replace a larger one with the largest.
func _fits(digits: String) -> bool:
	if not digits.is_valid_int():
		return false
	var amount := digits.trim_prefix("-").trim_prefix("+").lstrip("0")
	var largest := "9223372036854775808" if digits.begins_with("-") else "9223372036854775807"
	return amount.length() < largest.length() or amount.length() == largest.length() and amount <= largest

func _pairs(json: Dictionary, plain: Variant) -> Variant:
	if not plain is Array or not plain.all(func(pair: Variant) -> bool: return pair is Array and pair.size() == 2):
		return _cannot(json)
	var out := {}
	for pair: Array in plain:
		out[value(pair[0])] = value(pair[1])
	return out

func _node(json: Dictionary) -> Variant:
	var node := _tree.root.get_node_or_null(NodePath(str(json["path"])))
	return node if node != null else _cannot(json)

func _resource(json: Dictionary) -> Variant:
	var path := str(json["resource"])
	# Only the game's own resources, since a loaded resource may contain a script.
	if path.begins_with("res://") and ResourceLoader.exists(path):
		return load(path)
	return _cannot(json)

func _flat(type: String, plain: Variant) -> Variant:
	if not plain is Array or plain.size() != FLAT[type]:
		return _cannot({"$type": type, "value": plain})
	var n: Array = plain.map(func(item: Variant) -> Variant: return value(item))
	if not n.all(func(item: Variant) -> bool: return item is int or item is float):
		return _cannot({"$type": type, "value": plain})
	match type:
		"Vector2": return Vector2(n[0], n[1])
		"Vector2i": return Vector2i(n[0], n[1])
		"Vector3": return Vector3(n[0], n[1], n[2])
		"Vector3i": return Vector3i(n[0], n[1], n[2])
		"Vector4": return Vector4(n[0], n[1], n[2], n[3])
		"Vector4i": return Vector4i(n[0], n[1], n[2], n[3])
		"Rect2": return Rect2(n[0], n[1], n[2], n[3])
		"Rect2i": return Rect2i(n[0], n[1], n[2], n[3])
		"Color": return Color(n[0], n[1], n[2], n[3])
		"Quaternion": return Quaternion(n[0], n[1], n[2], n[3])
		"Plane": return Plane(n[0], n[1], n[2], n[3])
		"AABB": return AABB(_vector(n, 0), _vector(n, 3))
		"Basis": return _basis(n)
		"Transform2D": return Transform2D(Vector2(n[0], n[1]), Vector2(n[2], n[3]), Vector2(n[4], n[5]))
		"Transform3D": return Transform3D(_basis(n), _vector(n, 9))
	var rows := range(0, 16, 4).map(func(i: int) -> Vector4: return Vector4(n[i], n[i + 1], n[i + 2], n[i + 3]))
	return Projection(rows[0], rows[1], rows[2], rows[3])

func _vector(n: Array, from: int) -> Vector3:
	return Vector3(n[from], n[from + 1], n[from + 2])

func _basis(n: Array) -> Basis:
	return Basis(_vector(n, 0), _vector(n, 3), _vector(n, 6))

func _packed(type: String, plain: Array) -> Variant:
	var element: String = {"PackedVector2Array": "Vector2", "PackedVector3Array": "Vector3", "PackedVector4Array": "Vector4",
		"PackedColorArray": "Color"}.get(type, "")
	var items: Array = plain.map(func(item: Variant) -> Variant: return _flat(element, item) if element != "" else value(item))
	match type:
		"PackedByteArray": return PackedByteArray(items)
		"PackedInt32Array": return PackedInt32Array(items)
		"PackedInt64Array": return PackedInt64Array(items)
		"PackedFloat32Array": return PackedFloat32Array(items)
		"PackedFloat64Array": return PackedFloat64Array(items)
		"PackedStringArray": return PackedStringArray(items)
		"PackedVector2Array": return PackedVector2Array(items)
		"PackedVector3Array": return PackedVector3Array(items)
		"PackedVector4Array": return PackedVector4Array(items)
		"PackedColorArray": return PackedColorArray(items)
	return _cannot({"$type": type, "value": plain})

func _cannot(json: Dictionary) -> Variant:
	problem = "%s is not a value that can be passed as an argument" % JSON.stringify(json).left(200)
	return null
