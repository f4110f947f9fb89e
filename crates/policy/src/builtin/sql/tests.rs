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

#[test]
fn a_function_with_an_effect_may_be_written_like_a_column() {
    for name in [
        "pg_terminate_backend",
        "pg_advisory_xact_lock",
        "pg_try_advisory_lock",
        "pg_replication_origin_drop",
        "pg_stat_reset_slru",
        "pg_sleep_for",
        "lo_unlink",
        "dblink_exec",
        "gin_clean_pending_list",
    ] {
        for query in [
            format!("SELECT t.{name} FROM unnest(a) t"),
            format!("SELECT t.\"{name}\" FROM unnest(a) t"),
            format!("SELECT s.t.{name} FROM s.t"),
            format!("SELECT count(*) FROM unnest(a) t WHERE t.{name}"),
        ] {
            assert!(!only_reads(&query), "{query}");
        }
    }
    assert!(only_reads("SELECT t.pg_version, t.http_status FROM t JOIN pg_catalog.pg_replication_slots r ON true"));
    assert!(only_reads("SELECT * FROM pg_catalog.pg_replication_origin_status"));
}

#[test]
fn an_address_is_no_table_that_is_only_read() {
    for query in [
        "SELECT * FROM 'https://host/a.csv'",
        "SELECT * FROM \"https://host/a.csv\"",
        "SELECT * FROM `s3://bucket/a`",
        "FROM 's3://bucket/a.parquet'",
        "SELECT * FROM t, 'https://host/a'",
        "SELECT * FROM t LEFT JOIN 'gs://bucket/a' AS u ON true",
        "SELECT (SELECT max(a) FROM 'https://host/a')",
        "SELECT * FROM curl WHERE url = 'https://host/?a=1'",
        "SELECT * FROM a JOIN carves ON true",
        "SELECT * FROM E'https://host/a'",
        "SELECT * FROM (t JOIN ('hf://datasets/a' b JOIN c ON true) ON true)",
        "WITH a AS (SELECT * FROM 'https://host/a') SELECT * FROM a",
        "DESCRIBE 'https://host/a'",
        "SUMMARIZE 'https://host/a'",
        "EXPLAIN SELECT * FROM 'https://host/a'",
    ] {
        assert!(!only_reads(query), "{query}");
    }
    for query in [
        "SELECT 'https://host/a', 'https://host/b' FROM t WHERE url = 'https://host/a' OR b IN ('a', 'https://host/a')",
        "SELECT * FROM t JOIN u ON t.url = 'https://host/a' AND (u.a, 'https://host/a') = (1, t.b)",
        "SELECT * FROM t WHERE a IS DISTINCT FROM 'https://host/a'",
        "SELECT * FROM (VALUES ('https://host/a', 1)) t",
        "SELECT * FROM (SELECT 'https://host/a' AS a, 'https://host/a' AS b) t ORDER BY a, 'https://host/a'",
        "SELECT * FROM 'a.parquet'",
    ] {
        assert!(only_reads(query), "{query}");
    }
}
