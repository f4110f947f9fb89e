@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Converts the target of a command (a node, a position, a place in the world, a cell) to a point of the topmost viewport that a player can reach.

const Answer := preload("agent_answer.gd")
const Place := preload("agent_place.gd")

## The arguments that name a target, for commands that take one.
const TARGET := {"path": "string?", "position": "any?", "world": "any?", "cell": "any?"}
## Points of the visible part that are tried in turn: its middle, then points beside it, in case the middle is covered.
const SPOTS: Array[Vector2] = [Vector2(0.5, 0.5), Vector2(0.25, 0.5), Vector2(0.75, 0.5), Vector2(0.5, 0.25), Vector2(0.5, 0.75)]
## The frames that a container needs to lay out its children.
const FRAMES_OF_LAYOUT := 2

var _session: Node

func _init(session: Node) -> void:
	_session = session

## Moves the pointer to the target that the arguments name; returns [viewport, point], or the failure.
func aim(args: Dictionary, command: RefCounted) -> Variant:
	if ["path", "position", "world"].filter(func(name: String) -> bool: return args.has(name)).size() != 1 or args.has("cell") and not args.has("path"):
		return Answer.fail("INVALID_ARGS", "give one of path, position and world as the target; cell needs the path of a TileMapLayer",
			"{\"path\":\"#Go\"}, {\"position\":[100,50]}, {\"world\":[3,0,-2]} or {\"path\":\"#Map\",\"cell\":[4,7]}")
	if not args.has("path"):
		return await _aim_at_point(args, command)
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	if args.has("cell"):
		return await _aim_at_cell(node, args["cell"], command)
	# A control that ignores the mouse is only a position: a click there goes to the control around it.
	if node is Control and node.mouse_filter != Control.MOUSE_FILTER_IGNORE:
		return await reach(node, command)
	return await _aim_at_node(node, _point_of(node), command)

## The same for a target that is given as a text (a selector), a pair of numbers (a position) or the arguments above.
func aim_at(target: Variant, command: RefCounted) -> Variant:
	if target is String:
		return await aim({"path": target}, command)
	if target is Dictionary:
		var problem: Variant = Answer.check("drag", TARGET, target)
		return problem if problem != null else await aim(target, command)
	return await aim({"position": target}, command)

## Moves the pointer to a point where a control can be pressed; returns [viewport, point], or the failure. `within` is the part of the control
## that is meant; a rectangle without area means all of it.
func reach(control: Control, command: RefCounted, within := Rect2()) -> Variant:
	var problem: Variant = _session.reach.problem(control)
	if problem == null and Input.mouse_mode == Input.MOUSE_MODE_CAPTURED:
		problem = _session.reach.refusal(control, "captured", "cannot be pointed at: the game has captured the pointer",
			"use mouse_down, and mouse_move with relative")
	if problem != null:
		return problem
	if not _in_view(control):
		await _scroll_to(control, command)
		if command.done or not is_instance_valid(control) or not control.is_inside_tree():
			return _went_away()
	var part := Place.visible_part(control)
	if within.has_area():
		part = part.intersection(control.get_global_transform_with_canvas() * within)
	if not part.has_area():
		return _session.reach.refusal(control, "offscreen", "is outside of the visible area", "it is at %s in a viewport of %s; make the game show it" %
			[Place.rect(control), control.get_viewport().get_visible_rect().size])
	var top := Place.top(control.get_viewport())
	var hovered: Control = null
	for spot in SPOTS:
		var point: Vector2 = top[1] * (part.position + part.size * spot)
		await _point_at(top[0], point)
		if command.done or not is_instance_valid(control) or not control.is_inside_tree():
			return _went_away()
		hovered = control.get_viewport().gui_get_hovered_control()
		if hovered == control or hovered != null and control.is_ancestor_of(hovered):
			return [top[0], point]
	return _session.reach.covered(control, _session.reach.cover_at(top[0], top[1] * part.get_center(), hovered))

func _went_away() -> Dictionary:
	return Answer.fail("NODE_NOT_FOUND", "the node went away before it was reached", "look at get_tree")

func _point_at(viewport: Viewport, point: Vector2) -> void:
	_session.devices.move(viewport, point)
	await _session.ticked

func _aim_at_point(args: Dictionary, command: RefCounted) -> Variant:
	var root: Window = _session.get_tree().root
	var point: Variant = null
	if args.has("position"):
		point = _numbers(args["position"], 2)
		if point == null:
			return Answer.fail("INVALID_ARGS", "position must be [x, y]", "in the window's coordinates, as in the field rect")
		point = Vector2(point[0], point[1])
	else:
		point = _in_window(args["world"], root)
		if point is Dictionary:
			return point
	if not root.get_visible_rect().has_point(point):
		return Answer.fail("NOT_ACTIONABLE", "the point %s is outside of the window" % point, "the window is %s" % root.get_visible_rect().size,
			{"reason": "offscreen"})
	await _point_at(root, point)
	return [root, point] if not command.done else _went_away()

