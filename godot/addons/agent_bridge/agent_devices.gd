@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The player's devices: pointer, mouse buttons, keys, actions, touches and joypads.
##
## Their events go through the engine's Input, as those of real devices do: what polls Input, what listens and what the input map makes of them
## agree. The engine takes them in at the start of its next frame. While the client has paused the game, those of commands that only change what
## is pressed wait for the next step.

const Command := preload("agent_command.gd")

const MODIFIERS := {KEY_CTRL: "ctrl_pressed", KEY_SHIFT: "shift_pressed", KEY_ALT: "alt_pressed", KEY_META: "meta_pressed"}

## Whether events take effect though the client has paused the game: those of a gesture do.
var at_once := false
## Where the pointer is, in pixels of the window that it was last moved in.
var pointer := Vector2.ZERO

var _session: Node
## What is pressed: the name of a key, a button, an action or an axis, and the event that releases it.
var _pressed := {}
## Pressed keys that change what others mean.
var _modifiers := {}
var _button_mask := 0
## Events that wait for the next step.
var _waiting: Array[InputEvent] = []
## Releases that are due after so many more frames: [frames, name].
var _due: Array[Array] = []

func _init(session: Node) -> void:
	_session = session

## Moves the pointer to a point of a viewport. The game has seen it one frame later.
func move(viewport: Viewport, point: Vector2) -> void:
	var event := InputEventMouseMotion.new()
	_locate(event, viewport, point)
	_travel(event, event.position - pointer)
	pointer = event.position
	if viewport is Window and _has_real_pointer() and _warp(viewport.get_window_id(), Vector2i(event.position)):
		# The system's own event has the distance.
		_travel(event, Vector2.ZERO)
	# Also while the game is paused: what is under the pointer must be known.
	if viewport is Window:
		_parse(event)
	else:
		_deliver(viewport, event)

## Moves the mouse by so many pixels.
func move_by(relative: Vector2) -> void:
	var root: Window = _session.get_tree().root
	var to_canvas := root.get_final_transform().affine_inverse()
	if Input.mouse_mode != Input.MOUSE_MODE_CAPTURED:
		move(root, to_canvas * (pointer + relative).clamp(Vector2.ZERO, Vector2(root.size - Vector2i.ONE)))
		return
	# A captured pointer stays where it is.
	var event := InputEventMouseMotion.new()
	_locate(event, root, to_canvas * pointer)
	_travel(event, relative)
	send(event)

## Presses or releases a mouse button where the pointer is to be: at a point of a viewport.
func button(index: MouseButton, down: bool, viewport: Viewport, point: Vector2, is_double := false) -> void:
	var mask := 1 << (index - 1)
	_button_mask = _button_mask | mask if down else _button_mask & ~mask
	var event := InputEventMouseButton.new()
	_locate(event, viewport, point)
	event.button_index = index
	event.double_click = is_double
	event.pressed = down
	_note("mouse %d" % index, event)
	_deliver(viewport, event)

## Presses and releases at a [viewport, point], a frame apart, so that what looks once a frame sees it pressed; returns a frame after the last.
func click(spot: Array, index := MOUSE_BUTTON_LEFT, count := 1) -> void:
	for i in count:
		for down: bool in [true, false]:
			# What is pressed may change the scene, and take its viewport with it.
			if not is_instance_valid(spot[0]):
				return
			button(index, down, spot[0], spot[1], down and i == 1)
			await _session.ticked

## Turns the wheel by one notch: pressed and released at once, as the engine's own events are.
func wheel(index: MouseButton, viewport: Viewport, point: Vector2, factor: float) -> void:
	for down: bool in [true, false]:
		var event := InputEventMouseButton.new()
		_locate(event, viewport, point)
		event.button_index = index
		event.factor = factor
		event.pressed = down
		_deliver(viewport, event)

## Presses or releases a key: `code` without modifiers; `letter` is what it types, 0 for nothing.
func key(code: Key, letter: int, down: bool) -> void:
	var event := InputEventKey.new()
	event.keycode = code
	event.physical_keycode = code
	event.key_label = code
	event.unicode = letter
	event.pressed = down
	event.window_id = key_window().get_window_id()
	if MODIFIERS.has(code) and not down:
		_modifiers.erase(code)
	_modify(event)
	if MODIFIERS.has(code) and down:
		_modifiers[code] = true
	press("key %d" % code, event)

## The window that keys go to: a dialog or menu that the system shows in a window of its own, else the game's.
func key_window() -> Window:
	var ids := DisplayServer.get_window_list()
	for i in range(ids.size() - 1, 0, -1):
		var window := instance_from_id(DisplayServer.window_get_attached_instance_id(ids[i])) as Window
		if window != null and window.visible and not window.unfocusable and (window.exclusive or window is Popup or window.has_focus()):
			return window
	return _session.get_tree().root

## Presses or releases what has a name of its own: an action, a joypad's button, a touch.
func press(name: String, event: InputEvent) -> void:
	_note(name, event)
	send(event)

