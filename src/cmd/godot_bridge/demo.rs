//! `godot-bridge demo`: plays the Triangle Vault to its end, knowing only what `get_tree` and `list_actions` say.
//!
//! Crystals are told apart by their ids, places by where the crystals stood at first. Every arrangement is tried in turn: the
//! first that wasn't yet is made, swap by swap, and after each swap the tree tells what has become of it (a symmetry
//! sends all crystals home).

use super::script::{Script, Step};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What stands where: for each crystal its place.
type Arrangement = Vec<usize>;

#[derive(Default)]
pub struct Demo {
    /// The places, once they are known.
    places: Vec<Value>,
    labels: Vec<String>,
    tried: BTreeSet<Arrangement>,
    counter: String,
    /// The swap that was asked for last, and what it should have made.
    swapped: Option<((usize, usize), Arrangement)>,
    stage: Stage,
}

#[derive(Default, PartialEq)]
enum Stage {
    #[default]
    Begin,
    Actions,
    Tree,
    Swap,
}

impl Script for Demo {
    fn next(&mut self, data: &Value, show: &mut String) -> Result<Step, String> {
        match self.stage {
            Stage::Begin => {
                self.stage = Stage::Actions;
                Ok(Step::Ask("list_actions", json!({})))
            }
            Stage::Actions => {
                let names = actions(data, "swap");
                if names == 0 {
                    return Err("no swap can be made".to_owned());
                }
                let _ = writeln!(show, "list_actions offers {names} swaps");
                self.stage = Stage::Tree;
                Ok(Step::Ask("get_tree", json!({})))
            }
            Stage::Swap => {
                self.stage = Stage::Tree;
                Ok(Step::Ask("get_tree", json!({})))
            }
            Stage::Tree => self.look(data, show),
        }
    }
}

fn actions(data: &Value, command: &str) -> usize {
    let listed = data.get("actions").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    listed.iter().filter(|action| action["cmd"] == command).count()
}

impl Demo {
    /// Takes the tree, tells what has changed, and chooses the next swap.
    fn look(&mut self, data: &Value, show: &mut String) -> Result<Step, String> {
        let tree = &data["tree"];
        let mut crystals = Vec::new();
        collect(tree, &|node| node.get("crystal_id").is_some(), &mut crystals);
        crystals.sort_by_key(|crystal| crystal["crystal_id"].as_u64());
        let mut labels = Vec::new();
        collect(tree, &|node| node["name"] == "CounterLabel", &mut labels);
        let counter = labels.first().and_then(|label| label["text"].as_str()).ok_or("there is no CounterLabel")?;
        if self.places.is_empty() {
            let title = |crystal: &&Value| crystal["label"].as_str().unwrap_or("?").to_owned();
            self.places = crystals.iter().map(|crystal| crystal["position"].clone()).collect();
            self.labels = crystals.iter().map(title).collect();
            let _ = writeln!(show, "the tree shows the crystals {}; {counter}", self.labels.join(", "));
        }
        let arrangement = self.arrangement(&crystals)?;
        if let Some(((one, other), made)) = self.swapped.take() {
            let news = if counter == self.counter { String::new() } else { format!("  ->  {counter}") };
            let (one, other) = (&self.labels[one], &self.labels[other]);
            let _ = writeln!(show, "swap {one} and {other}: {}{news}", self.name(&made));
            self.tried.insert(made);
        }
        counter.clone_into(&mut self.counter);
        if is_full(counter) {
            let _ = writeln!(show, "the vault is open: {counter}");
            return Ok(Step::Done(true));
        }
        let Some((one, other)) = self.next_swap(&arrangement) else {
            let _ = writeln!(show, "every arrangement was tried, and it is still {counter}");
            return Ok(Step::Done(false));
        };
        let mut made = arrangement;
        made.swap(one, other);
        self.swapped = Some(((one, other), made));
        self.stage = Stage::Swap;
        Ok(Step::Ask("swap", json!({"from": one, "to": other})))
    }

