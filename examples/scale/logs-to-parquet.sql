-- A year of logs as a table: DuckDB reads the agents' logs (jsonl-record) below runs/ and writes a Parquet file for each day below events/.
-- The day is the one on which the log begins.
-- usage: duckdb <logs-to-parquet.sql
--
-- A row is a record. `run` is its file. `ts` is its time in UTC: the last start of the log before the record, plus the record's `t`. A log
-- that was continued has several starts. Incomplete lines of a killed writer are skipped. To add a day, read only the logs that begin on it
-- (runs/2026-11-25/*.jsonl): the files of other days stay unchanged.
COPY (
  SELECT run, seq, ts, day, msg->>'type' AS type, msg->>'session_id' AS session_id, msg->>'agent_id' AS agent_id,
    msg->>'call_id' AS call_id, coalesce(msg->>'tool_name', msg->>'tool') AS tool, msg->>'status' AS status, msg->>'kind' AS kind,
    msg->>'outcome' AS outcome, (msg->>'$.usage.cost')::DOUBLE AS cost, (msg->>'$.usage.input')::BIGINT AS input_tokens,
    (msg->>'$.usage.output')::BIGINT AS output_tokens, (msg->>'steps')::INT AS steps, msg
  FROM (
    SELECT filename AS run, seq, msg, min(start) OVER (PARTITION BY filename)::DATE AS day,
      last_value(start IGNORE NULLS) OVER (PARTITION BY filename ORDER BY seq) + to_microseconds(t) AS ts
    FROM read_ndjson('runs/**/*.jsonl', filename = true, maximum_object_size = 134217728, ignore_errors = true, columns = {
      start: 'TIMESTAMP', t: 'BIGINT', seq: 'BIGINT', msg: 'JSON'
    })
  )
  WHERE json_type(msg) = 'OBJECT'
  ORDER BY run, seq
) TO 'events' (FORMAT parquet, PARTITION_BY (day), OVERWRITE_OR_IGNORE);
