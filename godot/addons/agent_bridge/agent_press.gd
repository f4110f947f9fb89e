@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast")
extends RefCounted
## Presses and clicks like a hand: brings the thing into view, moves the pointer there, looks what is under it, presses, releases.
##
## Everything is pushed into the topmost viewport, so that windows, containers and what covers what have their say as they have for a player.

const Answer := preload("agent_answer.gd")
const Command := preload("agent_command.gd")
const Place := preload("agent_place.gd")

const BUTTONS := {"left": MOUSE_BUTTON_LEFT, "right": MOUSE_BUTTON_RIGHT, "middle": MOUSE_BUTTON_MIDDLE}
## Where in the visible part the pointer goes: its middle, and where that is covered, a little aside.
const SPOTS: Array[Vector2] = [Vector2(0.5, 0.5), Vector2(0.25, 0.5), Vector2(0.75, 0.5), Vector2(0.5, 0.25), Vector2(0.5, 0.75)]
## A container lays its children out within so many frames.
const FRAMES_OF_LAYOUT := 2

var _session: Node

func _init(session: Node) -> void:
	_session = session

func press_button(args: Dictionary, command: Command) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	if not node is BaseButton:
		return _not_actionable(node, "not_a_control", "is no button", "click presses on anything that can be seen; type_text types into it")
	if args.get("force", false):
		return _force(node)
	var spot: Variant = await _reach(node, command)
	if spot is Dictionary:
		return spot
	var path := String(node.get_path())
	var was := [0]
	var count := func() -> void: was[0] += 1
	node.button_down.connect(count)
	node.pressed.connect(count)
	_gesture(spot[0], spot[1], MOUSE_BUTTON_LEFT)
	if not is_instance_valid(node):
		return {"path": path}
	node.button_down.disconnect(count)
	node.pressed.disconnect(count)
	if was[0] == 0:
		return _swallowed(node)
	return _pressed(node, path)

func click(args: Dictionary, command: Command) -> Dictionary:
	var button: int = BUTTONS.get(args.get("button", "left"), MOUSE_BUTTON_NONE)
	if button == MOUSE_BUTTON_NONE or args.has("path") == args.has("position"):
		return Answer.fail("INVALID_ARGS", "click takes a path or a position, and left, right or middle as button", "{\"position\":[100,50]}")
	var root: Window = _session.get_tree().root
	var out := {}
	var spot: Variant
	if args.has("position"):
		spot = _position(args["position"])
		if spot == null:
			return Answer.fail("INVALID_ARGS", "position must be [x, y]", "in the window's coordinates, as in the field rect")
		if not root.get_visible_rect().has_point(spot):
			return Answer.fail("NOT_ACTIONABLE", "the position is outside of the window", "the window is %s" % root.get_visible_rect().size, {"reason": "offscreen"})
		spot = [root, spot]
	else:
		var node: Variant = _session.selector.one(args["path"])
		if node is Dictionary:
			return node
		out["path"] = String(node.get_path())
		if node is Control:
			spot = await _reach(node, command)
		else:
			spot = _aim(node)
		if spot is Dictionary:
			return spot
	_gesture(spot[0], spot[1], button)
	# Picking (Area2D and its kind) happens in the next tick of physics.
	await _session.frames(1, command)
	out["position"] = [spot[1].x, spot[1].y]
	return out

## The topmost viewport and the point in it where a control can be pressed, or why it can't.
func _reach(control: Control, command: Command) -> Variant:
	var problem: Variant = usable(control)
	if problem != null:
		return problem
	if not _in_view(control):
		await _scroll_to(control, command)
		if command.done or not is_instance_valid(control) or not control.is_inside_tree():
			return Answer.fail("NODE_NOT_FOUND", "it went away while it was scrolled into view", "look at get_tree")
	var part := Place.visible_part(control)
	if not part.has_area():
		return _not_actionable(control, "offscreen", "is outside of what can be seen", "it is at %s in a viewport of %s; make the game show it" %
			[Place.rect(control), control.get_viewport().get_visible_rect().size])
	var above: Variant = _modal_over(control)
	if above != null:
		return _covered(control, above)
	var top := Place.top(control.get_viewport())
	var hovered: Control = null
	for spot in SPOTS:
		var point: Vector2 = top[1] * (part.position + part.size * spot)
		_move(top[0], point)
		hovered = control.get_viewport().gui_get_hovered_control()
		if hovered == control or hovered != null and control.is_ancestor_of(hovered):
			return [top[0], point]
	return _covered(control, _what_covers(top[0], top[1] * part.get_center(), hovered))

## Null where a control can be used; else the failure: it is disabled, hidden or paused.
func usable(control: Control) -> Variant:
	if control is BaseButton and control.disabled:
		return _not_actionable(control, "disabled", "is disabled", "wait_for its state enabled, or see list_actions for what can be done now")
	if not _session.selector.is_visible(control):
		return _not_actionable(control, "hidden", "is hidden, or in something hidden", "wait_for its state visible, or open what it is in")
	if not control.can_process():
		return _not_actionable(control, "paused", "is paused or disabled (process_mode)", "resume, or step; or do what makes the game enable it")
	return null

