@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Selectors, which select the node of a command. They are parsed into steps, each a list of tests, and resolved again for each command.

const Answer := preload("agent_answer.gd")
const Refs := preload("agent_refs.gd")
const Scripts := preload("agent_scripts.gd")
const Values := preload("agent_values.gd")

const STATES := ["visible", "hidden", "enabled", "disabled", "focused"]
const MATCHES_SHOWN := 20

var refs := Refs.new()

var _root: Node
var _tree: RefCounted
# The state of the parser: the position, and the problem.
var _text: String
var _at: int
var _problem: String

func _init(root: Node, tree: RefCounted) -> void:
	_root = root
	_tree = tree

## The only node that matches, or the failure: NODE_NOT_FOUND, AMBIGUOUS, INVALID_ARGS.
func one(selector: String) -> Variant:
	var found: Variant = all(selector)
	if found is Dictionary:
		return found
	if found.is_empty():
		return _not_found(selector)
	if found.size() > 1:
		var paths: Array = found.slice(0, MATCHES_SHOWN).map(func(node: Node) -> String: return String(node.get_path()))
		return Answer.fail("AMBIGUOUS", "%d nodes match %s" % [found.size(), selector],
			"name one of details.matches, or narrow it with #name, :visible or :nth(0)", {"matches": paths, "count": found.size()})
	return found[0]

## All nodes that match, in tree order (an array), or the failure.
func all(selector: String) -> Variant:
	if selector.begins_with("/"):
		# A name may contain spaces, so the complete text is first tried as a path.
		var node := _by_path(selector)
		if node != null:
			return [node]
	if selector.begins_with("@"):
		var shown := refs.node(selector)
		return [] if shown == null or not shown.is_inside_tree() else [shown]
	var steps: Variant = _parse(selector.strip_edges())
	if steps is Dictionary:
		return steps
	var scope: Array[Node] = _tree.all(_root)
	var matched: Array = []
	for i in steps.size():
		matched = _narrow(scope, steps[i], matched, i == 0)
	return matched

func _by_path(path: String) -> Node:
	# Selectors are not paths: the engine would report errors about some characters in them.
	if path.contains("\"") or path.contains(":") or path == "/":
		return null
	var node := _root.get_node_or_null(NodePath(path))
	return null if node == null or _tree.is_own(node) else node

func _narrow(scope: Array[Node], step: Dictionary, before: Array, first: bool) -> Array:
	var above := {}
	for node: Node in before:
		above[node] = true
	var out := []
	var tests: Array = step["tests"]
	for node in scope:
		var fits := true
		for test in tests:
			if not test.call(node):
				fits = false
				break
		if fits and (first or _hangs(node, above, step["child_only"])):
			out.append(node)
	if step["nth"] != null:
		var n: int = step["nth"] if step["nth"] >= 0 else out.size() + step["nth"]
		return [out[n]] if n >= 0 and n < out.size() else []
	return out

func _hangs(node: Node, above: Dictionary, child_only: bool) -> bool:
	var parent := node.get_parent()
	while parent != null:
		if above.has(parent):
			return true
		if child_only:
			return false
		parent = parent.get_parent()
	return false

func _not_found(selector: String) -> Dictionary:
	if selector.begins_with("@"):
		return Answer.fail("NODE_NOT_FOUND", "the node of %s was freed, or never existed" % selector, "look at get_tree with view agent")
	# The beginning of the last compound: a name, or a type.
	var words := selector.get_slice(":", 0).get_slice("[", 0).replace("#", " ").replace("/", " ").replace(">", " ").split(" ", false)
	var wanted := words[-1].to_lower() if not words.is_empty() else ""
	var near := []
	for node in _tree.all(_root):
		var likeness := maxf(wanted.similarity(String(node.name).to_lower()), wanted.similarity(Scripts.type_of(node).to_lower()))
		# Two swapped letters reduce the similarity of a short word to a third.
		if likeness > 0.3:
			near.append([likeness, String(node.get_path())])
	near.sort_custom(func(a: Array, b: Array) -> bool: return a[0] > b[0])
	var paths: Array = near.slice(0, 3).map(func(pair: Array) -> String: return pair[1])
	var hint := "look at get_tree" if paths.is_empty() else "did you mean %s?" % " or ".join(paths)
	return Answer.fail("NODE_NOT_FOUND", "no node matches %s" % selector, hint, {"near": paths})

