@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The mouse commands: presses and clicks on targets, as a player's hand does them, and single movements.

const Aim := preload("agent_aim.gd")
const Answer := preload("agent_answer.gd")

const BUTTONS := {"left": MOUSE_BUTTON_LEFT, "right": MOUSE_BUTTON_RIGHT, "middle": MOUSE_BUTTON_MIDDLE, "back": MOUSE_BUTTON_XBUTTON1,
	"forward": MOUSE_BUTTON_XBUTTON2}
const WHEELS := {"up": MOUSE_BUTTON_WHEEL_UP, "down": MOUSE_BUTTON_WHEEL_DOWN, "left": MOUSE_BUTTON_WHEEL_LEFT, "right": MOUSE_BUTTON_WHEEL_RIGHT}
## The default number of frames of a drag.
const FRAMES_OF_DRAG := 10

var _session: Node
var _aim: RefCounted
var _keys: RefCounted

func _init(session: Node, keys: RefCounted) -> void:
	_session = session
	_aim = session.aim
	_keys = keys

func press_button(args: Dictionary, command: RefCounted) -> Dictionary:
	var node: Variant = _session.selector.one(args["path"])
	if node is Dictionary:
		return node
	if not node is BaseButton:
		return _session.reach.refusal(node, "not_a_control", "is not a button", "click works on anything visible; type_text types into fields")
	if args.get("force", false):
		return _force(node)
	var spot: Variant = await _aim.reach(node, command)
	if spot is Dictionary:
		return spot
	var path := String(node.get_path())
	var count := [0]
	var notice := func() -> void: count[0] += 1
	node.button_down.connect(notice)
	node.pressed.connect(notice)
	await _session.devices.click(spot)
	if not is_instance_valid(node):
		return {"path": path} if count[0] > 0 else Answer.fail("NODE_NOT_FOUND", "%s went away before it was pressed" % path, "look at get_tree")
	node.button_down.disconnect(notice)
	node.pressed.disconnect(notice)
	if count[0] == 0:
		# The pointer was over it, but a control within it, or the game's _input, took the click.
		return _session.reach.covered(node, node.get_viewport().gui_get_hovered_control() if node.is_inside_tree() else null)
	return _state(node, path)

func click(args: Dictionary, command: RefCounted) -> Dictionary:
	if not BUTTONS.has(args.get("button", "left")):
		return _no_button(args)
	var spot: Variant = await _aim.aim(args, command)
	if spot is Dictionary:
		return spot
	var keys: Variant = _modifiers(args)
	if keys is Dictionary:
		return keys
	var body: Variant = _session.selector.one(args["path"]) if args.has("path") else null
	if not body is CollisionObject2D and not body is CollisionObject3D or not _session.reach.is_pickable(body):
		body = null
	var count := [0]
	var notice := func(..._given: Array) -> void: count[0] += 1
	if body != null:
		body.connect("input_event", notice)
	_keys.press_all(keys)
	await _session.devices.click(spot, BUTTONS[args.get("button", "left")], clampi(args.get("count", 1), 1, 3))
	_keys.release_all(keys)
	# Picking (Area2D and the like) happens in the next physics tick.
	await _session.frames(1, command)
	if body != null and is_instance_valid(body):
		body.disconnect("input_event", notice)
		if count[0] == 0 and body.is_inside_tree():
			return _session.reach.refusal(body, "covered_by", "was not hit: another object is in front of it", "click the object in front, or another position")
	return _place(args, spot)

func drag(args: Dictionary, command: RefCounted) -> Dictionary:
	if not BUTTONS.has(args.get("button", "left")):
		return _no_button(args)
	var keys: Variant = _modifiers(args)
	if keys is Dictionary:
		return keys
	# Check the end first, so that an unreachable one is refused before anything is pressed.
	var end: Variant = await _aim.aim_at(args["to"], command)
	if end is Dictionary:
		return end
	var start: Variant = await _aim.aim_at(args["from"], command)
	if start is Dictionary:
		return start
	var index: int = BUTTONS[args.get("button", "left")]
	_keys.press_all(keys)
	_session.devices.button(index, true, start[0], start[1])
	var count := maxi(args.get("frames", FRAMES_OF_DRAG), 1)
	for i in count:
		await _session.frames(1, command)
		if command.done or not is_instance_valid(end[0]):
			break
		_session.devices.move(end[0], start[1].lerp(end[1], (i + 1.0) / count))
	await _session.ticked
	var viewport: Viewport = end[0] if is_instance_valid(end[0]) else _session.get_tree().root
	var is_carrying := viewport.gui_is_dragging()
	_session.devices.button(index, false, viewport, end[1])
	_keys.release_all(keys)
	await _session.frames(1, command)
	var out := {"from": [start[1].x, start[1].y], "to": [end[1].x, end[1].y]}
	if is_carrying and is_instance_valid(viewport):
		out["dropped"] = viewport.gui_is_drag_successful()
	return out

