//! Pitfalls of the engine, of JSON and of games: each tested once, with a real Godot.

use super::{FRAME, Game, bridge, fastest, named, nodes, small_game, types};
use crate::process::{Talk, eventually, text};
use serde_json::{Value, json};
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A hook that executes test commands, and some hooks that misbehave.
const HOOKS: &str = r#"extends Control
var agent_mode := false
var was_ready_in_agent_mode := false
var counter := 0
func _ready():
	was_ready_in_agent_mode = agent_mode
func agent_commands() -> Dictionary:
	var all := {"strict": {"args": {"n": "int", "x": "float?", "s": "string?"}}, "own_time": {"args": {"timeout": "int"}}}
	for name in ["echo", "count", "big", "null", "number", "array", "object", "code", "text_error", "hint", "empty_name", "weird_keys", "fails",
			"fails_below", "slow", "never", "gone", "freed", "warns", "half_done"]:
		all[name] = {}
	return all
func agent_command(command: String, args: Dictionary) -> Variant:
	match command:
		"echo":
			var types := {}
			for key in args:
				types[key] = type_string(typeof(args[key]))
			return {"text": str(args), "types": types, "back": args}
		"count":
			counter += 1
			return {"counter": counter}
		"big":
			return {"text": "x".repeat(args["size"]), "n": args.get("n")}
		"strict": return {"types": [typeof(args["n"]), typeof(args.get("x"))]}
		"own_time": return {"timeout": args["timeout"]}
		"null": return null
		"number": return 5
		"array": return [1]
		"object": return self
		"code": return {"error": "no such crystal", "code": 7}
		"text_error": return {"error": "in words"}
		"hint": return {"error": ["a", "list"], "code": "ODD", "hint": 5, "details": "text"}
		"empty_name": return {"": 1, "x": 2}
		"weird_keys": return {1: 2, Vector2(1, 2): [INF]}
		"fails": return _fail()
		"fails_below":
			_fail()
			return {"went": "on"}
		"half_done":
			return _typed()
		"slow":
			for i in 5:
				await get_tree().process_frame
			return {"frames": 5}
		"never":
			await Signal(self, "tree_exited")
			return {}
		"gone":
			queue_free()
			return {"left": true}
		"freed":
			var node := Node.new()
			node.free()
			return {"node": node}
		"warns": push_warning("careful")
	return {}
func _fail():
	var nobody: Variant = null
	return nobody.vanish()
func _typed() -> Dictionary:
	var nobody: Variant = null
	return nobody.vanish()