    fn arrangement(&self, crystals: &[&Value]) -> Result<Arrangement, String> {
        let place = |crystal: &&Value| self.places.iter().position(|place| *place == crystal["position"]);
        let found: Option<Arrangement> = crystals.iter().map(place).collect();
        found.filter(|found| found.len() == self.places.len()).ok_or_else(|| "a crystal stands nowhere".to_owned())
    }

    /// A swap towards the first arrangement that wasn't tried.
    fn next_swap(&self, now: &Arrangement) -> Option<(usize, usize)> {
        let mut target: Arrangement = (0..now.len()).collect();
        while self.tried.contains(&target) {
            target = next_permutation(target)?;
        }
        // To try where one stands already, one has to leave it first.
        let wrong = (0..now.len()).find(|&crystal| now[crystal] != target[crystal]).unwrap_or(0);
        let there = if now == &target { now[1] } else { target[wrong] };
        Some((wrong, now.iter().position(|&place| place == there)?))
    }

    /// The labels in the order of the places that they stand on.
    fn name(&self, arrangement: &Arrangement) -> String {
        let at =
            |place| arrangement.iter().position(|&stands| stands == place).map_or("?", |crystal| &self.labels[crystal]);
        (0..arrangement.len()).map(at).collect()
    }
}

fn collect<'a>(node: &'a Value, wanted: &impl Fn(&Value) -> bool, found: &mut Vec<&'a Value>) {
    if wanted(node) {
        found.push(node);
    }
    for child in node.get("children").and_then(Value::as_array).into_iter().flatten() {
        collect(child, wanted, found);
    }
}

/// Whether a text ends in `N / N`.
fn is_full(counter: &str) -> bool {
    let number = |text: &str| text.trim().rsplit(' ').next().and_then(|word| word.parse::<u32>().ok());
    counter.split_once('/').is_some_and(|(found, total)| number(found).is_some() && number(found) == number(total))
}

/// The next in the order of words in a dictionary.
fn next_permutation(mut order: Arrangement) -> Option<Arrangement> {
    let pivot = order.windows(2).rposition(|pair| pair[0] < pair[1])?;
    let larger = order.iter().rposition(|&place| place > order[pivot])?;
    order.swap(pivot, larger);
    order[pivot + 1..].reverse();
    Some(order)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn permutations_come_in_order_and_end() {
        let mut order = Some(vec![0, 1, 2]);
        let mut count = 0;
        while let Some(one) = order {
            count += 1;
            order = next_permutation(one);
        }
        assert_eq!(count, 6);
        assert!(is_full("Symmetries: 3 / 3") && !is_full("Symmetries: 1 / 3") && !is_full("none"));
    }

    /// A square whose four rotations are found, played as the game plays.
    #[test]
    fn every_symmetry_is_found() {
        let symmetries: [Arrangement; 4] = [vec![0, 1, 2, 3], vec![1, 2, 3, 0], vec![2, 3, 0, 1], vec![3, 0, 1, 2]];
        let (mut now, mut found) = (symmetries[0].clone(), BTreeSet::new());
        let (mut demo, mut data) = (Demo::default(), Value::Null);
        for _ in 0..500 {
            match demo.next(&data, &mut String::new()).unwrap() {
                Step::Done(well) => return assert!(well && found.len() == 4),
                Step::Ask("list_actions", _) => data = json!({"actions": [{"cmd": "swap"}]}),
                Step::Ask("swap", swap) => {
                    now.swap(swap["from"].as_u64().unwrap() as usize, swap["to"].as_u64().unwrap() as usize);
                    if symmetries.contains(&now) {
                        found.insert(std::mem::replace(&mut now, symmetries[0].clone()));
                    }
                }
                Step::Ask(_, _) => {
                    let crystal =
                        |(id, place): (usize, &usize)| json!({"crystal_id": id, "position": [place, 1], "label": "x"});
                    let mut children: Vec<Value> = now.iter().enumerate().map(crystal).collect();
                    children.push(json!({"name": "CounterLabel", "text": format!("Symmetries: {} / 4", found.len())}));
                    data = json!({"tree": {"name": "root", "children": children}});
                }
            }
        }
        panic!("it doesn't end");
    }
}
