@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Finds an item of a node by its label, its index, or its path such as "File/Open".

const Answer := preload("agent_answer.gd")
const Controls := preload("agent_controls.gd")
const Item := preload("agent_item.gd")

## The number of items that a failure lists.
const SHOWN := 50

## The item of a node with this name, or the failure.
static func find(node: Node, wanted: Variant) -> Variant:
	var items := _of_tree(node) if node is Tree else _of(Controls.holder(node), [], "")
	var found: Array = []
	if wanted is int:
		found = items.filter(func(item: RefCounted) -> bool: return item.way == [wanted])
	elif wanted is String or wanted is Array and wanted.all(func(part: Variant) -> bool: return part is String):
		var name: String = wanted if wanted is String else Controls.IN.join(PackedStringArray(wanted))
		found = items.filter(func(item: RefCounted) -> bool: return name in item.paths)
		if found.is_empty():
			found = items.filter(func(item: RefCounted) -> bool: return name in item.labels)
	else:
		return Answer.fail("INVALID_ARGS", "item must be a label, an index or a list of labels", "\"Open\", 2, \"File/Open\" or [\"File\",\"Open\"]")
	if found.size() == 1:
		return found[0]
	var named: Array = (items if found.is_empty() else found).map(func(item: RefCounted) -> String: return item.paths[0])
	var details := {"items": named.slice(0, SHOWN), "count": named.size()}
	if found.is_empty():
		return Answer.fail("INVALID_ARGS", "%s has no item %s" % [node.get_path(), wanted], "name one of details.items", details)
	return Answer.fail("AMBIGUOUS", "%d items of %s are named %s" % [found.size(), node.get_path(), wanted], "name it by its path or index", details)

static func _of(holder: Node, way: Array[int], prefix: String) -> Array:
	var out := []
	for i in Controls.count(holder):
		var submenu := Controls.submenu(holder, i)
		var label := Controls.text(holder, i)
		var to: Array[int] = way + ([i] as Array[int])
		var is_disabled := Controls.is_disabled(holder, i)
		if submenu != null and not is_disabled:
			out.append_array(_of(submenu, to, prefix + label + Controls.IN))
		else:
			var item := Item.new()
			item.way = to
			item.paths.append(prefix + label)
			item.labels.append(label)
			item.is_disabled = is_disabled
			out.append(item)
	return out

static func _of_tree(tree: Tree) -> Array:
	var out := []
	for row in Controls.tree_items(tree):
		var item := Item.new()
		var path := Controls.path_of(row)
		var behind := Controls.tree_text(row).trim_prefix(Controls.cell_text(row, 0))
		item.row = row
		item.way.append(out.size())
		item.paths.append_array([path, path.trim_suffix(behind)])
		item.labels.append_array([Controls.tree_text(row), Controls.cell_text(row, 0)])
		out.append(item)
	return out
