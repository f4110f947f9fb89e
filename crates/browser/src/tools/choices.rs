//! The actions that fit the listed elements, by names that tell these apart: for a model that chooses a name better than it uses numbers.

use crate::Element;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Roles of elements that take text.
const WRITTEN: [&str; 9] =
    ["combobox", "date", "datetime", "month", "searchbox", "spinbutton", "textbox", "time", "week"];
/// How what such an element takes is written.
const FORMS: [(&str, &str); 2] = [("date", "YYYY-MM-DD"), ("time", "HH:MM")];
/// The most options of a list that are shown.
const MOST_OPTIONS: usize = 50;

/// How many places in the document an element outside of the window may be from one in it, and half of how many are listed.
const MOST_BEYOND: usize = 20;

/// The elements in the window, and those next to them in the document, as long as these are at most `most` together: a button may be below
/// what it sends.
pub(super) fn around_window(items: &[Element], most: usize) -> Vec<&Element> {
    let seen: Vec<usize> = (0..items.len()).filter(|at| !has_mark(&items[*at], "off-screen")).collect();
    let distance = |at: usize| {
        let next = seen.partition_point(|seen| *seen < at);
        let [before, after] = [next.checked_sub(1), Some(next)].map(|near| near.and_then(|near| seen.get(near)));
        before.into_iter().chain(after).map(|near| near.abs_diff(at)).min().unwrap_or(usize::MAX)
    };
    let mut beyond: Vec<(usize, usize)> = (0..items.len()).map(|at| (distance(at), at)).collect();
    beyond.retain(|(distance, _)| (1..=MOST_BEYOND).contains(distance));
    beyond.sort_unstable();
    beyond.truncate(most.saturating_sub(seen.len()).min(2 * MOST_BEYOND));
    let mut listed: Vec<usize> = beyond.into_iter().map(|(_, at)| at).chain(seen).collect();
    listed.sort_unstable();
    listed.into_iter().map(|at| &items[at]).collect()
}

/// `shown`, the elements by their names, and `actions`, which are calls of `browser_overlay_act`.
pub(super) fn choices(elements: &[&Element]) -> Value {
    // Pictures without a name stand behind the others: a model that does not know takes the first.
    let is_bare = |element: &&Element| {
        element.role == "image" && element.name.is_empty() && !element.place.iter().any(|place| place.contains("icon"))
    };
    let (bare, telling): (Vec<&Element>, Vec<&Element>) = elements.iter().copied().partition(is_bare);
    let elements = &[telling, bare].concat()[..];
    let names = names(elements);
    let named = || elements.iter().copied().zip(&names);
    let usable = || named().filter(|(element, _)| !has_mark(element, "disabled") && !has_mark(element, "covered"));
    let shown: Vec<String> = named().map(|(element, name)| line(element, name)).collect();
    let of = |fits: fn(&Element) -> bool| -> Map<String, Value> {
        usable()
            .filter(|(element, _)| fits(element))
            .map(|(element, name)| (name.clone(), element.index.into()))
            .collect()
    };
    let mut actions = vec![
        action("click", "", "Clicked {element}", of(|element| element.options.is_empty()), false),
        action("type", "writes into a field", "Typed \"{text}\" into {element}", of(is_written), true),
    ];
    let lists: Vec<_> = usable().filter(|(element, _)| !element.options.is_empty()).collect();
    for (element, name) in &lists {
        let one = Map::from_iter([((*name).clone(), element.index.into())]);
        let mut select = action("select", "chooses an option", "Chose \"{text}\" in {element}", one, true);
        if has_mark(element, "multiple") {
            select["several"] = true.into();
        }
        select["texts"] = element.options.iter().take(MOST_OPTIONS).map(String::as_str).collect();
        actions.push(select);
    }
    if lists.is_empty() {
        actions.push(action("select", "chooses an option", "Chose \"{text}\" in {element}", Map::new(), true));
    }
    json!({"shown": shown, "actions": actions})
}

fn has_mark(element: &Element, mark: &str) -> bool {
    element.marks.iter().any(|own| own == mark)
}

fn is_written(element: &Element) -> bool {
    WRITTEN.contains(&&*element.role) && element.options.is_empty() && !has_mark(element, "readonly")
}

fn action(verb: &str, means: &str, past: &str, elements: Map<String, Value>, has_text: bool) -> Value {
    let mut action = json!({
        "verb": verb, "means": means, "past": past, "tool": "browser_overlay_act", "arguments": {"action": verb}, "argument": "index",
        "elements": elements,
    });
    if has_text {
        action["text"] = "text".into();
    }
    action
}

/// The role with the name or, without one, with the place; equal ones are counted.
fn names(elements: &[&Element]) -> Vec<String> {
    let plain = |element: &&Element| {
        let Element { role, name, place, .. } = element;
        // A word that models know. Of two pictures and a "clickable" with the name that is wanted, small ones take a picture.
        let role = if role == "clickable" { "link" } else { role };
        // Without a name, its kind is all that tells it from another field.
        let role = if name.is_empty() && has_mark(element, "multiline") { "textarea" } else { role };
        match (name.is_empty(), place) {
            (false, None) => format!("{role} {name}"),
            (false, Some(place)) => format!("{role} {name} ({place})"),
            (true, Some(place)) => match place.strip_prefix("icon \"").and_then(|icon| icon.split_once('"')) {
                Some((icon, "")) => format!("{role} {icon}"),
                Some((icon, place)) => format!("{role} {icon} ({})", place.trim_start()),
                None => {
                    let place = place.trim_start_matches("in ").trim_start_matches("row ");
                    format!("{role} {}", place.trim_matches('"'))
                }
            },
            (true, None) => role.to_owned(),
        }
    };
    let names: Vec<String> = elements.iter().map(plain).collect();
    let mut counts: HashMap<&str, (usize, usize)> = HashMap::new();
    names.iter().for_each(|name| counts.entry(name).or_default().0 += 1);
    let counted = |name: &String| match counts.get_mut(&**name) {
        Some((all, seen)) if *all > 1 => {
            *seen += 1;
            format!("{name} #{seen}")
        }
        _ => name.clone(),
    };
    names.iter().map(counted).collect()
}