func scroll(args: Dictionary, command: RefCounted) -> Dictionary:
	if not WHEELS.has(args["direction"]):
		return Answer.fail("INVALID_ARGS", "there is no direction %s" % args["direction"], "one of %s" % ", ".join(WHEELS.keys()))
	var spot: Variant = await _spot(args, command)
	if spot is Dictionary:
		return spot
	var keys: Variant = _modifiers(args)
	if keys is Dictionary:
		return keys
	_keys.press_all(keys)
	for notch in maxi(args.get("notches", 1), 1):
		_session.devices.wheel(WHEELS[args["direction"]], spot[0], spot[1], 1.0)
		await _session.ticked
		if command.done:
			break
	_keys.release_all(keys)
	return _place(args, spot)

func mouse_move(args: Dictionary, command: RefCounted) -> Dictionary:
	if not args.has("relative"):
		var spot: Variant = await _aim.aim(args, command)
		return spot if spot is Dictionary else _place(args, spot)
	var relative: Variant = args["relative"]
	if args.size() > 1 or not relative is Array or relative.size() != 2 or not relative.all(func(n: Variant) -> bool: return n is int or n is float):
		return Answer.fail("INVALID_ARGS", "relative must be [dx, dy], without another target", "{\"relative\":[40,0]}")
	_session.devices.move_by(Vector2(relative[0], relative[1]))
	return {"relative": relative}

func mouse_down(args: Dictionary, command: RefCounted) -> Dictionary:
	return await _hold(args, true, command)

func mouse_up(args: Dictionary, command: RefCounted) -> Dictionary:
	return await _hold(args, false, command)

func _hold(args: Dictionary, down: bool, command: RefCounted) -> Dictionary:
	var spot: Variant = await _spot(args, command)
	if spot is Dictionary:
		return spot
	_session.devices.button(BUTTONS[args.get("button", "left")], down, spot[0], spot[1])
	return _place(args, spot)

## The point that the arguments name, or the position of the pointer.
func _spot(args: Dictionary, command: RefCounted) -> Variant:
	if not BUTTONS.has(args.get("button", "left")):
		return _no_button(args)
	if Aim.TARGET.keys().any(func(name: String) -> bool: return args.has(name)):
		return await _aim.aim(args, command)
	var root: Window = _session.get_tree().root
	return [root, root.get_final_transform().affine_inverse() * _session.devices.pointer]

func _no_button(args: Dictionary) -> Dictionary:
	return Answer.fail("INVALID_ARGS", "there is no mouse button %s" % args["button"], "one of %s" % ", ".join(BUTTONS.keys()))

## The modifier keys to hold meanwhile, or the failure.
func _modifiers(args: Dictionary) -> Variant:
	return _keys.codes(args["modifiers"]) if args.has("modifiers") else []

func _place(args: Dictionary, spot: Array) -> Dictionary:
	var out := {"position": [spot[1].x, spot[1].y]}
	if args.has("path"):
		out["path"] = args["path"]
	return out

## Without the pointer: also works on disabled, hidden or covered buttons.
func _force(button: BaseButton) -> Dictionary:
	var path := String(button.get_path())
	var stays := button.button_group != null and button.button_pressed and not button.button_group.allow_unpress
	if button.toggle_mode and not stays:
		button.button_pressed = not button.button_pressed
	button.pressed.emit()
	return _state(button, path) if is_instance_valid(button) else {"path": path}

func _state(button: BaseButton, path: String) -> Dictionary:
	return {"path": path, "pressed": button.button_pressed} if button.toggle_mode else {"path": path}
