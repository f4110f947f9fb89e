//! Checks whether the model's evidence occurs in what was observed.

/// Lower case, with one space for each run of white space.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the evidence, without surrounding quotation marks, is part of the observed text. Fewer than three characters
/// are not enough.
pub(super) fn is_observed(evidence: &str, observed: &str) -> bool {
    let evidence = plain(evidence);
    let evidence = evidence.trim_matches(|mark: char| "\"'`“”„«». ".contains(mark));
    evidence.chars().count() > 2 && plain(observed).contains(evidence)
}

#[cfg(test)]
mod tests {
    use super::is_observed;

    #[test]
    fn evidence_is_found_regardless_of_case_and_spaces() {
        let observed = "title: Order  Confirmed\nurl: https://shop.example/done";
        for evidence in ["order confirmed", "\"Order Confirmed\"", "https://shop.example/done", "“confirmed”."] {
            assert!(is_observed(evidence, observed), "{evidence}");
        }
        for evidence in ["", " ", "\"\"", "or", "order is confirmed"] {
            assert!(!is_observed(evidence, observed), "{evidence}");
        }
    }
}
