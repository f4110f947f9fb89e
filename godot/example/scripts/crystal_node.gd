class_name CrystalNode
extends Node2D
## A crystal, which can be dragged onto another one.

## The player released this crystal at its current position.
signal dropped(crystal: CrystalNode)

const RADIUS := 38.0
const LABEL_SIZE := 30

var crystal_id: int
var label_text: String
## The name of a colour, as in the level's file.
var color_name: String
var draggable := true:
	set(value):
		draggable = value
		if not value:
			_dragged = false

## The number of its current place.
var place: int
var _dragged := false
var _grip := Vector2.ZERO
var _movement: Tween


func setup(crystal: Dictionary) -> void:
	crystal_id = crystal["id"]
	place = crystal_id
	label_text = crystal["label"]
	color_name = crystal["color"]
	position = crystal["position"]
	name = "Crystal_%d" % crystal_id


func animate_to_position(target: Vector2, seconds: float) -> void:
	if _movement:
		_movement.kill()
	if seconds == 0.0:
		position = target
		return
	_movement = create_tween().set_trans(Tween.TRANS_CUBIC).set_ease(Tween.EASE_OUT)
	_movement.tween_property(self, "position", target, seconds)


func contains(point: Vector2) -> bool:
	return position.distance_to(point) <= RADIUS


func agent_fields() -> Dictionary:
	var fields := {"crystal_id": crystal_id, "color": color_name, "label": label_text, "draggable": draggable, "place": place}
	if draggable:
		fields["actions"] = ["swap_to"]
	return fields


func _unhandled_input(event: InputEvent) -> void:
	var button := event as InputEventMouseButton
	if button and button.button_index == MOUSE_BUTTON_LEFT:
		if button.pressed and draggable and contains(get_global_mouse_position()):
			_take()
		elif not button.pressed and _dragged:
			_let_go()
	elif event is InputEventMouseMotion and _dragged:
		position = get_global_mouse_position() + _grip


func _take() -> void:
	if _movement:
		_movement.kill()
	_dragged = true
	_grip = position - get_global_mouse_position()
	z_index = 1
	# One press takes only one crystal, even if two overlap.
	get_viewport().set_input_as_handled()


func _let_go() -> void:
	_dragged = false
	z_index = 0
	get_viewport().set_input_as_handled()
	dropped.emit(self)


func _draw() -> void:
	var color := Color.from_string(color_name, Color.GRAY).lerp(Color.WHITE, 0.12)
	draw_circle(Vector2(0, 4), RADIUS, Color(0, 0, 0, 0.35))
	draw_circle(Vector2.ZERO, RADIUS, color.darkened(0.45))
	draw_circle(Vector2.ZERO, RADIUS - 4, color.darkened(0.1))
	draw_circle(Vector2(-9, -11), RADIUS * 0.45, Color(1, 1, 1, 0.18))
	var font := ThemeDB.fallback_font
	var size := font.get_string_size(label_text, HORIZONTAL_ALIGNMENT_LEFT, -1, LABEL_SIZE)
	var baseline := Vector2(-size.x / 2, font.get_ascent(LABEL_SIZE) - size.y / 2)
	draw_string_outline(font, baseline, label_text, HORIZONTAL_ALIGNMENT_LEFT, -1, LABEL_SIZE, 6, Color(0, 0, 0, 0.55))
	draw_string(font, baseline, label_text, HORIZONTAL_ALIGNMENT_LEFT, -1, LABEL_SIZE)
