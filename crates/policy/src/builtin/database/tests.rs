use super::*;
use crate::builtin::tests::judge_with;
use crate::verdict::Verdict;
use serde_json::json;

/// Names of tools that run SQL, and only read according to their names, or run anything.
const TOOLS: &str = "read_query read_sql read_only_query readonly_query readOnlyQuery db_read read_db database_reader \
                     run_query execute_sql executeSQL execute_query query_database sql_select select_query \
                     run_select_query pg_query postgres_query mysql_query query_sqlite sqlite_query duckdb_query query \
                     sql mcp__postgres__query mcp__sqlite__read_query mcp__pg__read bigquery_execute execute_bigquery \
                     fetch_query get_query explain_query explain_sql describe_query analyze_query preview_query \
                     db.query database.read read_queryV1 execute_read_only_query safe_query run_statement run_dml";
/// Text that does more than read, or may do so.
const CHANGING: &[&str] = &[
    "WITH a AS (SELECT 1) DELETE FROM b",
    "WITH a AS (DELETE FROM b RETURNING c) SELECT * FROM a",
    "EXPLAIN ANALYZE DELETE FROM t",
    "explain (analyze, verbose) update t set a = 1",
    "analyze delete from t",
    "/* all */ DELETE FROM t",
    "-- all\nDELETE FROM t",
    "(DELETE FROM t)",
    "/*!50000 DROP TABLE t */",
    "SELECT 1; DROP TABLE t",
    "SELECT * INTO u FROM t",
    "SELECT pg_terminate_backend(1)",
    "SELECT * FROM dblink('a', 'b')",
    "COPY t TO PROGRAM 'sh'",
    "PRAGMA journal_mode = OFF",
    "ATTACH 'a' AS b",
    "CALL a()",
    "VACUUM FULL",
    "SELECT [[1]]; DELETE FROM t; SELECT [1]",
    "SELECT ARRAY[[1]]; DROP TABLE t; SELECT ARRAY[1]",
    "\\! rm a",
    ".shell rm a",
];
const READING: &[&str] =
    &["SELECT count(*) FROM t WHERE a = 'delete'", "WITH a AS (SELECT 1) SELECT * FROM a", "SHOW TABLES"];
const KEYS: &str = "query sql statement stmt q text command code expression input foo";

fn verdict(tool: &str, arguments: Value, hint: Hint) -> Verdict {
    judge_with(&json!({"tool": tool, "args": arguments}).to_string(), hint).verdict
}

#[test]
fn text_under_any_key_of_a_tool_for_sql_is_judged() {
    for tool in TOOLS.split_whitespace() {
        for key in KEYS.split(' ') {
            // Under a few keys, all of the texts.
            let texts = if ["query", "foo"].contains(&key) { CHANGING } else { &CHANGING[..3] };
            for text in texts {
                assert_eq!(verdict(tool, json!({key: text}), Hint::None), Verdict::Confirm, "{tool} {key} {text}");
            }
            // A command under this key is judged as a shell's, too.
            let texts = if key == "command" { &READING[..0] } else { READING };
            for text in texts {
                for hint in [Hint::None, Hint::Destructive, Hint::DestructiveAsAll] {
                    assert_eq!(verdict(tool, json!({key: text}), hint), Verdict::Allow, "{tool} {key} {text} {hint:?}");
                }
            }
        }
    }
}

#[test]
fn text_within_other_arguments_is_judged() {
    for (tool, arguments) in [
        ("read_query", json!({"params": {"query": "DROP TABLE t"}})),
        ("read_query", json!({"queries": ["SELECT 1", "DROP TABLE t"]})),
        ("read_query", json!({"queries": [{"sql": "DROP TABLE t"}]})),
        ("read_query", json!({"input": "{\"query\": \"DROP TABLE t\"}"})),
        ("read_query", json!({"query": "VACUUM"})),
        ("read_query", json!({"query": "DELET FROM t"})),
        ("execute_sql", json!({"query": "SELECT 1", "params": {"sql": "DROP TABLE t"}})),
        ("execute_sql", json!({"query": "SELECT 1", "destination": "t"})),
        ("execute_sql", json!({})),
        // Other tools that read, with a query that is a statement.
        ("get_report", json!({"query": "WITH a AS (SELECT 1) DELETE FROM b"})),
        ("list_rows", json!({"query": "explain (analyze) delete from t"})),
        ("search_database", json!({"query": "/* all */ DELETE FROM t"})),
        ("search_database", json!({"query": "all; delete from t"})),
    ] {
        assert_eq!(verdict(tool, arguments.clone(), Hint::None), Verdict::Confirm, "{tool} {arguments}");
    }
    for (tool, arguments) in [
        ("execute_sql", json!({"params": {"query": "SELECT 1"}})),
        ("execute_sql", json!({"q": "SELECT a FROM t WHERE b = $1", "params": ["delete"], "page": 2, "dry_run": true})),
        ("execute_sql", json!({"sql": "SELECT a FROM t WHERE b = :b", "params": "{\"b\": \"delete it\"}"})),
        ("read_query", json!({"query": "SELECT 1", "description": "Update the rows"})),
    ] {
        assert_eq!(verdict(tool, arguments.clone(), Hint::Destructive), Verdict::Allow, "{tool} {arguments}");
    }
}

