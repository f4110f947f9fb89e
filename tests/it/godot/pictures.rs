//! Screenshots and their comparison.

use super::{Game, bridge, small_game};
use crate::display::Display;
use serde_json::{Value, json};

/// A red box in an otherwise grey window; its button makes it blue. `pixel` reads a picture without the addon.
const BOX: &str = r#"extends Control
var box := ColorRect.new()
func _ready():
	RenderingServer.set_default_clear_color(Color(0.5, 0.5, 0.5))
	box.name = "Box"
	box.color = Color.RED
	box.position = Vector2(100, 100)
	box.size = Vector2(200, 50)
	add_child(box)
	var stripe := ColorRect.new()
	stripe.name = "Stripe"
	stripe.color = Color.GREEN
	stripe.size = Vector2(20, 50)
	stripe.hide()
	box.add_child(stripe)
	var far := ColorRect.new()
	far.name = "Far"
	far.position = Vector2(2000, 0)
	far.size = Vector2(10, 10)
	add_child(far)
	var nothing := Node.new()
	nothing.name = "Nothing"
	add_child(nothing)
	var red := Image.create(200, 50, false, Image.FORMAT_RGB8)
	red.fill(Color.RED)
	red.save_png("res://red.png")
func agent_commands():
	return {"colour": {"args": {"to": "string"}}, "stripe": {}, "save_power": {}, "saves_power": {},
		"pixel": {"args": {"file": "string", "x": "int", "y": "int"}}}
func agent_command(command: String, args: Dictionary):
	match command:
		"colour": box.color = Color(args["to"])
		"stripe": $Box/Stripe.show()
		"save_power": OS.low_processor_usage_mode = true
		"saves_power": return {"on": OS.low_processor_usage_mode}
		"pixel": return {"colour": Image.load_from_file(args["file"]).get_pixel(args["x"], args["y"]).to_html(false)}
	return {}
"#;

/// A game in a window, its project, and the folder of its pictures.
struct Shown {
    game: Game,
    folder: tempfile::TempDir,
    #[expect(dead_code, reason = "held for its drop")]
    display: Display,
}

impl Shown {
    fn start(body: &str) -> Shown {
        let (display, folder) = (Display::start(), small_game(body));
        let mut bridge = bridge(folder.path());
        bridge.arg("--window").env("DISPLAY", &display.name);
        bridge.arg("--output").arg(folder.path().join("pictures"));
        Shown { game: Game::start(&mut bridge), folder, display }
    }

    fn file(&self, name: &str) -> String {
        self.folder.path().join("pictures").join(name).to_str().unwrap().to_owned()
    }

    fn pixel(&mut self, file: &Value, x: i32, y: i32) -> String {
        let pixel = self.game.data("pixel", json!({"file": file, "x": x, "y": y}));
        pixel["colour"].as_str().unwrap().to_owned()
    }
}

#[test]
#[ignore = "needs Godot and Xvfb: scripts/test installs them"]
fn a_screenshot_shows_the_window_a_node_or_a_region() {
    let mut shown = Shown::start(BOX);
    let window = shown.game.data("screenshot", json!({}));
    assert_eq!(window, json!({"path": shown.file("screenshot-0001.png"), "width": 800, "height": 600}));
    let colours =
        [(99, 100), (100, 100), (299, 149), (300, 149), (299, 150)].map(|(x, y)| shown.pixel(&window["path"], x, y));
    assert_eq!(colours, ["808080", "ff0000", "ff0000", "808080", "808080"]);

    let node = shown.game.data("screenshot", json!({"path": "#Box"}));
    assert_eq!(node, json!({"path": shown.file("screenshot-0002.png"), "width": 200, "height": 50}));
    assert_eq!([(0, 0), (199, 49)].map(|(x, y)| shown.pixel(&node["path"], x, y)), ["ff0000", "ff0000"]);

    let region = shown.game.data("screenshot", json!({"region": [90, 90, 20, 20], "name": "corner"}));
    assert_eq!(region, json!({"path": shown.file("corner.png"), "width": 20, "height": 20}));
    assert_eq!([(9, 9), (10, 10)].map(|(x, y)| shown.pixel(&region["path"], x, y)), ["808080", "ff0000"]);
    let cut = shown.game.data("screenshot", json!({"region": [-10, 590, 5000, 1e12], "name": "corner.png"}));
    assert_eq!(
        cut,
        json!({"path": shown.file("corner.png"), "width": 800, "height": 10}),
        "what is outside is left out"
    );
}

#[test]
#[ignore = "needs Godot and Xvfb: scripts/test installs them"]
fn a_screenshot_shows_the_effect_of_the_command_before_it() {
    let mut shown = Shown::start(BOX);
    let colour = |shown: &mut Shown| {
        let picture = shown.game.data("screenshot", json!({"path": "#Box", "name": "now"}));
        shown.pixel(&picture["path"], 100, 25)
    };
    shown.game.data("pause", json!({}));
    for (to, drawn) in [("blue", "0000ff"), ("yellow", "ffff00")] {
        shown.game.data("colour", json!({"to": to}));
        assert_eq!(colour(&mut shown), drawn, "also while the game is paused");
    }
    shown.game.data("resume", json!({}));
    shown.game.data("save_power", json!({}));
    for _ in 0..2 {
        assert_eq!(colour(&mut shown), "ffff00", "also where nothing changes, so that the engine draws no frame");
    }
    assert_eq!(shown.game.data("saves_power", json!({})), json!({"on": true}));
}

