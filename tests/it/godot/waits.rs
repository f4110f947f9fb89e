//! Time and events: waiting, pausing, stepping, random numbers, and events.

use super::{FRAME, Game, bridge, fastest, small_game, types};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A game that changes by itself, or on command.
const CLOCK: &str = r#"extends Control
signal rang(times: int, who: Node)
signal never
var frames := 0
var ticks := 0
var score := 0
var place := Vector2.ZERO
var goal: Node = null
var freed := Node.new()
func _ready():
	freed.free()
	var label := Label.new()
	label.name = "Label"
	add_child(label)
	var button := Button.new()
	button.name = "Go"
	button.position = Vector2(600, 400)
	button.size = Vector2(100, 40)
	button.pressed.connect(func(): rang.emit(1, button))
	add_child(button)
	var inner := Node.new()
	inner.name = "Inner"
	inner.set_script(load("res://inner.gd"))
	add_child(inner)
func _process(_delta):
	frames += 1
func _physics_process(_delta):
	ticks += 1
func agent_commands():
	return {"ring": {}, "later": {"args": {"what": "string", "seconds": "float"}}, "fail": {}, "chance": {}, "again": {}, "own_pause": {"args": {"on": "bool"}}}
func agent_command(command: String, args: Dictionary):
	match command:
		"ring":
			rang.emit(3, self)
		"fail":
			return {"error": "it can't be done", "code": "CANT"}
		"later":
			_later(args["what"], args["seconds"])
		"again":
			var button := $Go
			remove_child(button)
			add_child(button)
		"chance":
			return {"numbers": [randi(), randf(), randi() % 100, [1, 2, 3, 4, 5].pick_random()]}
		"own_pause":
			get_tree().paused = args["on"]
	return {}
func _later(what: String, seconds: float):
	await get_tree().create_timer(seconds).timeout
	match what:
		"show":
			var panel := Panel.new()
			panel.name = "Won"
			add_child(panel)
		"free": $Label.queue_free()
		"hide": $Label.hide()
		"disable": $Go.disabled = true
		"score": score = 3
		"move": place = Vector2(1, 2.5)
		"ring": rang.emit(2, null)
"#;

const INNER: &str = "extends Node\nsignal deep(a, b)\nfunc agent_commands():\n\treturn {\"dive\": {}}\nfunc agent_command(_c, _a):\n\tdeep.emit(1, \"x\")\n\treturn {}\n";

/// The time limit of commands that name none.
const DEFAULT_LIMIT: Duration = Duration::from_secs(30);

fn clock() -> (Game, tempfile::TempDir) {
    let folder = small_game(CLOCK);
    std::fs::write(folder.path().join("inner.gd"), INNER).unwrap();
    (Game::start(&mut bridge(folder.path())), folder)
}

