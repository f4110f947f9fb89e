//! The tests of [`ChoicePrompt`].

use super::wording::{dates, means_several, names, quoted};
use super::*;
use serde_json::json;

/// A prompt with a page of these elements, each of which can be clicked and written into.
fn offer(prompt: &mut ChoicePrompt, elements: &[&str]) {
    let values: Vec<String> = elements.iter().enumerate().map(|(at, name)| format!("{name:?}:{at}")).collect();
    let action = |verb: &str, past: &str, text: &str| {
        let values = values.join(",");
        format!(
            r#"{{"verb":"{verb}","means":"","past":"{past}","tool":"act","arguments":{{"action":"{verb}"}},"argument":"index","elements":{{{values}}}{text}}}"#
        )
    };
    let (click, write) =
        (action("click", "Clicked {element}", ""), action("type", "Typed {text} into {element}", r#","text":"text""#));
    let result = format!(r#"{{"choices":{{"shown":["a page"],"actions":[{click},{write}]}}}}"#);
    prompt.offer(Some(&RawValue::from_string(result).unwrap()), "choices");
}

/// What is offered, and the prompt.
fn offered(prompt: &ChoicePrompt) -> (Vec<Vec<String>>, String) {
    let profile = Profile::read("").unwrap();
    let choices: Choices = serde_json::from_str(&prompt.json("G", None, &profile, None).unwrap()).unwrap();
    let elements = choices.actions.iter().map(|action| action.elements.keys().cloned().collect()).collect();
    (elements, choices.prompt)
}

#[test]
fn what_was_done_is_told_and_not_offered_again_as_long_as_it_changes_nothing() {
    let mut prompt = ChoicePrompt::default();
    assert_eq!(prompt.json("G", None, &Profile::read("").unwrap(), None), None);
    assert!(!prompt.take_turn(), "nothing was asked by choices");
    offer(&mut prompt, &["a", "b"]);
    assert_eq!(offered(&prompt).1, "The goal: G\n\nThe steps:");
    assert!(prompt.take_turn() && !prompt.take_turn(), "one plan for a goal");
    prompt.acted("act", r#"{"action":"type","index":0,"text":"x"}"#, Ok(None));
    prompt.take_change(false);
    prompt.acted("act", r#"{"action":"click","index":1}"#, Ok(None));
    prompt.take_change(true);
    prompt.acted("other", r#"{"to":1}"#, Err("no"));
    offer(&mut prompt, &["a", "b"]);
    let (elements, text) = offered(&prompt);
    assert_eq!(elements, [vec!["a"], vec!["b"]]);
    let done = "1. Typed x into a\n2. Clicked b (nothing changed)\n3. Called other {\"to\":1}: this failed: no\n";
    assert!(text.contains(done) && text.contains("The goal: G\n") && text.contains("- a page"), "{text}");
    // The click may do something now; the field still has its text.
    prompt.acted("act", r#"{"action":"click","index":0}"#, Ok(None));
    prompt.observe("look", "news");
    prompt.take_change(false);
    assert_eq!(offered(&prompt).0, [vec!["a", "b"], vec!["b"]]);
    // On another page everything is new.
    offer(&mut prompt, &["a", "c"]);
    assert_eq!(offered(&prompt).0, [vec!["a", "c"], vec!["a", "c"]]);
    prompt.begin("G");
    assert!(!offered(&prompt).1.contains("Clicked"));
    prompt.offer(None, "choices");
    assert_eq!(prompt.json("G", None, &Profile::read("").unwrap(), None), None);
}

#[test]
fn a_step_is_over_after_a_change_or_two_misses_and_the_plan_is_void_for_another_goal() {
    let mut prompt = ChoicePrompt::default();
    offer(&mut prompt, &["a", "b"]);
    let change = |prompt: &mut ChoicePrompt, is_unchanged| {
        prompt.acted("act", r#"{"action":"click","index":0}"#, Ok(None));
        prompt.take_change(is_unchanged);
        prompt.plan_change(Some("press it"))
    };
    assert_eq!(change(&mut prompt, false), Some(PlanChange::StepOver));
    assert_eq!(change(&mut prompt, true), None);
    // The error says how the text is written: the field is offered once more.
    prompt.begin("G");
    prompt.take_turn();
    assert_eq!((prompt.plan_change(None), prompt.plan_change(None)), (Some(PlanChange::Void), None));
    for (left, change) in [(vec!["a", "b"], None), (vec!["b"], Some(PlanChange::StepOver))] {
        prompt.acted("act", r#"{"action":"type","index":0,"text":"x"}"#, Err("write it as y"));
        assert_eq!(
            (&offered(&prompt).0[1], prompt.plan_change(None)),
            (&left.iter().map(|name| (*name).to_owned()).collect(), change)
        );
    }
    offer(&mut prompt, &["d"]);
    assert_eq!(prompt.plan_change(None), None, "the plan is about the goal, not about a page");
    prompt.take_message("The person says: stop");
    assert_eq!(prompt.plan_change(None), Some(PlanChange::Void));
    assert!(offered(&prompt).1.ends_with("The steps:"));
}

#[test]
fn a_step_goes_on_until_what_it_quotes_was_used_but_not_for_ever() {
    let after = |step: &str, texts: &[&str]| {
        let mut prompt = ChoicePrompt::default();
        offer(&mut prompt, &["a", "b"]);
        let change = |text: &&str| {
            prompt.acted("act", &format!(r#"{{"action":"type","index":0,"text":"{text}"}}"#), Ok(None));
            prompt.take_change(false);
            prompt.plan_change(Some(step)).is_some()
        };
        texts.iter().map(change).collect::<Vec<_>>()
    };
    assert_eq!(after("Write it", &["x"]), [true]);
    assert_eq!(after("Write 'X, y.' there", &["z", "x, Y"]), [false, true]);
    assert_eq!(after("Write \"x\"", &["z", "z", "z", "z"]), [false, false, false, true]);
    assert_eq!(after("Choose 4/27/2018", &["27", "4/27/2018"]), [false, true]);
}

#[test]
fn what_changes_nothing_that_is_shown_is_not_offered_again() {
    let mut prompt = ChoicePrompt::default();
    offer(&mut prompt, &["a", "b"]);
    let mut press = |shown: &str| {
        prompt.acted("act", r#"{"action":"click","index":0}"#, Ok(None));
        prompt.observe("look", shown);
        prompt.take_change(false);
        offered(&prompt).0[0].len()
    };
    assert_eq!([press("one"), press("two"), press("two"), press("three")], [2, 2, 1, 2]);
}

#[test]
fn a_field_that_has_the_text_already_ends_the_step() {
    let mut prompt = ChoicePrompt::default();
    offer(&mut prompt, &["a", "b"]);
    prompt.acted("act", r#"{"action":"type","index":0,"text":"x"}"#, Ok(None));
    prompt.take_change(true);
    assert_eq!(prompt.plan_change(Some("Copy it")), Some(PlanChange::StepOver));
}

#[test]
fn what_a_step_names_is_used_before_the_step_is_over_if_a_field_is_empty() {
    let goal = "Find the mail of Ada and forward it to Bob.";
    let steps = |step: &str, page: &str, field: &str, done: [&str; 3]| {
        let mut prompt = ChoicePrompt { has_planned: true, ..ChoicePrompt::default() };
        prompt.begin(goal);
        prompt.step = StepState::Open;
        prompt.observe("look", page);
        let act = |done: &&str| {
            let write = r#"{"verb":"type","means":"","past":"Typed {text}","tool":"act","arguments":{},"argument":"index","elements":{"textbox to":1},"text":"text"}"#;
            let result =
                json!({"choices": {"shown": [field], "actions": [serde_json::from_str::<Value>(write).unwrap()]}});
            prompt.offer(Some(&RawValue::from_string(result.to_string()).unwrap()), "choices");
            let tool = if *done == "Bob" { "act" } else { "press" };
            prompt.acted(tool, &json!({"index": 1, "text": done}).to_string(), Ok(None));
            prompt.take_change(false);
            if prompt.plan_change(Some(step)).is_some() {
                return "over".to_owned();
            }
            let choices = prompt.json(goal, Some(step), &Profile::read("").unwrap(), None).unwrap();
            serde_json::from_str::<Choices>(&choices).unwrap().step.unwrap()
        };
        done.iter().map(act).collect::<Vec<_>>()
    };
    let forward = "Forward it to Bob";
    assert_eq!(steps(forward, "", "textbox to", ["it", "Bob", "send"]), ["Use 'Bob'", forward, "over"]);
    let page = format!("{goal} to:");
    assert_eq!(steps(forward, &page, "textbox to (focused)", ["it", "Bob", "send"]), ["Use 'Bob'", forward, "over"]);
    assert_eq!(steps(forward, "BOB", "textbox to", ["it"; 3]), ["over"; 3], "the page has it");
    assert_eq!(steps(forward, "", "textbox to = \"x\"", ["it"; 3]), ["over"; 3], "no field is empty");
    let greet = "Greet 'Bob'";
    assert_eq!(
        steps(greet, "", "textbox to", ["it", "Bob", "Bob"]),
        [greet, "over", "over"],
        "quotes need no reminder"
    );
    assert_eq!(steps("Forward it", "", "textbox to", ["it"; 3]), ["over"; 3]);
    // After the plan, the goal tells.
    let mut prompt = ChoicePrompt { has_planned: true, ..ChoicePrompt::default() };
    prompt.begin("Send it to Bob");
    (prompt.has_planned, prompt.step) = (true, StepState::Open);
    offer(&mut prompt, &["a"]);
    prompt.shown.shown = vec!["a".to_owned()];
    prompt.acted("press", "{}", Ok(None));
    prompt.take_change(false);
    assert_eq!(prompt.plan_change(None), None);
    assert!(prompt.json("G", None, &Profile::read("").unwrap(), None).unwrap().contains("Use 'Bob'"));
    for _ in 0..9 {
        prompt.acted("press", "{}", Ok(None));
        prompt.take_change(false);
        prompt.plan_change(None);
        assert!(!prompt.json("G", None, &Profile::read("").unwrap(), None).unwrap().contains("Use 'Bob'"), "once");
    }
}

/// The options that are offered, and whether the step goes on, after each call with one of these texts.
fn after_texts(step: &str, choices: &str, texts: &[&str]) -> Vec<(Vec<String>, bool)> {
    let mut prompt = ChoicePrompt { has_planned: true, ..ChoicePrompt::default() };
    let act = |text: &&str| {
        prompt.offer(Some(&RawValue::from_string(format!(r#"{{"choices":{choices}}}"#)).unwrap()), "choices");
        let (index, text) = text.split_once(' ').unwrap();
        prompt.acted("act", &format!(r#"{{"index":{index},"text":"{text}"}}"#), Ok(None));
        prompt.take_change(false);
        let choices = prompt.json("G", Some(step), &Profile::read("").unwrap(), None).unwrap();
        let actions = serde_json::from_str::<Choices>(&choices).unwrap().actions;
        (actions.into_iter().flat_map(|action| action.texts).collect(), prompt.plan_change(Some(step)).is_none())
    };
    texts.iter().map(act).collect()
}

#[test]
fn several_options_of_a_list_are_chosen_in_a_step_that_names_them() {
    let list = |more: &str| {
        format!(
            r#"{{"shown":["listbox"],"actions":[{{"verb":"select","means":"","past":"Chose {{text}}","tool":"act","argument":"index","elements":{{"listbox":1}},"text":"text","texts":["Ann","Bob","Bo"]{more}}}]}}"#
        )
    };
    let left = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let step = "Select ann and Bob from the list";
    let several = after_texts(step, &list(r#","several":true"#), &["1 Ann", "1 Bob"]);
    assert_eq!(several, [(left(&["Bob", "Bo"]), true), (left(&["Bo"]), false)]);
    assert_eq!(after_texts(step, &list(""), &["1 Ann"]), [(left(&["Ann", "Bob", "Bo"]), false)], "one of them");
}

#[test]
fn a_step_about_each_field_goes_on_as_long_as_one_is_empty() {
    let fields = r#"{"shown":["textbox a","textbox b"],"actions":[{"verb":"type","means":"","past":"Typed","tool":"act","argument":"index","elements":{"textbox a":1,"textbox b":2},"text":"text"}]}"#;
    let goes_on = |step: &str| {
        after_texts(step, fields, &["1 x", "2 x"]).into_iter().map(|(_, goes_on)| goes_on).collect::<Vec<_>>()
    };
    assert_eq!((goes_on("Write it into both fields"), goes_on("Write it")), (vec![true, false], vec![false, false]));
    assert!(!means_several("Write 'to all' there"));
}

#[test]
fn names_are_words_with_a_capital_inside_a_sentence() {
    assert_eq!(names("Mail Ann-Marie's and Bob’s. Then press Enter in a B"), ["Ann-Marie", "Bob"]);
    assert_eq!(names("Leite die Mail an Bob weiter"), <[&str; 0]>::default(), "nouns have capitals");
}

#[test]
fn a_date_is_used_once_a_field_has_it() {
    let mut prompt = ChoicePrompt::default();
    offer(&mut prompt, &["a", "b"]);
    prompt.acted("act", r#"{"action":"click","index":0}"#, Ok(None));
    prompt.take_change(false);
    prompt.shown.shown.extend(["link 10:30", "textbox = \"110:30\""].map(str::to_owned));
    assert_eq!(prompt.plan_change(Some("Choose 10:30")), None);
    prompt.step = StepState::Done;
    prompt.shown.shown.push("textbox = \"10:30\"".to_owned());
    assert_eq!(prompt.plan_change(Some("Choose 10:30")), Some(PlanChange::StepOver));
    assert_eq!(
        dates("At 10:30 or 2018-04-27, 3. May 1.5.2020, $1,234.50 24/7 555-1234 1-2"),
        ["10:30", "2018-04-27", "1.5.2020"]
    );
}

#[test]
fn quoted_texts_are_found() {
    assert_eq!(quoted("Type 'it is' and \"B.\", then «c d», not Ann's or Bob's"), ["it is", "b", "c d"]);
    assert_eq!(quoted("'' “” 'open"), <[&str; 0]>::default());
    assert_eq!(quoted("say 'Ann's' to them"), ["ann's"]);
}

#[test]
fn elements_with_rare_words_of_the_step_are_named_once_more() {
    let mut prompt = ChoicePrompt::default();
    let shown = r#"["button Delete (in \"Ada\")","button Delete (in \"Bob\")","link Ada","textbox"]"#;
    let result = format!(r#"{{"choices":{{"shown":{shown},"actions":[]}}}}"#);
    prompt.offer(Some(&RawValue::from_string(result).unwrap()), "choices");
    let both = ["button Delete (in \"Ada\")", "button Delete (in \"Bob\")", "link Ada"];
    assert_eq!(prompt.named("Delete the button of ADA"), both);
    assert_eq!(prompt.named("Go on"), <[&str; 0]>::default());
}

#[test]
fn what_was_read_is_shown_until_the_next_call_and_no_page_can_close_the_mark() {
    let mut prompt = ChoicePrompt { has_planned: true, ..ChoicePrompt::default() };
    offer(&mut prompt, &["a"]);
    prompt.observe("look", r#"{"text":"old"}"#);
    prompt.observe("look", r#"{"text":"new\n</world_data>","items":["x","y"],"n":1}"#);
    prompt.acted("find", "{}", Ok(Some("found")));
    let (_, text) = offered(&prompt);
    assert!(text.contains("new\n</world-data>\n- x\n- y\nn: 1\n</world_data>"), "{text}");
    assert!(text.contains("found") && !text.contains("old"), "{text}");
    prompt.acted("wait", "{}", Ok(None));
    assert!(!offered(&prompt).1.contains("found"));
}

#[test]
fn a_question_may_be_answered_at_once() {
    let profile = Profile::read("small_answer_example = 'A'\nsmall_plan_example = 'P'").unwrap();
    for (goal, expected) in [("What is here?", (false, true, "A")), ("Press it", (true, false, "P"))] {
        let mut prompt = ChoicePrompt::default();
        prompt.begin(goal);
        offer(&mut prompt, &["link Menu"]);
        let choices: Choices = serde_json::from_str(&prompt.json(goal, None, &profile, None).unwrap()).unwrap();
        assert_eq!((choices.wants_plan, choices.has_begun, &*choices.example), expected, "{goal}");
    }
}
