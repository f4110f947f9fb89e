//! What a tool does, told from the words of its name: `browser_take_screenshot`, `mcp__files__readFile`, `press_button`.
//! A whitelist: what isn't known here is asked about.

use super::verbs::{
    ACTIVATING, ALSO_NOUNS, DESTROYING, ENTERING, NAVIGATING, READING, READING_NOUNS, RUNNING, TALKING,
};
use crate::policy::detector::ActionKind;
use crate::policy::identifier::words;

/// What calling a tool is, as far as its name says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Class {
    /// It looks, waits or moves the view: nothing is changed.
    Observe,
    /// It leads to another page.
    Navigate,
    /// It activates an element: what is done is the element's affair.
    Activate,
    /// It types or chooses: nothing is done until something is activated.
    Enter,
    /// It presses a key.
    Press,
    /// It answers a page's dialog.
    Dialog,
    /// It runs what is written in its arguments.
    Run,
    /// It does what this word says.
    Destroy(ActionKind, &'static str),
    /// It may do anything.
    Unknown,
}

/// What a tool's name says of it.
pub fn class(tool: &str) -> Class {
    let words = words(tool);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match class_of(&words) {
        class @ (Class::Destroy(..) | Class::Run) => class,
        // A sign that is no word may say anything, and so may a name without words.
        _ if words.is_empty() || tool.chars().any(|sign| !sign.is_alphanumeric() && !MARKS.contains(sign)) => {
            Class::Unknown
        }
        class => class,
    }
}

/// What stands between the words of a name.
const MARKS: &str = " _-.:/";

fn class_of(words: &[&str]) -> Class {
    if is_talk(words) {
        return Class::Observe;
    }
    if is_going(words) {
        return Class::Navigate;
    }
    let known = known(words);
    // The words of these that elsewhere would destroy.
    let excused: &[&str] = match known {
        Some(Class::Dialog) => &["accept"],
        Some(Class::Press) => &["send"],
        _ => &[],
    };
    let destroyed = destroyed(words, excused);
    let any = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let joins = joins(words);
    let runs = any(RUNNING) && !is_console_reading(words);
    match (destroyed, known) {
        (Some((kind, verb)), _) => Class::Destroy(kind, verb),
        // fill_and_execute does both.
        (None, _) if runs && joins => Class::Run,
        (None, Some(class)) => class,
        (None, None) if leads_by_reading(words) && !joins => Class::Observe,
        (None, None) if runs => Class::Run,
        (None, None) if any(ACTIVATING) => Class::Activate,
        (None, None) if any(ENTERING) => Class::Enter,
        (None, None) if any(NAVIGATING) => Class::Navigate,
        (None, None) if any(READING) || any(READING_NOUNS) => Class::Observe,
        (None, None) => Class::Unknown,
    }
}

/// Of the words, the first that destroys something, but for those that are `excused`.
fn destroyed(words: &[&str], excused: &[&str]) -> Option<(ActionKind, &'static str)> {
    // get_and_delete does both, and order isn't a thing in find_and_order.
    let joins = joins(words);
    let is_read = leads_by_reading(words) && !joins;
    // Beside these, what may also be a thing's name is one: a page with an order is opened.
    let names_things = !joins
        && words
            .iter()
            .any(|word| READING.contains(word) || READING_NOUNS.contains(word) || ["open", "switch"].contains(word));
    words.iter().enumerate().find_map(|(index, word)| {
        let destroying = destroying(word)?;
        let is_noun = names_things && ALSO_NOUNS.contains(word);
        // The last word of get_delete is what is done; of get_delete_date it isn't.
        let is_beside = is_read && index + 1 < words.len();
        (!excused.contains(word) && !is_noun && !is_beside).then_some(destroying)
    })
}

/// Whether a name says that it does several things: get_and_delete.
fn joins(words: &[&str]) -> bool {
    words.iter().any(|word| ["and", "then", "or"].contains(word))
}

fn destroying(word: &str) -> Option<(ActionKind, &'static str)> {
    DESTROYING.iter().find_map(|&(kind, verbs)| Some((kind, *verbs.iter().find(|verb| **verb == word)?)))
}

/// Whether of all words that say what is done, the first only looks.
fn leads_by_reading(words: &[&str]) -> bool {
    let leads = words.iter().find(|word| {
        [READING, ACTIVATING, RUNNING].iter().any(|list| list.contains(word)) || destroying(word).is_some()
    });
    leads.is_some_and(|word| READING.contains(word))
}

/// Whether an agent only says something to whoever it works for: `assistant_ask`, `assistant_done`.
fn is_talk(words: &[&str]) -> bool {
    let Some((&"assistant", said)) = words.split_first() else { return false };
    let is_of_thoughts = said.iter().any(|word| ["thought", "thoughts"].contains(word));
    said.iter().all(|word| TALKING.contains(word) || is_of_thoughts && *word == "delete")
}

/// Whether it goes from page to page and does nothing else: `browser_go_forward` sends nothing.
fn is_going(words: &[&str]) -> bool {
    let goes = |word: &&str| ["go", "navigate", "back", "forward", "forwards", "reload"].contains(word);
    words.iter().any(goes) && words.iter().all(|word| goes(word) || ["browser", "page", "to"].contains(word))
}

