//! The effect of a tool, judged by the words of its name: `browser_take_screenshot`, `mcp__files__readFile`,
//! `press_button`. A whitelist: unknown names need approval.

use super::lexicon::{WordSense, is_about_access, is_about_payment, look_up};
use super::parts::{self, of_services, own_parts, without_server, without_version};
use super::phrase::{self, certain_effect, class_of, is_one_noun};
use crate::detector::ActionKind;
use pipewright_record::identifier::words;
use std::collections::{HashMap, HashSet};

/// The class of a tool, by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Class {
    /// Looks, waits or moves the view: changes nothing.
    Observe,
    /// Leads to another page.
    Navigate,
    /// Activates an element: the element decides what happens.
    Activate,
    /// Types or chooses: nothing happens until something is activated.
    Enter,
    /// Presses a key.
    Press,
    /// Answers a page's dialog.
    Dialog,
    /// Runs the code in its arguments.
    Run,
    /// Lists branches, tags or remotes of a repository, or creates the one in its arguments.
    Refs,
    /// A client writes its own plan, or starts another agent, whose calls are judged one by one.
    Own,
    /// Does what this word means.
    Destroy(ActionKind, &'static str),
    /// Changes something, according to this word.
    Change(&'static str),
    /// May do anything.
    Unknown,
}

/// The class of a tool, without the names of servers and folders before its own: `mcp__search__delete_index` is
/// `delete_index`.
pub fn class(tool: &str) -> Class {
    match class_of_words(tool) {
        class @ (Class::Destroy(..) | Class::Change(_) | Class::Run) => class,
        // A sign that is not a word may mean anything.
        _ if tool.chars().any(|sign| !sign.is_alphanumeric() && !MARKS.contains(sign)) => Class::Unknown,
        class => class,
    }
}

/// As [`class`], for a tool of a server whose tools share a prefix. Without the prefix, a name may have another verb,
/// and its own verb may be a known one.
pub fn class_of_server(tool: &str, prefix: &str) -> Class {
    let class_with = class(tool);
    let Some(own) = without_server(tool).strip_prefix(prefix).filter(|own| !prefix.is_empty() && !own.is_empty())
    else {
        return class_with;
    };
    match (class_with, class(own)) {
        (class @ (Class::Destroy(..) | Class::Change(_)), _) => class,
        (_, class @ (Class::Destroy(..) | Class::Change(_))) => class,
        (Class::Unknown, class) => class,
        (class, _) => class,
    }
}

/// The class of a tool behind the name of its server, if that is not told apart and may itself read: `search_order` may
/// be the tool `order` of a server `search`.
pub fn class_behind_server(tool: &str, mark: char) -> Option<Class> {
    let (server, own) = tool.split_once(mark)?;
    let reads = |word: &String| matches!(look_up(word), Some((_, WordSense::Read | WordSense::ReadOrNoun)));
    words(server).iter().any(reads).then(|| class(own))
}

/// Whether a name of this class has an effect, and any of its words is about payments or orders: `create_payment`,
/// `delete_and_pay`.
pub fn is_payment(tool: &str, class: &Class) -> bool {
    matches!(class, Class::Destroy(..) | Class::Change(_) | Class::Run | Class::Unknown)
        && own_parts(tool).flat_map(words).any(|word| is_about_payment(&word))
}

/// Whether a name of this class is about money, orders or access, whose changes no hint excuses (`create_payment`,
/// `set_password`).
pub fn is_grave(tool: &str, class: &Class) -> bool {
    is_payment(tool, class) || own_parts(tool).flat_map(words).any(|word| is_about_access(&word))
}

/// Whether a name has nouns only: `repo_branch`.
pub fn has_only_nouns(tool: &str) -> bool {
    let (words, mut joined) = (own_parts(tool).flat_map(words).collect::<Vec<_>>(), Vec::new());
    phrase::are_nouns(&phrase::words(&words, &mut joined))
}

/// Whether a name is about queries in a query language: `run_query`, `query_sql`, but not `run_code_query`.
pub fn queries(tool: &str) -> bool {
    let words: Vec<String> = own_parts(tool).flat_map(words).collect();
    let is_query = |word: &String| ["query", "queries"].contains(&word.as_str());
    let runs = |word: &String| {
        matches!(look_up(word), Some((_, WordSense::Code))) && !["cypher", "sparql", "sql"].contains(&word.as_str())
    };
    words.iter().any(is_query) && !words.iter().any(runs)
}

/// The first word that most of these tools share, with the mark after it: `box_` of `box_logs`, `box_exec` and
/// `box_runs`; else empty.
pub fn shared_prefix<'a>(tools: impl Iterator<Item = &'a str>) -> String {
    let (mut all, mut counts) = (0, HashMap::new());
    for tool in tools {
        all += 1;
        let tool = without_server(tool);
        let prefix = tool.find(['_', '-', '.', '/', ':']).map_or("", |mark| &tool[..=mark]);
        *counts.entry(prefix).or_insert(0) += 1;
    }
    let is_shared = |(_, count): &(&str, usize)| all >= FEWEST_TOOLS && count * 5 >= all * 4;
    counts.into_iter().find(is_shared).map_or(String::new(), |(prefix, _)| prefix.to_owned())
}