#[test]
#[ignore = "needs Godot and Xvfb: scripts/test installs them"]
fn a_screenshot_that_differs_from_another_picture_fails_and_marks_the_differences() {
    let mut shown = Shown::start(BOX);
    let compare =
        |tolerance: f64| json!({"path": "#Box", "name": "now", "compare": "res://red.png", "tolerance": tolerance});
    assert_eq!(shown.game.data("screenshot", compare(0.0))["differing"], 0.0);
    // A channel may differ by 8 of 255.
    shown.game.data("colour", json!({"to": "f70800"}));
    assert_eq!(shown.game.data("screenshot", compare(0.0))["differing"], 0.0);
    shown.game.data("colour", json!({"to": "f70900"}));
    assert_eq!(shown.game.refusal("screenshot", compare(0.0)).1["details"]["differing"], 1.0);

    shown.game.data("colour", json!({"to": "red"}));
    shown.game.data("stripe", json!({}));
    assert_eq!(shown.game.data("screenshot", compare(0.1))["differing"], 0.1);
    let (code, answer) = shown.game.refusal("screenshot", compare(0.09));
    let details = json!({"path": shown.file("now.png"), "width": 200, "height": 50, "differing": 0.1, "compare": "res://red.png",
        "tolerance": 0.09, "diff": shown.file("now.diff.png")});
    assert_eq!((code.as_str(), &answer["details"]), ("PICTURE_DIFFERS", &details));
    let marked = [(19, 0), (20, 0)].map(|(x, y)| shown.pixel(&details["diff"], x, y));
    assert!(marked[0] == "ff0000" && marked[1] != "ff0000", "{marked:?}");

    let (code, answer) = shown.game.refusal("screenshot", json!({"region": [0, 0, 10, 20], "compare": "now.png"}));
    assert_eq!(code, "PICTURE_DIFFERS");
    assert!(
        answer["error"].as_str().unwrap().contains("10 x 20") && answer["error"].as_str().unwrap().contains("200 x 50")
    );
    let sizes =
        ["width", "height", "compare_width", "compare_height"].map(|name| answer["details"][name].as_i64().unwrap());
    assert_eq!(sizes, [10, 20, 200, 50]);
}

#[test]
#[ignore = "needs Godot and Xvfb: scripts/test installs them"]
fn an_impossible_screenshot_is_refused_with_the_reason() {
    let mut shown = Shown::start(BOX);
    shown.game.data("screenshot", json!({"name": "there"}));
    std::fs::write(shown.file("broken.png"), "no picture").unwrap();
    for (arguments, code) in [
        (json!({"path": "#Far"}), "NOT_ACTIONABLE"),
        (json!({"path": "#Stripe"}), "NOT_ACTIONABLE"),
        (json!({"region": [800, 0, 10, 10]}), "NOT_ACTIONABLE"),
        (json!({"region": [0, 0, 0, 10]}), "INVALID_ARGS"),
        (json!({"region": [0, 0, 10]}), "INVALID_ARGS"),
        (json!({"region": [0, 0, 10, "x"]}), "INVALID_ARGS"),
        (json!({"region": [0, 0, 10, 10], "path": "#Box"}), "INVALID_ARGS"),
        (json!({"path": "#Nothing"}), "INVALID_ARGS"),
        (json!({"path": "#None"}), "NODE_NOT_FOUND"),
        (json!({"name": "../x"}), "INVALID_ARGS"),
        (json!({"name": "/tmp/x"}), "INVALID_ARGS"),
        (json!({"name": ""}), "INVALID_ARGS"),
        (json!({"compare": "../red.png"}), "INVALID_ARGS"),
        (json!({"compare": "res://../red.png"}), "INVALID_ARGS"),
        (json!({"compare": "none.png"}), "INVALID_ARGS"),
        (json!({"compare": "broken.png"}), "INVALID_ARGS"),
        (json!({"compare": "there.png", "name": "there"}), "INVALID_ARGS"),
        (json!({"compare": "there.png", "tolerance": 2}), "INVALID_ARGS"),
        (json!({"tolerance": 0.1}), "INVALID_ARGS"),
    ] {
        let (found, answer) = shown.game.refusal("screenshot", arguments.clone());
        assert_eq!(found, code, "{arguments}: {answer}");
        assert_eq!(answer["events"], json!([]), "{arguments}");
    }
    let left: Vec<_> = std::fs::read_dir(shown.folder.path().join("pictures"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 2, "nothing is written: {left:?}");
    std::fs::remove_dir_all(shown.folder.path().join("pictures")).unwrap();
    assert_eq!(shown.game.refusal("screenshot", json!({})).0, "NO_OUTPUT");
}

#[test]
#[ignore = "needs Godot: scripts/test installs it"]
fn a_screenshot_needs_a_window_and_a_folder() {
    let (mut game, _folder) = Game::play(BOX);
    let (code, answer) = game.refusal("screenshot", json!({}));
    assert!(code == "NO_RENDERER" && answer["hint"].as_str().unwrap().contains("--window"), "{answer}");
    let (display, folder) = (Display::start(), small_game(BOX));
    let mut game = Game::start(bridge(folder.path()).arg("--window").env("DISPLAY", &display.name));
    let (code, answer) = game.refusal("screenshot", json!({}));
    assert!(code == "NO_OUTPUT" && answer["hint"].as_str().unwrap().contains("--output"), "{answer}");
}
