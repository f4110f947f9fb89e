//! Lockstep: a game that has frames only while a command needs them, and is reproducible.

use super::{Game, bridge, small_game};
use crate::process::{binary, command, pipe, text};
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

/// A hundred balls in a box with random speeds, one of which a player pushes; a timer, a tween, and counts of frames and ticks.
const BALLS: &str = r#"extends Control
signal bounced(count: int)
var frames := 0
var ticks := 0
var seconds := 0.0
var bounces := 0
var rings := 0
var slid := 0.0
func _ready():
	InputMap.add_action("push")
	for wall in [Rect2(0, 580, 800, 20), Rect2(0, 0, 20, 600), Rect2(780, 0, 20, 600), Rect2(0, 0, 800, 20)]:
		var body := StaticBody2D.new()
		body.position = wall.get_center()
		body.add_child(_shape(RectangleShape2D.new(), wall.size))
		add_child(body)
	for i in 100:
		var ball := RigidBody2D.new()
		ball.name = "Ball%d" % i
		ball.position = Vector2(60 + i % 10 * 70, 60 + i / 10 * 40)
		ball.linear_velocity = Vector2(randf_range(-300, 300), randf_range(-300, 300))
		ball.physics_material_override = PhysicsMaterial.new()
		ball.physics_material_override.bounce = 0.9
		ball.contact_monitor = true
		ball.max_contacts_reported = 1
		ball.body_entered.connect(func(_body): bounces += 1)
		ball.add_child(_shape(CircleShape2D.new(), Vector2(10, 0)))
		add_child(ball)
	var timer := Timer.new()
	timer.wait_time = 0.7
	timer.timeout.connect(func(): rings += 1)
	add_child(timer)
	timer.start()
	create_tween().set_loops().tween_property(self, "slid", 100.0, 1.3).from(0.0)
func _shape(shape: Shape2D, size: Vector2) -> CollisionShape2D:
	var node := CollisionShape2D.new()
	if shape is RectangleShape2D:
		shape.size = size
	else:
		shape.radius = size.x
	node.shape = shape
	return node
func _process(delta):
	frames += 1
	seconds += delta
	if frames % 60 == 0:
		bounced.emit(bounces)
func _physics_process(_delta):
	ticks += 1
	if Input.is_action_pressed("push"):
		$Ball0.apply_central_impulse(Vector2(5 + randf(), -20))
func agent_commands():
	return {"sum": {}}
func agent_command(_name, _args):
	var places := []
	for i in 100:
		var ball: RigidBody2D = get_node("Ball%d" % i)
		places.append([ball.position, ball.rotation, ball.linear_velocity])
	return {"places": hash(places), "ball": $Ball0.position, "bounces": bounces, "rings": rings, "slid": slid, "chance": randi(), "frames": frames, "ticks": ticks, "seconds": seconds}
"#;

