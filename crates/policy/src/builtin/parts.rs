//! The parts of a tool's name: servers and folders before its own name, a service in its own name, a version after it.

use pipewright_record::identifier::{split, words};

/// The marks between the words of a part.
const SEPARATORS: &[char] = &['_', '-', ' '];

/// A tool's name without the server's name that MCP clients put before it.
pub(super) fn without_server(tool: &str) -> &str {
    let of_server = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
    of_server.map_or(tool, |(_, own)| own)
}

/// The parts of a tool's name, its own last, without the server's name.
pub(super) fn own_parts(tool: &str) -> impl Iterator<Item = &str> {
    without_server(tool).split(['.', '/', ':']).flat_map(|part| part.split("__"))
}

/// A tool's own name, without the names before it.
pub(super) fn own(tool: &str) -> &str {
    own_parts(tool).last().unwrap_or(tool)
}

/// A name without the version or the date at its end: `listItemsV1`, `list_items_v1.2`, `list-items-2024-01-01`.
pub(super) fn without_version(tool: &str) -> &str {
    let pieces = split(tool);
    let is_number = |piece: &&&str| piece.bytes().all(|byte| byte.is_ascii_digit());
    let is_behind =
        |piece: &&&str| is_number(piece) || ["alpha", "beta"].iter().any(|stage| piece.eq_ignore_ascii_case(stage));
    let (before, behind) = pieces.split_at(pieces.len() - pieces.iter().rev().take_while(is_behind).count());
    let kept = match before.split_last() {
        Some((last, before)) if is_version(last) => before,
        _ if is_date(behind) => before,
        _ => return tool,
    };
    // The pieces are parts of the name.
    kept.last().map_or(tool, |last| &tool[..last.as_ptr() as usize - tool.as_ptr() as usize + last.len()])
}

/// `V1`, `v2beta1`.
fn is_version(piece: &str) -> bool {
    let behind = piece.strip_prefix(['v', 'V']).unwrap_or_default();
    behind.starts_with(|first: char| first.is_ascii_digit()) && behind.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Numbers that are a year, a month and perhaps a day, in one piece or several.
fn is_date(numbers: &[&str]) -> bool {
    let lengths: Vec<usize> = numbers.iter().map(|number| number.len()).collect();
    matches!(lengths[..], [8] | [4, 2] | [4, 2, 2]) && numbers[0].starts_with(['1', '2'])
}

/// The ways to read a tool's own name as a service and its method: the method is in another case
/// (`message_listThreads`), or has another mark between its words (`store-api_list_items`).
pub(super) fn of_services(own: &str) -> impl Iterator<Item = (&str, &str)> {
    let in_case = own.rsplit_once(SEPARATORS).filter(|(_, method)| words(method).len() > 1);
    let mark = own.find(SEPARATORS).and_then(|at| own[at..].chars().next());
    let other = move |one: char| SEPARATORS.contains(&one) && Some(one) != mark;
    // Up to the other mark, or from it, if the first one is there only once.
    let by_mark = own.split_once(other);
    let only_once =
        |(_, behind): &(&str, &str)| mark.is_some_and(|mark| !behind.contains(mark)) && behind.contains(other);
    let at_first = mark.and_then(|mark| own.split_once(mark)).filter(only_once);
    in_case.into_iter().chain(by_mark).chain(at_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_not_part_of_a_name() {
        for (name, without) in [
            ("garden_listPlantsV1", "garden_listPlants"),
            ("list_items_v2", "list_items"),
            ("list-items-V10", "list-items"),
            ("listItems.v1.2", "listItems"),
            ("list_items_v1_2", "list_items"),
            ("list_items_v1beta2", "list_items"),
            ("listItemsV2Beta", "listItems"),
            ("list_items_2024-01-01", "list_items"),
            ("list_items_20240101", "list_items"),
            ("delete/v1", "delete"),
            ("v1", "v1"),
            ("list_top_10", "list_top_10"),
            ("enable_ipv6", "enable_ipv6"),
            ("v1_list_items", "v1_list_items"),
            ("list_beta", "list_beta"),
            ("", ""),
        ] {
            assert_eq!(without_version(name), without, "{name}");
        }
    }

    #[test]
    fn a_service_has_another_case_or_another_mark_than_its_method() {
        let of = |own: &'static str| of_services(own).collect::<Vec<_>>();
        assert_eq!(of("message_listThreads"), [("message", "listThreads")]);
        assert_eq!(of("my_store_listItems"), [("my_store", "listItems")]);
        assert_eq!(of("store-api_list_items"), [("store-api", "list_items"), ("store", "api_list_items")]);
        assert_eq!(of("order_list-items"), [("order_list", "items"), ("order", "list-items")]);
        assert_eq!(of("message_list_threads"), []);
        assert_eq!(of("messageListThreads"), []);
    }
}
