//! Follows paths through text that is known to be JSON: what no path leads to is passed over as fast as its end can be
//! found. For text that is not JSON, only termination is guaranteed.

use super::path::{Node, Step};
use super::token::{Kind, Token};
use super::tokens::Tokens;

/// Records the values that `node` and its children select in one JSON text. Does not descend deeper than the paths.
pub(super) fn follow<'a>(node: &Node, json: &'a str, found: &mut [Option<&'a str>]) {
    let mut walk = Walker { json, tokens: Tokens::new(json), found };
    if let Some(first) = walk.tokens.next() {
        walk.value(node, first);
    }
}

struct Walker<'a, 'f> {
    json: &'a str,
    tokens: Tokens<'a>,
    found: &'f mut [Option<&'a str>],
}

impl Walker<'_, '_> {
    /// The value that begins with the token `first`.
    fn value(&mut self, node: &Node, first: Token) -> Option<()> {
        match first.kind {
            Kind::Object if !node.below.is_empty() => self.object(node)?,
            Kind::Array if !node.below.is_empty() => self.array(node)?,
            Kind::Object | Kind::Array => self.tokens.skip_rest(),
            _ => {}
        }
        for &number in &node.wanted {
            if let Some(place) = self.found.get_mut(number) {
                *place = self.json.get(first.outer_start()..self.tokens.position());
            }
        }
        Some(())
    }

    fn object(&mut self, node: &Node) -> Option<()> {
        loop {
            let key = self.tokens.next()?;
            if key.kind == Kind::End {
                return Some(());
            }
            match node.below.iter().find(|(step, _)| is_key(step, &key, self.json)) {
                Some((_, below)) => {
                    let first = self.tokens.next()?;
                    self.value(below, first)?;
                }
                None => _ = self.tokens.skip_value(),
            }
        }
    }

    fn array(&mut self, node: &Node) -> Option<()> {
        let mut index = 0;
        loop {
            let first = self.tokens.next()?;
            if first.kind == Kind::End {
                return Some(());
            }
            let wanted = node.below.iter().find(|(step, _)| match step {
                Step::Item(item) => *item == index,
                Step::Each => index == 0,
                Step::Field(_) => false,
            });
            match wanted {
                Some((_, below)) => self.value(below, first)?,
                None if first.opens() => self.tokens.skip_rest(),
                None => {}
            }
            index += 1;
        }
    }
}

fn is_key(step: &Step, key: &Token, json: &str) -> bool {
    match step {
        Step::Each => true,
        Step::Item(_) => false,
        Step::Field(field) if key.kind == (Kind::Key { is_escaped: false }) => {
            json.as_bytes().get(key.range()) == Some(field.as_bytes())
        }
        Step::Field(field) => key.text(json).is_some_and(|text| text == *field),
    }
}