/// Plays a minute of the game, with a key held from time to time; returns all answers.
fn minute(options: &[&str]) -> Vec<String> {
    let folder = small_game(BALLS);
    let mut game = Game::start(bridge(folder.path()).arg("--lockstep").args(options));
    let mut answers = Vec::new();
    let mut ask = |command: &str, arguments: Value| answers.push(game.ask(command, arguments).to_string());
    for round in 0..60 {
        match round % 4 {
            0 => ask("press_action", json!({"action": "push", "frames": 15})),
            2 => ask("press_key", json!({"key": "A"})),
            3 => ask("click", json!({"position": [400, 300 + round]})),
            _ => {}
        }
        ask("step", json!({"frames": 60}));
        ask("sum", json!({}));
    }
    ask("get_node", json!({"path": "#Ball7"}));
    game.end();
    answers
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_same_commands_give_the_same_minute_twice_and_faster_than_real_time() {
    let began = Instant::now();
    let first = minute(&[]);
    let took = began.elapsed();
    assert_eq!(first, minute(&[]), "answers, events and frame numbers");
    assert!(took < Duration::from_secs(60), "{took:?}");
    let last: Value = serde_json::from_str(&first[first.len() - 2]).unwrap();
    assert!(last["data"]["bounces"].as_u64().unwrap() > 100 && last["data"]["rings"].as_u64().unwrap() > 80, "{last}");
    // The clicks also take some frames.
    assert!((60.0..63.0).contains(&last["data"]["seconds"].as_f64().unwrap()), "{last}");
    let other = minute(&["--seed", "7"]);
    assert_ne!(first.last(), other.last(), "another seed, another game");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn only_frames_that_a_command_needs_pass() {
    let folder = small_game(BALLS);
    let mut game = Game::start(bridge(folder.path()).arg("--lockstep"));
    let number = |game: &mut Game, name: &str| {
        game.data("get_property", json!({"path": "#Main", "property": name}))["value"].as_i64().unwrap()
    };
    let started = number(&mut game, "frames");
    assert!(started <= 3, "frozen from its first frames: {started}");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(number(&mut game, "frames"), started);
    for count in [1, 0, 17, 60] {
        let before = (number(&mut game, "frames"), number(&mut game, "ticks"));
        assert_eq!(game.data("step", json!({"frames": count}))["frames"], count);
        assert_eq!((number(&mut game, "frames"), number(&mut game, "ticks")), (before.0 + count, before.1 + count));
    }
    let before = number(&mut game, "frames");
    game.data("key_down", json!({"key": "A"}));
    game.data("press_action", json!({"action": "push", "frames": 5}));
    game.data("mouse_down", json!({}));
    game.data("pause", json!({}));
    assert_eq!(game.data("get_state", json!({}))["paused"], false, "the game does not see that its time is held");
    game.data("resume", json!({}));
    assert_eq!(number(&mut game, "frames"), before, "what changes only what is held takes no frame");
    game.data("click", json!({"position": [400, 300]}));
    let clicked = number(&mut game, "frames") - before;
    assert!((1..=10).contains(&clicked), "a gesture takes the frames that it needs: {clicked}");
    let stepped =
        game.data("step", json!({"until": {"signal": "bounced"}, "observe": {"cmd": "get_state"}, "every": 20}));
    assert!(stepped["met"]["args"].is_array() && stepped["frames"].as_i64().unwrap() <= 60, "{stepped}");
    game.data("wait_for", json!({"signal": "bounced"}));
    assert_eq!(number(&mut game, "frames") % 60, 0, "a wait lets frames pass until it is met");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_recorded_game_is_replayed_frame_by_frame() {
    let folder = small_game(BALLS);
    let lines = [
        json!({"cmd": "press_action", "id": 1, "args": {"action": "push", "frames": 30}}),
        json!({"cmd": "step", "id": 2, "args": {"frames": 300}}),
        json!({"cmd": "sum", "id": 3}),
        json!({"cmd": "get_tree", "id": 4}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let log = folder.path().join("session.jsonl");
    let bridge = |wrapper: &mut Command| {
        wrapper.arg(&log).arg("--").arg(binary("godot-bridge")).arg("--lockstep").arg("--launch").arg(folder.path());
        pipe(wrapper, lines.as_bytes())
    };
    let recorded = bridge(command("jsonl-record").args(["--child", "world"]));
    assert!(recorded.status.success(), "{}", text(&recorded.stderr));
    // The frame numbers are also the same: nothing is ignored.
    let replayed = bridge(command("replay").args(["--as", "agent"]));
    let stderr = text(&replayed.stderr);
    assert!(replayed.status.success() && stderr.contains(" 0 different"), "{stderr}");
}

/// A game that counts ticks, each of which takes a while.
const TICKS: &str = r#"extends Control
signal never
var ticks := 0
var delay := 0
func _physics_process(_delta):
	ticks += 1
	OS.delay_msec(delay)
func agent_commands():
	return {"hang": {}}
func agent_command(_name, _args):
	await never
"#;

fn ticks(game: &mut Game) -> i64 {
    game.data("get_property", json!({"path": "#Main", "property": "ticks"}))["value"].as_i64().unwrap()
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_timeout_of_a_command_is_a_number_of_frames() {
    let folder = small_game(TICKS);
    let mut game = Game::start(bridge(folder.path()).arg("--lockstep"));
    for (command, arguments, code, frames) in [
        ("expect", json!({"path": "#Main", "property": "ticks", "equals": -1}), "EXPECTATION_FAILED", 1800),
        ("expect", json!({"selector": "#None", "timeout": 1}), "EXPECTATION_FAILED", 60),
        ("wait_for", json!({"signal": "never"}), "TIMEOUT", 1800),
        ("wait_for", json!({"selector": "#None", "timeout": 0.01}), "TIMEOUT", 1),
        ("wait_for", json!({"frames": 100, "timeout": 0.5}), "TIMEOUT", 30),
        ("wait_for", json!({"idle": 100, "timeout": 0.5}), "TIMEOUT", 30),
        ("hang", json!({"timeout": 2}), "TIMEOUT", 120),
        ("step", json!({"observe": {"cmd": "get_state"}, "frames": 0}), "", 0),
        ("step", json!({"frames": 5000}), "", 5000),
        ("step", json!({"until": {"selector": "#None"}, "timeout": 1}), "", 3600),
    ] {
        let before = ticks(&mut game);
        let answer = game.ask(command, arguments.clone());
        assert_eq!(answer["code"].as_str().unwrap_or_default(), code, "{command} {arguments}: {answer}");
        assert_eq!(ticks(&mut game) - before, frames, "{command} {arguments}: {answer}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_slow_game_gets_all_its_frames() {
    let folder = small_game(&TICKS.replace("delay := 0", "delay := 120"));
    let file = folder.path().join("project.godot");
    let project = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, project + "\n[physics]\n\ncommon/physics_ticks_per_second=30\n").unwrap();
    let mut game = Game::start(bridge(folder.path()).arg("--lockstep"));
    let before = ticks(&mut game);
    // Longer than the second after which a game in real time would be given up, and its time of grace.
    let (code, _) = game.refusal("expect", json!({"selector": "#None", "timeout": 1}));
    assert_eq!((code.as_str(), ticks(&mut game) - before), ("EXPECTATION_FAILED", 30));
}