/// Those of the tools whose names others have with a verb after them: `work_item`, if there is `work_item_write`.
pub fn changed_by_others<'a>(tools: &HashSet<&'a str>) -> HashSet<&'a str> {
    let changed = tools.iter().filter_map(|tool| {
        let (changed, verb) = tool.rsplit_once(['_', '-', '.', '/'])?;
        matches!(look_up(verb), Some((_, WordSense::Effect(..)))).then_some(changed)
    });
    changed.filter(|changed| tools.contains(changed)).collect()
}

/// A prefix of fewer tools may be shared by accident.
const FEWEST_TOOLS: usize = 3;

/// The characters between the words of a name.
const MARKS: &str = " _-.:/";

fn class_of_words(tool: &str) -> Class {
    let tool = without_version(tool);
    let parts: Vec<Vec<String>> = own_parts(tool).map(words).filter(|words| !words.is_empty()).collect();
    let Some(own) = parts.last() else { return Class::Unknown };
    // It clicks and types anywhere; the word alone looks like one for what computes.
    if own == &["computer"] {
        return Class::Unknown;
    }
    // `browser-bridge` marks a text, and presses nothing; elsewhere an option may be selected by its text.
    if own == &["browser", "select", "text"] {
        return Class::Observe;
    }
    let mut joined = Vec::new();
    let own = phrase::words(own, &mut joined);
    let class = match class_of(&own) {
        Class::Destroy(..) | Class::Change(_) | Class::Unknown
            if certain_effect(&own).is_none() && reads_for_service(parts::own(tool)) =>
        {
            Class::Observe
        }
        class => class,
    };
    // `check_transferFunds`: the case shows that the second word is the verb.
    let class = match (class, method_of_service(parts::own(tool))) {
        (Class::Observe | Class::Unknown, Some(method @ (Class::Destroy(..) | Class::Change(_) | Class::Run))) => {
            method
        }
        (class, _) => class,
    };
    if parts.len() == 1 || matches!(class, Class::Destroy(..) | Class::Change(_)) {
        return class;
    }
    let (all, mut joined) = (parts.concat(), Vec::new());
    let all = phrase::words(&all, &mut joined);
    // The verb of `order.status` or `post.status` may be in another part.
    certain_effect(&all).unwrap_or_else(|| if is_one_noun(&own) { class_of(&all) } else { class })
}

/// The class of a method in another case than the service before it.
fn method_of_service(own: &str) -> Option<Class> {
    let (_, method) = own.rsplit_once(['_', '-'])?;
    let method = words(method);
    let mut joined = Vec::new();
    let method = phrase::words(&method, &mut joined);
    (method.len() > 1).then(|| class_of(&method))
}

