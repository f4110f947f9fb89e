use super::*;

#[test]
fn only_functions_that_compute_are_called() {
    assert!(PURE_FUNCTIONS.is_sorted());
    assert!(only_reads("SELECT Count(*), coalesce(a, 'x') FROM t WHERE lower(b) LIKE '%x%'"));
    for query in [
        "SELECT delete_all()",
        "SELECT \"Count\"(1)",
        "SELECT other.count(1)",
        "SELECT setval('s', 1)",
        "SELECT 1; DROP TABLE t",
    ] {
        assert!(!only_reads(query), "{query}");
    }
}
