@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## select: chooses an item of a menu, a list, a tree or of tabs with the pointer, as a player does.

const Answer := preload("agent_answer.gd")
const Controls := preload("agent_controls.gd")
const Items := preload("agent_items.gd")
const Place := preload("agent_place.gd")

## The frames that a popup may take to open.
const FRAMES_TO_OPEN := 30
## How often the position of a popup's item is guessed, before the complete popup is searched for it.
const GUESSES := 8

var _session: Node

func _init(session: Node) -> void:
	_session = session

func select(args: Dictionary, command: RefCounted) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	if not node is Tree and Controls.holder(node) == null:
		return _session.reach.refusal(node, "not_a_control", "has no items", "press_button, click, fill and set_value are for other controls")
	var item: Variant = Items.find(node, args["item"])
	if item is Dictionary:
		return item
	if item.is_disabled:
		return _session.reach.refusal(node, "disabled", "has the item %s, which cannot be chosen" % item.paths[0], "list_actions lists the items that can")
	var out := {"path": String(node.get_path()), "item": item.paths[0]}
	var problem: Variant = await _choose(node, item, command)
	if problem == null and is_instance_valid(node) and Controls.selected(node) != null:
		out["selected"] = Controls.selected(node)
	return out if problem == null else problem

## Chooses an item; returns null, or the failure.
func _choose(node: Node, item: RefCounted, command: RefCounted) -> Variant:
	if node is Tree:
		return await select_cell(node, item.row, _column(item.row), command)
	if node is ItemList:
		return await _in_list(node, item.way[0], command)
	if node is TabBar or node is TabContainer:
		return await _tab(node if node is TabBar else node.get_tab_bar(), item.way[0], command)
	var way: Array[int] = item.way.duplicate()
	var popup: Variant = node if node is PopupMenu else await _open(node, way, command)
	return popup if popup is Dictionary else await pick(popup, way, command)

## Clicks a cell of a tree, which selects it.
func select_cell(tree: Tree, row: TreeItem, column: int, command: RefCounted) -> Variant:
	if not row.is_selectable(column):
		return _session.reach.refusal(tree, "disabled", "has the item %s, which cannot be selected" % Controls.cell_text(row, 0), "name another item")
	var problem: Variant = _session.reach.problem(tree)
	if problem != null or row.is_selected(column) and tree.select_mode != Tree.SELECT_MULTI:
		# Another click would start editing the cell.
		return problem
	var rect: Variant = await cell_rect(tree, row, column)
	return await _click(tree, rect, "item_mouse_selected", command)

## Scrolls to a cell of a tree, and returns its rectangle in the tree.
func cell_rect(tree: Tree, row: TreeItem, column: int) -> Variant:
	var parent := row.get_parent()
	while parent != null:
		if parent.collapsed:
			parent.collapsed = false
		parent = parent.get_parent()
	tree.scroll_to_item(row)
	await _session.ticked
	return tree.get_item_area_rect(row, column) if is_instance_valid(row) else Rect2()

func _in_list(list: ItemList, index: int, command: RefCounted) -> Variant:
	var problem: Variant = _session.reach.problem(list)
	if problem != null:
		return problem
	for bar: ScrollBar in [list.get_h_scroll_bar(), list.get_v_scroll_bar()]:
		# As with the wheel: to the beginning of the item.
		var axis := 0 if bar is HScrollBar else 1
		var area := list.get_item_rect(index)
		if area.position[axis] < bar.value or area.end[axis] > bar.value + list.size[axis]:
			bar.value = area.position[axis]
	await _session.ticked
	var shift := Vector2(list.get_h_scroll_bar().value, list.get_v_scroll_bar().value)
	var rect := list.get_item_rect(index)
	return await _click(list, Rect2(rect.position - shift, rect.size), "item_clicked", command)

func _tab(bar: TabBar, index: int, command: RefCounted) -> Variant:
	bar.ensure_tab_visible(index)
	await _session.ticked
	var rect := bar.get_tab_rect(index)
	# The right part may be a button that closes the tab.
	return await _click(bar, Rect2(rect.position, rect.size * Vector2(0.5, 1)), "tab_clicked", command)

## Opens the first popup on the way to an item, and removes it from the way; or returns the failure.
func _open(node: Control, way: Array[int], command: RefCounted) -> Variant:
	var popup: PopupMenu = Controls.holder(node) as PopupMenu
	var part := Rect2()
	if node is MenuBar:
		popup = node.get_menu_popup(way[0])
		part = _title(node, way.pop_front())
	if popup.visible:
		return popup
	var spot: Variant = await _session.aim.reach(node, command, part)
	if spot is Dictionary:
		return spot
	await _session.devices.click(spot)
	return popup if await _is_open(popup, command) else _session.reach.refusal(node, "covered_by", "has not opened its menu",
		"another control took the click, or the game keeps the menu closed")

func _is_open(popup: PopupMenu, command: RefCounted) -> bool:
	for frame in FRAMES_TO_OPEN:
		if command.done or not is_instance_valid(popup) or popup.visible:
			break
		await _session.ticked
	return is_instance_valid(popup) and popup.visible

