use super::*;
use crate::target::Target;
use crate::working_folder::WorkingFolder;
use pipewright_record::{Reason, recognise};

const RULES: &str = r#"
[[rule]]
id = "own"
verdict = "allow"
tool = ["write_*", "frobnicate"]
arguments = { ".path" = { within = "/home/me" }, ".size" = { max = 10 } }

[[rule]]
id = "no-keys"
verdict = "deny"
reason = "keys stay here"
arguments = { ".path" = ["*.pem", "*/.ssh/*"] }

[[rule]]
id = "big"
verdict = "confirm"
kind = "pay"
when = ".arguments.amount > 100"

[[rule]]
id = "robot"
verdict = "deny"
agent = "robot-*"
target = { role = "button", name = "*save*" }
"#;

fn decide(line: &str, target: Option<&Target>, when: Result<bool, String>) -> Decision {
    let rules = Rules::read(RULES).unwrap();
    let call = recognise(line).unwrap().unwrap();
    let matching =
        rules.matching(&Facts::new(&call, target, Some("robot-7")), &mut |_| when.clone().map_err(Reason::from));
    rules.decide(&matching, Decision::new(Verdict::Confirm, "builtin.unknown", "unknown"))
}

#[test]
fn the_strictest_matching_rule_counts() {
    let rule = |line: &str| decide(line, None, Ok(false)).rule.into_owned();
    assert_eq!(rule(r#"{"tool":"write_file","args":{"path":"/home/me/a","size":9}}"#), "own");
    assert_eq!(rule(r#"{"tool":"write_file","args":{"path":"/home/me/a.pem","size":9}}"#), "no-keys");
    assert_eq!(rule(r#"{"tool":"write_file","args":{"path":"/home/me/a","size":11}}"#), "builtin.unknown");
    assert_eq!(rule(r#"{"tool":"write_file","args":{"path":"/home/me/a","size":"9"}}"#), "own");
    assert_eq!(rule(r#"{"tool":"write_file","args":{"path":"/home/me/a","size":"9e0"}}"#), "builtin.unknown");
    assert_eq!(rule(r#"{"tool":"write_file","args":{"path":"/home/me/../you","size":9}}"#), "builtin.unknown");
    let target = Target { role: Some("button".to_owned()), name: "Auto-Save".to_owned(), ..Target::default() };
    // The agent is the one that the gate was given, not the one in the call.
    let robot = r#"{"type":"tool_call","tool_name":"x","agent_id":"human"}"#;
    assert_eq!(decide(robot, Some(&target), Ok(false)).rule, "robot");
    assert_eq!(decide(robot, None, Ok(false)).rule, "builtin.unknown");
}

#[test]
fn an_argument_in_another_case_is_read_the_strict_way() {
    let rule = |line: &str| decide(line, None, Ok(false)).rule.into_owned();
    assert_eq!(rule(r#"{"tool":"read","args":{"Path":"/a.pem"}}"#), "no-keys");
    assert_eq!(rule(r#"{"tool":"read","args":{"pat\u0068":"/a.pem"}}"#), "no-keys");
    assert_eq!(rule(r#"{"tool":"write_file","args":{"PATH":"/home/me/a","size":9}}"#), "builtin.unknown");
}

#[test]
fn no_rule_allows_a_call_that_the_built_in_policy_denies() {
    let rules =
        Rules::read("builtin = false\n[[rule]]\nid = \"all\"\nverdict = \"allow\"\ninstead_of_builtin = true").unwrap();
    let denied = Decision::new(Verdict::Deny, "builtin.ambiguous", "a key is there twice");
    assert_eq!(rules.decide(&[(0, Ok(()))], denied).rule, "builtin.ambiguous");
}

#[test]
fn a_filter_counts_and_one_that_fails_denies() {
    let line = r#"{"tool":"x","args":{"amount":101}}"#;
    let decision = decide(line, None, Ok(true));
    assert_eq!((decision.verdict, decision.kind, &*decision.rule), (Verdict::Confirm, Some(ActionKind::Pay), "big"));
    let decision = decide(line, None, Err("out of fuel".to_owned()));
    assert_eq!((decision.verdict, &*decision.rule), (Verdict::Deny, "big"));
    assert!(decision.reason.contains("out of fuel"));
}

#[test]
fn a_filter_gets_the_same_facts_for_every_form() {
    for line in [
        r#"{"type":"tool_call","call_id":7,"tool_name":"x","arguments":{"n":1.10}}"#,
        r#"{"id":7,"tool":"x","args":{"n":1.10}}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"n":1.10}}}"#,
    ] {
        let call = recognise(line).unwrap().unwrap();
        assert_eq!(
            Facts::new(&call, None, None).json(),
            r#"{"tool":"x","arguments":{"n":1.10},"target":null,"agent":null,"id":7}"#
        );
    }
}

#[test]
fn without_the_built_in_policy_the_default_applies() {
    let rules = Rules::read("builtin = false\ndefault = \"deny\"").unwrap();
    let builtin = Decision::new(Verdict::Allow, "builtin.allow", "");
    assert_eq!(rules.decide(&[], builtin).verdict, Verdict::Deny);
}

#[test]
fn an_error_in_a_file_is_reported_with_its_place() {
    for (text, expected) in [
        ("[[rule]]\nid = \"a\"\nverdict = \"maybe\"", "3:11: unknown variant"),
        ("[[rule]]\nid = \"a\"\nverdict = \"deny\"\ntoll = \"x\"", "4:1: unknown field `toll`"),
        (
            "[[rule]]\nid = \"a\"\nverdict = \"deny\"\n[[rule]]\nid = \"a\"\nverdict = \"deny\"",
            "4: rule \"a\": the rule on line 1 has",
        ),
        ("[[rule]]\nid = \"builtin.x\"\nverdict = \"deny\"", "1: rule \"builtin.x\": an id"),
        (
            "[[rule]]\nid = \"a\"\nverdict = \"deny\"\narguments = { \"path\" = \"x\" }",
            "1: rule \"a\": arguments: \"path\": a path names one value, such as .path",
        ),
        ("[[rule]]\nid = \"a\"\nverdict = \"deny\"\narguments = { \".path\" = {} }", "the condition is empty"),
        ("[[rule]]\nid = \"a\"\nverdict = \"deny\"\narguments = { \".a\" = { within = \"x\" } }", "absolute"),
        ("default = \"allow\"", "1: `default` is for"),
        ("[[rule", "1:7: "),
        ("é = 1\nid = \"é\" x", "2:10: "),
        ("rule = 7", "1:8: invalid type"),
    ] {
        let error = Rules::read(text).unwrap_err();
        assert!(
            error.starts_with(expected) || !expected.starts_with(char::is_numeric) && error.contains(expected),
            "{text}: {error}"
        );
    }
}

#[test]
fn a_rule_that_is_strict_matches_each_path_of_a_file() {
    use std::path::{Path, PathBuf};
    let link = |path: &Path| Some(PathBuf::from("/private").join(path.strip_prefix("/link").ok()?));
    let (folder, home) = (Some(PathBuf::from("/private/a")), Some(PathBuf::from("/private/home")));
    let place = WorkingFolder { folder, home, resolve: Some(link), ..WorkingFolder::default() };
    let matches = |rule: &str, path: &str| {
        let rules = Rules::read(&format!("[[rule]]\nid = \"a\"\n{rule}")).unwrap();
        let line = format!(r#"{{"tool":"read","args":{{"path":"{path}"}}}}"#);
        let call = recognise(&line).unwrap().unwrap();
        !rules.matching(&Facts::new(&call, None, None).in_place(&place), &mut |_| Ok(true)).is_empty()
    };
    for condition in [r#"{ within = "/private" }"#, r#""/private/*""#, r#"{ glob = "/private/*" }"#] {
        let strict = format!("verdict = \"deny\"\narguments = {{ \".path\" = {condition} }}");
        for path in ["/private/b", "b", "./b", "../b", "~/b", "/link/b", "/x/../private/b"] {
            assert!(matches(&strict, path), "{condition} {path}");
        }
        for path in ["/b", "../../b", "/linked/b", ""] {
            assert!(!matches(&strict, path), "{condition} {path}");
        }
        let allows = strict.replace("deny", "allow");
        assert!(
            matches(&allows, "/private/b") && !matches(&allows, "b") && !matches(&allows, "/link/b"),
            "{condition}"
        );
    }
}

#[test]
fn a_tool_that_describes_a_command_is_no_prerequisite() {
    let rules = "[[rule]]\nid = \"a\"\narguments = { \".command\" = \"cargo test*\" }\n\
                 [[rule]]\nid = \"b\"\nverdict = \"deny\"\ntool = \"push\"\nbefore = \"a\"";
    let matches = |rules: &str, tool: &str| {
        let line = format!(r#"{{"tool":"{tool}","args":{{"command":"cargo test"}}}}"#);
        let call = recognise(&line).unwrap().unwrap();
        !Rules::read(rules).unwrap().matching(&Facts::new(&call, None, None), &mut |_| Ok(true)).is_empty()
    };
    assert!(matches(rules, "Bash") && !matches(rules, "explain_command") && !matches(rules, "summarizeCommand"));
    // It counts if the rule names it, or if counting is the strict side.
    assert!(matches(&rules.replacen("arguments", "tool = \"explain_*\"\narguments", 1), "explain_command"));
    assert!(matches(&rules.replace("before", "after"), "explain_command"));
}
