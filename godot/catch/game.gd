extends Node2D
## Ten balls fall, and a paddle catches them. The actions move_left and move_right, or the mouse, move it; both are polled once per tick.

signal caught(count: int)
signal finished(caught: int)

const Settings: GDScript = preload("settings.gd")
const BALLS: int = 10
const PADDLE_SPEED: float = 400.0

var balls_left: int = BALLS
var count: int = 0

@onready var paddle: AnimatableBody2D = $Paddle
@onready var score: Label = $Score
@onready var again: Button = $Again
@onready var ball: RigidBody2D = $Ball

func _ready() -> void:
	_drop()

func _physics_process(delta: float) -> void:
	var direction: float = Input.get_axis("move_left", "move_right")
	if Input.is_mouse_button_pressed(MOUSE_BUTTON_LEFT):
		direction = signf(get_global_mouse_position().x - paddle.position.x)
	paddle.position.x = clampf(paddle.position.x + direction * PADDLE_SPEED * delta, 50.0, 590.0)
	if ball.position.y > 500.0:
		_next()

func _on_paddle_area_body_entered(body: Node2D) -> void:
	if body == ball:
		count += 1
		caught.emit(count)
		_next.call_deferred()

func _next() -> void:
	balls_left -= 1
	score.text = "%s: %d caught, %d to come" % [_player(), count, balls_left]
	if balls_left > 0:
		_drop()
		return
	ball.freeze = true
	again.show()
	set_physics_process(false)
	finished.emit(count)

## Drops the next ball at a random place.
func _drop() -> void:
	var speeds: Dictionary = Settings.get("SPEEDS")
	var speed: float = speeds[Settings.get("difficulty")]
	var start: Transform2D = Transform2D(0.0, Vector2(randf_range(60.0, 580.0), -20.0))
	PhysicsServer2D.body_set_state(ball.get_rid(), PhysicsServer2D.BODY_STATE_TRANSFORM, start)
	PhysicsServer2D.body_set_state(ball.get_rid(), PhysicsServer2D.BODY_STATE_LINEAR_VELOCITY, Vector2(randf_range(-40.0, 40.0), speed))

func _player() -> String:
	var player: String = Settings.get("player")
	return "You" if player == "" else player

func _on_again_pressed() -> void:
	if get_tree().change_scene_to_file("res://menu.tscn") != OK:
		push_error("the menu's scene cannot be loaded")
