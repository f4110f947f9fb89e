//! Which of the text around a button is its deal.

use super::guard::DealPart;
use super::{DealRules, PageDeal, UNREAD, flat};
use crate::deal::Deal;
use serde::Deserialize;
use std::cell::OnceCell;
use std::ops::Range;

/// Between texts that are beside each other.
pub(super) const CELL: &str = "|";

/// The note if the amounts are not in the dialog or card of the button.
const OUTSIDE: &str = "no amount is in the dialog or card of the button; this is from the page around it";

/// In place of a counter of a style sheet, as the script writes it.
const DRAWN: &str = "(a number of the style sheet)";

/// The text of a deal, in characters. From a longer one, lines without an amount near them are left out.
const LONGEST: usize = 1000;

/// How many lines before an amount say what it is for.
const BEFORE: usize = 2;

/// The visible text of a frame, and what is around the elements that were asked about.
#[derive(Debug, Deserialize)]
pub(super) struct FrameText {
    pub(super) lines: Vec<Line>,
    pub(super) targets: Vec<Target>,
    /// There is more.
    pub(super) is_cut: bool,
}

/// A line: its text, its kind, and its left, upper, right and lower edge.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Line(pub(super) String, pub(super) u8, pub(super) [f64; 4]);

#[derive(Debug, Deserialize)]
pub(super) struct Target {
    pub(super) numbers: Vec<u32>,
    /// Its own lines.
    pub(super) own: Range<usize>,
    /// The elements around it, the nearest first.
    pub(super) around: Vec<Part>,
    /// The first lines of all buttons of its kind and text, in order.
    #[serde(default)]
    pub(super) rivals: Vec<usize>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Part {
    pub(super) lines: Range<usize>,
    pub(super) kind: PartKind,
    /// Only what is near the button was read.
    #[serde(default)]
    pub(super) is_cut: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PartKind {
    /// Only a box.
    Box,
    /// A form, a section or the like.
    Part,
    /// A row or an item of a list: another deal than the other rows, if they have such a button, too.
    Row,
    /// A dialog or a card: what is outside of it is not the deal if there is an amount inside.
    Stop,
}

type AmountReader = fn(&str) -> bool;

impl FrameText {
    /// Whether a line may be shown: the content of a text field only if it is an amount.
    fn counts(&self, at: usize, rules: DealRules) -> bool {
        self.lines.get(at).is_some_and(|line| line.1 == 0 || (rules.has_amount)(&line.0))
    }
}

/// For each line, how many before it have a property: a part is asked about in no time, however large it is.
struct Counts(Vec<usize>);

impl Counts {
    fn of(numbers: impl Iterator<Item = usize>) -> Counts {
        let mut sum = 0;
        let sums = numbers.map(|number| {
            sum += number;
            sum
        });
        Counts(std::iter::once(0).chain(sums).collect())
    }

    fn before(&self, at: usize) -> usize {
        self.0.get(at).or(self.0.last()).copied().unwrap_or_default()
    }

    fn within(&self, part: &Range<usize>) -> usize {
        self.before(part.end).saturating_sub(self.before(part.start))
    }

    /// Within a part, but not in the lines of the button in it.
    fn around(&self, own: &Range<usize>, part: &Range<usize>) -> usize {
        let common = own.start.max(part.start)..own.end.min(part.end);
        self.within(part).saturating_sub(if common.is_empty() { 0 } else { self.within(&common) })
    }
}

/// Where a frame has amounts and sums, as one reader finds them.
struct Signs {
    amounts: Counts,
    sums: Counts,
}

/// A frame whose deals are read.
pub(super) struct Reading<'a> {
    text: &'a FrameText,
    rules: DealRules,
    /// Characters of the lines that may be shown.
    lengths: Counts,
    /// By amounts with a currency, and by bare ones.
    signs: [OnceCell<Signs>; 2],
}

impl<'a> Reading<'a> {
    pub(super) fn new(text: &'a FrameText, rules: DealRules) -> Reading<'a> {
        let length = |at: usize| if text.counts(at, rules) { text.lines[at].0.chars().count() } else { 0 };
        let lengths = Counts::of((0..text.lines.len()).map(length));
        Reading { text, rules, lengths, signs: [OnceCell::new(), OnceCell::new()] }
    }

    fn readers(&self) -> [AmountReader; 2] {
        [self.rules.has_amount, self.rules.has_bare_amount]
    }

    fn signs(&self, which: usize) -> &Signs {
        self.signs[which].get_or_init(|| {
            let (lines, reader) = (&self.text.lines, self.readers()[which]);
            let amounts: Vec<bool> = lines.iter().map(|line| reader(&line.0)).collect();
            let is_sum = |(at, line): (usize, &Line)| {
                let is_near = || amounts[at..lines.len().min(at + BEFORE + 1)].contains(&true);
                usize::from(line.1 == 0 && (self.rules.names_total)(&line.0) && is_near())
            };
            let sums = Counts::of(lines.iter().enumerate().map(is_sum));
            Signs { amounts: Counts::of(amounts.iter().map(|is_one| usize::from(*is_one))), sums }
        })
    }

    /// The lines of a part that may be shown; those of the button only if they have an amount.
    fn lines(&self, part: &Range<usize>, own: &Range<usize>) -> Vec<&'a Line> {
        let lines = part.clone().filter(|at| self.text.counts(*at, self.rules));
        let lines = lines.filter_map(|at| Some((at, self.text.lines.get(at)?)));
        lines.filter(|(at, line)| !own.contains(at) || (self.rules.has_amount)(&line.0)).map(|(_, line)| line).collect()
    }

