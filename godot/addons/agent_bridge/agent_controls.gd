@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The texts that a control shows to a player: its label, its items and the selected item.

## The separator between the label of a menu or tree item and those of the items around it.
const IN := "/"
## The separator between the columns of a tree item.
const COLUMN := " | "

## The most choices that are counted, since a menu may contain itself.
const MAX_CHOICES := 20_000

## A text of a node in the language in which the engine shows it; `mode` is that of an item in the node.
static func translated(node: Node, text: String, mode := Node.AUTO_TRANSLATE_MODE_INHERIT) -> String:
	if text == "" or mode == Node.AUTO_TRANSLATE_MODE_DISABLED:
		return text
	return node.tr(text) if mode == Node.AUTO_TRANSLATE_MODE_ALWAYS else node.atr(text)

static func tooltip(control: Control) -> String:
	return translated(control, control.tooltip_text, control.tooltip_auto_translate_mode)

## A node's label for a player: its text, or else its tooltip, its name for screen readers, its icon's file or its own name.
static func label(node: Node, text: Variant) -> String:
	if text is String and text != "":
		return text
	if node is Control and node.tooltip_text != "":
		return tooltip(node)
	if node is Control and node.accessibility_name != "":
		return translated(node, node.accessibility_name)
	if node is BaseButton:
		var icon: Texture2D = node.texture_normal if node is TextureButton else node.icon if node is Button else null
		if icon != null and icon.resource_path != "":
			return icon.resource_path.get_file().get_basename()
	if node is LineEdit and node.placeholder_text != "" or node is TextEdit and node.placeholder_text != "":
		return translated(node, node.placeholder_text)
	# Names that the engine generates are meaningless.
	return "" if String(node.name).begins_with("@") else String(node.name)

## The node that contains the items of a node: itself, or its popup. Null if it has no items.
static func holder(node: Node) -> Node:
	if node is OptionButton or node is MenuButton:
		return node.get_popup()
	return node if node is PopupMenu or node is MenuBar or node is ItemList or node is TabBar or node is TabContainer else null

static func count(holder: Node) -> int:
	if holder is MenuBar:
		return holder.get_menu_count()
	return holder.get_tab_count() if holder is TabBar or holder is TabContainer else holder.item_count

static func text(holder: Node, index: int) -> String:
	if holder is MenuBar:
		return translated(holder, holder.get_menu_title(index))
	if holder is TabBar or holder is TabContainer:
		return translated(holder, holder.get_tab_title(index))
	return translated(holder, holder.get_item_text(index), holder.get_item_auto_translate_mode(index))

## Whether a player cannot choose an item: it is disabled, hidden or a separator.
static func is_disabled(holder: Node, index: int) -> bool:
	if holder is MenuBar:
		return holder.is_menu_disabled(index) or holder.is_menu_hidden(index)
	if holder is TabBar or holder is TabContainer:
		return holder.is_tab_disabled(index) or holder.is_tab_hidden(index)
	if holder is ItemList:
		return holder.is_item_disabled(index) or not holder.is_item_selectable(index)
	return holder.is_item_disabled(index) or holder.is_item_separator(index)

## The popup that an item of a menu opens, or null.
static func submenu(holder: Node, index: int) -> PopupMenu:
	if holder is MenuBar:
		return holder.get_menu_popup(index)
	return holder.get_item_submenu_node(index) if holder is PopupMenu else null

## The available items of a node; those of a submenu as "File/Open".
static func choices(node: Node) -> Array:
	return items(node, MAX_CHOICES) if node is Tree else _choices(holder(node), "", [])

static func _choices(holder: Node, prefix: String, out: Array) -> Array:
	for i in count(holder):
		var under := submenu(holder, i)
		if is_disabled(holder, i) or out.size() >= MAX_CHOICES:
			continue
		if under != null:
			_choices(under, prefix + text(holder, i) + IN, out)
		else:
			out.append(prefix + text(holder, i))
	return out

## The labels of the first `most` items; null for a node that offers none.
static func items(node: Node, most: int) -> Variant:
	if node is Tree:
		return tree_items(node).slice(0, most).map(func(item: TreeItem) -> String: return path_of(item))
	var offering := holder(node)
	return null if offering == null else range(mini(count(offering), most)).map(func(i: int) -> String: return text(offering, i))

## The index of the selected item, a list of them for ItemList, the labels of the selected ones for Tree; null for a node without a selection.
static func selected(node: Node) -> Variant:
	if node is OptionButton:
		return node.selected
	if node is ItemList:
		return Array(node.get_selected_items())
	if node is TabBar or node is TabContainer:
		return node.current_tab
	if node is Tree:
		return tree_items(node).filter(is_selected).map(func(item: TreeItem) -> String: return path_of(item))
	return null

static func is_selected(item: TreeItem) -> bool:
	return range(item.get_tree().columns).any(func(column: int) -> bool: return item.is_selected(column))

## The items of a tree in order, including those in collapsed items, but without a hidden root.
static func tree_items(tree: Tree) -> Array[TreeItem]:
	var out: Array[TreeItem] = []
	var item := tree.get_root()
	while item != null:
		if item.visible and not (item == tree.get_root() and tree.hide_root):
			out.append(item)
		item = item.get_next_in_tree()
	return out

static func cell_text(item: TreeItem, column: int) -> String:
	return translated(item.get_tree(), item.get_text(column), item.get_auto_translate_mode(column))

## The text of a tree item: its first column, followed by the others.
static func tree_text(item: TreeItem) -> String:
	var texts := range(item.get_tree().columns).map(func(column: int) -> String: return cell_text(item, column))
	while texts.size() > 1 and texts[-1] == "":
		texts.pop_back()
	return COLUMN.join(texts)

## The path of a tree item: "Weapons/Sword".
static func path_of(item: TreeItem) -> String:
	var path := tree_text(item)
	var parent := item.get_parent()
	while parent != null and not (parent == item.get_tree().get_root() and item.get_tree().hide_root):
		path = cell_text(parent, 0) + IN + path
		parent = parent.get_parent()
	return path