"#;

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_id_of_any_type_is_returned_unchanged() {
    let (mut game, _folder) = Game::play(HOOKS);
    for id in [
        "1",
        "-1",
        "0",
        "1.5",
        "1.0",
        "1e400",
        "9007199254740993",
        "123456789012345678901234567890",
        r#""a \u00e9 \"x\"""#,
        r#""""#,
        "null",
        "true",
        "[1, [2]]",
        r#"{"a": {"b":1}}"#,
    ] {
        let answer = game.talk.ask(&format!(r#"{{"cmd":"count","id":{id}}}"#));
        assert!(answer.starts_with(&format!(r#"{{"ok":true,"id":{id},"#)), "{id}: {answer}");
    }
    assert!(game.talk.ask(r#"{"cmd":"count"}"#).starts_with(r#"{"ok":true,"data":"#));
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn arguments_reach_the_game_unchanged() {
    let (mut game, _folder) = Game::play(HOOKS);
    for number in [i64::MAX, i64::MIN, 9_007_199_254_740_993, -9_007_199_254_740_993, 123_456_789_012_345_678, 3, 0, -1]
    {
        let found = game.data("echo", json!({"n": number, "deep": [{"n": number}]}));
        let expected = format!(r#"{{ "n": {number}, "deep": [{{ "n": {number} }}] }}"#);
        assert_eq!(found["text"], expected);
        assert_eq!((&found["types"]["n"], &found["back"]["n"]), (&json!("int"), &json!(number)));
    }
    for number in [
        0.1,
        1.5,
        -0.25,
        1e-7,
        123_456.789,
        1e300,
        2.0 / 3.0,
        0.1 + 0.2,
        5e-324,
        f64::MAX,
        -1.234_567_890_123_456_7e-200,
    ] {
        let found = game.data("echo", json!({"x": number}));
        assert_eq!(found["types"]["x"], "float");
        assert_eq!(found["back"]["x"].as_f64().unwrap().to_bits(), f64::to_bits(number), "{number}: {found}");
    }
    let values = json!({
        "text": "a\"\\\n\t\u{e9}\u{1F389}\u{2028}", "yes": true, "nothing": null, "list": [1, "2", [3]], "object": {"k": {"k": 1}}, "": "no name",
        "up": {"$type": "float", "value": "inf"}, "none": {"$type": "float", "value": "nan"},
        "place": {"$type": "Vector2", "value": [1.0, -2.5]}, "cell": {"$type": "Vector3i", "value": [1, 2, 3]},
        "tint": {"$type": "Color", "value": [1.0, 0.0, 0.5, 1.0]}, "me": {"$type": "Control", "path": "/root/Main"},
        "script": {"$type": "GDScript", "resource": "res://main.gd"}, "bytes": {"$type": "PackedByteArray", "value": [1, 255]},
        "keyed": {"$type": "Dictionary", "value": [[1, "one"], ["$type", "x"]]}
    });
    let found = game.data("echo", values.clone());
    assert_eq!(found["back"], values);
    assert_eq!((&found["types"]["place"], &found["types"]["keyed"]), (&json!("Vector2"), &json!("Dictionary")));
    // An integer is accepted for a float, but a number with a fraction is not an integer.
    assert_eq!(game.data("strict", json!({"n": 3, "x": 2}))["types"], json!([2, 3]));
    for bad in [
        json!({}),
        json!({"n": 1.5}),
        json!({"n": "1"}),
        json!({"n": null}),
        json!({"n": true}),
        json!({"n": 1, "x": "1"}),
        json!({"n": 1, "y": 1}),
        json!({"n": 1, "s": 2}),
        json!({"n": {"$type": "Vector2", "value": [1]}}),
        json!({"n": {"$type": "NoSuchType", "value": 1}}),
        json!({"n": {"$type": "Node", "path": "/root/Nobody"}}),
        json!({"n": {"$type": "GDScript", "resource": "/etc/passwd"}}),
        json!({"n": {"$type": "int", "value": "12a"}}),
        json!({"n": {"$type": "int", "value": "99999999999999999999"}}),
        json!({"n": {"$type": "float", "value": "x"}}),
    ] {
        let answer = game.ask("strict", bad.clone());
        assert!(answer["code"] == "INVALID_ARGS" && answer["events"] == json!([]), "{bad}: {answer}");
    }
    for bad in
        [json!({"value": "x"}), json!({"bits": "3fd3"}), json!({"bits": "3fd333333333333x"}), json!({"value": []})]
    {
        let mut typed = json!({"$type": "float"});
        typed.as_object_mut().unwrap().extend(bad.as_object().unwrap().clone());
        assert_eq!(game.refusal("echo", json!({"x": typed})).0, "INVALID_ARGS", "{bad}");
    }
    let huge = game.talk.ask(r#"{"cmd":"strict","id":1,"args":{"n":99999999999999999999}}"#);
    assert!(huge.contains("INVALID_ARGS"), "no other number in its place: {huge}");
    assert_eq!(
        game.data("own_time", json!({"timeout": 5}))["timeout"],
        5,
        "one that the game has declared is the game's"
    );
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_hook_may_return_any_value() {
    let (mut game, _folder) = Game::play(HOOKS);
    assert_eq!(game.data("null", json!({})), json!({}));
    assert_eq!(game.data("slow", json!({})), json!({"frames": 5}));
    assert_eq!(game.data("freed", json!({})), json!({"node": null}));
    assert_eq!(game.data("empty_name", json!({})), json!({"": 1, "x": 2}));
    let weird = game.data("weird_keys", json!({}));
    assert_eq!(weird["$type"], "Dictionary");
    for name in ["number", "array", "object", "fails", "half_done", "text_error"] {
        assert_eq!(game.refusal(name, json!({})).0, "GAME_ERROR", "{name}");
    }
    let (_, answer) = game.refusal("fails", json!({}));
    assert!(answer["error"].as_str().unwrap().contains("vanish") && types(&answer) == ["engine_error"], "{answer}");
    assert_eq!(game.refusal("code", json!({})).0, "7");
    let (code, answer) = game.refusal("hint", json!({}));
    assert!(code == "ODD" && answer["error"].as_str().unwrap().contains("list"), "{answer}");
    let answer = game.ask("fails_below", json!({}));
    assert!(answer["data"]["went"] == "on" && types(&answer) == ["engine_error"], "what went on is answered: {answer}");
    assert_eq!(types(&game.ask("warns", json!({}))), ["engine_error"]);
    // A command that never returns only uses up its own timeout.
    let started = Instant::now();
    assert_eq!(game.refusal("never", json!({"timeout": 0.3})).0, "TIMEOUT");
    assert!(started.elapsed() < Duration::from_secs(2));
    assert_eq!(game.data("count", json!({})), json!({"counter": 1}));
    assert_eq!(game.data("gone", json!({})), json!({"left": true}));
    assert_eq!(game.refusal("count", json!({})).0, "UNKNOWN_COMMAND", "the node that declared it was freed");
    game.data("get_tree", json!({}));
}

/// agent_commands, agent_fields and agent_actions may also return anything.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn invalid_declarations_of_a_hook_are_tolerated() {
    for given in [
        "5",
        "null",
        "[1]",
        "{1: {}, \"a\": 5, \"b\": {\"args\": 7}, \"c\": {\"args\": {1: 2, \"x\": []}}, \"\": {}, \"get_tree\": {}, \"d\": null}",
        "{\"actions\": 5, \"name\": \"mine\", \"path\": 1, \"type\": null, 5: 6, \"text\": INF, \"children\": 1}",
        "[null, 5, {\"cmd\": 5}, {\"cmd\": \"x\", \"reason\": 3}, []]",
        "get_tree().current_scene.get_node(\"nobody\").call(\"x\")",
    ] {
        let script = ["agent_commands", "agent_fields", "agent_actions"]
            .map(|hook| format!("func {hook}():\n\treturn {given}\n"));
        let (mut game, _folder) = Game::play(&format!(
            "extends Control\n{}func agent_command(n, a):\n\treturn {{\"name\": n}}\n",
            script.join("")
        ));
        let tree = game.data("get_tree", json!({}));
        let main = named(&tree["tree"], "Main");
        assert_eq!((&main["type"], &main["path"]), (&json!("Control"), &json!("/root/Main")), "{given}");
        assert!(game.data("list_actions", json!({}))["actions"].is_array(), "{given}");
        assert!(game.data("hello", json!({}))["commands"].as_array().unwrap().contains(&json!("get_tree")));
        if given.starts_with("{1:") {
            for name in ["a", "b", "d"] {
                assert_eq!(game.data(name, json!({"any": 1}))["name"], *name);
            }
            game.ask("c", json!({}));
        }
        assert_eq!(game.refusal("nosuch", json!({})).0, "UNKNOWN_COMMAND");
        game.data("get_node", json!({"path": "/root/Main"}));
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn agent_mode_is_set_before_a_node_is_ready() {
    let body = "extends Control\nvar agent_mode := false\nvar seen := []\nclass Child extends Node:\n\tvar agent_mode := false\n\tvar seen := false\n\tfunc _ready():\n\t\tseen = agent_mode\nfunc _ready():\n\tseen.append(agent_mode)\n\tvar child := Child.new()\n\tadd_child(child)\n\tseen.append(child.seen)\n";
    let (mut game, folder) = Game::play(body);
    let seen = game.data("get_property", json!({"path": "/root/Main", "property": "seen"}));
    assert_eq!(seen["value"], json!([true, true]));
    game.end();
    // Not for people.
    std::fs::write(
        folder.path().join("main.gd"),
        body.replace("\tadd_child(child)\n", "\tadd_child(child)\n\tprint(\"seen \", agent_mode)\n"),
    )
    .unwrap();
    let output = godot().args(["--headless", "--quit-after", "5", "--path"]).arg(folder.path()).output().unwrap();
    assert!(text(&output.stdout).contains("seen false"));
}

/// A release build refuses unless the project allows it. The test engine is not a release build, so this only checks the script's text.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_release_build_needs_permission() {
    let folder = small_game("extends Control\n");
    let script = std::fs::read_to_string(folder.path().join("addons/agent_bridge/agent_bridge.gd")).unwrap();
    assert!(script.contains("OS.is_debug_build()") && script.contains("agent_bridge/allow_in_release"));
    // The other branch: as if this were a release build.
    let path = folder.path().join("addons/agent_bridge/agent_bridge.gd");
    std::fs::write(&path, script.replace("OS.is_debug_build()", "false")).unwrap();
    let run = || {
        let mut game = godot();
        game.args(["--headless", "--quit-after", "60", "--path"]).arg(folder.path()).args(["--", "--agent-mode"]);
        let output = game.arg(format!("--agent-dir={}", folder.path().join("session").display())).output().unwrap();
        (text(&output.stdout).contains("AgentBridge: session"), text(&output.stderr))
    };
    let (opened, stderr) = run();
    assert!(!opened && stderr.contains("agent_bridge/allow_in_release"), "{stderr}");
    let project = folder.path().join("project.godot");
    let mut settings = std::fs::read_to_string(&project).unwrap();
    settings.push_str("\n[agent_bridge]\n\nallow_in_release=true\n");
    std::fs::write(project, settings).unwrap();
    assert!(run().0);
}

fn godot() -> Command {
    Command::new(std::env::var("PIPEWRIGHT_GODOT").expect("PIPEWRIGHT_GODOT names no Godot: run scripts/test"))
}

/// A game that is used directly over its files, without a bridge.
struct Raw {
    game: Child,
    project: tempfile::TempDir,
    read: usize,
}

impl Raw {
    fn start(body: &str) -> Raw {
        let project = small_game(body);
        let mut game = godot();
        game.args(["--headless", "--path"]).arg(project.path()).args(["--", "--agent-mode"]);
        game.arg(format!("--agent-dir={}", project.path().join("session").display()));
        let game = game.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let raw = Raw { game, project, read: 0 };
        eventually("it is ready", || raw.file("game.json").exists());
        raw
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.project.path().join("session").join(name)
    }

    fn say(&self, bytes: &[u8]) {
        OpenOptions::new().append(true).open(self.file("cmd.jsonl")).unwrap().write_all(bytes).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = None;
        eventually("it answers", || {
            let all = std::fs::read(self.file("resp.jsonl")).unwrap();
            let end = all[self.read..].iter().position(|byte| *byte == b'\n').map(|length| self.read + length);
            line = end.map(|end| serde_json::from_slice(&all[self.read..end]).unwrap());
            self.read = end.map_or(self.read, |end| end + 1);
            line.is_some()
        });
        line.unwrap()
    }

    fn ask(&mut self, line: &[u8]) -> Value {
        self.say(line);
        self.say(b"\n");
        self.receive()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        let _ = self.game.kill();
        let _ = self.game.wait();
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_invalid_line_is_answered_and_the_next_one_executed() {
    let mut raw = Raw::start(HOOKS);
    let mut wide = br#"{"id":1,"cmd":"count","args":{"s":""#.to_vec();
    wide.resize(2 << 20, b'x');
    wide.extend_from_slice(br#""}}"#);
    let brackets = b"[".repeat(100_000);
    let nested = [br#"{"id":1,"cmd":"count","args":{"x":"#.as_slice(), &brackets, b"}}"].concat();
    let mut counter = 0;
    for (line, code, id) in [
        (b"".as_slice(), "BAD_JSON", json!(null)),
        (b"{", "BAD_JSON", json!(null)),
        (b"}{", "BAD_JSON", json!(null)),
        (b"null", "BAD_JSON", json!(null)),
        (b"[]", "BAD_JSON", json!(null)),
        (b"\"text\"", "BAD_JSON", json!(null)),
        (&brackets, "BAD_JSON", json!(null)),
        (&nested, "BAD_JSON", json!(null)),
        (&wide, "TOO_LARGE", json!(null)),
        (b"{\"id\":1,\"cmd\":\"\xff\xfe\"}", "BAD_JSON", json!(null)),
        (b"\xc3", "BAD_JSON", json!(null)),
        (b"{\"id\":1,\"cmd\":\"co\0unt\"}", "BAD_JSON", json!(null)),
        (br#"{"id":1,"cmd":"\ud800"}"#, "BAD_JSON", json!(null)),
        (br#"{"id":1,"cmd":"count"} trailing"#, "BAD_JSON", json!(null)),
        (br#"{'id':1,'cmd':'count'}"#, "BAD_JSON", json!(null)),
        (br#"{"cmd":"count"}"#, "BAD_JSON", json!(null)),
        (br#"{"id":"text","cmd":"count"}"#, "BAD_JSON", json!(null)),
        (br#"{"id":1.5,"cmd":"count"}"#, "BAD_JSON", json!(null)),
        (br#"{"id":1e300,"cmd":"count"}"#, "BAD_JSON", json!(null)),
        (br#"{"id":7}"#, "BAD_JSON", json!(7)),
        (br#"{"id":7,"cmd":5}"#, "BAD_JSON", json!(7)),
        (br#"{"id":7,"cmd":null}"#, "BAD_JSON", json!(7)),
        (br#"{"id":7,"cmd":""}"#, "BAD_JSON", json!(7)),
        (br#"{"id":7,"cmd":"count","args":[]}"#, "INVALID_ARGS", json!(7)),
        (br#"{"id":7,"cmd":"count","timeout":"5"}"#, "INVALID_ARGS", json!(7)),
        (br#"{"id":7,"cmd":"count","timeout":-1}"#, "INVALID_ARGS", json!(7)),
        (br#"{"id":7,"cmd":"nosuch"}"#, "UNKNOWN_COMMAND", json!(7)),
        (br#"{"next":"../cmd.jsonl"}"#, "BAD_JSON", json!(null)),
        (br#"{"next":"resp.jsonl"}"#, "BAD_JSON", json!(null)),
    ] {
        let shown = String::from_utf8_lossy(&line[..line.len().min(60)]).into_owned();
        let answer = raw.ask(line);
        assert_eq!(
            (&answer["ok"], &answer["code"], &answer["id"]),
            (&json!(false), &json!(code), &id),
            "{shown}: {answer}"
        );
        assert!(answer["events"] == json!([]), "the engine has nothing to say of it: {shown}: {answer}");
        counter += 1;
        let answer = raw.ask(br#"{"id":9007199254740992,"cmd":"count"}"#);
        assert_eq!(
            (&answer["id"], &answer["data"]["counter"]),
            (&json!(9_007_199_254_740_992_u64), &json!(counter)),
            "{shown}"
        );
    }
    assert!(raw.game.try_wait().unwrap().is_none());
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_line_is_read_only_when_it_is_complete() {
    let mut raw = Raw::start(HOOKS);
    let line = "{\"id\":1,\"cmd\":\"echo\",\"args\":{\"s\":\"\u{e9}\u{1F389}\"}}\n".as_bytes();
    // Also if a character is split.
    for byte in line {
        raw.say(&[*byte]);
        std::thread::sleep(Duration::from_millis(3));
    }
    assert_eq!(raw.receive()["data"]["back"]["s"], "\u{e9}\u{1F389}");
    raw.say(b"{\"id\":2,\"cmd\":\"count\"}\n{\"id\":3,\"cmd\":\"count\"}\n{\"id\":4,");
    assert_eq!((raw.receive()["id"].clone(), raw.receive()["id"].clone()), (json!(2), json!(3)));
    std::thread::sleep(Duration::from_millis(100));
    raw.say(b"\"cmd\":\"count\"}\r\n");
    assert_eq!(raw.receive()["data"]["counter"], 3, "a line with a Windows line ending is also a line");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn lines_that_the_engine_cannot_read_are_also_refused_through_the_bridge() {
    let (mut game, _folder) = Game::play(HOOKS);
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    let wide = "x".repeat(2 << 20);
    for (arguments, code) in [
        (r#"{"s":"\ud800"}"#.to_owned(), "BAD_JSON"),
        (format!(r#"{{"s":{deep}}}"#), "BAD_JSON"),
        (format!(r#"{{"s":"{wide}"}}"#), "TOO_LARGE"),
    ] {
        let answer = game.talk.ask(&format!(r#"{{"cmd":"echo","id":"x","args":{arguments}}}"#));
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((&answer["id"], &answer["code"]), (&json!("x"), &json!(code)), "{answer}");
        game.data("count", json!({}));
    }
    for line in ["[".repeat(100_000), "{\"cmd\":".to_owned(), "{\"cmd\":\"\"}".to_owned()] {
        let answer: Value = serde_json::from_str(&game.talk.ask(&line)).unwrap();
        assert_eq!(answer["ok"], false, "{answer}");
        game.data("count", json!({}));
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_unknown_command_is_answered_with_the_known_ones() {
    let (mut game, _folder) = Game::play(HOOKS);
    let (code, answer) = game.refusal("get_tre", json!({}));
    assert!(code == "UNKNOWN_COMMAND" && answer["hint"].as_str().unwrap().contains("get_tree"), "{answer}");
    let commands = answer["details"]["commands"].as_array().unwrap();
    assert!(commands.contains(&json!("count")) && commands.contains(&json!("press_button")));
    for bad in ["eval", "__proto__", "agent_command", "\u{1F389}"] {
        assert_eq!(game.refusal(bad, json!({})).0, "UNKNOWN_COMMAND", "{bad}");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn oversized_answers_are_truncated_or_refused() {
    let (mut game, _folder) = Game::play(
        "extends Control\nfunc _ready():\n\tfor i in 6000:\n\t\tvar label := Label.new()\n\t\tlabel.text = \"x\".repeat(200)\n\t\tadd_child(label)\nfunc agent_commands():\n\treturn {\"big\": {}}\nfunc agent_command(_c, args):\n\treturn {\"text\": \"x\".repeat(args[\"size\"])}\n",
    );
    let tree = game.data("get_tree", json!({}));
    assert_eq!((&tree["truncated"], &tree["nodes"]), (&json!(true), &json!(5000)));
    assert_eq!(tree["tree"]["children"][0]["more"], 6002 - 5000);
    let tree = game.data("get_tree", json!({"max_nodes": 100_000}));
    assert_eq!((&tree["truncated"], nodes(&tree["tree"], &|_| true).len()), (&json!(false), 6002));
    for size in [5 << 20, 20 << 20] {
        assert_eq!(game.refusal("big", json!({"size": size})).0, "TOO_LARGE", "{size}");
        assert_eq!(game.data("big", json!({"size": 1}))["text"], "x");
    }
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_thousand_commands_at_once_are_answered_in_order() {
    let (mut game, _folder) = Game::play(HOOKS);
    game.data("count", json!({}));
    let lines: Vec<_> =
        (0..1000).map(|id| format!(r#"{{"cmd":"get_node","id":{id},"args":{{"path":"/root/Main"}}}}"#)).collect();
    game.talk.say(&lines.join("\n"));
    for id in 0..1000 {
        let answer: Value = serde_json::from_str(&game.talk.receive()).unwrap();
        assert_eq!((&answer["id"], &answer["ok"]), (&json!(id), &json!(true)));
    }
    // Commands that act wait for their effects, and also stay in order.
    let lines: Vec<_> = (0..100).map(|id| format!(r#"{{"cmd":"count","id":{id}}}"#)).collect();
    game.talk.say(&lines.join("\n"));
    for id in 0..100 {
        let answer: Value = serde_json::from_str(&game.talk.receive()).unwrap();
        assert_eq!((&answer["id"], &answer["data"]["counter"]), (&json!(id), &json!(id + 2)));
    }
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_game_that_constantly_replaces_its_nodes_can_be_played() {
    let (mut game, _folder) = Game::play(
        r#"extends Control
signal pressed_one(n: int)
var n := 0
func _process(_delta):
	n += 1
	for child in get_children():
		if n % 2:
			child.free()
		else:
			child.queue_free()
	for i in 20:
		var button := Button.new()
		button.name = "B%d" % i if n % 3 else "C%d" % i
		button.text = str(n)
		button.size = Vector2(40, 20)
		button.position = Vector2(50 * (i % 10), 30 * (i / 10))
		button.pressed.connect(func(): pressed_one.emit(i))
		add_child(button)
func agent_commands():
	return {"scatter": {}}
func agent_command(_c, _a):
	for child in get_children():
		child.free()
	return {"n": n}
"#,
    );
    let mut done = 0;
    let mut revision = json!(0);
    for _ in 0..60 {
        let tree = game.data("get_tree", json!({"since": revision, "fields": "all"}));
        revision = tree["revision"].clone();
        for (command, arguments) in [
            ("list_actions", json!({})),
            ("find", json!({"selector": "Button:visible"})),
            ("press_button", json!({"path": "#B3"})),
            ("click", json!({"path": "#C5"})),
            ("get_signals", json!({"path": "Button:nth(0)"})),
            ("wait_for", json!({"selector": "#B7", "timeout": 2})),
            ("scatter", json!({})),
        ] {
            let answer = game.ask(command, arguments);
            done += usize::from(answer["ok"] == true);
            if answer["ok"] == false {
                let code = answer["code"].as_str().unwrap();
                assert!(["NODE_NOT_FOUND", "NOT_ACTIONABLE"].contains(&code), "{answer}");
            }
            let complaints: Vec<_> =
                answer["events"].as_array().unwrap().iter().filter(|event| event["type"] == "engine_error").collect();
            assert!(complaints.is_empty(), "{command}: {complaints:?}");
        }
    }
    // A button that exists for one frame is hardly ever pressed; the other commands always find their nodes.
    assert!(done >= 300, "{done}");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_game_may_start_slowly() {
    for body in [
        "extends Control\nvar up := false\nfunc _ready():\n\tOS.delay_msec(2000)\n\tup = true\n",
        "extends Control\nvar up := true\nfunc _init():\n\tOS.delay_msec(2000)\n",
    ] {
        let (mut game, _folder) = Game::play(body);
        assert_eq!(game.data("get_property", json!({"path": "/root/Main", "property": "up"}))["value"], true);
        game.end();
    }
    // There is a tree even without a main scene.
    let folder = small_game("extends Control\nfunc _ready():\n\tget_tree().unload_current_scene.call_deferred()\n");
    let mut game = Game::start(&mut bridge(folder.path()));
    assert_eq!(game.data("get_state", json!({}))["scene"], json!(null));
    game.data("get_tree", json!({}));
    game.end();
}

/// The engine's loop is fast while commands come, and as usual otherwise; a limit of the game itself is restored.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn the_loop_is_fast_only_while_commands_come() {
    let (mut game, _folder) = Game::play(
        "extends Control\nvar sleep := 0\nvar fps := 0\nfunc _ready():\n\tEngine.max_fps = 30\nfunc _process(_d):\n\tsleep = OS.low_processor_usage_mode_sleep_usec\n\tfps = Engine.max_fps\n",
    );
    let mut number = |name: &str| {
        game.data("get_property", json!({"path": "/root/Main", "property": name}))["value"].as_i64().unwrap()
    };
    number("sleep");
    assert!(number("sleep") <= 1000 && number("fps") == 0);
    // A frame again takes up to a thirtieth of a second; the first answer after that still has this delay.
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(number("fps"), 30);
    let fastest = fastest(|| _ = number("fps"));
    assert!(fastest < FRAME, "{fastest:?}");
    game.end();
}

fn cpu_of(pid: i32) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // Always in hundredths of a second.
    Duration::from_millis(10 * (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()))
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn an_idle_game_uses_hardly_more_cpu_than_without_the_bridge() {
    let body = "extends Control\nfunc _ready():\n\tfor i in 200:\n\t\tadd_child(Button.new())\n";
    let folder = small_game(body);
    let mut game = Game::start(&mut bridge(folder.path()));
    let with = game.pid();
    let bare = small_game(body);
    let removed =
        crate::process::command("godot-bridge").arg("install").arg("--remove").arg(bare.path()).output().unwrap();
    assert!(removed.status.success());
    let mut alone = godot()
        .args(["--headless", "--path"])
        .arg(bare.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let without = alone.id() as i32;
    // In parallel, so that both are affected alike by a busy machine.
    std::thread::sleep(Duration::from_millis(1500));
    let before = (cpu_of(with), cpu_of(without));
    let measured = Duration::from_secs(3);
    std::thread::sleep(measured);
    let percent = |now: Duration, before: Duration| 100.0 * (now - before).as_secs_f64() / measured.as_secs_f64();
    let (with, without) = (percent(cpu_of(with), before.0), percent(cpu_of(without), before.1));
    alone.kill().unwrap();
    alone.wait().unwrap();
    assert!(with <= without + 3.0, "{with} % of a core, and {without} % without");
    game.end();
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn full_files_are_continued_in_others_and_nothing_is_lost() {
    let (mut game, _folder) = Game::play(HOOKS);
    let session = game.data("hello", json!({}))["session"].as_str().unwrap().to_owned();
    let files = || {
        let mut names: Vec<_> = std::fs::read_dir(Path::new(&session))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.retain(|name| name.starts_with("cmd") || name.starts_with("resp"));
        names.sort();
        names
    };
    assert_eq!(files(), ["cmd.jsonl", "resp.jsonl"]);
    // 40 MB of answers, and the same amount of commands, several at once.
    let filler = "y".repeat(900_000);
    for round in 0..9 {
        for n in 0..5 {
            let n = round * 5 + n;
            game.talk.say(
                &json!({"cmd": "big", "id": n, "args": {"size": 1_000_000, "n": n, "filler": filler}}).to_string(),
            );
        }
        for n in 0..5 {
            let answer: Value = serde_json::from_str(&game.talk.receive()).unwrap();
            let n = round * 5 + n;
            assert_eq!((&answer["id"], &answer["data"]["n"]), (&json!(n), &json!(n)));
            assert_eq!(answer["data"]["text"].as_str().unwrap().len(), 1_000_000);
        }
    }
    game.data("count", json!({}));
    eventually("the full ones are gone", || files().len() == 2);
    let now = files();
    assert!(now[1].starts_with("resp.") && now[1] != "resp.jsonl", "{now:?}");
    for name in &now {
        let size = File::open(Path::new(&session).join(name)).unwrap().metadata().unwrap().len();
        assert!(size < 18 << 20, "{name}: {size}");
    }
    game.end();
    assert!(!Path::new(&session).exists());
}

/// A second bridge finds its position in files that were continued.
#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_session_with_continued_files_can_be_attached_to() {
    let raw = Raw::start(HOOKS);
    let session = raw.project.path().join("session");
    for round in 0..3 {
        let mut one = Talk::start(crate::process::command("godot-bridge").arg("--attach").arg(&session));
        for n in 0..10 {
            let line = json!({"cmd": "big", "id": n, "args": {"size": 1_000_000, "n": n}}).to_string();
            let answer: Value = serde_json::from_str(&one.ask(&line)).unwrap();
            assert_eq!((&answer["id"], &answer["data"]["n"]), (&json!(n), &json!(n)), "{round}");
        }
        assert_eq!(one.end_after_close().status.code(), Some(0));
    }
    assert!(raw.file("resp.2.jsonl").exists() && !raw.file("resp.jsonl").exists());
}
