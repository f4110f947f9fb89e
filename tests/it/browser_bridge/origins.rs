//! Lists tell the origin of the page, and which elements are in frames of other origins.

use super::traps::{html, page};
use super::{Player, serve_with};
use serde_json::{Value, json};

#[test]
#[ignore = "needs Chromium"]
fn a_list_has_the_origin_of_the_page_and_of_elements_in_frames_of_others() {
    let inner = serve_with(|_| Some(html("<button>Inner</button>")));
    let other = inner.replace("127.0.0.1", "localhost");
    // A page may give any name to a frame or an element, also that of a property.
    let outer = format!(
        r#"<button id=origin name=origin>Outer</button><iframe name=origin src="/same"></iframe><iframe src="{other}/"></iframe>
        <iframe srcdoc="<button>Inherited</button>"></iframe><iframe sandbox srcdoc="<button>Sandboxed</button>"></iframe>
        <script>self.origin = "https://evil.example"; window.name = "origin"</script>"#
    );
    let answer = move |path: &str| Some(html(if path == "/same" { "<button>Same</button>" } else { &outer }));
    let outer = serve_with(answer);
    let mut player = Player::start(&[&outer, "--allow-origin", &other]);
    player.ok("browser_wait", json!({"network_idle": true}));
    let list = player.ok("browser_list_interactives", json!({"scope": "page"}));
    let numbers = |name: &str| {
        let items = list["items"].as_array().unwrap().iter().map(|item| item.as_str().unwrap());
        let found =
            items.filter(|item| item.ends_with(name)).map(|item| item.split(' ').next().unwrap().parse().unwrap());
        found.collect::<Vec<u32>>()
    };
    assert_eq!(list["origin"], outer.as_str(), "{list}");
    let expected = json!({other.as_str(): numbers("Inner"), "null": numbers("Sandboxed")});
    assert_eq!(list["other_origins"], expected, "{list}");
    assert_eq!((numbers("Same").len(), numbers("Inherited").len()), (1, 1), "{list}");
    let found = player.ok("browser_find", json!({"text": "Inner"}));
    assert_eq!((&found["origin"], &found["other_origins"][&other]), (&list["origin"], &json!(numbers("Inner"))));
    // A page that is not of the web has none.
    let mut player = page("<button>Go</button>");
    let list = player.ok("browser_list_interactives", json!({}));
    let is_web = list["origin"].as_str().is_some_and(|origin| origin.starts_with("http://127.0.0.1:"));
    assert!((list["origin"] == Value::Null || is_web) && list["other_origins"] == Value::Null, "{list}");
}
