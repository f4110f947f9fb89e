use super::region::{FrameText, Line, Part, PartKind, Reading, Target};
use super::*;
use proptest::prelude::*;
use std::ops::Range;

/// Amounts have a `$` here, bare ones a point.
const RULES: DealRules = DealRules {
    payment_sign: |_, _| PaymentSign::Pays,
    has_amount: |text| text.contains('$'),
    has_bare_amount: |text| text.contains('.'),
    names_total: |text| text.contains("Total"),
    is_same: |one, other, _| one == other,
};

fn line(at: usize, text: &str) -> Line {
    Line(text.to_owned(), 0, [0.0, at as f64 * 20.0, 100.0, at as f64 * 20.0 + 16.0])
}

fn page(lines: &[&str], own: Range<usize>, around: &[(Range<usize>, PartKind)]) -> FrameText {
    let around = around.iter().map(|(lines, kind)| Part { lines: lines.clone(), kind: *kind, is_cut: false }).collect();
    FrameText {
        lines: lines.iter().enumerate().map(|(at, text)| line(at, text)).collect(),
        targets: vec![Target { numbers: vec![1], rivals: vec![own.start], own, around }],
        is_cut: false,
    }
}

fn choose(page: &FrameText, is_certain: bool) -> Option<PageDeal> {
    Reading::new(page, RULES).choose(&page.targets[0], is_certain)
}

fn chosen(page: &FrameText) -> Option<Vec<String>> {
    choose(page, true).map(|deal| deal.shown.text)
}

use PartKind::{Box, Part as Section, Row, Stop};

#[test]
fn the_deal_is_the_smallest_part_with_the_sum_and_what_is_around_it() {
    let lines = ["Menu", "Kettle", "$20", "Fee $2", "Pay", "Total", "$22", "Imprint"];
    let whole = page(&lines, 4..5, &[(3..5, Box), (3..5, Section), (1..7, Box), (0..8, Section)]);
    let all = ["Menu", "Kettle", "$20", "Fee $2", "Total", "$22", "Imprint"];
    assert_eq!(chosen(&whole).unwrap(), all, "the sum counts more than a nearer amount");
    let section = page(&lines, 4..5, &[(3..5, Box), (1..7, Section), (0..8, Section)]);
    assert_eq!(chosen(&section).unwrap(), ["Kettle", "$20", "Fee $2", "Total", "$22"]);
    let dialog = page(&lines, 4..5, &[(3..5, Stop), (0..8, Section)]);
    assert_eq!(chosen(&dialog).unwrap(), ["Fee $2"], "what is outside of a dialog is another deal");
    let empty = page(&lines, 4..5, &[(4..5, Stop), (1..7, Section)]);
    assert_eq!(chosen(&empty).unwrap().len(), 5, "a dialog without an amount does not end the search");
    let mut row = page(&lines, 4..5, &[(3..5, Row), (0..8, Section)]);
    assert_eq!(chosen(&row).unwrap().len(), 7, "the only button of a list is for the sum");
    row.targets[0].rivals.push(7);
    assert_eq!(chosen(&row).unwrap(), ["Fee $2"], "each button of a list is for its row");
    let told = page(&["Fee $2", "Pay $9"], 1..2, &[(0..2, Section)]);
    assert_eq!(chosen(&told).unwrap(), ["Fee $2", "Pay $9"], "the amount on the button is a part of the deal");
}

#[test]
fn each_card_of_a_list_is_a_deal_of_its_own() {
    let mut page = page(&["Kettle $20", "Buy", "Teapot $40", "Buy"], 1..2, &[(0..2, Box), (0..4, Section)]);
    assert_eq!(chosen(&page).unwrap(), ["Kettle $20", "Teapot $40", "Buy"], "it is the only button that is listed");
    page.targets[0].rivals.push(3);
    assert_eq!(chosen(&page).unwrap(), ["Kettle $20"]);
}

#[test]
fn without_an_amount_the_other_frames_and_then_the_button_are_read() {
    let own = page(&["Your order", "Pay $5", "Help"], 1..2, &[(0..3, Section)]);
    assert_eq!(chosen(&own), None);
    let other = page(&["Total $5"], 0..0, &[]);
    let deal =
        |page: &FrameText, others: &[FrameText]| Reading::new(page, RULES).choose_among(&page.targets[0], others).shown;
    let text = |lines: &[&str]| Deal { text: lines.iter().map(|line| (*line).to_owned()).collect(), note: None };
    assert_eq!(deal(&own, &[other]), text(&["Your order", "Pay $5", "Help", "Total $5"]));
    assert_eq!(deal(&own, &[]), text(&["Your order", "Pay $5", "Help"]));
    let none = page(&["Your order", "Pay"], 1..2, &[(0..2, Section)]);
    assert_eq!(deal(&none, &[]), Deal { text: vec!["Your order".to_owned()], note: Some(UNREAD.to_owned()) });
}

