//! `valid-actions`: which actions are legal, their labels, and that the rest of a line does not change.

use crate::process::{command, pipe, text};
use crate::spire::{self, Message, all, made, real, the};
use serde_json::{Value, json};
use std::collections::BTreeSet;

fn run(arguments: &[&str], input: &[u8]) -> (Vec<u8>, String, i32) {
    let output = pipe(command("valid-actions").args(arguments), input);
    (output.stdout, text(&output.stderr), output.status.code().unwrap())
}

/// The actions of one message.
fn valid_actions(message: &str) -> Vec<Value> {
    let (stdout, stderr, code) = run(&[], format!("{message}\n").as_bytes());
    assert_eq!((stderr.as_str(), code), ("", 0));
    let line: Value = serde_json::from_slice(&stdout).unwrap();
    line["valid_actions"].as_array().unwrap().clone()
}

fn ids(message: &str) -> Vec<u64> {
    valid_actions(message).iter().map(|action| action["action_id"].as_u64().unwrap()).collect()
}

fn labels(message: &str) -> Vec<String> {
    valid_actions(message).iter().map(|action| action["label"].as_str().unwrap().to_owned()).collect()
}

/// The mod's rules again, as a predicate: may this id be sent in this state? Follows CommandExecutor's checks, with traps 5 to
/// 10.
fn is_legal(id: u64, message: &Value) -> bool {
    let state = &message["game_state"];
    let offers = |word: &str| message["available_commands"].as_array().unwrap().iter().any(|offered| offered == word);
    let monsters = state["combat_state"]["monsters"].as_array().cloned().unwrap_or_default();
    let alive =
        |target: u64| monsters.get(monster_of(target, &monsters)).is_some_and(|monster| monster["is_gone"] == false);
    let card = |index: u64| &state["combat_state"]["hand"][index as usize];
    let potion = |slot: u64| &state["potions"][slot as usize];
    let full = state["potions"].as_array().unwrap().iter().all(|potion| potion["id"] != "Potion Slot");
    let sozu = state["relics"].as_array().unwrap().iter().any(|relic| relic["id"] == "Sozu");
    match id {
        0..10 => offers("play") && card(id)["is_playable"] == true && card(id)["has_target"] == false,
        10..70 => {
            let (index, target) = (id % 10, id / 10 - 1);
            offers("play") && card(index)["is_playable"] == true && card(index)["has_target"] == true && alive(target)
        }
        70..75 => {
            let potion = potion(id - 70);
            offers("potion") && potion["can_use"] == true && !is_aimed(potion)
        }
        75..105 => {
            let (slot, target) = ((id - 75) % 5, (id - 75) / 5);
            let potion = potion(slot);
            offers("potion") && potion["can_use"] == true && is_aimed(potion) && alive(target)
        }
        105..110 => offers("potion") && potion(id - 105)["can_discard"] == true,
        110..170 => {
            let index = (id - 110) as usize;
            let chosen = &state["choice_list"][index];
            let unanswered = match state["screen_type"].as_str().unwrap() {
                "COMBAT_REWARD" => chosen == "potion" && full && !sozu,
                "SHOP_SCREEN" => {
                    let potions = state["screen_state"]["potions"].as_array().unwrap();
                    let is_potion =
                        potions.iter().any(|potion| potion["name"].as_str().unwrap().to_lowercase() == *chosen);
                    is_potion && (full || sozu)
                }
                _ => false,
            };
            offers("choose") && chosen.is_string() && !unanswered
        }
        170 => offers("end"),
        171 => offers("proceed") || offers("confirm"),
        _ => ["cancel", "skip", "return", "leave"].iter().any(|word| offers(word)),
    }
}

/// Explosive Potion and Smoke Bomb are thrown, which is all that the mod's field says, but not at one monster.
fn is_aimed(potion: &Value) -> bool {
    potion["requires_target"] == true && potion["id"] != "Explosive Potion" && potion["id"] != "SmokeBomb"
}

/// The index of a target's monster: living ones past the sixth take the lowest targets of gone ones.
fn monster_of(target: u64, monsters: &[Value]) -> usize {
    let is_gone = |index: &usize| monsters[*index]["is_gone"] == true;
    let gone = (0..monsters.len().min(6)).filter(is_gone);
    let late = (6..monsters.len()).filter(|index| !is_gone(index));
    let taken = gone.zip(late).find(|(index, _)| *index as u64 == target);
    taken.map_or(target as usize, |(_, late)| late)
}