    /// The deal of a button by the text of its own frame; `None` if there is no amount.
    pub(super) fn choose(&self, target: &Target, is_certain: bool) -> Option<PageDeal> {
        let readers = if is_certain { 2 } else { 1 };
        (0..readers).find_map(|which| {
            let at = self.region(target, self.signs(which))?;
            let lines = self.lines(&target.around[at].lines, &target.own);
            let is_cut = self.text.is_cut || target.around[at].is_cut;
            let is_passed = target.around[..at].iter().any(|part| part.kind == PartKind::Stop);
            let note = is_passed.then_some(OUTSIDE);
            let found = deal(&lines, self.readers()[which], self.rules, note, is_cut);
            Some(found.at(Some(at), self.text, target))
        })
    }

    /// The deal of a button in whose own frame is no amount: by the text of the other frames, or of the button itself.
    pub(super) fn choose_among(&self, target: &Target, others: &[FrameText]) -> PageDeal {
        let at = target.around.iter().position(|part| part.kind != PartKind::Box);
        let part = at.map_or(0..self.text.lines.len(), |at| target.around[at].lines.clone());
        let mut lines = self.lines(&part, &target.own);
        let is_cut = self.text.is_cut || others.iter().any(|other| other.is_cut);
        let deal =
            |lines: &[&Line], reader, note| deal(lines, reader, self.rules, note, is_cut).at(at, self.text, target);
        for reader in self.readers() {
            let with_amount = others.iter().filter(|other| other.lines.iter().any(|line| reader(&line.0)));
            let elsewhere: Vec<&Line> = with_amount.flat_map(|other| &other.lines).collect();
            if !elsewhere.is_empty() {
                lines.extend(elsewhere);
                return deal(&lines, reader, None);
            }
        }
        if lines.iter().any(|line| (self.rules.has_amount)(&line.0)) {
            return deal(&lines, self.rules.has_amount, None);
        }
        deal(&lines, self.rules.has_amount, Some(UNREAD))
    }

