@warning_ignore_start("untyped_declaration", "inferred_declaration", "unsafe_property_access", "unsafe_method_access", "unsafe_call_argument", "return_value_discarded", "missing_await", "shadowed_variable", "shadowed_global_identifier", "incompatible_ternary", "int_as_enum_without_cast", "integer_division", "unsafe_cast")
extends RefCounted
## The player's devices: pointer, mouse buttons, keys, actions, touches and joypads.
##
## Their events go through the engine's Input, like those of real devices, so that polling Input, listening for events and the input map give
## the same result. The engine processes them at the start of its next frame. While the client has paused the game, events of commands that only
## change what is pressed wait for the next step.

const MODIFIERS := {KEY_CTRL: "ctrl_pressed", KEY_SHIFT: "shift_pressed", KEY_ALT: "alt_pressed", KEY_META: "meta_pressed"}

## Whether events take effect although the client has paused the game: those of a gesture do.
var at_once := false
## The position of the pointer, in pixels of the window that it was last moved in.
var pointer := Vector2.ZERO

var _session: Node
## Everything that is pressed: the name of a key, a button, an action or an axis, and the event that releases it.
var _pressed := {}
## Pressed modifier keys.
var _modifiers := {}
var _button_mask := 0
## Events that wait for the next step.
var _waiting: Array[InputEvent] = []
## Releases that are due later: [remaining frames, name].
var _due: Array[Array] = []

func _init(session: Node) -> void:
	_session = session

## Moves the pointer to a point of a viewport. The game receives the motion one frame later.
func move(viewport: Viewport, point: Vector2) -> void:
	var event := InputEventMouseMotion.new()
	_locate(event, viewport, point)
	_travel(event, event.position - pointer)
	pointer = event.position
	if viewport is Window and _has_real_pointer() and _warp(viewport, Vector2i(event.position)):
		# The system's own event contains the distance.
		_travel(event, Vector2.ZERO)
	# Also while the game is paused, because the control under the pointer must be known.
	if viewport is Window:
		_parse(event)
	else:
		_deliver(viewport, event)

## Moves the mouse by a number of pixels.
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

## Moves the pointer to a point of a viewport, and presses or releases a mouse button there.
func button(index: int, down: bool, viewport: Viewport, point: Vector2, is_double := false) -> void:
	var mask := 1 << (index - 1)
	_button_mask = _button_mask | mask if down else _button_mask & ~mask
	var event := InputEventMouseButton.new()
	_locate(event, viewport, point)
	event.button_index = index
	event.double_click = is_double
	event.pressed = down
	_note("mouse %d" % index, event)
	_deliver(viewport, event)

## Presses and releases at a [viewport, point], one frame apart, so that a game that polls once per frame sees the press; returns one frame later.
func click(spot: Array, index := MOUSE_BUTTON_LEFT, count := 1) -> void:
	for i in count:
		for down: bool in [true, false]:
			# The pressed control may change the scene and so remove the viewport.
			if not is_instance_valid(spot[0]):
				return
			button(index, down, spot[0], spot[1], down and i == 1)
			await _session.ticked

## Turns the wheel by one notch: pressed and released at once, like the engine's own events.
func wheel(index: int, viewport: Viewport, point: Vector2, factor: float) -> void:
	for down: bool in [true, false]:
		var event := InputEventMouseButton.new()
		_locate(event, viewport, point)
		event.button_index = index
		event.factor = factor
		event.pressed = down
		_deliver(viewport, event)

## Presses or releases a key. `code` is without modifiers; `letter` is the character that it types, 0 for none.
func key(code: int, letter: int, down: bool) -> void:
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

## The window that receives keys: a dialog or menu in a separate window of the system, otherwise the game's window.
func key_window() -> Window:
	var ids := DisplayServer.get_window_list()
	for i in range(ids.size() - 1, 0, -1):
		var window := instance_from_id(DisplayServer.window_get_attached_instance_id(ids[i])) as Window
		if window != null and window.visible and not window.unfocusable and (window.exclusive or window is Popup or window.has_focus()):
			return window
	return _session.get_tree().root

## Presses or releases an input with its own name: an action, a joypad button, a touch.
func press(name: String, event: InputEvent) -> void:
	_note(name, event)
	send(event)

