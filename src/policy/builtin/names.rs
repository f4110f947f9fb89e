//! What a tool does, told from the words of its name: `browser_take_screenshot`, `mcp__files__readFile`, `press_button`.
//! A whitelist (seed 002, section 6): what isn't known here is asked about.

use super::verbs::{ACTIVATING, ALSO_NOUNS, DESTROYING, ENTERING, NAVIGATING, READING, READING_NOUNS, RUNNING};
use crate::policy::detector::Kind;

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
    Destroy(Kind, &'static str),
    /// It may do anything.
    Unknown,
}

/// The words of an identifier: at marks, and where small letters turn into capitals; in lower case.
pub fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let characters: Vec<char> = name.chars().collect();
    for (index, &character) in characters.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| characters[before]);
        let after_small = before.is_some_and(|before| before.is_lowercase() || before.is_numeric());
        // HTTPServer is http and server.
        let ends_capitals =
            before.is_some_and(char::is_uppercase) && characters.get(index + 1).is_some_and(|next| next.is_lowercase());
        if !character.is_alphanumeric() || (character.is_uppercase() && (after_small || ends_capitals)) {
            words.push(String::new());
        }
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What a tool's name says of it.
pub fn class(tool: &str) -> Class {
    let words = words(tool);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.first() == Some(&"assistant") {
        return Class::Observe;
    }
    if let Some(class) = known(&words) {
        return class;
    }
    let is = |list: &[&str], word: &&str| list.contains(word);
    let destroys = |word: &&str| {
        let of =
            |&(kind, verbs): &(Kind, &'static [&'static str])| Some((kind, *verbs.iter().find(|verb| *verb == word)?));
        DESTROYING.iter().find_map(of)
    };
    let reads = words.iter().any(|word| is(READING, word) || is(READING_NOUNS, word));
    let leads = words
        .iter()
        .find(|word| is(READING, word) || is(ACTIVATING, word) || is(RUNNING, word) || destroys(word).is_some());
    let leads_by_reading = leads.is_some_and(|word| is(READING, word));
    // get_and_delete does both.
    let joins = words.iter().any(|word| ["and", "then", "or"].contains(word));
    for word in &words {
        if let Some((kind, verb)) = destroys(word)
            && (!leads_by_reading || joins)
            && !(reads && is(ALSO_NOUNS, word))
        {
            return Class::Destroy(kind, verb);
        }
    }
    match () {
        () if leads_by_reading => Class::Observe,
        () if words.iter().any(|word| is(RUNNING, word)) && !is_console_reading(&words) => Class::Run,
        () if words.iter().any(|word| is(ACTIVATING, word)) => Class::Activate,
        () if words.iter().any(|word| is(ENTERING, word)) => Class::Enter,
        () if words.iter().any(|word| is(NAVIGATING, word)) => Class::Navigate,
        () if reads => Class::Observe,
        () => Class::Unknown,
    }
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
            && !has("delete")
            && !has("create")
            && !has("api") =>
        {
            Some(Class::Press)
        }
        () if has("act") && !has("delete") => Some(Class::Activate),
        () if has("press") && !has("button") && !has("click") => Some(Class::Press),
        () if has("fill") || has("type") && !has("delete") => Some(Class::Enter),
        () if has("select") && has("option") => Some(Class::Enter),
        // What a page shows above itself; not what somebody has written.
        () if has("close")
            && all(&["browser", "close", "page", "tab", "tabs", "banner", "banners", "window", "overlay"]) =>
        {
            Some(Class::Observe)
        }
        () if has("open") && (has("tab") || has("url") || has("page") || has("browser")) => Some(Class::Navigate),
        () if has("switch") && (has("tab") || has("window") || has("frame")) => Some(Class::Navigate),
        () if all(&["browser", "go", "navigate", "back", "forward", "forwards", "reload", "page", "to"]) => {
            Some(Class::Navigate)
        }
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
                "browser_click press_button click browser_overlay_act browser_act_by_index browser_drag tap browser_check",
            ),
            (Class::Enter, "browser_type browser_fill_form browser_select_option type_text fill"),
            (Class::Press, "browser_press_key press_key browser_press press_action"),
            (Class::Dialog, "browser_handle_dialog"),
            (Class::Run, "browser_evaluate browser_run_code run_command bash shell execute_sql python terminal"),
            (
                Class::Destroy(Kind::Delete, "delete"),
                "delete_file file.delete mcp__github__deleteRepo browser_delete_cookie",
            ),
            (Class::Destroy(Kind::Delete, "reset"), "git_reset"),
            (Class::Destroy(Kind::Send, "send"), "send_email sendMessage"),
            (Class::Destroy(Kind::Order, "order"), "order place_order create_order"),
            (Class::Destroy(Kind::Pay, "pay"), "pay"),
            (Class::Destroy(Kind::Overwrite, "write"), "write_file"),
            (Class::Destroy(Kind::Publish, "push"), "git_push"),
            (Class::Destroy(Kind::Delete, "purge"), "get_and_purge"),
            (
                Class::Unknown,
                "create_entities git_commit git_add move_file edit_file set_property gzip-file-as-resource x",
            ),
        ] {
            for name in names.split(' ') {
                assert_eq!(class(name), class_of, "{name}");
            }
        }
    }
}
