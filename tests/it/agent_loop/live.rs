//! The ten sites with a real model, for `scripts/bench agent --model`.

use super::browser::{by_number, follow, is_reached, over};
use super::{Place, sites};
use crate::process::{Talk, command};

/// Prints the outcome of each goal, and `{"reached","goals","by_number","element_actions"}`.
#[test]
#[ignore = "needs a model, Chromium and the network"]
fn goals() {
    let model = std::env::var("PIPEWRIGHT_MODEL").expect("PIPEWRIGHT_MODEL: scripts/bench --model NAME agent sets it");
    let (mut reached, mut numbered, mut acted) = (0, 0, 0);
    let sites = sites::all();
    for site in &sites {
        let place = Place::new(&[]);
        let mut agent = command("agent-loop");
        agent.args(["--model", &model]);
        over(&mut agent, &place, site);
        let run = follow(Talk::start(&mut agent));
        let is_there = run.last()["outcome"] == "done" && is_reached(&place, site);
        let (by_number, all) = by_number(&run);
        (reached, numbered, acted) = (reached + usize::from(is_there), numbered + by_number, acted + all);
        eprintln!("{} {} {}", if is_there { "reached" } else { "MISSED " }, site.goal, run.last());
    }
    eprintln!(
        "{{\"reached\":{reached},\"goals\":{},\"by_number\":{numbered},\"element_actions\":{acted}}}",
        sites.len()
    );
}
