#!/usr/bin/env bash
# A live stream of records to any number of readers, over Kafka: the broker keeps the lines, so a new reader also gets the old ones.
#
# usage: agent-loop ... | tee run.jsonl | stream-kafka.sh publish BROKER:PORT TOPIC KEY       KEY: the run; its lines stay in order
#        stream-kafka.sh read BROKER:PORT TOPIC GROUP
#
# Every GROUP gets every line; readers of one group share them. Needs kcat; put its options for TLS and logins into ~/.config/kcat.conf.
# `publish` ends when stdin has ended and the brokers have received all lines (acks=all, no duplicates after a retry); `read` ends with Ctrl-C.
set -euo pipefail
case ${1:-} in
publish) exec kcat -q -P -b "$2" -t "$3" -k "$4" -X acks=all -X enable.idempotence=true ;;
read) exec kcat -q -u -b "$2" -X auto.offset.reset=earliest -G "$4" "$3" ;;
*) sed -n 's/^# usage/usage/p' "$0" >&2 && exit 2 ;;
esac