## Another Node: where its middle (or origin) is seen, and nothing that takes the click lies over it.
func _aim(node: Node) -> Variant:
	var point: Variant = _point_of(node)
	if point == null:
		return _not_actionable(node, "not_a_control", "is nothing that is drawn", "click takes a position, too")
	if not _session.selector.is_visible(node):
		return _not_actionable(node, "hidden", "is hidden, or in something hidden", "wait_for its state visible")
	if not node.get_viewport().get_visible_rect().has_point(point):
		return _not_actionable(node, "offscreen", "is outside of what can be seen", "it is at %s" % point)
	var top := Place.top(node.get_viewport())
	_move(top[0], top[1] * point)
	var over := _taker(node.get_viewport().gui_get_hovered_control())
	return _covered(node, over) if over != null else [top[0], top[1] * point]

func _point_of(node: Node) -> Variant:
	if node is CanvasItem:
		var rect: Variant = Place.rect(node)
		return rect.get_center() if rect != null else node.get_global_transform_with_canvas().origin
	if node is Node3D:
		var camera := node.get_viewport().get_camera_3d()
		if camera != null and not camera.is_position_behind(node.global_position):
			return camera.unproject_position(node.global_position)
	return null

## The control that stops a click on its way to the world; a click that is passed on goes up to the parents.
func _taker(control: Node) -> Node:
	while control is Control and control.mouse_filter != Control.MOUSE_FILTER_STOP:
		control = control.get_parent()
	return control if control is Control else null

func _in_view(control: Control) -> bool:
	var rect: Rect2 = Place.rect(control)
	return rect.has_area() and Place.visible_part(control).has_point(rect.get_center())

## Lets each scroll container around it show it, the innermost first, as its layout allows.
func _scroll_to(control: Control, command: Command) -> void:
	for frame in FRAMES_OF_LAYOUT:
		var parent := control.get_parent()
		while parent != null:
			if parent is ScrollContainer:
				parent.ensure_control_visible(control)
			parent = parent.get_parent()
		await _session.ticked
		if command.done or not is_instance_valid(control) or not control.is_inside_tree() or _in_view(control):
			return

## A window that is open and keeps input from the control's own; null where there is none.
func _modal_over(control: Control) -> Variant:
	var own := control.get_window()
	for window: Window in _session.get_tree().root.find_children("*", "Window", true, false):
		if window.visible and window.exclusive and window.transient and window != own and not window.is_ancestor_of(control):
			if window.get_parent().get_viewport() == own or own == _session.get_tree().root:
				return window
	return null

func _what_covers(top: Viewport, point: Vector2, hovered: Control) -> Node:
	var windows := top.get_embedded_subwindows()
	windows.reverse()
	for window in windows:
		if Rect2(window.position, window.size).has_point(point):
			return window
	return hovered if hovered != null else top.gui_get_hovered_control()

func _move(viewport: Viewport, point: Vector2) -> void:
	var motion := InputEventMouseMotion.new()
	motion.position = point
	motion.global_position = point
	viewport.push_input(motion, true)

func _gesture(viewport: Viewport, point: Vector2, button: int) -> void:
	for down: bool in [true, false]:
		# What is pressed may change the scene, and take its viewport with it.
		if not is_instance_valid(viewport) or not viewport.is_inside_tree():
			return
		var event := InputEventMouseButton.new()
		event.button_index = button
		event.button_mask = 1 << (button - 1) if down else 0
		event.pressed = down
		event.position = point
		event.global_position = point
		viewport.push_input(event, true)

## Without a hand: works on what is disabled, hidden or covered as well.
func _force(button: BaseButton) -> Dictionary:
	var path := String(button.get_path())
	var stays := button.button_group != null and button.button_pressed and not button.button_group.allow_unpress
	if button.toggle_mode and not stays:
		button.button_pressed = not button.button_pressed
	button.pressed.emit()
	return _pressed(button, path) if is_instance_valid(button) else {"path": path}

func _pressed(button: BaseButton, path: String) -> Dictionary:
	return {"path": path, "pressed": button.button_pressed} if button.toggle_mode else {"path": path}

func _position(given: Variant) -> Variant:
	if given is Vector2 or given is Vector2i:
		return Vector2(given)
	var is_pair: bool = given is Array and given.size() == 2 and given.all(func(n: Variant) -> bool: return n is int or n is float)
	return Vector2(given[0], given[1]) if is_pair else null

func _not_actionable(node: Node, reason: String, text: String, hint: String) -> Dictionary:
	return Answer.fail("NOT_ACTIONABLE", "%s %s" % [node.get_path(), text], hint, {"reason": reason})

func _covered(node: Node, by: Node) -> Dictionary:
	var failure := _not_actionable(node, "covered_by", "is covered by %s" % (by.get_path() if by != null else &"nothing that has a path"),
		"close or move what covers it" if by != null else "its mouse_filter may be IGNORE; then nobody can press it")
	failure["details"]["covered_by"] = String(by.get_path()) if by != null else null
	return failure

## The pointer was over it, and yet it wasn't pressed: something within, or the game's _input, took the click.
func _swallowed(button: BaseButton) -> Dictionary:
	var hovered := button.get_viewport().gui_get_hovered_control() if button.is_inside_tree() else null
	return _covered(button, hovered)