#[test]
fn words_for_a_person_are_not_sql() {
    for (tool, arguments) in [
        ("search_docs", json!({"query": "how do I delete a user"})),
        ("query_docs", json!({"query": "update a record by hand"})),
        ("query_docs", json!({"query": "with the keys (all) delete and insert move on"})),
        ("query_knowledge_base", json!({"query": "drop a table in three steps"})),
        ("search_database", json!({"query": "how to delete"})),
        ("list_databases", json!({"pattern": "prod"})),
        ("list_tables", json!({"schema": "public"})),
        ("get_database", json!({"name": "My tasks"})),
        ("list_queries", json!({"filter": "slow ones"})),
        ("search-query", json!({"requests": [{"query": {"queryString": "update plan"}}]})),
        ("validate_sql", json!({"sql": "DELETE FROM t"})),
        ("query_logs", json!({"query": "level=error | json"})),
    ] {
        assert_eq!(verdict(tool, arguments.clone(), Hint::None), Verdict::Allow, "{tool} {arguments}");
    }
    // A server that is trusted may have a query language of its own.
    assert_eq!(verdict("run_query", json!({"query": "rate(up[5m])"}), Hint::None), Verdict::Confirm);
    assert_eq!(verdict("run_query", json!({"query": "rate(up[5m])"}), Hint::ReadOnly), Verdict::Allow);
    for tool in ["run_query", "readonly_sql", "execute_sql"] {
        assert_eq!(verdict(tool, json!({"q": "DROP TABLE t"}), Hint::ReadOnly), Verdict::Confirm, "{tool}");
    }
    assert_eq!(verdict("execute_sql", json!({"sql": "SELECT 1", "command": "rm a"}), Hint::ReadOnly), Verdict::Confirm);
}

#[test]
fn tools_of_other_databases_and_for_prose_are_told_apart() {
    for (tool, key, text, expected) in [
        ("explain_plan", "sql", "EXPLAIN ANALYZE DELETE FROM t", Verdict::Confirm),
        ("explain_analyze", "query", "DELETE FROM t", Verdict::Confirm),
        ("summarize_query", "query", "DELETE FROM t", Verdict::Confirm),
        ("validate_sql", "sql", "DELETE FROM t", Verdict::Allow),
        ("query_customers", "query", "CALL p()", Verdict::Confirm),
        ("query_dataset", "query", "EXEC xp_cmdshell 'x'", Verdict::Confirm),
        ("query_records", "query", "COPY t TO PROGRAM 'sh'", Verdict::Confirm),
        ("read_cypher", "query", "MATCH (n) SET n.a = 1", Verdict::Confirm),
        ("query_graph", "cypher", "CREATE (n)", Verdict::Confirm),
        ("read_cypher", "query", "MATCH (n) RETURN n", Verdict::Allow),
        ("get_report", "query", "db.x.drop()", Verdict::Confirm),
        ("read_query", "limit", "1; DELETE FROM t", Verdict::Confirm),
        ("docs_query", "query", "how do I delete a user", Verdict::Allow),
        ("search_docs", "query", "DROP TABLE syntax", Verdict::Allow),
        ("web_search", "query", "insert into a table from python", Verdict::Allow),
        ("mcp__search__run_query", "query", "DROP TABLE t", Verdict::Confirm),
        ("search_database", "query", "DROP TABLE t", Verdict::Confirm),
    ] {
        assert_eq!(verdict(tool, json!({key: text}), Hint::None), expected, "{tool} {key} {text}");
    }
}