## Lets a joypad's axis stand at a value; at 0 it is released.
func axis(name: String, event: InputEventJoypadMotion) -> void:
	if event.axis_value == 0.0:
		_pressed.erase(name)
	else:
		var centred: InputEventJoypadMotion = event.duplicate()
		centred.axis_value = 0.0
		_pressed[name] = centred
	send(event)

## Whether something is pressed, by the name under which it was.
func is_pressed(name: String) -> bool:
	return _pressed.has(name)

## Releases what was pressed under a name; false where nothing was.
func release(name: String) -> bool:
	if not _pressed.has(name):
		return false
	var event: InputEvent = _pressed[name]
	if event is InputEventMouseButton:
		_button_mask &= ~(1 << (event.button_index - 1))
		event.position = pointer
		event.global_position = pointer
	elif event is InputEventKey:
		_modifiers.erase(event.keycode)
	_forget_due(name)
	_pressed.erase(name)
	send(event)
	return true

## Releases everything; gives the names.
func release_all() -> Array:
	var names := _pressed.keys()
	for name: String in names:
		release(name)
	_due.clear()
	return names

## Releases names after so many frames of the game. Where its time stands still, that is in the steps to come, and this returns at once.
func release_after(count: int, names: Array, command: Command) -> void:
	if _session.time.is_held():
		_due.append([count, names])
		return
	# The engine takes an event in at the start of the next frame, so these are whole ones. The release comes even where time is up.
	await _session.frames(count, command)
	for name: String in names:
		release(name)

## Whether nothing is to be released later.
func is_settled() -> bool:
	return _due.is_empty()

## A finger that is down has moved to a point.
func follow(name: String, point: Vector2) -> void:
	if _pressed.has(name):
		_pressed[name].position = point

func _forget_due(name: String) -> void:
	for due in _due:
		due[1].erase(name)

## A frame of the game's has passed, after a time in which it was held.
func frame_passed() -> void:
	for due: Array in _due.duplicate():
		due[0] -= 1
		if due[0] <= 0:
			_due.erase(due)
			for name: String in due[1]:
				release(name)

## Gives an event to the engine; while the client has paused the game, with the next step.
func send(event: InputEvent) -> void:
	if _session.time.is_paused() and not at_once:
		_waiting.append(event)
	else:
		_parse(event)

## The game's time goes on: what has waited takes effect in this very frame.
func flush() -> void:
	if _waiting.is_empty():
		return
	for event in _waiting:
		_parse(event)
	_waiting.clear()
	Input.flush_buffered_events()

func _note(name: String, event: InputEvent) -> void:
	# A release that is due was for what was pressed before.
	_forget_due(name)
	if not event.is_pressed():
		_pressed.erase(name)
		return
	var released: InputEvent = event.duplicate()
	released.set("pressed", false)
	_pressed[name] = released

func _deliver(viewport: Viewport, event: InputEvent) -> void:
	if viewport is Window:
		send(event)
	elif is_instance_valid(viewport) and viewport.is_inside_tree():
		# A viewport that no window shows gets its events from the game; Input knows nothing of it.
		viewport.push_input(event, true)

## Buffered whatever the game has set, so that it takes effect at the start of a frame: "just pressed" is true for a whole one.
func _parse(event: InputEvent) -> void:
	var accumulating := Input.use_accumulated_input
	Input.use_accumulated_input = true
	Input.parse_input_event(event)
	Input.use_accumulated_input = accumulating

func _locate(event: InputEventMouse, viewport: Viewport, point: Vector2) -> void:
	if viewport is Window:
		event.window_id = viewport.get_window_id()
		event.position = viewport.get_final_transform() * point
	else:
		event.position = point
	event.global_position = event.position
	event.button_mask = _button_mask
	_modify(event)

## How far and how fast the mouse moves: menus take no notice of a motion without speed.
func _travel(event: InputEventMouseMotion, relative: Vector2) -> void:
	event.relative = relative
	event.screen_relative = relative
	event.velocity = relative * Engine.physics_ticks_per_second
	event.screen_velocity = event.velocity

func _modify(event: InputEventWithModifiers) -> void:
	for code: int in _modifiers:
		event.set(MODIFIERS[code], true)

## Moves the system's pointer, since get_global_mouse_position asks for that; gives whether it had to.
func _warp(window_id: int, at: Vector2i) -> bool:
	var there := DisplayServer.window_get_position(window_id) + at
	if DisplayServer.mouse_get_position() == there:
		return false
	DisplayServer.warp_mouse(at)
	# The engine counts from the window that had the focus last.
	if DisplayServer.mouse_get_position() != there:
		DisplayServer.warp_mouse(at + there - DisplayServer.mouse_get_position())
	return true

func _has_real_pointer() -> bool:
	return DisplayServer.get_name() != "headless" and Input.mouse_mode != Input.MOUSE_MODE_CAPTURED