#[test]
fn the_mask_equals_the_mods_own_rules_on_every_message() {
    let table = include_str!("../fixtures/spire/action_table.tsv");
    let commands: Vec<&str> = table.lines().skip(1).map(|row| row.split('\t').nth(2).unwrap()).collect();
    let messages = all();
    assert!(messages.len() > 170);
    let input: String = messages.iter().map(|message| format!("{}\n", message.line)).collect();
    let (stdout, stderr, code) = run(&[], input.as_bytes());
    assert_eq!((stderr.as_str(), code), ("", 0));
    let output = text(&stdout);
    assert_eq!(output.lines().count(), messages.len());
    for (Message { name, line }, printed) in messages.iter().zip(output.lines()) {
        let message: Value = serde_json::from_str(line).unwrap();
        let acts = message["in_game"] == true && message["ready_for_command"] == true;
        let expected: Vec<u64> = if acts { (0..173).filter(|&id| is_legal(id, &message)).collect() } else { vec![] };
        let printed: Value = serde_json::from_str(printed).unwrap();
        let actions = printed["valid_actions"].as_array().unwrap();
        let given: Vec<u64> = actions.iter().map(|action| action["action_id"].as_u64().unwrap()).collect();
        assert_eq!(given, expected, "{name}");
        for action in actions {
            let id = action["action_id"].as_u64().unwrap();
            let monsters = message["game_state"]["combat_state"]["monsters"].as_array().cloned().unwrap_or_default();
            let mut words: Vec<String> = commands[id as usize].split(' ').map(str::to_owned).collect();
            let target = match id {
                10..70 => Some(id / 10 - 1),
                75..105 => Some((id - 75) / 5),
                _ => None,
            };
            if let Some(target) = target {
                *words.last_mut().unwrap() = monster_of(target, &monsters).to_string();
            }
            assert_eq!(action["cmd"], words.join(" "), "{name}");
            assert_ne!(action["label"], "", "{name}");
        }
    }
}

#[test]
fn the_real_messages_cover_the_traps() {
    let count = |holds: &dyn Fn(&Value) -> bool| real().iter().filter(|message| holds(&message.value())).count();
    let selecting = |message: &Value| message["game_state"]["action_phase"] == "EXECUTING_ACTIONS";
    assert!(count(&selecting) >= 10, "trap 1: selections in combat are not WAITING_ON_USER");
    let gone_first = |message: &Value| {
        let monsters = message["game_state"]["combat_state"]["monsters"].as_array().cloned().unwrap_or_default();
        let gone: Vec<bool> = monsters.iter().map(|monster| monster["is_gone"] == true).collect();
        gone.iter().position(|&gone| gone) < gone.iter().rposition(|&gone| !gone) && gone.contains(&true)
    };
    assert!(count(&gone_first) >= 3, "trap 5: a gone monster before a live one");
    let doubled = |message: &Value| {
        let choices = message["game_state"]["choice_list"].as_array().cloned().unwrap_or_default();
        choices.iter().map(Value::to_string).collect::<BTreeSet<_>>().len() < choices.len()
    };
    assert!(count(&doubled) >= 5, "trap 11: choices with one name");
    let full_reward = |message: &Value| {
        let state = &message["game_state"];
        state["screen_type"] == "COMBAT_REWARD"
            && state["choice_list"].to_string().contains("potion")
            && state["potions"].as_array().unwrap().iter().all(|potion| potion["id"] != "Potion Slot")
    };
    assert!(count(&full_reward) >= 3, "trap 9: a potion for which there is no room");
    let every_screen: BTreeSet<String> = all()
        .iter()
        .filter_map(|message| Some(message.value()["game_state"]["screen_type"].as_str()?.to_owned()))
        .collect();
    let named = "BOSS_REWARD CARD_REWARD CHEST COMBAT_REWARD COMPLETE EVENT GAME_OVER GRID HAND_SELECT MAP NONE REST SHOP_ROOM SHOP_SCREEN";
    assert_eq!(every_screen.iter().map(String::as_str).collect::<Vec<_>>().join(" "), named);
}

#[test]
fn selections_in_combat_are_decisions_trap_1() {
    let selecting =
        real().into_iter().filter(|message| message.value()["game_state"]["action_phase"] == "EXECUTING_ACTIONS");
    for message in selecting {
        assert!(!ids(&message.line).is_empty(), "{}", message.name);
    }
}