#[test]
fn a_bare_amount_counts_if_there_is_no_other_and_the_button_is_certain() {
    let bare = page(&["Total 5.00", "Pay"], 1..2, &[(0..2, Section)]);
    assert_eq!(chosen(&bare).unwrap(), ["Total 5.00"]);
    assert_eq!(choose(&bare, false), None);
}

#[test]
fn texts_at_the_same_height_are_one_line() {
    let mut page = page(&["Kettle", "$20", "Total", "$22", "Pay"], 4..5, &[(0..5, Section)]);
    for (at, place) in
        [[0.0, 0.0, 50.0, 16.0], [60.0, 2.0, 90.0, 14.0], [0.0, 20.0, 50.0, 36.0], [40.0, 22.0, 90.0, 34.0]]
            .into_iter()
            .enumerate()
    {
        page.lines[at].2 = place;
    }
    assert_eq!(chosen(&page).unwrap(), ["Kettle | $20", "Total", "$22"], "the last two overlap");
    assert_eq!(choose(&page, true).unwrap().whole, "Kettle $20 Total $22");
}

#[test]
fn the_content_of_a_text_field_counts_only_if_it_is_an_amount() {
    let mut page = page(&["Ada Lovelace", "$7", "Total $5", "Pay"], 3..4, &[(0..4, Section)]);
    (page.lines[0].1, page.lines[1].1) = (1, 1);
    assert_eq!(chosen(&page).unwrap(), ["$7", "Total $5"]);
}

#[test]
fn a_long_page_is_reduced_to_its_amounts_and_then_to_its_ends() {
    let words = "word ".repeat(40);
    let mut lines: Vec<String> = (0..20).map(|at| format!("{words}{at}")).collect();
    lines.extend(["Kettle", "1 piece", "$20", "Total $20", "Pay"].map(str::to_owned));
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let long = page(&lines, 24..25, &[(0..25, Section)]);
    assert_eq!(chosen(&long).unwrap(), ["Kettle", "1 piece", "$20", "Total $20"]);

    let items: Vec<String> = (0..100).map(|at| format!("Item number {at} for $10")).collect();
    let mut lines: Vec<&str> = items.iter().map(String::as_str).collect();
    lines.extend(["Total $1000", "Pay"]);
    let many = page(&lines, 101..102, &[(0..102, Section)]);
    let deal = choose(&many, true).unwrap();
    assert!(
        deal.shown.note.as_ref().unwrap().starts_with("of 101 lines, the first and the last are shown"),
        "{deal:?}"
    );
    assert!(deal.shown.text.concat().len() < 1200 && deal.whole.len() > 2000);
    assert_eq!(deal.shown.text.last().unwrap(), "Total $1000");
    assert_eq!(deal.shown.text[0], "Item number 0 for $10");
}

proptest! {
    /// Whatever the page: nothing panics, what is shown is bounded, and the same page has the same deal.
    #[test]
    fn any_page_has_a_bounded_and_stable_deal(
        lines in proptest::collection::vec("[a-zT$. ]{0,12}|Total|.{0,300}", 1..80),
        own in 0_usize..80,
        parts in proptest::collection::vec((0_usize..80, 0_usize..80, 0_u8..4), 0..6),
        is_certain: bool,
    ) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let end = lines.len();
        let own = own.min(end - 1);
        let parts: Vec<(Range<usize>, PartKind)> = parts
            .into_iter()
            .map(|(from, to, kind)| (from.min(own)..to.clamp(own + 1, end.max(own + 1)), [Box, Section, Row, Stop][usize::from(kind)]))
            .collect();
        let page = page(&lines, own..own + 1, &parts);
        let deal = choose(&page, is_certain);
        prop_assert_eq!(&deal, &choose(&page, is_certain));
        let deal = deal.unwrap_or_else(|| Reading::new(&page, RULES).choose_among(&page.targets[0], &[]));
        let length: usize = deal.shown.text.iter().map(|line| line.chars().count()).sum();
        prop_assert!(length <= 1300, "{}", length);
        prop_assert!(!deal.shown.text.iter().any(|line| line.contains('\n') && !lines.iter().any(|of| of.contains('\n'))));
    }
}