## The rectangle of a menu's title: the titles follow each other.
func _title(bar: MenuBar, index: int) -> Rect2:
	var style := bar.get_theme_stylebox("normal")
	var font := bar.get_theme_font("font")
	var at := 0.0
	for i in range(index + 1):
		if bar.is_menu_hidden(i):
			continue
		var text := font.get_string_size(Controls.text(bar, i), HORIZONTAL_ALIGNMENT_LEFT, -1, bar.get_theme_font_size("font_size"))
		var width := text.x + style.get_minimum_size().x
		if i == index:
			return Rect2(at if not bar.is_layout_rtl() else bar.size.x - at - width, 0, width, bar.size.y)
		at += width + bar.get_theme_constant("h_separation")
	return Rect2()

## Clicks through an open popup and its submenus; returns null, or the failure.
func pick(popup: PopupMenu, way: Array[int], command: RefCounted) -> Variant:
	for i in way.size():
		if not await _is_open(popup, command):
			return _session.reach.refusal(popup, "hidden", "is closed", "select on the button that opens it") if is_instance_valid(popup) else _gone()
		var spot: Variant = await _spot_in(popup, way[i], command)
		if spot == null:
			return _session.reach.refusal(popup, "offscreen", "does not show its item %d where the pointer can reach it" % way[i], "press_key with Down and Enter also chooses it")
		var submenu := popup.get_item_submenu_node(way[i])
		if submenu != null:
			await _session.devices.click(spot)
		elif not await _is_noticed(spot, popup, "index_pressed"):
			return _session.reach.covered(popup, null)
		popup = submenu
	return null

## Moves the pointer to an item of an open popup, and returns [viewport, point]; null if the item is not found. The engine reports the item
## under the pointer, but not the position of an item.
func _spot_in(popup: PopupMenu, index: int, command: RefCounted) -> Variant:
	popup.set_focused_item(index)
	await _session.ticked
	var height := float(popup.size.y)
	var row: float = popup.get_theme_font("font").get_height(popup.get_theme_font_size("font_size")) + popup.get_theme_constant("v_separation")
	var at := clampf(row * (index + 0.5), 2.0, height - 2.0)
	for guess in GUESSES:
		var under := await _item_under(popup, at, command)
		if under == index:
			return _in_popup(popup, at)
		if under == -2:
			return null
		at = clampf(at + (signi(index - under) * maxf(absi(index - under), 0.5) * row if under >= 0 else row / 2), 2.0, height - 2.0)
	at = 2.0
	while at < height:
		if await _item_under(popup, at, command) == index:
			return _in_popup(popup, at)
		at += row / 3
	return null

## Moves the pointer to the height `at` in a popup, and returns the index of the item there; -1 for none, -2 if the popup is closed.
func _item_under(popup: PopupMenu, at: float, command: RefCounted) -> int:
	popup.set_focused_item(-1)
	var spot := _in_popup(popup, at)
	# From a little aside, since the engine ignores a motion of length zero.
	_session.devices.move(spot[0], spot[1] + Vector2(1, 0))
	_session.devices.move(spot[0], spot[1])
	await _session.ticked
	if DisplayServer.get_name() != "headless":
		# The last event may be the system's own, without the speed that a menu requires.
		_session.devices.move(spot[0], spot[1] + Vector2(0.25, 0))
		await _session.ticked
	return popup.get_focused_item() if not command.done and is_instance_valid(popup) and popup.visible else -2

func _in_popup(popup: PopupMenu, at: float) -> Array:
	var top := Place.top(popup)
	return [top[0], top[1] * Vector2(popup.size.x * 0.5, at)]

## Clicks a part of a control; returns null if the control emits `signal_name`, or the failure.
func _click(control: Control, part: Rect2, signal_name: String, command: RefCounted) -> Variant:
	var spot: Variant = await _session.aim.reach(control, command, part)
	if spot is Dictionary:
		return spot
	return null if await _is_noticed(spot, control, signal_name) else _session.reach.covered(control, control.get_viewport().gui_get_hovered_control())

## Clicks at a [viewport, point], and returns whether a node has emitted a signal meanwhile, or was freed.
func _is_noticed(spot: Array, node: Node, signal_name: String) -> bool:
	var count := [0]
	var notice := func(..._given: Array) -> void: count[0] += 1
	node.connect(signal_name, notice)
	await _session.devices.click(spot)
	if not is_instance_valid(node):
		return true
	node.disconnect(signal_name, notice)
	return count[0] > 0 or not node.is_inside_tree()

## The column to click for selecting a tree item: one where a click does not change the item.
func _column(row: TreeItem) -> int:
	for column in row.get_tree().columns:
		if row.is_selectable(column) and row.get_cell_mode(column) == TreeItem.CELL_MODE_STRING:
			return column
	return 0

func _gone() -> Dictionary:
	return Answer.fail("NODE_NOT_FOUND", "the menu went away before its item was reached", "look at get_tree")
