//! A year of logs: tables of the logs that our commands have written.

use super::run;

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn logs_become_a_table_that_answers_what_people_ask() {
    let printed = run(
        1,
        &[],
        r#"
        mkdir -p runs/one
        for number in 1 2 3 4; do ssh -n host1 $E/one-run.sh $number >runs/one/$number.jsonl; done
        # A run that was killed has no end; one whose call nobody approves was not allowed it.
        grep -v '"final"' runs/one/4.jsonl >runs/killed.jsonl
        rm runs/one/4.jsonl
        printf '{"t":5,"seq":9,"dir":"in","msg":{"type":' >>runs/killed.jsonl
        cat >world.sh <<'END'
        while IFS= read -r line; do
            jq -c 'if .type == "list_tools" then {type: "tool_list", request_id, world: "bank", tools: [{name: "pay_invoice", description: "Pays.", input_schema: {type: "object"}}]}
                else {type: "tool_result", call_id, status: "ok", result: "paid"} end' <<<"$line"
        done
END
        cat >model.sh <<'END'
        tool='"pay_invoice", arguments: {number: 7}'
        while IFS= read -r request; do
            jq -c '{type: "model_turn", request_id, status: "ok", stop: "call", text: "", provider: "script", model: "turns", raw: {}, latency_ms: 0, retries: 0,
                usage: {input: 100, output: 10, cost: 0.5}, calls: [{call_id: .request_id, tool_name: '"$tool"'}]}' <<<"$request"
            tool='"assistant_done", arguments: {reason: "It was not allowed."}'
        done
END
        jsonl-record --child agent runs/denied.jsonl -- agent-loop --goal Pay. --llm 'bash model.sh' -- \
            policy-check -- hitl-gate -- bash world.sh >/dev/null 2>&1 || [ $? = 1 ]
        duckdb <$E/logs-to-parquet.sql
        # Once more, as when a day is added: nothing is counted twice.
        duckdb <$E/logs-to-parquet.sql
        duckdb -csv -noheader <$E/questions.sql"#,
    );
    let lines: Vec<Vec<&str>> = printed.lines().map(|line| line.split(',').collect()).collect();
    // If a day ends meanwhile, there are two rows.
    let sum = |column: usize| -> f64 {
        let days = lines.iter().filter(|row| row[0].starts_with("20"));
        days.map(|row| row[column].parse::<f64>().unwrap_or(0.0)).sum()
    };
    assert!((sum(1) - 5.0).abs() < 1e-9 && (sum(2) - 4.0).abs() < 1e-9, "runs, and those that are done\n{printed}");
    assert!((sum(4) - 1.0024).abs() < 1e-9, "dollars\n{printed}");
    assert!(printed.contains("rejected,pay_invoice,1,1,"), "{printed}");
    let weather = lines.iter().find(|row| row[0] == "weather").unwrap();
    assert_eq!(weather[1..4], ["4", "1", "0"], "calls, failed, unknown\n{printed}");
}