fn number(game: &mut Game, name: &str) -> i64 {
    game.data("get_property", json!({"path": "/root/Main", "property": name}))["value"].as_i64().unwrap()
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn every_condition_can_be_awaited() {
    let (mut game, _folder) = clock();
    for (what, arguments, met) in [
        (
            "show",
            json!({"selector": "#Won"}),
            json!({"selector": "#Won", "state": "exists", "matches": ["/root/Main/Won"]}),
        ),
        ("hide", json!({"selector": "#Label", "state": "hidden"}), json!({"matches": ["/root/Main/Label"]})),
        ("free", json!({"selector": "#Label", "state": "gone"}), json!({"matches": []})),
        ("disable", json!({"selector": "#Go", "state": "disabled"}), json!({"matches": ["/root/Main/Go"]})),
        (
            "score",
            json!({"path": "/root/Main", "property": "score", "equals": 3}),
            json!({"path": "/root/Main", "property": "score", "value": 3}),
        ),
        ("move", json!({"path": "/root/Main", "property": "place", "equals": [1, 2.5]}), json!({"property": "place"})),
        ("ring", json!({"signal": "rang"}), json!({"signal": "rang", "path": "/root/Main", "args": [2, null]})),
    ] {
        game.data("later", json!({"what": what, "seconds": 0.1}));
        let started = Instant::now();
        let found = game.data("wait_for", arguments);
        assert!(started.elapsed() < Duration::from_secs(5));
        for (key, value) in met.as_object().unwrap() {
            assert_eq!(&found[key], value, "{what}: {found}");
        }
    }
    // A condition that already holds is met at once.
    for arguments in [
        json!({"selector": "#Go", "state": "visible"}),
        json!({"selector": "#Label", "state": "gone"}),
        json!({"path": "/root/Main", "property": "place:x", "equals": 1}),
        json!({"path": "/root/Main", "property": "goal", "equals": null}),
        json!({"path": "/root/Main", "property": "freed", "equals": null}),
    ] {
        game.data("wait_for", arguments);
    }
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_wait_is_armed_before_its_trigger() {
    let (mut game, _folder) = clock();
    let answer = game.ask("wait_for", json!({"signal": "rang", "then": {"cmd": "ring"}}));
    assert_eq!(answer["data"]["args"], json!([3, {"$type": "Control", "path": "/root/Main"}]), "{answer}");
    assert_eq!((&answer["data"]["then"], types(&answer)), (&json!({"ok": true, "data": {}}), vec!["rang"]));
    let press = json!({"cmd": "press_button", "args": {"path": "#Go"}});
    let found = game.data("wait_for", json!({"path": "#Go", "signal": "pressed", "then": press}));
    assert_eq!((&found["path"], &found["then"]["data"]["path"]), (&json!("/root/Main/Go"), &json!("/root/Main/Go")));
    let later = json!({"cmd": "later", "args": {"what": "show", "seconds": 0.05}});
    game.data("wait_for", json!({"selector": "#Won", "then": later}));
    // Signals of nodes other than the scene, by path.
    let found = game.data("wait_for", json!({"path": "#Inner", "signal": "deep", "then": {"cmd": "dive", "args": {}}}));
    assert_eq!(found["args"], json!([1, "x"]));
    // Without the trigger, the signal never comes.
    let (code, answer) = game.refusal("wait_for", json!({"signal": "rang", "then": {"cmd": "fail"}}));
    assert!(code == "CANT" && answer["error"] == "it can't be done", "{answer}");
    assert_eq!(game.refusal("wait_for", json!({"signal": "rang", "then": {"cmd": "nothing"}})).0, "UNKNOWN_COMMAND");
    let (code, _) = game
        .refusal("wait_for", json!({"signal": "rang", "then": {"cmd": "press_button", "args": {"path": "#Nobody"}}}));
    assert_eq!(code, "NODE_NOT_FOUND");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_unmet_wait_times_out_and_leaves_nothing_behind() {
    let (mut game, _folder) = clock();
    // The first answer takes as long as the start.
    game.pid();
    for arguments in [
        json!({"selector": "#Won", "timeout": 0.2}),
        json!({"signal": "never", "timeout": 0.2}),
        json!({"path": "#Nobody", "property": "x", "equals": 1, "timeout": 0.2}),
        json!({"path": "/root/Main", "property": "score", "equals": "0", "timeout": 0.2}),
        json!({"frames": 1000, "timeout": 0.2}),
        json!({"signal": "never", "then": {"cmd": "ring"}, "timeout": 0.2}),
        json!({"signal": "never", "then": {"cmd": "wait_for", "args": {}}, "timeout": 0.2}),
    ] {
        let started = Instant::now();
        let (code, answer) = game.refusal("wait_for", arguments.clone());
        let expected = if arguments["then"]["cmd"] == "wait_for" { "INVALID_ARGS" } else { "TIMEOUT" };
        assert_eq!(code, expected, "{arguments}: {answer}");
        assert!(started.elapsed() < DEFAULT_LIMIT, "{arguments}");
    }
    let signals = game.data("get_signals", json!({"path": "/root/Main"}))["signals"].take();
    let never = signals.as_array().unwrap().iter().find(|signal| signal["name"] == "never").unwrap();
    assert_eq!(never["connections"], json!([]), "nobody listens any more");
    // The timeout may also be a field beside the arguments.
    let answer = game.talk.ask(r#"{"cmd":"wait_for","id":"t","timeout":0.2,"args":{"signal":"never"}}"#);
    assert!(answer.contains("TIMEOUT"), "{answer}");
    for bad in [
        json!({}),
        json!({"selector": "#Go", "frames": 1}),
        json!({"selector": "#Go", "state": "shiny"}),
        json!({"selector": "["}),
        json!({"selector": 5}),
        json!({"path": "#Go", "property": "text"}),
        json!({"property": "text", "equals": 1}),
        json!({"signal": "nosuch"}),
        json!({"frames": "1"}),
        json!({"frames": 1, "then": 5}),
        json!({"frames": 1, "then": {}}),
        json!({"frames": 1, "then": {"cmd": "ring", "args": 5}}),
        json!({"frames": 1, "then": {"cmd": "quit"}}),
    ] {
        assert_eq!(game.refusal("wait_for", bad.clone()).0, "INVALID_ARGS", "{bad}");
    }
    assert_eq!(game.refusal("wait_for", json!({"signal": "pressed", "path": "#Nobody"})).0, "NODE_NOT_FOUND");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_wait_for_frames_or_idleness_ends_in_time() {
    let (mut game, _folder) = clock();
    let (frames, ticks) = (number(&mut game, "frames"), number(&mut game, "ticks"));
    assert_eq!(game.data("wait_for", json!({"frames": 10}))["frames"], 10);
    assert!(number(&mut game, "frames") >= frames + 10 && number(&mut game, "ticks") >= ticks + 10);
    game.data("wait_for", json!({"frames": 0}));
    // It counts its frames in a variable, which get_tree does not show.
    game.data("wait_for", json!({"idle": 3}));
    let (mut game, _folder) = Game::play(
        "extends Control\nsignal done\nfunc _ready():\n\tvar label := Label.new()\n\tlabel.name = \"Label\"\n\tadd_child(label)\nfunc agent_commands():\n\treturn {\"count\": {}}\nfunc agent_command(_c, _a):\n\t_count()\n\treturn {}\nfunc _count():\n\tfor i in 20:\n\t\t$Label.text = str(i)\n\t\tawait get_tree().physics_frame\n\tdone.emit()\n",
    );
    let answer = game.ask("wait_for", json!({"idle": 5, "then": {"cmd": "count"}}));
    assert_eq!((&answer["data"]["idle"], types(&answer)), (&json!(5), vec!["done"]));
    assert_eq!(game.data("get_node", json!({"path": "#Label"}))["text"], "19");
    game.end();
    let (mut game, _folder) = Game::play(
        "extends Control\nfunc _ready():\n\tvar label := Label.new()\n\tadd_child(label)\nfunc _physics_process(_delta):\n\tget_child(0).text = str(Engine.get_physics_frames())\n",
    );
    assert_eq!(
        game.refusal("wait_for", json!({"idle": 3, "timeout": 0.4})).0,
        "TIMEOUT",
        "it shows another number each time"
    );
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_paused_game_still_answers_and_steps_exactly() {
    let (mut game, _folder) = clock();
    assert_eq!(game.data("pause", json!({})), json!({"paused": true}));
    let counted = |game: &mut Game| (number(game, "frames"), number(game, "ticks"));
    let held = counted(&mut game);
    game.data("get_tree", json!({}));
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(counted(&mut game), held);
    let (mut frames, mut ticks) = held;
    for count in [1, 2, 7, 1, 0, 30] {
        assert_eq!(game.data("step", json!({"frames": count}))["frames"], count);
        frames += count;
        ticks += count;
        assert_eq!(counted(&mut game), (frames, ticks), "{count}");
    }
    game.data("step", json!({}));
    assert_eq!(counted(&mut game), (frames + 1, ticks + 1));
    // While time is stopped, a player cannot press buttons; the hook's keyboard still works.
    let (code, answer) = game.refusal("press_button", json!({"path": "#Go"}));
    assert!(code == "NOT_ACTIONABLE" && answer["details"]["reason"] == "paused", "{answer}");
    assert_eq!(types(&game.ask("ring", json!({}))), ["rang"]);
    assert_eq!(game.data("pause", json!({})), json!({"paused": true}), "twice is once");
    assert_eq!(game.data("resume", json!({})), json!({"paused": false}));
    game.data("wait_for", json!({"frames": 3}));
    assert!(counted(&mut game).0 > frames + 1);
    game.data("press_button", json!({"path": "#Go"}));
    assert_eq!(game.refusal("step", json!({"frames": 100_000, "timeout": 0.3})).0, "TIMEOUT");
    let held = counted(&mut game);
    game.data("wait_for", json!({"frames": 5}));
    assert_eq!(counted(&mut game), held, "a step that ran out of time is over");
    assert_eq!(game.refusal("step", json!({"frames": "2"})).0, "INVALID_ARGS");
}

/// The loop runs far faster than that while commands come; times in seconds are still correct.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_frames_of_a_step_have_their_usual_length() {
    let (mut game, _folder) = Game::play(
        "extends Control\nvar drawn := 0.0\nvar ticked := 0.0\nfunc _process(delta):\n\tdrawn += delta\nfunc _physics_process(delta):\n\tticked += delta\n",
    );
    let seconds = |game: &mut Game, name: &str| {
        game.data("get_property", json!({"path": "/root/Main", "property": name}))["value"].as_f64().unwrap()
    };
    game.data("pause", json!({}));
    let before = (seconds(&mut game, "drawn"), seconds(&mut game, "ticked"));
    game.data("step", json!({"frames": 30}));
    let drawn = seconds(&mut game, "drawn") - before.0;
    assert!(drawn > 0.35, "{drawn} s");
    let ticked = seconds(&mut game, "ticked") - before.1;
    assert!((ticked - 0.5).abs() < 0.001, "{ticked} s");
    let fastest = fastest(|| _ = seconds(&mut game, "drawn"));
    assert!(fastest < FRAME, "answers are fast again: {fastest:?}");
    game.end();
}

/// The bridge does not end a pause of the game itself, and the game still answers.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_game_that_pauses_itself_still_answers() {
    let (mut game, _folder) = clock();
    game.data("own_pause", json!({"on": true}));
    assert_eq!(game.data("get_state", json!({}))["paused"], true);
    let frames = number(&mut game, "frames");
    game.data("wait_for", json!({"frames": 3}));
    assert_eq!(number(&mut game, "frames"), frames);
    game.data("pause", json!({}));
    assert_eq!(game.data("resume", json!({})), json!({"paused": true}), "as it was");
    game.data("own_pause", json!({"on": false}));
    game.data("wait_for", json!({"frames": 3}));
    assert!(number(&mut game, "frames") > frames);
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_seed_makes_random_numbers_repeatable() {
    let (mut game, _folder) = clock();
    let mut drawn = |seed: i64| {
        assert_eq!(game.data("seed", json!({"seed": seed}))["seed"], seed);
        game.data("chance", json!({}))["numbers"].take()
    };
    let first = drawn(7);
    assert_eq!(drawn(7), first);
    assert_ne!(drawn(8), first);
    // All 64 bits count.
    let wide = drawn(i64::MAX);
    assert_eq!(drawn(i64::MAX), wide);
    assert_ne!(drawn(i64::MAX - 1), wide);
    assert_eq!(game.refusal("seed", json!({"seed": "7"})).0, "INVALID_ARGS");
    assert_eq!(game.refusal("seed", json!({})).0, "INVALID_ARGS");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn signals_are_watched_and_unwatched_on_request() {
    let (mut game, _folder) = clock();
    assert_eq!(types(&game.ask("dive", json!({}))), [""; 0], "only the scene's own, and those of buttons");
    assert_eq!(game.data("watch", json!({"path": "#Inner", "signals": ["deep"]}))["signals"], json!(["deep"]));
    game.data("watch", json!({"path": "#Inner"}));
    let answer = game.ask("dive", json!({}));
    assert_eq!(types(&answer), ["deep"], "once, though watched twice");
    assert_eq!((&answer["events"][0]["a"], &answer["events"][0]["node"]), (&json!(1), &json!("/root/Main/Inner")));
    game.data("unwatch", json!({"path": "#Inner", "signals": ["deep"]}));
    assert_eq!(types(&game.ask("dive", json!({}))), [""; 0]);
    game.data("unwatch", json!({"path": "#Go"}));
    assert_eq!(types(&game.ask("press_button", json!({"path": "#Go"}))), ["rang"]);
    game.data("unwatch", json!({"path": "/root/Main"}));
    assert_eq!(types(&game.ask("ring", json!({}))), [""; 0]);
    game.data("watch", json!({"path": "/root/Main", "signals": ["rang"]}));
    assert_eq!(types(&game.ask("ring", json!({}))), ["rang"]);
    game.data("unwatch", json!({"path": "#Go"}));
    game.data("again", json!({}));
    assert_eq!(types(&game.ask("press_button", json!({"path": "#Go"}))), ["rang"], "also where the button comes back");
    for bad in [
        json!({"path": "#Go", "signals": ["nosuch"]}),
        json!({"path": "#Go", "signals": [5]}),
        json!({"path": "#Go", "signals": "pressed"}),
    ] {
        assert_eq!(game.refusal("watch", bad).0, "INVALID_ARGS");
    }
    assert_eq!(game.refusal("watch", json!({"path": "#Nobody"})).0, "NODE_NOT_FOUND");
}

/// Signals with all kinds of arguments, floods of them, and errors.
const LOUD: &str = r#"extends Control
signal plain
signal many(a: int, b: float, c: String, d: Vector2, e: Array, f: Dictionary, g: Node, h: Object)
signal awkward(type: int, node: String, seq: float, frame, args, fine: int)
signal counted(n: int)
var flooding := 0
func agent_commands():
	var all := {}
	for name in ["shout", "flood", "begin", "complain", "fail", "parse", "added", "extra", "threads"]:
		all[name] = {}
	return all
func _process(_delta):
	if flooding > 0:
		for i in 400:
			counted.emit(flooding * 1000 + i)
		flooding -= 1
func agent_command(command: String, _args: Dictionary):
	match command:
		"shout":
			plain.emit()
			var gone := Node.new()
			many.emit(9223372036854775807, INF, "\"\n", Vector2(1, 2), [1, [self]], {1: 2}, self, gone)
			gone.free()
			awkward.emit(1, "two", 3.0, 4, 5, 6)
		"flood":
			for i in 2500:
				counted.emit(i)
		"begin":
			flooding = 5
		"complain":
			push_error("an error of ours")
			push_warning("a warning of ours")
			printerr("only printed")
		"fail":
			_fail()
		"added":
			add_user_signal("made_up", [{"name": "x", "type": TYPE_INT}])
			return {}
		"extra":
			emit_signal("made_up", 5)
		"threads":
			var thread := Thread.new()
			thread.start(func(): push_error("from afar"))
			thread.wait_to_finish()
	return {}
func _fail():
	var nobody: Variant = null
	nobody.vanish()
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_signals_arguments_are_reported_by_name() {
    let (mut game, _folder) = Game::play(LOUD);
    let answer = game.ask("shout", json!({}));
    let events = answer["events"].as_array().unwrap();
    assert_eq!(types(&answer), ["plain", "many", "awkward"]);
    let many = &events[1];
    let expected = json!({"type": "many", "a": i64::MAX, "b": {"$type": "float", "value": "inf"}, "c": "\"\n",
        "d": {"$type": "Vector2", "value": [1.0, 2.0]}, "e": [1, [{"$type": "Control", "path": "/root/Main"}]],
        "f": {"$type": "Dictionary", "value": [[1, 2]]}, "g": {"$type": "Control", "path": "/root/Main"}});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&many[key], value, "{many}");
    }
    assert_eq!(many["h"]["$type"], "Node");
    let awkward = &events[2];
    assert_eq!(
        (&awkward["type"], &awkward["node"], &awkward["fine"]),
        (&json!("awkward"), &json!("/root/Main"), &json!(6))
    );
    assert_eq!(awkward["args"], json!([1, "two", 3.0, 4, 5]), "those whose names an event needs itself");
    let numbers: Vec<_> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(events.iter().all(|event| event["frame"].is_u64()));
    game.data("added", json!({}));
    game.data("watch", json!({"path": "/root/Main"}));
    let answer = game.ask("extra", json!({}));
    assert_eq!(
        (types(&answer), &answer["events"][0]["x"]),
        (vec!["made_up"], &json!(5)),
        "one that was made at run time"
    );
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_oldest_events_are_dropped_and_counted() {
    let (mut game, _folder) = Game::play(LOUD);
    let answer = game.ask("flood", json!({}));
    let events = answer["events"].as_array().unwrap();
    assert_eq!((events.len(), &answer["dropped"]), (1000, &json!(1500)));
    assert_eq!((&events[0]["n"], &events[999]["n"]), (&json!(1500), &json!(2499)));
    let last = events[999]["seq"].as_u64().unwrap();
    // Spontaneous events wait for get_events; events caused by a command come with its answer.
    game.data("begin", json!({}));
    // Waits outside of the game: events during a command would come with its answer.
    crate::process::eventually("the flood is over", || number(&mut game, "flooding") == 0);
    let waiting = game.data("get_events", json!({"limit": 10}));
    let first = waiting["events"].as_array().unwrap();
    assert_eq!(first.len(), 10);
    assert!(first[0]["seq"].as_u64().unwrap() > last);
    let rest = game.data("get_events", json!({}));
    assert_eq!(rest["events"][0]["seq"].as_u64().unwrap(), first[9]["seq"].as_u64().unwrap() + 1, "in order");
    let empty = game.data("get_events", json!({}));
    assert_eq!(empty, json!({"events": [], "dropped": 0}));
    assert_eq!(types(&game.ask("shout", json!({})))[0], "plain");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn errors_of_the_engine_and_of_scripts_are_events() {
    let (mut game, _folder) = Game::play(LOUD);
    let answer = game.ask("complain", json!({}));
    let reported: Vec<_> = answer["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| (event["kind"].clone(), event["error"].clone()))
        .collect();
    assert_eq!(
        reported,
        [(json!("error"), json!("an error of ours")), (json!("warning"), json!("a warning of ours"))],
        "{answer}"
    );
    let answer = game.ask("fail", json!({}));
    let event = &answer["events"][0];
    assert_eq!(
        (&event["type"], &event["kind"], &event["file"]),
        (&json!("engine_error"), &json!("script"), &json!("res://main.gd"))
    );
    assert!(event["function"] == "_fail" && event["error"].as_str().unwrap().contains("vanish"), "{event}");
    assert!(
        event["line"].as_u64().unwrap() > 40 && event["stack"][1].as_str().unwrap().contains("agent_command"),
        "{event}"
    );
    let answer = game.ask("threads", json!({}));
    assert!(answer["events"][0]["error"] == "from afar", "from any thread: {answer}");
    game.talk.end_after_close();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn events_are_streamed_to_a_file() {
    let folder = small_game(LOUD);
    let file = folder.path().join("events.jsonl");
    let mut game = Game::start(bridge(folder.path()).arg("--events").arg(&file));
    let read = || -> Vec<Value> {
        let text = std::fs::read_to_string(&file).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(types(&game.ask("shout", json!({}))), ["plain", "many", "awkward"], "in the answer as well");
    game.data("begin", json!({}));
    crate::process::eventually("what happens by itself is there too", || read().len() >= 2003);
    game.data("flood", json!({}));
    game.end();
    let records = read();
    assert!(records.iter().all(|line| line["type"] == "observation" && line["source"] == "godot"));
    let numbers: Vec<_> = records.iter().map(|line| line["data"]["seq"].as_u64().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "in order, none twice");
    assert_eq!(numbers.len(), 3003);
    assert_eq!(records[0]["data"]["type"], "plain");
}