## Converts a place in the game's world, [x, y] or [x, y, z], to a point of the window.
func _in_window(place: Variant, root: Window) -> Variant:
	var flat: Variant = _numbers(place, 2)
	if flat != null:
		return root.get_canvas_transform() * Vector2(flat[0], flat[1])
	var deep: Variant = _numbers(place, 3)
	var camera := root.get_camera_3d()
	if deep == null or camera == null:
		return Answer.fail("INVALID_ARGS", "world must be [x, y], or [x, y, z] where a Camera3D shows it", "positions of nodes are in get_tree")
	var at := Vector3(deep[0], deep[1], deep[2])
	if camera.is_position_behind(at):
		return Answer.fail("NOT_ACTIONABLE", "%s is behind the camera" % at, "turn the camera first", {"reason": "offscreen"})
	return camera.unproject_position(at)

func _aim_at_cell(node: Node, cell: Variant, command: RefCounted) -> Variant:
	var numbers: Variant = _numbers(cell, 2)
	if numbers == null or not node.has_method("map_to_local"):
		return Answer.fail("INVALID_ARGS", "cell is [column, row] of a TileMapLayer", "{\"path\":\"TileMapLayer\",\"cell\":[4,7]}")
	var local: Vector2 = node.map_to_local(Vector2i(int(numbers[0]), int(numbers[1])))
	return await _aim_at_node(node, node.get_global_transform_with_canvas() * local, command)

## For a node that is not a control: `point` is in its viewport, and nothing that takes the click may cover it.
func _aim_at_node(node: Node, point: Variant, command: RefCounted) -> Variant:
	if point == null:
		return _session.reach.refusal(node, "not_a_control", "is not drawn", "click also takes a position")
	if not _session.selector.is_visible(node):
		return _session.reach.refusal(node, "hidden", "is hidden, or in something hidden", "wait_for its state visible")
	if not node.get_viewport().get_visible_rect().has_point(point):
		return _session.reach.refusal(node, "offscreen", "is outside of the visible area", "it is at %s" % point)
	var modal: Variant = _session.reach.modal_over(node)
	if modal != null:
		return _session.reach.covered(node, modal)
	var top := Place.top(node.get_viewport())
	await _point_at(top[0], top[1] * point)
	if command.done or not is_instance_valid(node) or not node.is_inside_tree():
		return _went_away()
	var over := _taker(node.get_viewport().gui_get_hovered_control())
	if over != null and node is Control and over.is_ancestor_of(node):
		over = null
	return _session.reach.covered(node, over) if over != null else [top[0], top[1] * point]

func _point_of(node: Node) -> Variant:
	if node is CanvasItem:
		var rect: Variant = Place.rect(node)
		return rect.get_center() if rect != null else node.get_global_transform_with_canvas().origin
	if node is Node3D:
		var camera := node.get_viewport().get_camera_3d()
		var middle := _middle(node)
		if camera != null and not camera.is_position_behind(middle):
			return camera.unproject_position(middle)
	return null

## The middle of the drawn or pickable part of a 3D node, since its origin may be at its feet.
func _middle(node: Node3D) -> Vector3:
	if node is VisualInstance3D:
		return node.global_transform * node.get_aabb().get_center()
	if node is CollisionObject3D:
		var shapes := node.find_children("*", "CollisionShape3D", true, false)
		if not shapes.is_empty():
			return shapes[0].global_position
	return node.global_position

## The control that stops a click on its way to the world; a click that is passed on goes to its parents.
func _taker(control: Node) -> Node:
	while control is Control and control.mouse_filter != Control.MOUSE_FILTER_STOP:
		control = control.get_parent()
	return control if control is Control else null

func _in_view(control: Control) -> bool:
	var rect: Rect2 = Place.rect(control)
	return rect.has_area() and Place.visible_part(control).has_point(rect.get_center())

## Scrolls each scroll container around it, the innermost first, until the control is visible, as far as the layout allows.
func _scroll_to(control: Control, command: RefCounted) -> void:
	for frame in FRAMES_OF_LAYOUT:
		var parent := control.get_parent()
		while parent != null:
			if parent is ScrollContainer:
				parent.ensure_control_visible(control)
			parent = parent.get_parent()
		await _session.ticked
		if command.done or not is_instance_valid(control) or not control.is_inside_tree() or _in_view(control):
			return

func _numbers(given: Variant, count: int) -> Variant:
	if given is Vector2 or given is Vector2i:
		given = [given.x, given.y]
	elif given is Vector3 or given is Vector3i:
		given = [given.x, given.y, given.z]
	var fits: bool = given is Array and given.size() == count and given.all(func(n: Variant) -> bool: return n is int or n is float and is_finite(n))
	return given if fits else null
