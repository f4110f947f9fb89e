-- Records of sts-proxy as one table: DuckDB reads runs/*.jsonl and writes decisions.parquet.
-- usage: duckdb <spire-table.sql
--
-- A row is a decision that the mod accepted. `run` is its file; `decided_by` is null if the player decided. `victory`, `last_floor` and `score` come from the last record of the file.
-- The columns are those of reduced states, which sts-proxy records by default.
COPY (
  SELECT filename AS run, ts, run.seed AS seed, run.class AS class, run.ascension AS ascension,
    state->>'screen_type' AS screen, (state->>'act')::INT AS act, (state->>'floor')::INT AS floor,
    (state->>'hp')::INT AS hp, (state->>'max_hp')::INT AS max_hp, (state->>'gold')::INT AS gold,
    (state->>'$.combat_state.turn')::INT AS turn,
    (state->>'$.combat_state.player.energy')::INT AS energy, (state->>'$.combat_state.player.block')::INT AS block,
    state->>'$.combat_state.hand[*].id' AS hand,
    (state->>'$.combat_state.monsters[*].current_hp')::INT[] AS monster_hp,
    (state->>'$.combat_state.monsters[*].move_adjusted_damage')::INT[] AS damage,
    (state->>'choice_list')::VARCHAR[] AS choices,
    legal_ids, action_id, label, "by" AS decided_by,
    ending.victory AS victory, ending.floor AS last_floor, ending.score AS score
  FROM (
    SELECT *, any_value(run_over) OVER (PARTITION BY filename) AS ending
    FROM read_ndjson('runs/*.jsonl', filename = true, columns = {
      ts: 'TIMESTAMP', action_id: 'INT', label: 'VARCHAR', legal_ids: 'INT[]', state: 'JSON', confirmed: 'BOOLEAN', "by": 'VARCHAR',
      run: 'STRUCT(seed BIGINT, class VARCHAR, ascension INT)',
      run_over: 'STRUCT(victory BOOLEAN, floor INT, score INT)'
    })
  )
  WHERE confirmed
  ORDER BY run, ts
) TO 'decisions.parquet';
