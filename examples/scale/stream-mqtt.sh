#!/usr/bin/env bash
# A live stream of records to any number of readers, over MQTT: every reader gets every line once, also those sent while it was away.
#
# usage: agent-loop ... | tee run.jsonl | stream-mqtt.sh publish BROKER TOPIC        TOPIC: such as runs/7
#        stream-mqtt.sh read BROKER TOPIC NAME                                      TOPIC may have wildcards: runs/#
#
# Each reader needs its own NAME: the broker keeps the lines that this reader has not read (-c). A reader gets the lines that are sent after
# its first start. Mosquitto keeps 1,000 lines for each reader and then drops lines: set max_queued_messages 0 in its configuration.
# `publish` ends when stdin has ended and the broker has received all lines; `read` ends with Ctrl-C. Give -u, -P and --cafile for a broker with a login.
set -euo pipefail
case ${1:-} in
publish) exec mosquitto_pub -h "$2" -t "$3" -q 2 -l ;;
read) exec mosquitto_sub -h "$2" -t "$3" -q 2 -c -i "$4" ;;
*) sed -n 's/^# usage/usage/p' "$0" >&2 && exit 2 ;;
esac