/// Whether the mark or the case within a name shows that it is a service's, and its method reads:
/// `message_listThreads`.
fn reads_for_service(own: &str) -> bool {
    of_services(own).any(|(service, method)| {
        let (service, method) = (words(service), words(method));
        let (mut joined, mut joined_method) = (Vec::new(), Vec::new());
        let service = phrase::words(&service, &mut joined);
        let method = phrase::words(&method, &mut joined_method);
        phrase::is_method_of(&service, &method) && class_of(&method) == Class::Observe
    })
}

/// The kind of a text that is a single verb with an effect, and never a noun: `delete`, `log-out`.
pub fn verb_alone(text: &str) -> Option<ActionKind> {
    let (texts, mut joined) = (words(text), Vec::new());
    match &phrase::words(&texts, &mut joined)[..] {
        [verb] => match certain_effect(std::slice::from_ref(verb)) {
            Some(Class::Destroy(kind, _)) => Some(kind),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a client's own tool, without a server, only writes a plan, or starts an agent or reads an agent's
/// instructions.
pub fn is_of_client(tool: &str) -> bool {
    let words = words(tool);
    let is_plain = tool.chars().all(char::is_alphanumeric);
    is_plain
        && words.split_first().is_some_and(|(noun, verbs)| {
            ["agent", "skill", "task", "todo"].contains(&noun.as_str())
                && verbs
                    .iter()
                    .all(|verb| ["create", "get", "list", "output", "read", "update", "write"].contains(&verb.as_str()))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn identifiers_are_read_as_words() {
        assert_eq!(words("mcp__files__readTextFile"), ["mcp", "files", "read", "text", "file"]);
        assert_eq!(words("HTTPServer.getURL-v2"), ["http", "server", "get", "url", "v2"]);
        assert_eq!(words("__"), [""; 0]);
        assert_eq!(words("Löschen"), ["löschen"]);
    }

    #[test]
    fn tools_are_classified_by_their_words() {
        for (class_of, names) in [
            (
                Class::Observe,
                "browser_snapshot browser_take_screenshot browser_wait_for browser_console_messages \
                 browser_network_requests browser_hover browser_resize browser_close read_file read_text_file \
                 list_directory directory_tree get_file_info search_files list_allowed_directories git_status git_log \
                 git_diff_unstaged git_show get_current_time convert_time echo get-sum get-env get-tiny-image \
                 get-structured-content assistant_done assistant_delete_thought get_tree get_node get_signals find \
                 list_actions wait_for get_events list_orders get_order order_status list_payment_methods \
                 getDeletedItems browser_list_interactives browser_scroll browser_find browser_close_banners \
                 browser_extract browser_overlay_hide browser_focus_next browser_focus_prev browser_console \
                 browser_pdf browser_select_text observe scroll wait screenshot get_and_show search_messages message_list step hello pause \
                 expect performance",
            ),
            (
                Class::Navigate,
                "browser_navigate browser_navigate_back browser_tabs browser_open_in_new_tab browser_switch_tab goto \
                 reload",
            ),
            (
                Class::Activate,
                "browser_click press_button click browser_overlay_act browser_act_by_index browser_drag tap \
                 browser_check find_and_click",
            ),
            (Class::Enter, "browser_type browser_fill_form browser_select_option type_text fill"),
            (Class::Activate, "select_text"),
            (Class::Press, "browser_press_key press_key browser_press press_action"),
            (Class::Dialog, "browser_handle_dialog browser_dialog"),
            (
                Class::Run,
                "browser_evaluate browser_run_code run_command bash shell execute_sql python terminal fill_and_execute \
                 type_then_run get_and_execute",
            ),
            (
                Class::Destroy(ActionKind::Delete, "delete"),
                "delete_file file.delete mcp__github__deleteRepo browser_delete_cookie",
            ),
            (Class::Destroy(ActionKind::Delete, "reset"), "git_reset"),
            (Class::Refs, "git_branch git-tags gitRemote mcp__x__git_branch"),
            (Class::Observe, "sequentialthinking sequential_thinking emulate text_summarizer graphql_api_explorer"),
            (Class::Change("store"), "store_thinking"),
            (Class::Change("create"), "git_create_branch"),
            (
                Class::Unknown,
                "ask-codex askClaudeCode consult_gemini ask_agent agent_ask query_agent gemini_chat chat_with_agent \
                 analyze_with_agent mcp__agents__ask_agent prompt_subagent \
                 research_agent",
            ),
            (
                Class::Observe,
                "list_agents get_agent search_agent_logs query_agent_logs \
                 analyze_user_agent ask_question",
            ),
            (
                Class::Unknown,
                "computer computer_20250124 mcp__computer-use__computer frobnicate_thinking image_resizer git_foo git_stash",
            ),
            (Class::Destroy(ActionKind::Send, "send"), "send_email sendMessage list_send get_send_email"),
            (Class::Destroy(ActionKind::Send, "share"), "list_share calendar_view_share files_search_share"),
            (Class::Destroy(ActionKind::Order, "order"), "order place_order create_order"),
            (Class::Destroy(ActionKind::Pay, "pay"), "pay"),
            (Class::Destroy(ActionKind::Delete, "clear"), "clear_database"),
            (Class::Destroy(ActionKind::Overwrite, "rollback"), "roll_back_deployment rollback"),
            (Class::Change("update"), "update_state list_update task_list_update status_update"),
            (Class::Change("set"), "set_status unset_status users_profile_set profile_set list_set"),
            (Class::Change("close"), "user_view_close"),
            (Class::Change("hide"), "hide_page page_hide"),
            (Class::Change("add"), "add_ssh_key"),
            (Class::Change("manage"), "manage_task_list"),
            (Class::Change("resize"), "resize-droplet"),
            (Class::Destroy(ActionKind::Overwrite, "write"), "write_file"),
            (Class::Destroy(ActionKind::Publish, "push"), "git_push"),
            (Class::Destroy(ActionKind::Delete, "purge"), "get_and_purge"),
            (
                Class::Unknown,
                "x frobnicate frobnicate_list task_list_frobnicate log get_and_frobnicate power-off-droplet",
            ),
            (
                Class::Destroy(ActionKind::Delete, "remove"),
                "remove_issue remove_issue_type remove_switch_frame remove_ssh_key find_and_remove list_remove",
            ),
            (
                Class::Destroy(ActionKind::Delete, "delete"),
                "delete_open_page get_delete get_delete_date delete_key delete_type mcp__search__delete_index \
                 search_delete_index search.delete/list delete.list deletefile unlist.delete",
            ),
            (Class::Destroy(ActionKind::Publish, "publish"), "publish_content publish_content_type"),
            (Class::Destroy(ActionKind::Send, "send"), "type_and_send_message"),
            (Class::Destroy(ActionKind::Send, "email"), "assistant_email"),
            (Class::Destroy(ActionKind::Pay, "pay"), "assistant_pay"),
            (Class::Destroy(ActionKind::Pay, "buy"), "buy_gift_card_type"),
            (Class::Destroy(ActionKind::Submit, "submit"), "fill_and_submit_form browser_type_submit press_submit"),
            (Class::Destroy(ActionKind::Overwrite, "replace"), "search_replace"),
            (
                Class::Observe,
                "assistant_ask assistant_message open_order_list query_prometheus git_blame whoami hgetall \
                 resolve-library-id health_check get_send get_release_by_tag order_get issue_dependency_read \
                 mcp__delete__list",
            ),
            (Class::Navigate, "browser_go_forward open_checkout_page"),
            (Class::Press, "send_keys"),
            (Class::Destroy(ActionKind::Order, "order"), "get_and_order open_then_order_page"),
            (Class::Destroy(ActionKind::Order, "book"), "find_and_book"),
            (Class::Destroy(ActionKind::Pay, "transfer"), "list_and_transfer"),
            (Class::Destroy(ActionKind::Send, "share"), "search_and_share"),
            (Class::Destroy(ActionKind::Send, "forward"), "open_page_and_forward"),
            (Class::Unknown, "browser browser_page browser_🗑 🗑 click🗑 日本 _ . \u{0} browser_snapshot\u{200b}"),
        ] {
            for name in names.split(' ') {
                assert_eq!(class(name), class_of, "{name}");
            }
        }
    }

    /// Words of every kind: verbs that read, verbs with effects, nouns, and unknown words.
    const WORDS: &str =
        "(get|list|search|read|delete|remove|create|send|order|update|run|status|item|message|page|click|zzz|a1)";

    fn needs_approval(tool: &str) -> bool {
        !matches!(class(tool), Class::Observe | Class::Navigate | Class::Enter)
    }

    #[test]
    fn a_shared_prefix_is_not_a_word_of_a_tool() {
        let shared = |tools: &str| shared_prefix(tools.split(' '));
        assert_eq!(shared("search_order search_transfer search_list"), "search_");
        assert_eq!(shared("zz_list zz_stats zz_get zz_find other"), "zz_");
        for none in ["zz_list zz_stats", "zz_list zz_stats aa_list", "list stats get", ""] {
            assert_eq!(shared(none), "", "{none}");
        }
        for (tool, prefix, class) in [
            ("search_transfer_funds", "search_", Class::Destroy(ActionKind::Pay, "transfer")),
            ("search_orders", "search_", Class::Observe),
            ("frobnicate_list", "frobnicate_", Class::Observe),
            ("frobnicate_list", "", Class::Unknown),
            ("frobnicate_", "frobnicate_", Class::Unknown),
            ("delete_list", "delete_", Class::Destroy(ActionKind::Delete, "delete")),
            ("get_forecast", "get_", Class::Observe),
        ] {
            assert_eq!(class_of_server(tool, prefix), class, "{tool} {prefix}");
        }
    }

    proptest! {
        #[test]
        fn no_prefix_makes_an_effect_pass(
            verb in "(delete|remove|create|send|update|pay|post|transfer|order|comment|set|archive|frobnicate)",
            noun in "(index|user|message|list_item|thing|zzz)",
            prefix in prop::collection::vec(WORDS, 1..4),
            mark in "(__|\\.|/|:)",
        ) {
            let (tool, prefix) = (format!("{verb}_{noun}"), prefix.join("_"));
            prop_assert!(needs_approval(&tool), "{}", tool);
            for prefixed in [format!("{prefix}{mark}{tool}"), format!("mcp__{prefix}__{tool}")] {
                prop_assert!(needs_approval(&prefixed), "{}", prefixed);
            }
        }

        #[test]
        fn a_deleting_verb_is_never_excused(words in prop::collection::vec(WORDS, 0..4), at in 0..4_usize) {
            let mut words = words;
            words.insert(at.min(words.len()), "delete".to_owned());
            let tool = words.join("_");
            prop_assert!(matches!(class(&tool), Class::Destroy(..)), "{}", tool);
        }

        #[test]
        fn the_joints_between_words_do_not_matter(parts in prop::collection::vec(WORDS, 1..5)) {
            let snake = parts.join("_");
            let camel: String = parts.iter().map(|part| part[..1].to_uppercase() + &part[1..]).collect();
            for other in [parts.join("-"), snake.to_uppercase(), camel] {
                prop_assert_eq!(class(&snake), class(&other), "{} {}", snake, other);
            }
            prop_assert_eq!(words(&words(&snake).join("_")), words(&snake));
        }

        #[test]
        fn any_name_is_judged(tool in ".*") {
            class(&tool);
        }
    }
}
