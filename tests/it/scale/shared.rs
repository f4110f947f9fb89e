//! Several machines with one file system.

use super::run;

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn four_hosts_record_games_into_one_folder_a_file_for_each() {
    let printed = run(
        4,
        &[],
        r#"
        one="replay --quiet --as world $ROOT/tests/fixtures/spire/demo_session.jsonl -- sts-proxy --quiet --data-dir /mnt/runs --start SILENT 20 --games 1 -- jq --unbuffered .valid_actions[0].action_id"
        for host in host1 host2 host3 host4; do
            for game in 1 2 3 4; do ssh -n $host "$one" >>printed 2>&1 & done
        done
        wait
        ls runs | wc -l
        wc -l runs/*.jsonl | grep -v total | awk '{print $1}' | sort -u"#,
    );
    assert_eq!(printed, "16\n64\n", "a file for each game, with all of its decisions");
}

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn sessions_of_two_hosts_with_one_folder_for_temporary_files_are_apart() {
    let printed = run(
        2,
        &[],
        r#"
        mkdir -m 1777 tmp
        on() { ssh -n "$1" "export TMPDIR=/mnt/tmp; $2"; }
        world="mcp-pipe -- replay --as world --any-order $ROOT/tests/fixtures/mcp/weather.jsonl"
        on host1 "tool-call --start shop --detach -- $world >/dev/null 2>&1"
        on host2 'tool-call --sessions'
        on host2 "tool-call --start shop --detach -- $world >/dev/null 2>&1"
        for host in host1 host2; do
            on $host 'tool-call --session shop --text weather city=Cairo'
            on $host 'tool-call --stop shop'
        done"#,
    );
    assert_eq!(printed, "31 degrees, sun\n31 degrees, sun\n");
}
