@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## Touches and joypads.

const Answer := preload("agent_answer.gd")

const BUTTONS := {"a": JOY_BUTTON_A, "b": JOY_BUTTON_B, "x": JOY_BUTTON_X, "y": JOY_BUTTON_Y, "back": JOY_BUTTON_BACK, "guide": JOY_BUTTON_GUIDE,
	"start": JOY_BUTTON_START, "left_stick": JOY_BUTTON_LEFT_STICK, "right_stick": JOY_BUTTON_RIGHT_STICK,
	"left_shoulder": JOY_BUTTON_LEFT_SHOULDER, "right_shoulder": JOY_BUTTON_RIGHT_SHOULDER, "dpad_up": JOY_BUTTON_DPAD_UP,
	"dpad_down": JOY_BUTTON_DPAD_DOWN, "dpad_left": JOY_BUTTON_DPAD_LEFT, "dpad_right": JOY_BUTTON_DPAD_RIGHT, "misc1": JOY_BUTTON_MISC1,
	"paddle1": JOY_BUTTON_PADDLE1, "paddle2": JOY_BUTTON_PADDLE2, "paddle3": JOY_BUTTON_PADDLE3, "paddle4": JOY_BUTTON_PADDLE4,
	"touchpad": JOY_BUTTON_TOUCHPAD}
const AXES := {"left_x": JOY_AXIS_LEFT_X, "left_y": JOY_AXIS_LEFT_Y, "right_x": JOY_AXIS_RIGHT_X, "right_y": JOY_AXIS_RIGHT_Y,
	"trigger_left": JOY_AXIS_TRIGGER_LEFT, "trigger_right": JOY_AXIS_TRIGGER_RIGHT}

var _session: Node
var _aim: RefCounted
## The position of each finger, in pixels of the window.
var _fingers := {}

func _init(session: Node) -> void:
	_session = session
	_aim = session.aim

func touch_down(args: Dictionary, command: RefCounted) -> Dictionary:
	var at: Variant = await _pixel(args, command)
	if at is Dictionary:
		return at
	_fingers[args.get("finger", 0)] = at
	_touch(args.get("finger", 0), true, at)
	return {"finger": args.get("finger", 0)}

func touch_move(args: Dictionary, command: RefCounted) -> Dictionary:
	var finger: int = args.get("finger", 0)
	if not _session.devices.is_pressed("finger %d" % finger):
		return _not_down(finger)
	var at: Variant = await _pixel(args, command)
	if at is Dictionary:
		return at
	var event := InputEventScreenDrag.new()
	event.index = finger
	event.position = at
	event.relative = at - _fingers[finger]
	event.screen_relative = event.relative
	_fingers[finger] = at
	_session.devices.follow("finger %d" % finger, at)
	_session.devices.send(event)
	return {"finger": finger}

func touch_up(args: Dictionary) -> Dictionary:
	var finger: int = args.get("finger", 0)
	if not _session.devices.is_pressed("finger %d" % finger):
		return _not_down(finger)
	_touch(finger, false, _fingers[finger])
	_fingers.erase(finger)
	return {"finger": finger}

func joypad_button(args: Dictionary, command: RefCounted) -> Dictionary:
	if not BUTTONS.has(args["button"]):
		return Answer.fail("INVALID_ARGS", "there is no joypad button %s" % args["button"], "one of %s" % ", ".join(BUTTONS.keys()))
	var event := InputEventJoypadButton.new()
	event.device = args.get("device", 0)
	event.button_index = BUTTONS[args["button"]]
	event.pressed = args.get("pressed", true)
	event.pressure = float(event.pressed)
	var name := "joypad %d %s" % [event.device, args["button"]]
	_session.devices.press(name, event)
	if args.has("frames") and event.pressed:
		await _session.devices.release_after(maxi(args["frames"], 1), [name], command)
	return {"button": args["button"]}

func joypad_axis(args: Dictionary) -> Dictionary:
	if not AXES.has(args["axis"]):
		return Answer.fail("INVALID_ARGS", "there is no joypad axis %s" % args["axis"], "one of %s" % ", ".join(AXES.keys()))
	if not is_finite(args["value"]):
		return Answer.fail("INVALID_ARGS", "value must be a finite number", "-1 to 1")
	var event := InputEventJoypadMotion.new()
	event.device = args.get("device", 0)
	event.axis = AXES[args["axis"]]
	event.axis_value = clampf(args["value"], -1.0, 1.0)
	_session.devices.axis("joypad %d %s" % [event.device, args["axis"]], event)
	return {"axis": args["axis"], "value": event.axis_value}

func _touch(finger: int, down: bool, at: Vector2) -> void:
	var event := InputEventScreenTouch.new()
	event.index = finger
	event.pressed = down
	event.position = at
	_session.devices.press("finger %d" % finger, event)

## The pixel of the window that the arguments name. A finger does not hover, but a covering control is detected as for the pointer.
func _pixel(args: Dictionary, command: RefCounted) -> Variant:
	var target := args.duplicate()
	target.erase("finger")
	var spot: Variant = await _aim.aim(target, command)
	return spot if spot is Dictionary else spot[0].get_final_transform() * spot[1]

func _not_down(finger: int) -> Dictionary:
	return Answer.fail("INVALID_ARGS", "finger %d is not down" % finger, "touch_down puts it down")