## Sets a joypad's axis to a value; 0 releases it.
func axis(name: String, event: InputEventJoypadMotion) -> void:
	if event.axis_value == 0.0:
		_pressed.erase(name)
	else:
		var centred: InputEventJoypadMotion = event.duplicate()
		centred.axis_value = 0.0
		_pressed[name] = centred
	send(event)

## Whether the input of this name is pressed.
func is_pressed(name: String) -> bool:
	return _pressed.has(name)

## Releases the input of this name; false if it was not pressed.
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

## Releases everything; returns the names.
func release_all() -> Array:
	var names := _pressed.keys()
	for name: String in names:
		release(name)
	_due.clear()
	return names

## Releases names after a number of frames of the game. While its time is held, that is in later steps, and this returns at once.
func release_after(count: int, names: Array, command: RefCounted) -> void:
	if _session.time.is_held():
		_due.append([count, names])
		return
	# The engine processes an event at the start of the next frame, so these are complete frames. The release comes even if the time is up.
	await _session.frames(count, command)
	for name: String in names:
		release(name)

## Whether no releases are pending.
func is_settled() -> bool:
	return _due.is_empty()

## Moves a finger that is down to a point.
func follow(name: String, point: Vector2) -> void:
	if _pressed.has(name):
		_pressed[name].position = point

func _forget_due(name: String) -> void:
	for due in _due:
		due[1].erase(name)

## A frame of the game has passed while its time was held.
func frame_passed() -> void:
	for due: Array in _due.duplicate():
		due[0] -= 1
		if due[0] <= 0:
			_due.erase(due)
			for name: String in due[1]:
				release(name)

## Passes an event to the engine; while the client has paused the game, at the next step.
func send(event: InputEvent) -> void:
	if _session.time.is_paused() and not at_once:
		_waiting.append(event)
	else:
		_parse(event)

## The game's time continues: waiting events take effect in this frame.
func flush() -> void:
	if _waiting.is_empty():
		return
	for event in _waiting:
		_parse(event)
	_waiting.clear()
	Input.flush_buffered_events()

func _note(name: String, event: InputEvent) -> void:
	# A pending release belongs to an earlier press.
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
		# A viewport that no window shows gets its events from the game, not through Input.
		viewport.push_input(event, true)

## Always buffered, whatever the game has set, so that it takes effect at the start of a frame: "just pressed" is then true for a complete frame.
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

## The distance and the speed of the mouse: menus ignore a motion without speed.
func _travel(event: InputEventMouseMotion, relative: Vector2) -> void:
	event.relative = relative
	event.screen_relative = relative
	event.velocity = relative * Engine.physics_ticks_per_second
	event.screen_velocity = event.velocity

func _modify(event: InputEventWithModifiers) -> void:
	for code: int in _modifiers:
		event.set(MODIFIERS[code], true)

## Moves the system's pointer, because get_global_mouse_position reads it; returns whether it was elsewhere.
func _warp(window: Window, at: Vector2i) -> bool:
	var id := window.get_window_id()
	if not _is_on_a_screen(DisplayServer.window_get_position(id) + at):
		# The pointer cannot leave the screens, but a window can be larger than they are.
		window.position = DisplayServer.screen_get_position() + DisplayServer.screen_get_size() / 2 - at
	var there := DisplayServer.window_get_position(id) + at
	if not _is_on_a_screen(there) or DisplayServer.mouse_get_position() == there:
		return false
	DisplayServer.warp_mouse(at)
	# The engine's coordinates are relative to the window that had the focus last.
	if DisplayServer.mouse_get_position() != there:
		DisplayServer.warp_mouse(at + there - DisplayServer.mouse_get_position())
	return true

func _is_on_a_screen(point: Vector2i) -> bool:
	return range(DisplayServer.get_screen_count()).any(func(screen: int) -> bool:
		return Rect2i(DisplayServer.screen_get_position(screen), DisplayServer.screen_get_size(screen)).has_point(point))

func _has_real_pointer() -> bool:
	return DisplayServer.get_name() != "headless" and Input.mouse_mode != Input.MOUSE_MODE_CAPTURED