# Parsing.

func _parse(selector: String) -> Variant:
	_text = selector
	_at = 0
	_problem = ""
	var steps: Array[Dictionary] = []
	var child_only := false
	while _at < _text.length() and _problem == "":
		if _text[_at] == ">" and not steps.is_empty() and not child_only:
			child_only = true
			_at += 1
		elif _text[_at] == " ":
			_at += 1
		else:
			steps.append(_compound(child_only))
			child_only = false
	if _problem == "" and (steps.is_empty() or child_only):
		_problem = "something must follow"
	if _problem != "":
		return Answer.fail("INVALID_ARGS", "the selector %s cannot be parsed at %d: %s" % [selector, _at, _problem],
			"a selector is a path, or like Button#Go:visible, #Menu > Button, :text(\"Start\"), [value=3], :nth(0)", {"at": _at})
	return steps

## A compound (`Button#Go:visible`): its tests, and whether it is a child of the one before (child_only). `nth` is the index among the matches, or
## null for all.
func _compound(child_only: bool) -> Dictionary:
	var step := {"child_only": child_only, "tests": [], "nth": null}
	var from := _at
	while _at < _text.length() and not _text[_at] in " >" and _problem == "":
		match _text[_at]:
			"/": _path(step)
			"#": _named(step)
			".": _grouped(step)
			"[": _property(step)
			":": _pseudo(step)
			"*": _at += 1
			_: _typed(step)
		if step["nth"] != null and _at < _text.length() and not _text[_at] in " >":
			_problem = ":nth comes last"
	if _at == from and _problem == "":
		_problem = "unexpected " + _text[_at]
	return step

func _word() -> String:
	if _at < _text.length() and _text[_at] == "\"":
		var quoted: Variant = _quoted()
		return quoted if quoted is String else ""
	var from := _at
	while _at < _text.length() and not _text[_at] in " >:.[]()#\"=!*/":
		_at += 1
	if _at == from and _problem == "":
		_problem = "a name is missing"
	return _text.substr(from, _at - from)

func _path(step: Dictionary) -> void:
	var from := _at
	while _at < _text.length() and not _text[_at] in " >:.[":
		_at += 1
	var path := _text.substr(from, _at - from)
	step["tests"].append(func(node: Node) -> bool: return String(node.get_path()) == path)

func _named(step: Dictionary) -> void:
	_at += 1
	var name := _word()
	step["tests"].append(func(node: Node) -> bool: return node.name == name)

func _grouped(step: Dictionary) -> void:
	_at += 1
	var group := _word()
	step["tests"].append(func(node: Node) -> bool: return node.is_in_group(group))

func _typed(step: Dictionary) -> void:
	var type := _word()
	step["tests"].append(func(node: Node) -> bool: return Scripts.is_a(node, type))

func _pseudo(step: Dictionary) -> void:
	_at += 1
	var name := _word()
	if name in STATES:
		step["tests"].append(is_in_state.bind(name))
		return
	if _at >= _text.length() or _text[_at] != "(":
		_problem = "there is no :%s" % name
		return
	_at += 1
	match name:
		"text": _text_test(step)
		"nth": step["nth"] = _number()
		_: _problem = "there is no :%s()" % name
	if _problem == "" and (_at >= _text.length() or _text[_at] != ")"):
		_problem = ") is missing"
	_at += 1

func _text_test(step: Dictionary) -> void:
	if _at < _text.length() and _text[_at] == "/":
		var end := _at + 1
		while end < _text.length() and (_text[end] != "/" or _text[end - 1] == "\\"):
			end += 1
		var pattern := pattern_of(_text.substr(_at + 1, end - _at - 1))
		if end >= _text.length() or pattern == null:
			_problem = "the regular expression is invalid"
			return
		_at = end + 1
		step["tests"].append(func(node: Node) -> bool:
			var text: Variant = _tree.text_of(node)
			return text != null and pattern.search(text) != null)
		return
	var wanted: Variant = _quoted()
	step["tests"].append(func(node: Node) -> bool:
		var text: Variant = _tree.text_of(node)
		return text != null and text == wanted)