#[test]
fn a_state_that_is_not_ready_has_no_actions_trap_2() {
    assert!(ids(&the("not ready")).is_empty());
    assert!(ids(&the("the menu: no state")).is_empty());
    assert!(ids(&the("an error message")).is_empty());
}

#[test]
fn targets_index_the_full_array_and_six_have_ids_traps_5_and_6() {
    let message = the("targets index the full array");
    // Card 0 on 1, 2, 4, 5, and on 6 in the place of 0, which is gone; card 2 (X) without a target; the potion on the same; end.
    assert_eq!(ids(&message), [2, 10, 20, 30, 50, 60, 75, 80, 85, 95, 100, 105, 170]);
    assert_eq!(
        labels(&message)[..4],
        [
            "play Skewer (X)",
            "play Strike (1) -> Sentry (20/20)",
            "play Strike (1) -> Louse #2 (20/20)",
            "play Strike (1) -> Slime #3 (20/20)"
        ]
    );
    let cmds: Vec<Value> = valid_actions(&message).into_iter().map(|action| action["cmd"].clone()).collect();
    assert_eq!((&cmds[1], &cmds[6]), (&json!("play 1 6"), &json!("potion use 0 6")));
}

#[test]
fn a_monster_that_no_id_reaches_is_reported() {
    let message = spire::fight("oooooooo", &[]).to_string();
    let (stdout, stderr, code) = run(&["--text"], format!("{message}\n").as_bytes());
    for monster in ["6, Slime #7", "7, Slime #8"] {
        let note = format!("monster {monster}, has no action id, since six others live; use the command: play CARD ");
        assert!(stderr.contains(&format!("valid-actions: stdin:1: {note}")), "{stderr}");
        assert!(text(&stdout).contains(&note), "{}", text(&stdout));
    }
    assert_eq!(code, 1);
    let (_, stderr, code) = run(&[], spire::fight("oooooxooxo", &[]).to_string().as_bytes());
    assert_eq!((stderr.lines().count(), code), (2, 1), "{stderr}");
}

#[test]
fn potions_take_a_target_if_the_mods_executor_wants_one() {
    for (id, thrown, expected) in [
        ("Explosive Potion", true, vec![70]),
        ("SmokeBomb", true, vec![70]),
        ("Fire Potion", true, vec![75, 85]),
        ("FearPotion", true, vec![75, 85]),
        ("Poison Potion", true, vec![75, 85]),
        ("Weak Potion", true, vec![75, 85]),
        ("ElixirPotion", false, vec![70]),
        ("othermod:Acid", true, vec![75, 85]), // the mod takes a target that it doesn't need
    ] {
        let mut message = spire::fight("oxo", &[spire::potion(id, thrown)]);
        message["available_commands"] = json!(["potion", "state"]);
        let used: Vec<u64> = ids(&message.to_string()).into_iter().filter(|&id| id < 105).collect();
        assert_eq!(used, expected, "{id}");
    }
}

#[test]
fn half_a_surrogate_pair_is_read_as_an_unknown_character() {
    let written = |name: &str| spire::fight("o", &[]).to_string().replace("\"Slime\"", &format!("\"{name}\""));
    for (name, shown) in [
        (r"Sl\ud83dme", "Sl\u{fffd}me"),
        (r"Sl\udc00me\ud83d", "Sl\u{fffd}me\u{fffd}"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}\u{1f600}"),
        (r"\\ud83d", r"\ud83d"),
    ] {
        let (stdout, stderr, code) = run(&[], written(name).as_bytes());
        let label = format!("\"label\":\"play Strike (1) -> {shown} (9/30)\"").replace(r"\u", r"\\u");
        assert!(text(&stdout).contains(&label), "{name}: {}", text(&stdout));
        assert_eq!((stderr.as_str(), code), ("", 0));
    }
}

#[test]
fn a_card_that_needs_a_target_is_never_played_without_one_trap_7() {
    for message in real() {
        let value = message.value();
        let hand = value["game_state"]["combat_state"]["hand"].as_array().cloned().unwrap_or_default();
        for id in ids(&message.line).into_iter().filter(|&id| id < 10) {
            assert_eq!(hand[id as usize]["has_target"], false, "{}", message.name);
        }
    }
}

#[test]
fn each_potion_has_its_own_use_and_discard_flags_trap_8() {
    // `potion` is available, and the Fire Potion can only be thrown away.
    assert_eq!(ids(&the("an open chest")), [105, 171]);
}

