use super::*;

#[test]
fn only_functions_that_compute_are_called() {
    assert!(PURE_FUNCTIONS.is_sorted());
    assert!(only_reads("SELECT Count(*), coalesce(a, 'x') FROM t WHERE lower(b) LIKE '%x%'"));
    assert!(only_reads("SELECT [Update Date], [Set Name] FROM [dbo].[Orders] WHERE (b + 1) > 2"));
    for query in [
        "SELECT delete_all()",
        "SELECT \"Count\"(1)",
        "SELECT other.count(1)",
        "SELECT setval('s', 1)",
        "SELECT 1; DROP TABLE t",
        "SELECT (pid).pg_terminate_backend FROM pg_stat_activity",
        "SELECT ('s'::regclass).nextval",
        "SELECT x.pg_terminate_backend FROM generate_series(1, 9) x",
        "SELECT * FROM [DELETE FROM t RETURNING *]",
        "SELECT * FROM [cancel job 7]",
    ] {
        assert!(!only_reads(query), "{query}");
    }
}
