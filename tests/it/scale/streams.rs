//! Live streams to several readers: every one gets every line, once and in order.

use super::run;

const LINES: &str = r#"
lines() { seq "$1" | sed 's/.*/{"type":"status","n":&,"text":"äöü"}/'; }
has() { [ "$(wc -l <"$1")" = "$2" ]; }
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
"#;

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn readers_over_mqtt_get_what_was_sent_while_they_were_away() {
    let script = r#"
        printf '%s\n' 'listener 1883' 'allow_anonymous true' 'max_queued_messages 0' >mosquitto.conf
        mosquitto -c mosquitto.conf >mosquitto.log 2>&1 &
        listens() { grep -q running mosquitto.log; }
        subscribed() { [ "$(grep -c 'New client connected.* as reader' mosquitto.log)" -ge "$1" ]; }
        wait_for listens
        reader() { ssh -n $1 "$E/stream-mqtt.sh read control 'runs/#' reader-$1" >>$1.out & }
        reader host1
        reader host2
        wait_for subscribed 2
        lines 1000 | ssh host1 $E/stream-mqtt.sh publish control runs/7
        wait_for has host1.out 1000
        wait_for has host2.out 1000
        pkill -f '[r]eader-host2'
        lines 4000 | ssh host1 $E/stream-mqtt.sh publish control runs/8
        reader host2
        wait_for has host1.out 5000
        wait_for has host2.out 5000
        { lines 1000; lines 4000; } >expected
        cmp host1.out expected
        cmp host2.out expected"#;
    run(2, &[], &format!("{LINES}{script}"));
}

#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn readers_over_nats_get_what_was_sent_before_and_go_on_where_they_stopped() {
    let script = r#"
        nats-server -js -sd /mnt/nats >nats.log 2>&1 &
        is_ready() { grep -q 'Server is ready' nats.log; }
        wait_for is_ready
        lines 1000 | ssh host1 $E/stream_nats.py publish control runs.7
        reader() { ssh -n $1 "$E/stream_nats.py read control 'runs.>' reader-$1" >>$1.out & }
        reader host1
        reader host2
        wait_for has host1.out 1000
        wait_for has host2.out 1000
        pkill -f '[r]eader-host2'
        lines 1000 | ssh host1 $E/stream_nats.py publish control runs.8
        reader host2
        wait_for has host1.out 2000
        wait_for has host2.out 2000
        { lines 1000; lines 1000; } >expected
        cmp host1.out expected
        cmp host2.out expected"#;
    run(2, &[], &format!("{LINES}{script}"));
}

/// The broker is the one that librdkafka has for its own tests, on this machine only: no package of Debian, npm or PyPI has another.
#[test]
#[ignore = "needs root and what scripts/install-scale installs: scripts/test does"]
fn two_groups_of_readers_over_kafka_get_all_lines() {
    let script = r#"
        sleep 100 | kcat -X test.mock.num.brokers=1 -P -t none -b none -d mock >broker.log 2>&1 &
        is_ready() { grep -q bootstrap.servers= broker.log; }
        wait_for is_ready
        broker=$(sed -n 's/.*bootstrap.servers=//p' broker.log | head -n 1)
        lines 1000 | $E/stream-kafka.sh publish $broker runs 7
        for group in one other; do $E/stream-kafka.sh read $broker runs $group >$group.out 2>$group.err & done
        lines 1000 | $E/stream-kafka.sh publish $broker runs 7
        { lines 1000; lines 1000; } >expected
        for group in one other; do
            wait_for has $group.out 2000
            cmp $group.out expected
        done"#;
    run(1, &[], &format!("{LINES}{script}"));
}
