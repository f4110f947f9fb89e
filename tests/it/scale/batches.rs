//! Many runs over several machines: GNU parallel, and Slurm.

use super::{root, run};

/// Each run has one log, which is whole and has one end of the run.
const CHECK: &str = r#"
check() {
    for number in $(seq "$1"); do
        [ "$(count '"type":"final","outcome":"done"' "$2/$number.jsonl")" = 1 ] || { echo "run $number" >&2; cat "$2/$number".* >&2; exit 1; }
        [ "$(count "\"session_id\":\"run-$number\"" "$2/$number.jsonl")" -gt 5 ]
        jsonl-log check "$2/$number.jsonl" >/dev/null
    done
}
"#;

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn a_batch_that_was_interrupted_goes_on_and_leaves_nothing_on_the_hosts() {
    let script = r#"
        setsid $E/batch.sh 24 2/host1,2/host2 runs & batch=$!
        some_have_ended() { [ "$(cat runs/batch.joblog 2>/dev/null | wc -l)" -gt 4 ]; }
        wait_for some_have_ended
        kill -TERM -$batch
        wait $batch && exit 1
        [ "$(count -v Starttime runs/batch.joblog)" -lt 24 ]
        for host in host1 host2; do
            nothing_runs() { ! ssh -n $host 'ps ax -o args' | grep -qE '[a]gent-loop|[o]ne-run'; }
            wait_for nothing_runs
        done
        $E/batch.sh 24 2/host1,2/host2 runs
        check 24 runs
        # None that had ended was made again.
        [ "$(grep -v Starttime runs/batch.joblog | cut -f1 | sort | uniq -d | wc -l)" = 0 ]
        grep -v Starttime runs/batch.joblog | cut -f2 | sort -u"#;
    let printed = run(2, &[], &format!("{CHECK}{script}"));
    assert_eq!(printed, "host1\nhost2\n");
}

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn runs_of_a_host_that_was_switched_off_are_made_on_another() {
    let script = r#"
        $E/batch.sh 16 2/host1,2/host2 runs & batch=$!
        some_have_ended() { [ "$(cut -f2 runs/batch.joblog 2>/dev/null | grep -c host2)" -gt 1 ]; }
        wait_for some_have_ended
        kill -9 $(cat .hosts/host2.pid)
        wait $batch
        check 16 runs
        grep -v Starttime runs/batch.joblog | cut -f7 | sort -u"#;
    let printed = run(2, &[], &format!("{CHECK}{script}"));
    assert_eq!(printed, "0\n", "each run has ended well");
}

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn a_job_array_makes_the_runs_of_a_failed_node_again_and_submits_only_missing_ones() {
    let script = r#"
        all_have_ended() { [ -z "$(squeue -h)" ]; }
        MODEL_SECONDS=1 $E/slurm-array.sh 10 /mnt/runs >id
        host2_works() { squeue -h -t running -w host2 | grep -q .; }
        wait_for host2_works
        kill -9 $(cat .hosts/host2.pid)
        # Slurm would wait two minutes before it starts them again.
        only_these_wait() { [ -z "$(squeue -h -t running)" ] && ! squeue -h -t pending -o %r | grep -qv BeginTime; }
        wait_for only_these_wait
        for job in $(squeue -h -t pending -o %i); do echo $job >>again; scontrol update job=$job StartTime=now; done
        [ -s again ]
        wait_for all_have_ended
        check 10 runs
        [ -z "$($E/slurm-array.sh 10 /mnt/runs)" ]
        rm runs/3.jsonl
        $E/slurm-array.sh 10 /mnt/runs >second
        [ -s second ]
        wait_for all_have_ended
        check 10 runs
        ls runs/*.jsonl | wc -l"#;
    let slurm = root().join("tests/scale/slurm");
    let printed = run(2, &[slurm.to_str().unwrap()], &format!("{CHECK}{script}"));
    assert_eq!(printed, "10\n");
}
