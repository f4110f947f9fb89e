use super::functions;
use proptest::prelude::*;

#[test]
fn queries_are_read_with_the_functions_that_they_call() {
    for (query, called) in [
        ("SELECT * FROM t WHERE a = 'delete from t; -- x'", ""),
        ("select count(*), upper(a) from t group by (b) having sum(c) > 1;", "count upper sum"),
        ("SELECT a FROM t WHERE b IN (1, 2) AND EXISTS (SELECT 1) -- a comment\nORDER BY a", ""),
        ("WITH x AS (SELECT 1) SELECT * FROM x UNION ALL (VALUES (1))", ""),
        ("SELECT a / b, 'https://host/' FROM t WHERE \"c\" = 'http://host'", ""),
        ("SELECT sysdate FROM dual", ""),
        ("SHOW TABLES", ""),
        ("DESCRIBE t", ""),
        ("EXPLAIN ANALYZE SELECT lower(a) FROM t", "lower"),
        ("SELECT [a b] FROM [dbo].[users]", ""),
        ("SELECT \"pg_terminate_backend\"(1)", "pg_terminate_backend"),
        ("SELECT \"Count\"(1)", "Count"),
        ("SELECT * FROM pg_read_file('x')", "pg_read_file"),
        ("SELECT public . count(1), a.b FROM t", "public.count"),
        ("PRAGMA table_info('t')", ""),
        ("PRAGMA table_info(users)", ""),
        ("SHOW CREATE TABLE t", ""),
        ("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT lower(a) FROM t", "lower"),
        ("SELECT '{x}\u{20ac}' FROM t WHERE a = '[\"b\"]'", ""),
        ("SELECT a::varchar(10), /* a comment */ cast(b AS decimal(1,2)) FROM t", "cast"),
        ("SELECT 1 WHERE a IN ('#1', 'b--c', '$d', '/*! e', ':=')", ""),
        ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r", ""),
        ("WITH sleep(n) AS (SELECT sleep(1)) SELECT n FROM sleep", "sleep"),
        ("SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM t LIMIT 5", "row_number"),
    ] {
        assert_eq!(functions(query).map(|found| found.join(" ")), Ok(called.to_owned()), "{query}");
    }
}

