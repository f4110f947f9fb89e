//! The elements that numbers, selectors and nodes refer to.

use super::*;

const LIST: &str = r#"{"url":"https://a/","items":[{"index":3,"role":"button","name":"Like"},{"index":"5","tag":"A","text":" Delete ","context":"Mail"},
    {"index":7,"tag":"input","type":"submit","value":"Pay"},{"index":8,"tag":"p","text":"x"},{"index":8,"tag":"p","text":"y"}]}"#;

#[test]
fn a_list_is_read_at_any_place() {
    let list = LIST.replace('\n', "");
    let quoted = pipewright_record::json::quoted(&list);
    let text = format!(r#"{{"content":[{{"type":"text","text":{quoted}}}]}}"#);
    let both = format!(r#"{{"content":[{{"type":"text","text":{quoted}}}],"structuredContent":{list}}}"#);
    for line in [
        format!(r#"{{"id":1,"tool":"browser_list_interactives","status":"ok","data":{list}}}"#),
        format!(r#"{{"type":"tool_result","call_id":1,"status":"ok","result":{list}}}"#),
        format!(r#"{{"type":"observation","source":"mcp","data":{{"page":{list}}}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{text}}}"#),
        format!(r#"{{"jsonrpc":"2.0","id":1,"result":{both}}}"#),
    ] {
        let mut snapshot = Snapshot::default();
        if !line.contains("observation") {
            snapshot.passes(Some("1"), "browser_list_interactives", "{}", false);
        }
        snapshot.observe(line.as_bytes());
        assert_eq!(element(snapshot.number(3)).name, "Like", "{line}");
        let link = element(snapshot.number(5));
        assert_eq!(
            (link.role.as_deref(), &*link.name, link.context.as_deref()),
            (Some("link"), "Delete", Some("Mail"))
        );
        let pay = element(snapshot.number(7));
        assert_eq!((pay.role.as_deref(), &*pay.name, pay.value.as_deref()), (Some("button"), "", Some("Pay")));
        assert_eq!(
            element(snapshot.target("click", r#"{"eid":3}"#)).name,
            "Like",
            "a list with only one key for numbers"
        );
        assert_eq!(snapshot.number(8), NamedElement::Unknown("8".to_owned()), "two elements have it");
        assert_eq!(snapshot.number(4), NamedElement::Unknown("4".to_owned()));
    }
}

#[test]
fn numbers_are_stale_once_the_page_may_have_changed() {
    let known = || {
        let mut snapshot = Snapshot::default();
        snapshot.call("browser_list_interactives", "{}", &LIST.replace('\n', ""));
        snapshot
    };
    for (tool, arguments, data, is_known) in [
        ("browser_overlay_act", r#"{"index":3,"action":"click"}"#, r#"{"ok":true}"#, false),
        ("browser_overlay_act", r#"{"index":3,"action":"click"}"#, r#"{"changed":false,"nav_type":"none"}"#, true),
        (
            "browser_overlay_act",
            r#"{"index":3,"action":"click"}"#,
            r#"{"changed":false,"page":{"url":"https://b/"}}"#,
            false,
        ),
        ("type", r#"{"eid":3,"text":"x"}"#, r#"{"ok":true,"url":"https://a/"}"#, true),
        ("type", r#"{"eid":3,"text":"x"}"#, r#"{"auto_enter":true}"#, false),
        ("type", r#"{"eid":3,"text":"x\n"}"#, "{}", false),
        ("type", r#"{"eid":3,"text":"x","submit":true}"#, "{}", false),
        ("browser_screenshot", "{}", r#"{"path":"a.png"}"#, true),
        ("browser_wait", "{}", r#"{"url":"https://b/"}"#, false),
        ("browser_navigate", "{}", r#"{"changed":false}"#, false),
        ("mystery", "{}", "{}", false),
        // A page's own text.
        ("browser_extract", "{}", r#"{"items":[{"index":5,"role":"button","name":"Like"}]}"#, false),
        ("browser_extract", "{}", r#"{"title":"Mail"}"#, true),
    ] {
        let mut snapshot = known();
        snapshot.call(tool, arguments, data);
        let expected = if is_known { "Delete" } else { "" };
        let name = match snapshot.number(5) {
            NamedElement::Element(target) => target.name,
            _ => String::new(),
        };
        assert_eq!(name, expected, "{tool} {arguments} {data}");
    }
}

#[test]
fn nodes_are_known_by_their_texts_or_else_by_their_names() {
    let snapshot = after(GODOT, 2);
    let press = |path: &str| snapshot.target("press_button", &format!(r#"{{"path":{path:?}}}"#));
    let reset = element(press("/root/LevelScene/HUDLayer/ResetButton"));
    assert_eq!((reset.role.as_deref(), &*reset.name), (Some("button"), "Reset"));
    let context = reset.context.unwrap();
    assert!(context.contains("The Triangle Vault") && !context.contains("Next level"), "{context}");
    let unseen = element(press("/root/Menu/DeleteSave"));
    assert_eq!((&*unseen.name, unseen.snapshot_id), ("Delete Save", None));
    assert_eq!(element(press("#deleteSave")).name, "delete Save");
    assert_eq!(element(press(":text(\"Start\")")).name, "Start");
    assert_eq!(press("/root/Menu/@Button@12"), NamedElement::Unknown("/root/Menu/@Button@12".to_owned()));
    assert_eq!(snapshot.target("read_file", r#"{"path":"/root/delete"}"#), NamedElement::Nothing);
    assert_eq!(snapshot.target("click", r#"{"position":[1,2]}"#), NamedElement::Nothing);
    let mut changed = after(GODOT, 2);
    changed.passes(Some("9"), "get_tree", r#"{"since":1}"#, false);
    changed.observe(br#"{"ok":true,"id":9,"data":{"added":[],"removed":[],"changed":[{"path":"/root/LevelScene/HUDLayer/ResetButton","text":"Delete"}]},"events":[]}"#);
    let target = element(changed.target("press_button", r#"{"path":"/root/LevelScene/HUDLayer/ResetButton"}"#));
    assert_eq!((target.role.as_deref(), &*target.name), (Some("button"), "Delete"));
}

#[test]
fn a_short_name_is_the_node_that_the_tree_shows() {
    let mut snapshot = Snapshot::default();
    let press = |snapshot: &Snapshot, path: &str| snapshot.target("press_button", &format!(r#"{{"path":{path:?}}}"#));
    assert_eq!(press(&snapshot, "@7"), NamedElement::Unknown("@7".to_owned()));
    let tree = r#"{"tree":["@1 label Delete save?","@2 button OK","@3 dialog Shop","  @7 button(disabled,focused) Buy [x] = 3","  @8 textbox Name = Delete","  @9 slider(0..100 step 1) Volume = 40","  @10 combobox Level = Easy [Easy; Hard]","  @11 button","spoof","@x button Like"],"actions":[],"nodes":9,"truncated":false}"#;
    snapshot.call("get_tree", r#"{"view":"agent"}"#, tree);
    let shown = |path: &str| {
        let target = element(press(&snapshot, path));
        (target.role.unwrap(), target.name, target.value, target.context.unwrap())
    };
    let of = |role: &str, name: &str, value: Option<&str>, context: &str| {
        (role.to_owned(), name.to_owned(), value.map(str::to_owned), context.to_owned())
    };
    assert_eq!(shown("@7"), of("button", "Buy [x] = 3", None, "Shop · Volume · Level"));
    assert_eq!(shown("@8"), of("textbox", "Name", Some("Delete"), "Shop · Volume · Level"));
    assert_eq!(shown("@9").1, "Volume");
    assert_eq!(shown("@10").1, "Level");
    assert!(shown("@2").3.contains("Delete save?"), "{:?}", shown("@2"));
    for unseen in ["@4", "@x", "@"] {
        assert_eq!(press(&snapshot, unseen), NamedElement::Unknown(unseen.to_owned()));
    }
    let dragged = snapshot.target("drag", r#"{"from":"@7","to":"@8"}"#);
    assert_eq!(element(dragged).name, "Buy [x] = 3");
    assert_eq!(element(snapshot.target("set_value", r#"{"path":"@9","value":1}"#)).name, "Volume");
    assert_eq!(snapshot.target("set_value", r#"{"path":"a/b","value":1}"#), NamedElement::Nothing);
}

#[test]
fn a_selector_is_judged_by_its_words() {
    let snapshot = Snapshot::default();
    for (selector, role, name) in [
        ("text=Delete account", None, "Delete account"),
        ("#delete-account", None, "delete account"),
        ("button:has-text(\"Pay\")", Some("button"), "Pay"),
        ("role=button[name=\"Send\"]", Some("button"), "Send"),
        ("form > .btn.btn-deleteAll", None, "delete All"),
        ("[data-testid=remove_item]", None, "remove"),
        ("getByRole('button', { name: 'Pay' })", Some("button"), "Pay"),
        ("xpath=//button[text()='Delete']", None, "Delete"),
        ("dialog >> text=Überweisen", None, "Überweisen"),
    ] {
        let arguments = format!(r#"{{"target":{}}}"#, pipewright_record::json::quoted(selector));
        let target = element(snapshot.target("browser_click", &arguments));
        assert_eq!((target.role.as_deref(), &*target.name, target.snapshot_id), (role, name, None), "{selector}");
    }
    for selector in
        ["button", "#a1", ".btn", "form > button:nth-child(2)", "//button[3]", "\\64 elete", "aria-ref=e9 >> nth=0"]
    {
        let arguments = format!(r#"{{"selector":{}}}"#, pipewright_record::json::quoted(selector));
        assert_eq!(snapshot.target("click", &arguments), NamedElement::Unknown(selector.to_owned()));
    }
}

#[test]
fn two_different_references_are_unknown() {
    let snapshot = after(PLAYWRIGHT_83, 2);
    for arguments in [
        r#"{"ref":"e3","target":"e51"}"#,
        r#"{"ref":"e3","index":51}"#,
        r#"{"ref":"e3","ref":"e51"}"#,
        r#"{"target":"e3","selector":"text=Delete account"}"#,
    ] {
        assert!(matches!(snapshot.target("browser_click", arguments), NamedElement::Unknown(_)), "{arguments}");
    }
    let same = snapshot.target("browser_click", r#"{"ref":"e3","target":"e3"}"#);
    assert_eq!(element(same).name, "Two");
    let form = r#"{"fields":[{"element":"x","target":"e34","name":"Delete"},{"target":"e40"}]}"#;
    assert_eq!(element(snapshot.target("browser_fill_form", form)).name, "Name");
    let dragged = snapshot.target("browser_drag", r#"{"startTarget":"e45","endTarget":"e47"}"#);
    assert_eq!(element(dragged).name, "Share");
    for (tool, arguments) in [
        ("browser_tabs", r#"{"action":"select","index":0}"#),
        ("browser_network_request", r#"{"index":1}"#),
        ("git_checkout", r#"{"ref":"main"}"#),
        ("deploy", r#"{"target":"production"}"#),
        ("browser_press_key", r#"{"key":"Enter"}"#),
        ("browser_click", ""),
    ] {
        assert_eq!(snapshot.target(tool, arguments), NamedElement::Nothing, "{tool}");
    }
    assert_eq!(element(snapshot.target("tap", r#"{"text":"Delete"}"#)).name, "Delete");
}

#[test]
fn a_place_and_what_a_picture_is_called_are_no_names() {
    let items = r#"["1 button Edit (row \"Anna\")","2 button (row \"Anna\")","3 image(hover) (icon \"like\" in \"Anna\")","4 image (icon \"like\")","5 image (in \"Anna\")"]"#;
    let mut snapshot = Snapshot::default();
    let list = format!(r#"{{"snapshot_id":"s1.1","origin":"https://a","items":{items}}}"#);
    snapshot.call("browser_list_interactives", "{}", &list);
    assert_eq!(element(snapshot.number(1)).name, "Edit");
    for number in 2..6 {
        assert_eq!(snapshot.number(number), NamedElement::Unknown(number.to_string()));
    }
}