fn is_console_reading(words: &[&str]) -> bool {
    words.contains(&"console") && words.iter().any(|word| ["messages", "logs", "log"].contains(word))
}

/// Names whose words together say something else than each by itself.
fn known(words: &[&str]) -> Option<Class> {
    let has = |word: &str| words.contains(&word);
    let all = |few: &[&str]| words.iter().all(|word| few.contains(word));
    match () {
        () if has("dialog") && (has("handle") || has("accept")) => Some(Class::Dialog),
        () if (has("key") || has("keys") || has("hotkey") || has("keyboard") || has("keypress"))
            && !has("create")
            && !has("api") =>
        {
            Some(Class::Press)
        }
        () if has("act") => Some(Class::Activate),
        () if has("press") && !has("button") && !has("click") => Some(Class::Press),
        () if has("fill") || has("type") => Some(Class::Enter),
        () if has("select") && has("option") => Some(Class::Enter),
        // What a page shows above itself; not what somebody has written.
        () if has("close")
            && all(&["browser", "close", "page", "tab", "tabs", "banner", "banners", "window", "overlay"]) =>
        {
            Some(Class::Observe)
        }
        () if has("open") && (has("tab") || has("url") || has("page") || has("browser")) => Some(Class::Navigate),
        () if has("switch") && (has("tab") || has("window") || has("frame")) => Some(Class::Navigate),
        () if words == ["pause"] || words == ["resume"] || words == ["step"] => Some(Class::Observe),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_as_words() {
        assert_eq!(words("mcp__files__readTextFile"), ["mcp", "files", "read", "text", "file"]);
        assert_eq!(words("HTTPServer.getURL-v2"), ["http", "server", "get", "url", "v2"]);
        assert_eq!(words("__"), [""; 0]);
        assert_eq!(words("Löschen"), ["löschen"]);
    }

    #[test]
    fn tools_are_told_by_their_words() {
        for (class_of, names) in [
            (
                Class::Observe,
                "browser_snapshot browser_take_screenshot browser_wait_for browser_console_messages browser_network_requests browser_hover browser_resize browser_close read_file read_text_file list_directory directory_tree get_file_info search_files list_allowed_directories git_status git_log git_diff_unstaged git_show get_current_time convert_time echo get-sum get-env get-tiny-image get-structured-content assistant_done assistant_delete_thought get_tree get_node get_signals find list_actions wait_for get_events list_orders get_order order_status list_payment_methods getDeletedItems browser_list_interactives browser_scroll browser_find browser_close_banners browser_extract observe scroll wait screenshot get_and_show search_messages message_list step hello pause",
            ),
            (
                Class::Navigate,
                "browser_navigate browser_navigate_back browser_tabs browser_open_in_new_tab browser_switch_tab goto reload",
            ),
            (
                Class::Activate,
                "browser_click press_button click browser_overlay_act browser_act_by_index browser_drag tap browser_check find_and_click",
            ),
            (Class::Enter, "browser_type browser_fill_form browser_select_option type_text fill"),
            (Class::Press, "browser_press_key press_key browser_press press_action"),
            (Class::Dialog, "browser_handle_dialog"),
            (
                Class::Run,
                "browser_evaluate browser_run_code run_command bash shell execute_sql python terminal fill_and_execute type_then_run get_and_execute",
            ),
            (
                Class::Destroy(ActionKind::Delete, "delete"),
                "delete_file file.delete mcp__github__deleteRepo browser_delete_cookie",
            ),
            (Class::Destroy(ActionKind::Delete, "reset"), "git_reset"),
            (Class::Destroy(ActionKind::Send, "send"), "send_email sendMessage"),
            (Class::Destroy(ActionKind::Order, "order"), "order place_order create_order"),
            (Class::Destroy(ActionKind::Pay, "pay"), "pay"),
            (Class::Destroy(ActionKind::Overwrite, "write"), "write_file"),
            (Class::Destroy(ActionKind::Publish, "push"), "git_push"),
            (Class::Destroy(ActionKind::Delete, "purge"), "get_and_purge"),
            (
                Class::Unknown,
                "create_entities git_commit git_add move_file edit_file set_property gzip-file-as-resource x",
            ),
            (
                Class::Destroy(ActionKind::Delete, "remove"),
                "remove_issue remove_issue_type remove_switch_frame remove_ssh_key find_and_remove list_remove",
            ),
            (Class::Destroy(ActionKind::Delete, "delete"), "delete_open_page get_delete delete_key delete_type"),
            (Class::Destroy(ActionKind::Publish, "publish"), "publish_content publish_content_type"),
            (Class::Destroy(ActionKind::Send, "send"), "type_and_send_message"),
            (Class::Destroy(ActionKind::Send, "email"), "assistant_email"),
            (Class::Destroy(ActionKind::Pay, "pay"), "assistant_pay"),
            (Class::Destroy(ActionKind::Pay, "buy"), "buy_gift_card_type"),
            (Class::Destroy(ActionKind::Submit, "submit"), "fill_and_submit_form browser_type_submit press_submit"),
            (Class::Destroy(ActionKind::Overwrite, "replace"), "search_replace"),
            (Class::Observe, "assistant_ask assistant_message get_delete_date open_order_list"),
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
}