#[test]
fn text_with_effects_or_ambiguous_splits_is_refused() {
    for query in [
        "",
        "-- nothing",
        "DELETE FROM t",
        "select 1; drop table t",
        "SELECT * INTO u FROM t",
        "with x as (delete from t returning 1) select 1",
        "update t set a=1",
        "explain analyze delete from t",
        "EXPLAIN (ANALYZE) DELETE FROM t",
        "COPY (SELECT 1) TO PROGRAM 'sh'",
        "SELECT 1 SHUTDOWN",
        "SELECT 1 AS a SHUTDOWN",
        "SELECT * FROM t EXEC (x)",
        "SELECT 1eSHUTDOWN",
        "SELECT 0xSHUTDOWN",
        "SELECT 1.SHUTDOWN",
        "SELECT 'a'SHUTDOWN",
        "SELECT 1 \\! rm -rf /",
        "\\! rm",
        "SELECT 1 /*! ; DROP TABLE t */",
        "SELECT 1 /* /* */ ; DROP TABLE t -- */",
        "SELECT 1 --1; DROP TABLE t",
        "SELECT 1 # ; DROP TABLE t",
        "SELECT 1 // '\n; DROP TABLE t -- '",
        "SELECT a:// '\n b; DROP TABLE t WHERE c = '",
        "SELECT \"a\" // \"\n; DROP TABLE t WHERE \"b\" = 'c'",
        "SELECT 'a' -- it's\n, 1 // 'b'",
        "SELECT 'a\\' ; DROP TABLE t; -- '",
        "SELECT '''x' || ''' ; DROP TABLE t; --'",
        "SELECT $$ ' $$ ; DROP TABLE t; --'",
        "SELECT $a$ x $a$",
        "SELECT 'a' $$ ; DROP TABLE t; --'$$",
        "SELECT 'a' # ' ; DROP TABLE t -- '",
        "SELECT 'a' --' ; DROP TABLE t -- '",
        "SELECT 'a' /*! ' ; DROP TABLE t -- ' */",
        "SELECT q'[']' ; DROP TABLE t; --'",
        "SELECT 1 FROM t\u{a0}SHUTDOWN",
        "SELECT 1\r; DROP TABLE t",
        "SELECT [it's] ; DROP TABLE t; --'",
        "SELECT * FROM t FOR UPDATE",
        "SELECT 1 INTO OUTFILE '/tmp/x'",
        "SELECT @a := 1",
        "SELECT s.nextval FROM dual",
        "SELECT s.\"NEXTVAL\" FROM dual",
        "SELECT NEXT VALUE FOR s",
        "SELECT * FROM t FOR SHARE",
        "SELECT * FROM t WITH (TABLOCKX)",
        "SELECT 1 END CONVERSATION",
        "SELECT jobs.cancel_all FROM dual",
        "SELECT * FROM t FOR KEY SHARE",
        "SELECT * FROM t LOCK IN SHARE MODE",
        "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t",
        "SELECT 1 AS show CREATE TABLE t (a int)",
        "SELECT 'a' {call p}",
        "SELECT \"'\" {call p} \"'\"",
        "VACUUM",
        "CALL p()",
        "DO $$ BEGIN END $$",
        "SET a = 1",
        "BEGIN; SELECT 1; COMMIT",
        "PRAGMA journal_mode = OFF",
        "PRAGMA writable_schema(1)",
        "PRAGMA writable_schema(on)",
        "ATTACH 'x' AS y",
        "USE x",
        "LOCK TABLES t WRITE",
        "{call p}",
        "REPLACE INTO t VALUES (1)",
        "TRUNCATE t",
        "GRANT ALL ON t TO x",
        "ANALYZE t",
        "REFRESH MATERIALIZED VIEW v",
        "not sql at all",
    ] {
        assert!(functions(query).is_err(), "{query}: {:?}", functions(query));
    }
}

#[test]
fn a_hostile_query_is_refused_within_bounded_stack_and_time() {
    let nested =
        |open: &str, close: &str, count: usize| format!("SELECT {}1{}", open.repeat(count), close.repeat(count));
    let before = std::time::Instant::now();
    for query in [
        nested("(", ")", 4000),
        nested("(SELECT ", ")", 900),
        nested("NOT ", "", 2000),
        nested("- ", "", 4000),
        nested("f(", ")", 2000),
        nested("CASE WHEN ", " THEN 1 END", 300),
        format!("SELECT 1{}", "+1".repeat(4000)),
        format!("SELECT 1{}", " OR 1".repeat(1500)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(500)),
        format!("SELECT * FROM a{}", " JOIN a".repeat(1000)),
        format!("SELECT '{}'", "x".repeat(1 << 20)),
        "(".repeat(8000),
        "[".repeat(8000),
        "SELECT ".repeat(1000),
    ] {
        let _ = functions(&query);
    }
    assert!(before.elapsed().as_secs() < 60, "{:?}", before.elapsed());
}

proptest! {
    #[test]
    fn no_query_with_an_effect_in_it_is_read(
        before in "(SELECT|SELECT 1|SELECT a FROM t|;|/\\*|\\*/|--|'|\"|`|\\[|\\]|\\(|\\)| |\n|1|a|,|#|\\$){0,8}",
        effect in "(DROP TABLE t|DELETE FROM t|SHUTDOWN|f\\(1\\)|INSERT INTO t VALUES \\(1\\))",
        after in "(SELECT 1|;|/\\*|\\*/|--|'|\"|`|\\[|\\]|\\(|\\)| |\n|1|a|,|#){0,8}",
    ) {
        // With spaces around it, so that it is not part of a name.
        let text = format!("{before} {effect} {after}");
        if let Ok(called) = functions(&text) {
            // Then it is in a comment, in quotes, or the name of a function.
            let quoted = called.iter().any(|name| name.ends_with('f')) || text.contains(['\'', '"', '`', '[']) || text.contains("--") || text.contains("/*");
            prop_assert!(quoted, "{text:?}: {called:?}");
        }
    }
}
