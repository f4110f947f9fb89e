-- Questions about a year of runs: how many succeed, what they cost, which calls were denied, which tools are slow.
-- usage: duckdb <questions.sql        (after logs-to-parquet.sql)

-- Success rate and cost by day. A run without a `final` record was killed or is still running; it counts as not successful.
SELECT day, count(*) AS runs, count_if(outcome = 'done') AS done, round(100 * done / runs, 1) AS percent,
  round(sum(cost), 4) AS dollars, sum(input_tokens + output_tokens)::BIGINT AS tokens, median(steps) AS median_steps
FROM (
  SELECT run, day, max_by(outcome, seq) FILTER (type = 'final') AS outcome, sum(cost) FILTER (type = 'final') AS cost,
    sum(input_tokens) FILTER (type = 'final') AS input_tokens, sum(output_tokens) FILTER (type = 'final') AS output_tokens,
    max_by(steps, seq) FILTER (type = 'final') AS steps
  FROM 'events/*/*.parquet' GROUP BY run, day
)
GROUP BY day ORDER BY day;

-- Each call with its result.
CREATE TEMP VIEW calls AS
SELECT call.run, call.tool, call.ts, call.msg->'arguments' AS arguments, result.status, result.kind,
  result.msg->>'maybe_executed' AS maybe_executed, epoch(result.ts - call.ts) AS seconds
FROM 'events/*/*.parquet' AS call
LEFT JOIN 'events/*/*.parquet' AS result ON result.type = 'tool_result' AND result.run = call.run AND result.call_id = call.call_id
WHERE call.type = 'tool_call';

-- Denied calls: by a rule (denied), by a person or because nobody could be asked (rejected, needs_approval).
SELECT kind, tool, count(*) AS calls, count(DISTINCT run) AS runs, any_value(arguments) AS example
FROM calls WHERE kind IN ('denied', 'rejected', 'needs_approval') GROUP BY kind, tool ORDER BY calls DESC;

-- Slowest tools; the times include waiting for a person. `unknown`: calls that may or may not have been executed.
SELECT tool, count(*) AS calls, count_if(status = 'error') AS failed, count_if(status IS NULL OR coalesce(maybe_executed, '') = 'true') AS unknown,
  round(median(seconds), 3) AS median_s, round(quantile_cont(seconds, 0.99), 3) AS p99_s, round(max(seconds), 3) AS max_s
FROM calls GROUP BY tool ORDER BY p99_s DESC NULLS LAST;