    /// The place of the smallest part around a button that has the sum, or else an amount, with what else is in the
    /// form, section or the like around that.
    fn region(&self, target: &Target, signs: &Signs) -> Option<usize> {
        let rivals = &target.rivals;
        // Another button of the same name is that of another deal.
        let has_rival = |part: &Range<usize>| {
            let within = rivals.partition_point(|at| *at < part.end) - rivals.partition_point(|at| *at < part.start);
            within > usize::from(part.contains(&target.own.start))
        };
        let (mut first, mut chosen) = (None, None);
        for (at, Part { lines, kind, .. }) in target.around.iter().enumerate() {
            if first.is_some() && has_rival(lines) {
                break;
            }
            if first.is_none() && signs.amounts.around(&target.own, lines) > 0 {
                first = Some(at);
            }
            if signs.sums.around(&target.own, lines) > 0 {
                chosen = Some(at);
                break;
            }
            let is_end = *kind == PartKind::Stop || *kind == PartKind::Row && rivals.len() > 1;
            if first.is_some() && is_end {
                break;
            }
        }
        let chosen = chosen.or(first)?;
        let mut largest = chosen;
        for (at, Part { lines, kind, .. }) in target.around.iter().enumerate().skip(chosen) {
            if at > chosen && (has_rival(lines) || self.lengths.around(&target.own, lines) > LONGEST) {
                break;
            }
            largest = at;
            if *kind != PartKind::Box {
                break;
            }
        }
        Some(largest)
    }
}

impl PageDeal {
    /// This deal, which is in that part around its button.
    fn at(mut self, at: Option<usize>, text: &FrameText, target: &Target) -> PageDeal {
        let part = at.map_or(0..text.lines.len(), |at| target.around[at].lines.clone());
        let outside = part.filter(|at| !target.own.contains(at)).filter_map(|at| text.lines.get(at));
        self.part = DealPart { at, text: outside.map(|line| line.0.as_str()).collect::<Vec<_>>().join("\n") };
        self
    }
}

/// The deal of these lines.
fn deal(lines: &[&Line], reader: AmountReader, rules: DealRules, note: Option<&str>, is_cut: bool) -> PageDeal {
    let mut rows = rows(lines);
    let length = |rows: &[String]| rows.iter().map(|row| row.chars().count()).sum::<usize>();
    if length(&rows) > LONGEST && note != Some(UNREAD) {
        let is_near = |at: usize| {
            rows[at..rows.len().min(at + BEFORE + 1)].iter().any(|row| reader(row)) || (rules.names_total)(&rows[at])
        };
        let near: Vec<bool> = (0..rows.len()).map(is_near).collect();
        rows = rows.into_iter().zip(near).filter(|(_, is_near)| *is_near).map(|(row, _)| row).collect();
    }
    let whole = flat(&rows);
    let mut notes: Vec<String> = note.map(str::to_owned).into_iter().collect();
    if rows.iter().any(|row| row.contains(DRAWN)) && note != Some(UNREAD) {
        notes.push("a number that the style sheet draws could not be read".to_owned());
    }
    if is_cut {
        notes.push("the page is too long to be read completely".to_owned());
    }
    let all = rows.len();
    let (text, is_short) = ends(rows);
    if is_short {
        notes.push(format!("of {all} lines, the first and the last are shown; at the click all are compared"));
    }
    let note = Some(notes.join("; ")).filter(|note| !note.is_empty());
    PageDeal { shown: Deal { text, note }, whole, part: DealPart { at: None, text: String::new() } }
}

/// Lines that are beside each other, as one.
fn rows(lines: &[&Line]) -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let mut last: Option<[f64; 4]> = None;
    for Line(text, _, place) in lines {
        match (rows.last_mut(), last) {
            (Some(row), Some(before)) if is_beside(&before, place) && row.len() + text.len() < LONGEST / 4 => {
                *row = format!("{row} {CELL} {text}");
            }
            _ => rows.push(text.clone()),
        }
        last = Some(*place);
    }
    rows
}

/// Whether the second place is at the height of the first one, and not above or below it.
fn is_beside([left, top, right, bottom]: &[f64; 4], [x, y, end, low]: &[f64; 4]) -> bool {
    let common = bottom.min(*low) - top.max(*y);
    let height = (bottom - top).min(low - y);
    common > 0.0 && common * 2.0 >= height && (*x + 1.0 >= *right || *end <= *left + 1.0)
}

/// As many of the first and the last lines as have room, the last ones first, since the sum is there; true if others are
/// left out.
fn ends(rows: Vec<String>) -> (Vec<String>, bool) {
    let length = |row: &String| row.chars().count();
    if rows.iter().map(length).sum::<usize>() <= LONGEST {
        return (rows, false);
    }
    let short = |row: &String| row.chars().take(LONGEST / 4).collect::<String>();
    let mut room = LONGEST;
    let mut take = |row: &&String, share: usize| {
        let is_fit = room >= length(row).min(LONGEST / 4) + share;
        room = room.saturating_sub(length(row).min(LONGEST / 4));
        is_fit
    };
    let last: Vec<String> = rows.iter().rev().take_while(|row| take(row, LONGEST * 2 / 5)).map(short).collect();
    let left = rows.len() - last.len();
    let first: Vec<String> = rows[..left].iter().take_while(|row| take(row, 0)).map(short).collect();
    (first.into_iter().chain(["...".to_owned()]).chain(last.into_iter().rev()).collect(), true)
}