#[test]
fn a_potion_without_room_is_not_offered_trap_9() {
    let with_sozu = the("full slots and Sozu");
    assert!(ids(&with_sozu).contains(&110));
    let without = with_sozu.replace(r#""id":"Sozu""#, r#""id":"Vajra""#);
    assert!(!ids(&without).contains(&110));
    assert_eq!(ids(&the("a shop with full slots")).iter().filter(|&&id| id >= 110).collect::<Vec<_>>(), [&110, &172]);
}

#[test]
fn disabled_options_and_prices_beyond_the_purse_are_skipped_trap_10() {
    assert_eq!(labels(&the("disabled option")), ["[Take] Obtain the idol.", "[Leave]"]);
    for shop in real().iter().filter(|message| message.value()["game_state"]["screen_type"] == "SHOP_SCREEN") {
        let value = shop.value();
        let state = &value["game_state"];
        let choices = state["choice_list"].as_array().unwrap().len();
        let named: Vec<_> = labels(&shop.line).into_iter().filter(|label| label.ends_with(" gold")).collect();
        assert_eq!(named.len(), choices, "{}: every choice has its price", shop.name);
        for label in named {
            let price: i64 = label.rsplit(' ').nth(1).unwrap().parse().unwrap();
            assert!(price <= state["gold"].as_i64().unwrap(), "{label}");
        }
    }
}

#[test]
fn a_hand_select_at_its_maximum_is_confirmed_trap_12() {
    assert_eq!(ids(&the("HAND_SELECT at its maximum")), [171]);
    assert_eq!(labels(&the("HAND_SELECT at its maximum")), ["confirm"]);
}

#[test]
fn going_back_from_the_map_is_legal_though_it_can_loop_trap_13() {
    assert_eq!(labels(&the("MAP before the boss")), ["go to the boss: The Guardian", "return"]);
    assert_eq!(labels(&the("SHOP_ROOM")), ["enter the shop", "proceed"]);
}

#[test]
fn labels_match_what_the_player_sees() {
    assert_eq!(
        labels(&the("Singing Bowl")),
        [
            "discard Fire Potion",
            "take Footwork (1)",
            "take Deadly Poison (1)",
            "take Footwork (1)",
            "take +2 max hp (Singing Bowl)",
            "skip"
        ]
    );
    assert_eq!(labels(&the("GRID with its confirmation")), ["confirm", "cancel"]);
    let all_labels: BTreeSet<String> = real().iter().flat_map(|message| labels(&message.line)).collect();
    for label in [
        "play Defend (1)",
        "take the Sapphire Key instead of Meal Ticket",
        "take 35 gold",
        "take Frozen Egg",
        "choose a card",
        "buy Vajra: 154 gold",
        "remove a card: 75 gold",
        "go to x=6 y=4: shop ($)",
        "[Heal] 35 Gold: Heal 17 HP.",
        "open the SmallChest",
        "use Fruit Juice",
        "end the turn",
        "smith",
        "take Runic Pyramid",
        "select Twin Strike+ (1)",
        "upgrade Bash (2)",
    ] {
        assert!(all_labels.contains(label), "{label} is missing from {all_labels:#?}");
    }
}

#[test]
fn the_rest_of_a_line_does_not_change() {
    for Message { line, .. } in all() {
        let before = format!("{} \r\n", line.strip_suffix('}').unwrap().to_owned() + " }");
        let (stdout, ..) = run(&[], before.as_bytes());
        let printed = text(&stdout);
        let at = printed.rfind(r#","valid_actions":["#).unwrap();
        let end = printed.rfind('}').unwrap();
        assert_eq!(format!("{}{}", &printed[..at], &printed[end..]), before);
    }
}

#[test]
fn an_earlier_field_is_replaced() {
    let (once, ..) = run(&[], format!("{}\n", spire::rest_site(7, 3)).as_bytes());
    let (twice, _, code) = run(&[], &once);
    assert_eq!((text(&twice), code), (text(&once), 0));
    let null = spire::rest_site(7, 3).replacen('{', r#"{"valid_actions":null,"#, 1);
    assert_eq!(ids(&null), [110]);
}

#[test]
fn bare_prints_only_the_ids() {
    let input = format!("{}\n{}\n{}\n", spire::rest_site(7, 3), spire::menu(), spire::ERROR);
    let (stdout, _, code) = run(&["--bare"], input.as_bytes());
    assert_eq!(text(&stdout), "{\"action_ids\":[110]}\n{\"action_ids\":[]}\n{\"action_ids\":[]}\n");
    assert_eq!(code, 0);
}

#[test]
fn other_lines_pass_unchanged() {
    let quiet = b"\n  \r\n{}\n[1,2]\n{\"type\":\"observation\",\"data\":{}}\n\"ready\"\n{\"ready_for_command\":true}\n";
    let (stdout, stderr, code) = run(&[], quiet);
    assert_eq!((stdout.as_slice(), stderr.as_str(), code), (quiet.as_slice(), "", 0));
}

#[test]
fn an_unreadable_line_does_not_affect_other_lines() {
    let good = spire::rest_site(7, 3);
    let torn = &good[..good.len() / 2];
    let doubled = good.replacen('{', r#"{"in_game":false,"#, 1);
    let input = format!("{torn}\nready\n{good}\n{doubled}\n{good}");
    let (stdout, stderr, code) = run(&[], input.as_bytes());
    let lines: Vec<String> = text(&stdout).lines().map(str::to_owned).collect();
    assert_eq!((lines.len(), code), (5, 1));
    assert_eq!((lines[0].as_str(), lines[1].as_str(), &lines[3]), (torn, "ready", &doubled));
    assert!(lines[2].contains("valid_actions") && lines[4].contains("valid_actions"));
    let places: Vec<&str> = stderr.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    assert_eq!(places, ["stdin:1", "stdin:2", "stdin:4"], "{stderr}");
    let (stdout, _, code) = run(&["--strict"], input.as_bytes());
    assert_eq!((text(&stdout), code), (format!("{torn}\n"), 1), "--strict stops at the first");
}

#[test]
fn invalid_utf8_is_kept_and_reported_trap_11() {
    let message = spire::rest_site(7, 3).replace(r#"["rest"]"#, "[\"\u{1}\"]").into_bytes();
    let gbk: Vec<u8> = message.iter().flat_map(|&byte| if byte == 1 { vec![0xb4, 0xf2] } else { vec![byte] }).collect();
    let (stdout, stderr, code) = run(&[], &gbk);
    assert_eq!((stderr.as_str(), code), ("", 0));
    assert!(stdout.starts_with(&gbk[..gbk.len() - 1]));
    assert!(text(&stdout).ends_with(r#","valid_actions":[{"action_id":110,"cmd":"choose 0","label":"??"}]}"#));
}

#[test]
fn lines_beyond_the_limits_pass_unchanged() {
    let long = format!("{{\"pad\":\"{}\"}}", "x".repeat(3000));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let message = spire::rest_site(7, 3);
    let input = format!("{long}\n{message}\n");
    let (stdout, stderr, code) = run(&["--max-line", "2K"], input.as_bytes());
    assert!(text(&stdout).starts_with(&format!("{long}\n{{")) && text(&stdout).contains("valid_actions"));
    assert!(stderr.contains("stdin:1: longer than --max-line; passed on unchanged"), "{stderr}");
    assert_eq!(code, 1);
    let (stdout, stderr, code) = run(&[], format!("{deep}\n{message}\n").as_bytes());
    assert!(text(&stdout).starts_with(&deep) && text(&stdout).contains("valid_actions"));
    assert!(stderr.contains("stdin:1: nested deeper than --max-depth"), "{stderr}");
    assert_eq!(code, 1);
}

#[test]
fn only_the_first_faults_are_reported_one_by_one() {
    let (_, stderr, code) = run(&[], "torn\n".repeat(50).as_bytes());
    assert_eq!(stderr.lines().count(), 21);
    assert!(stderr.ends_with("valid-actions: and 30 more\n"), "{stderr}");
    assert_eq!(code, 1);
}

#[test]
fn the_readme_bot_answers_at_once() {
    // An open pipe, and a message in two writes: the answer comes as soon as the line is complete.
    let mut talk = crate::process::Talk::start(&mut command("valid-actions"));
    for message in made() {
        assert!(talk.ask(&message.line).contains("valid_actions"), "{}", message.name);
    }
    talk.close();
    assert_eq!(talk.end().status.code(), Some(0));
}

/// The output of `--text` with further options.
fn drawn(message: &str, options: &[&str]) -> String {
    let (stdout, stderr, code) = run(&[&["--text"], options].concat(), format!("{message}\n").as_bytes());
    assert_eq!((stderr.as_str(), code), ("", 0));
    text(&stdout)
}

#[test]
fn text_shows_the_state_and_each_legal_action_on_a_page() {
    for Message { name, line } in all() {
        let (page, bare) = (drawn(&line, &[]), drawn(&line, &["--bare"]));
        assert!(page.lines().count() <= 45, "{name}: {} lines\n{page}", page.lines().count());
        assert_eq!(bare.lines().count(), 1, "{name}: {bare}");
        assert!(!bare.trim_end_matches('\n').contains(char::is_control), "{name}: {bare}");
        for action in valid_actions(&line) {
            let (id, label) = (action["action_id"].as_u64().unwrap(), action["label"].as_str().unwrap());
            assert!(page.contains(&format!("[{id:>3}] {label}")), "{name}: {id} {label}\n{page}");
            assert!(bare.contains(&format!("\\n[{id}] {label}")), "{name}: {id} {label}\n{bare}");
        }
    }
}

#[test]
fn text_says_if_no_action_is_legal() {
    let menu = the("the menu: no state");
    assert!(drawn(&menu, &[]).ends_with("\nno run is in progress\nno action is legal now\n"));
    assert_eq!(drawn(&menu, &["--bare"]), "no run is in progress\\nno action is legal now\n");
    assert_eq!(
        drawn(spire::ERROR, &["--bare"]),
        "error  Invalid command: choose. Possible commands: [state]\\nno action is legal now\n"
    );
}

#[test]
fn text_names_what_the_game_takes_on_a_screen_that_no_action_leaves() {
    let page = drawn(&spire::tutorial().to_string(), &[]);
    assert!(page.contains("gold 99  tutorial\n"), "{page}");
    assert!(page.ends_with("\nno action has an id here\nthe game takes: key, click, wait, state\n"), "{page}");
    let mut with_potion = spire::tutorial();
    with_potion["game_state"]["potions"] = json!([spire::potion("Fire Potion", true)]);
    with_potion["available_commands"] = json!(["potion", "key", "resign"]);
    let page = drawn(&with_potion.to_string(), &[]);
    assert!(
        page.contains("discard Fire Potion") && page.ends_with("\nthe game takes: potion, key, resign\n"),
        "{page}"
    );
}

#[test]
fn text_shows_the_move_of_a_monster_whose_intent_is_not_set_yet() {
    for (intent, adjusted, base, hits, shown) in [
        ("DEBUG", -1, 11, 1, "attack 11 (base damage)"),
        ("DEBUG", -1, 5, 2, "attack 5 x 2 (base damage)"),
        ("DEBUG", 9, 9, 1, "attack 9"),
        ("DEBUG", -1, -1, 1, "intent not known yet"),
        ("NONE", -1, -1, 1, "intent hidden"),
        ("ATTACK_DEBUFF", 7, 5, 1, "attack debuff 7"),
        ("UNKNOWN", -1, -1, 1, "unknown"),
    ] {
        let mut message = spire::fight("o", &[]);
        let monster = &mut message["game_state"]["combat_state"]["monsters"][0];
        monster["intent"] = json!(intent);
        monster["move_adjusted_damage"] = json!(adjusted);
        monster["move_base_damage"] = json!(base);
        monster["move_hits"] = json!(hits);
        let page = drawn(&message.to_string(), &[]);
        assert!(page.contains(&format!("Slime  hp 9/30  {shown}\n")), "{shown}\n{page}");
    }
}

#[test]
fn text_shows_the_actions_that_a_proxy_offers_and_why_it_asks_again() {
    let chest = the("an open chest");
    assert_eq!(ids(&chest), [105, 171]);
    let narrower = r#""valid_actions":[{"action_id":171,"cmd":"proceed","label":"proceed"}]"#;
    let asked = |refused: &str| chest.replacen('{', &format!("{{{narrower},{refused}"), 1);
    let page = drawn(&asked(r#""refused":{"answer":"5\n","why":"the answer is not legal here: 5"},"#), &[]);
    assert!(page.ends_with("\n[171] proceed\nnot accepted: 5?: the answer is not legal here: 5\n"), "{page}");
    let page = drawn(&asked(r#""refused":{"answer":null,"why":"no answer within 1 s (--agent-timeout)"},"#), &[]);
    assert!(page.ends_with("\nnot accepted: no answer within 1 s (--agent-timeout)\n"), "{page}");
    let page = drawn(&asked(r#""refused":7,"#), &[]);
    assert!(page.ends_with("\n[171] proceed\n"), "the field has another form\n{page}");
}
