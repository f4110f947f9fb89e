//! `policy-check hook` with inputs that are meant to get past it, in the form of each harness.

use super::hook_harnesses::{Form, forms, refused};
use super::play;
use serde_json::{Value, json};

/// Whether the call does not run by itself: the hook asks, denies or blocks.
fn is_stopped(form: &Form, input: &str) -> bool {
    let played = play(&["hook", "--for", form.harness], input);
    let answer = played.lines.concat();
    let is_free = answer == form.nothing.trim_end() || answer.contains("\"allow\"");
    refused(&played) || played.status == Some(0) && !is_free && serde_json::from_str::<Value>(&answer).is_ok()
}

#[test]
fn no_text_that_hides_what_it_runs_passes() {
    let texts = [
        "r''m x",
        "\\rm x",
        "$'rm' x",
        "ls\nrm x",
        "ls\r; rm x",
        "ls\0; rm x",
        "ls\u{2028}; rm x",
        "\u{202e}rm x",
        "ls() { rm x; }; ls",
        "alias ls='rm x'; ls",
        "PATH=.:$PATH ls",
        "BASH_ENV=./x bash -c ls",
        "hash -p ./x ls; ls",
        "cat <(rm x)",
        "test -v 'a[$(rm x)]'",
        "printf -v PATH x",
        "env -S 'rm x'",
        "ls | xargs rm",
        "npx agent-browser click @e1",
        "./node_modules/.bin/agent-browser click @e1",
        "cd x && agent-browser click @e1",
        "(agent-browser click @e1)",
        "sh -c 'agent-browser click @e1'",
        "$(echo agent-browser) click @e1",
        "AGENT_BROWSER_SESSION=x agent-browser click @e1",
        "env AGENT_BROWSER_SESSION=x agent-browser click @e1",
        "command agent-browser click @e1",
        "alias ab=agent-browser; ab click @e1",
        "echo click @e1 | xargs agent-browser",
        "echo 'click @e1' | agent-browser batch",
        "agent-browser --cdp 9222 snapshot",
        "playwright-cli --config=x open",
    ];
    for form in forms() {
        for text in texts {
            assert!(is_stopped(&form, &form.shell(text)), "{} {text:?}", form.harness);
        }
        for sign in ["\0", "\n", " ", "\u{200b}"] {
            let input = form.with(&format!("{}{sign}", form.shell.0), &json!({"command": "rm x"}));
            assert!(is_stopped(&form, &input), "{} {sign:?}", form.harness);
        }
    }
}

#[test]
fn no_part_of_another_type_lets_a_call_pass() {
    for form in forms() {
        let whole: Value = serde_json::from_str(&form.shell("rm x")).unwrap();
        for key in whole.as_object().unwrap().keys() {
            for value in [json!(null), json!(7), json!([]), json!({}), json!(true), json!("")] {
                let mut input = whole.clone();
                input[key] = value;
                assert!(is_stopped(&form, &input.to_string()), "{} {input}", form.harness);
            }
            let mut input = whole.clone();
            input.as_object_mut().unwrap().remove(key);
            assert!(is_stopped(&form, &input.to_string()), "{} {input}", form.harness);
        }
    }
}

#[test]
fn no_second_value_and_no_broken_sign_lets_a_call_pass() {
    for form in forms() {
        let (whole, (tool, key)) = (form.shell("rm x"), form.shell);
        let (harmless, named) = (form.shell("ls"), format!("\"{key}\":"));
        let twice = |more: &str| harmless.replacen(&named, &format!("{more}{named}"), 1);
        let value = if key == "commands" { "[\"rm x\"]" } else { "\"rm x\"" };
        for input in [
            twice(&format!("\"{key}\":{value},")),
            twice(&format!("\"{}\":{value},", key.to_uppercase())),
            twice(&format!("\"\\u0063{}\":{value},", &key[1..])),
            whole.replacen(&format!("\"{tool}\""), &format!("\"{tool}\",\"Tool_Name\":\"Read\""), 1),
            whole.replace("rm x", "rm \\ud800 x"),
            format!("\u{feff}{whole}"),
            format!("{whole}\0"),
            format!("{whole}\n{harmless}"),
        ] {
            assert!(is_stopped(&form, &input), "{} {input}", form.harness);
        }
    }
}
