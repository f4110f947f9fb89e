//! Whether what the model gives as evidence stands in what was observed.

/// Lower case, with one space for every run of white space.
fn plain(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the evidence, without quotation marks around it, is part of the observed text. What has fewer than three characters is none.
pub(super) fn is_observed(evidence: &str, observed: &str) -> bool {
    let evidence = plain(evidence);
    let evidence = evidence.trim_matches(|mark: char| "\"'`“”„«». ".contains(mark));
    evidence.chars().count() > 2 && plain(observed).contains(evidence)
}

#[cfg(test)]
mod tests {
    use super::is_observed;

    #[test]
    fn evidence_is_found_whatever_its_case_and_spaces() {
        let observed = "title: Order  Confirmed\nurl: https://shop.example/done";
        for evidence in ["order confirmed", "\"Order Confirmed\"", "https://shop.example/done", "“confirmed”."] {
            assert!(is_observed(evidence, observed), "{evidence}");
        }
        for evidence in ["", " ", "\"\"", "or", "order is confirmed"] {
            assert!(!is_observed(evidence, observed), "{evidence}");
        }
    }
}