/// `textbox Name (focused) = "Ada"`.
fn line(element: &Element, name: &str) -> String {
    let mut line = name.to_owned();
    if !element.marks.is_empty() {
        line += &format!(" ({})", element.marks.join(", "));
    }
    if let Some(value) = &element.value {
        line += &format!(" = {}", json!(value));
    }
    if let Some((_, form)) = FORMS.iter().find(|(role, _)| *role == element.role) {
        line += &format!(", written as {form}");
    }
    if !element.options.is_empty() {
        let options: Vec<&str> = element.options.iter().take(MOST_OPTIONS).map(|option| &**option).collect();
        line += &format!(", options: {}", json!(options));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(index: u32, role: &str, name: &str, marks: &[&str]) -> Element {
        Element {
            index,
            role: role.to_owned(),
            name: name.to_owned(),
            value: None,
            options: Vec::new(),
            place: None,
            is_placeholder: false,
            enters: None,
            bounds: [0; 4],
            marks: marks.iter().map(|mark| (*mark).to_owned()).collect(),
            origin: String::new(),
        }
    }

    #[test]
    fn what_is_near_the_window_is_offered_too_but_never_in_place_of_what_is_in_it() {
        let page: Vec<Element> = (0..200)
            .map(|at| element(at, "link", "", if (40..50).contains(&at) || at == 199 { &[] } else { &["off-screen"] }))
            .collect();
        let indexes =
            |page: &[Element], most| around_window(page, most).iter().map(|element| element.index).collect::<Vec<_>>();
        // Two windows: the middle of the page, and a dialog at its end.
        assert_eq!(indexes(&page, 100), (26..63).chain(186..200).collect::<Vec<_>>());
        assert_eq!(indexes(&page, 11), (40..50).chain([199]).collect::<Vec<_>>());
        assert_eq!(indexes(&page, 5).len(), 11, "the limit of the list is that of the call");
        assert_eq!(indexes(&page[60..90], 100), <[u32; 0]>::default(), "nothing is in the window");
        assert_eq!(indexes(&[], 100).len(), 0);
    }

    #[test]
    fn each_element_has_a_name_of_its_own_and_only_the_actions_that_fit() {
        let mut size = element(5, "combobox", "Size", &[]);
        size.options = vec!["S".to_owned(), "M".to_owned()];
        let mut tags = element(10, "listbox", "Tags", &["multiple"]);
        tags.options = vec!["new".to_owned()];
        let mut user = element(6, "textbox", "", &["focused"]);
        (user.place, user.value) = (Some("in \"User\"".to_owned()), Some("Ada".to_owned()));
        let mut star = element(8, "image", "", &[]);
        star.place = Some("icon \"star\" row \"Ada\"".to_owned());
        let elements = [
            element(1, "image", "", &[]),
            element(2, "button", "Edit", &[]),
            element(3, "button", "Edit", &["disabled"]),
            element(4, "textbox", "Note", &["readonly"]),
            size,
            user,
            element(7, "date", "", &[]),
            star,
            element(9, "clickable", "Ada", &["covered"]),
            tags,
            element(11, "textbox", "", &["multiline"]),
        ];
        let choices = choices(&elements.iter().collect::<Vec<_>>());
        let shown = [
            "button Edit #1",
            "button Edit #2 (disabled)",
            "textbox Note (readonly)",
            "combobox Size, options: [\"S\",\"M\"]",
            "textbox User (focused) = \"Ada\"",
            "date, written as YYYY-MM-DD",
            "image star (row \"Ada\")",
            "link Ada (covered)",
            "listbox Tags (multiple), options: [\"new\"]",
            "textarea (multiline)",
            "image",
        ];
        assert_eq!(choices["shown"], json!(shown));
        let of = |at: usize| {
            let action = &choices["actions"][at];
            (action["verb"].clone(), action["elements"].clone(), action["texts"].clone())
        };
        let pressed = json!({"textarea": 11, "button Edit #1": 2, "textbox Note": 4, "textbox User": 6, "date": 7, "image star (row \"Ada\")": 8, "image": 1});
        assert_eq!(of(0), (json!("click"), pressed, Value::Null));
        assert_eq!(of(1), (json!("type"), json!({"textarea": 11, "textbox User": 6, "date": 7}), Value::Null));
        assert_eq!(of(2), (json!("select"), json!({"combobox Size": 5}), json!(["S", "M"])));
        assert_eq!(of(3), (json!("select"), json!({"listbox Tags": 10}), json!(["new"])));
        assert_eq!([2, 3].map(|at| choices["actions"][at]["several"].is_boolean()), [false, true]);
    }
}