## The regular expression between slashes; null if it is invalid.
static func pattern_of(between: String) -> RegEx:
	var pattern := RegEx.create_from_string(between.replace("\\/", "/"), false)
	return pattern if pattern != null and pattern.is_valid() else null

func _property(step: Dictionary) -> void:
	_at += 1
	var from := _at
	while _at < _text.length() and not _text[_at] in "]=!":
		_at += 1
	var property := _text.substr(from, _at - from).strip_edges()
	var unequal := _text.substr(_at, 2) == "!="
	if property == "":
		_problem = "a property's name is missing"
	if _at < _text.length() and _text[_at] == "]":
		step["tests"].append(func(node: Node) -> bool: return value_of(node, property) != null)
	else:
		_at += 2 if unequal else 1
		var wanted: Variant = _wanted()
		step["tests"].append(func(node: Node) -> bool:
			var value: Variant = value_of(node, property)
			# An array that contains itself cannot be converted to text.
			var is_text: bool = typeof(value) < TYPE_DICTIONARY and str(value) == wanted[0]
			return value != null and (is_text or Values.same(value, wanted[1])) != unequal)
	if _at >= _text.length() or _text[_at] != "]":
		_problem = "] is missing" if _problem == "" else _problem
	_at += 1

## The value up to the bracket: its text, and the same parsed as JSON.
func _wanted() -> Array:
	if _at < _text.length() and _text[_at] == "\"":
		var string: Variant = _quoted()
		return [string, string]
	var from := _at
	var depth := 0
	while _at < _text.length() and (_text[_at] != "]" or depth > 0):
		depth += int(_text[_at] == "[") - int(_text[_at] == "]")
		_at += 1
	var word := _text.substr(from, _at - from).strip_edges()
	var json := JSON.new()
	return [word, json.data if json.parse(word) == OK else word]

func _number() -> int:
	var word := _word()
	if not word.is_valid_int():
		_problem = ":nth() takes an integer"
	return int(word)

func _quoted() -> Variant:
	var end := _at + 1
	while end < _text.length() and _text[end] != "\"":
		end += 2 if _text[end] == "\\" else 1
	var json := JSON.new()
	if _at >= _text.length() or _text[_at] != "\"" or json.parse(_text.substr(_at, end - _at + 1)) != OK or not json.data is String:
		_problem = "a string in quotes is missing"
		return null
	_at = end + 1
	return json.data

## The value of a property (`position:x` selects a component), or else of a field of the node's hook, or else of a field in get_tree; or null.
func value_of(node: Node, property: String) -> Variant:
	var value: Variant = node.get_indexed(NodePath(property)) if property.get_slice(":", 0) in node else null
	if typeof(value) == TYPE_OBJECT and not is_instance_valid(value):
		# A freed object counts as null, as in the game's own comparisons.
		value = null
	# Signals and methods are also members, but not properties: "pressed" is a signal of each button.
	if value != null and not value is Signal and not value is Callable:
		return value
	var fields: Variant = node.call("agent_fields") if node.has_method("agent_fields") else null
	var said: Variant = fields.get(property) if fields is Dictionary else null
	var shown: Variant = _tree.shown(node, property) if said == null else said
	return value if shown == null else shown

## Whether a node is visible, hidden, enabled, disabled or focused.
func is_in_state(node: Node, state: String) -> bool:
	match state:
		"visible": return is_visible(node)
		"hidden": return not is_visible(node)
		"enabled": return not _disabled(node)
		"disabled": return _disabled(node)
		"focused": return node is Control and node.has_focus()
	return false

## Whether it and all its ancestors are visible; a node that cannot be hidden is visible if its parent is.
func is_visible(node: Node) -> bool:
	while node != null:
		if node is CanvasItem or node is Node3D:
			if not node.is_visible_in_tree():
				return false
		elif node is Window or node is CanvasLayer:
			if not node.visible:
				return false
		node = node.get_parent()
	return true

func _disabled(node: Node) -> bool:
	if node is BaseButton:
		return node.disabled
	if node is LineEdit or node is TextEdit or node is Slider or node is SpinBox:
		return not node.editable
	return "disabled" in node and node.get("disabled") == true