#[test]
fn a_query_in_another_language_is_judged_by_its_signs() {
    for (tool, key, text) in [
        ("aggregate", "query", r#"[{"$match": {}}, {"$out": "copy"}]"#),
        ("aggregate", "stages", r#"[{"$merge" : {"into": "t"}}]"#),
        ("aggregate", "pipelineJson", r"[{$out: 'copy'}]"),
        ("find", "filter", r#"{"$where": "sleep(1e6)"}"#),
        ("find", "filter", r#"{"\u0024where": "sleep(1e6)"}"#),
        ("find_documents", "query", r#"{"a": {"$expr": {"$function": {"body": "x", "args": [], "lang": "js"}}}}"#),
        ("get_documents", "options", r#"{"pipeline": "[{\"$out\": \"copy\"}]"}"#),
        ("search_splunk", "query", "index=a | delete"),
        ("search_splunk", "search_query", "index=a [ search b | outputlookup c.csv ]"),
        ("get_events", "search", "index=a |collect index=b"),
        ("get_events", "spl", "| sendemail to=a@host"),
        ("query_kusto", "query", ".drop table T"),
        ("query_logs", "kql", ".set-or-append T <| U"),
        ("get_rows", "query", ".ingest into table T (h'https://host/a')"),
        ("query_graph", "query", "INSERT DATA { <a:b> <c:d> 1 }"),
        ("search_triples", "sparql", "PREFIX a: <http://host/>\nBASE <http://host/> DELETE WHERE { ?s ?p ?o }"),
        ("search_triples", "query", "WITH <http://host/> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }"),
        ("get_triples", "query", "clear silent graph <http://host/a>"),
        ("get_triples", "query", "SELECT * WHERE { ?s ?p 1 }; DROP ALL"),
        ("get_triples", "query", "LOAD <http://host/a>"),
        ("get_triples", "query", "# all\n# of it\nINSERT DATA { <a:b> <c:d> 1 }"),
        ("get_triples", "query", "PREFIX a: <http://host/> COPY DEFAULT TO a:b"),
        ("query_kusto", "q", "// all\n.drop table T"),
        ("get_issues", "gqlQuery", "mutation { deleteIssue(id: 1) { id } }"),
        ("get_issues", "document", "mutation { deleteIssue(id: 1) { id } }"),
        ("get_issues", "graphql", "mutation M($a: ID!) { deleteIssue(id: $a) { id } }"),
    ] {
        assert_eq!(verdict(tool, json!({key: text}), Hint::None), Verdict::Confirm, "{tool} {key} {text}");
    }
    for arguments in [
        json!({"filter": {"$where": "sleep(1e6)"}}),
        json!({"query": {"a": [{"$expr": {"$function": {"body": "x"}}}]}}),
        json!({"filter": {"facet": "[{\"$out\": \"copy\"}]"}}),
    ] {
        assert_eq!(verdict("find", arguments.clone(), Hint::None), Verdict::Confirm, "{arguments}");
    }
    for (tool, key, text) in [
        ("aggregate", "query", r#"[{"$match": {"a": "$out"}}, {"$group": {"_id": "$merge"}}]"#),
        ("search_code", "query", "what does $out mean"),
        ("search_splunk", "query", "index=a delete | stats count by b | sort - c | outputtext"),
        ("search_docs", "query", "cat a | delete files"),
        ("search_kusto", "query", ".show tables"),
        ("search_kusto", "query", "T | where a > 1 | extend b = 2"),
        ("find_element", "query", ".delete"),
        ("search_triples", "query", "PREFIX a: <http://host/> SELECT * WHERE { ?s ?p ?o }"),
        ("search_docs", "query", "clear all caches"),
        ("search_docs", "query", "load config: error"),
        ("search_code", "query", "add <div> to a page"),
        ("get_issues", "document", "query { issue(id: 1) { id } }"),
    ] {
        assert_eq!(verdict(tool, json!({key: text}), Hint::None), Verdict::Allow, "{tool} {key} {text}");
    }
}

#[test]
fn a_statement_under_a_key_for_queries_is_known_by_its_first_words() {
    for text in [
        "DELETE t1 FROM t1 JOIN t2 ON t1.a = t2.a",
        "DELETE QUICK FROM t",
        "INSERT t SELECT a FROM u",
        "INSERT OR REPLACE INTO t VALUES (1)",
        "INSERT OVERWRITE TABLE t SELECT 1",
        "UPSERT INTO t VALUES (1)",
        "DROP FUNCTION f",
        "DROP MATERIALIZED VIEW v",
        "DROP OWNED BY bob",
        "DROP KEYSPACE k",
        "CREATE UNIQUE INDEX i ON t (a)",
        "CREATE LOGIN bob WITH PASSWORD = 'a'",
        "ALTER SYSTEM SET a = 1",
        "ALTER LOGIN sa ENABLE",
        "ALTER WAREHOUSE w SUSPEND",
        "SET GLOBAL general_log = 1",
        "SET @@GLOBAL.general_log = 1",
        "LOAD DATA INFILE 'a' INTO TABLE t",
        "FLUSH PRIVILEGES",
        "PURGE BINARY LOGS TO 'a'",
        "BACKUP DATABASE d TO DISK = 'a'",
        "UNLOAD ('select 1') TO 's3://bucket/a'",
        "BEGIN BATCH INSERT INTO t (a) VALUES (1) APPLY BATCH",
        "GRANT admin TO bob",
        "REVOKE ALL PRIVILEGES, GRANT OPTION FROM bob",
    ] {
        assert_eq!(verdict("query_customers", json!({"query": text}), Hint::None), Verdict::Confirm, "{text}");
    }
    for key in ["native_query", "nativeQuery", "query_sql", "sql_script", "tsql", "stmt", "script"] {
        assert_eq!(verdict("get_rows", json!({key: "DROP TABLE t"}), Hint::None), Verdict::Confirm, "{key}");
        assert_eq!(verdict("get_rows", json!({key: "SELECT a FROM t"}), Hint::None), Verdict::Allow, "{key}");
    }
    let behind = json!({"filter": "1=1; DROP TABLE t"});
    assert_eq!(verdict("list_customers", behind, Hint::None), Verdict::Confirm);
    for (tool, key, text) in [
        ("query_customers", "query", "delete requests by month"),
        ("query_customers", "query", "grants to schools"),
        ("query_customers", "query", "set of new accounts"),
        ("query_customers", "query", "load times"),
        ("query_customers", "query", "insert coin"),
        ("query_customers", "query", "insert a box to select"),
        ("query_customers", "query", "create function for logins"),
        ("list_customers", "filter", "status = 'open'; region = 'EU'"),
        ("get_rows", "mysql", "production"),
    ] {
        assert_eq!(verdict(tool, json!({key: text}), Hint::None), Verdict::Allow, "{tool} {key} {text}");
    }
}

#[test]
fn other_languages_are_judged_by_their_steps() {
    let mutation = "mutation { deleteIssue(id: 1) { id } }";
    for (tool, key, text) in [
        ("get_issues", "queryBody", mutation),
        ("get_issues", "gqlString", mutation),
        ("get_issues", "graphqlRequest", mutation),
        ("get_issues", "input", "# all\nmutation M { a }"),
        ("query_graph", "query", "g.addV('person')"),
        ("query_graph", "gremlin", "g.V(1).addE('knows').to(g.V(2))"),
        ("query_graph", "query", "g.V().has('a', 1).property('a', 2)"),
        ("query_graph", "query", "g.V().drop()"),
        ("query_metrics", "query", "from(bucket: \"a\") |> range(start: -1h) |> to(bucket: \"b\")"),
        ("query_metrics", "flux", "http.post(url: \"https://host\", data: bytes(v: \"a\"))"),
        ("query_documents", "query", "FOR u IN users REMOVE u IN users"),
        ("query_documents", "aql", "FOR u IN users UPDATE u WITH { a: 1 } IN users"),
        ("query_documents", "query", "INSERT { a: 1 } INTO users"),
        ("get_events", "search", "index=a | collect"),
        ("get_events", "search", "index=a | summaryindex index=b"),
    ] {
        assert_eq!(verdict(tool, json!({key: text}), Hint::None), Verdict::Confirm, "{tool} {key} {text}");
    }
    for (tool, key, text) in [
        ("get_issues", "queryBody", "query { issue(id: 1) { id } }"),
        ("find_genes", "input", "mutation of the gene"),
        ("query_graph", "query", "g.V().has('a', 1).values('b')"),
        ("query_metrics", "query", "from(bucket: \"a\") |> range(start: -1h) |> mean()"),
        ("query_documents", "query", "FOR u IN users FILTER u.a == 1 RETURN u"),
        ("find_posts", "query", "for users in a hurry"),
        ("search_code", "query", "df.drop(columns)"),
    ] {
        assert_eq!(verdict(tool, json!({key: text}), Hint::None), Verdict::Allow, "{tool} {key} {text}");
    }
}
