#!/usr/bin/env python3
"""A live stream of records to any number of readers, over NATS JetStream: the server keeps the lines, so a reader gets all of them.

usage: agent-loop ... | tee run.jsonl | stream_nats.py publish SERVER SUBJECT        SUBJECT: such as runs.7
       stream_nats.py read SERVER SUBJECT NAME                                      SUBJECT may have wildcards: runs.>

Each reader needs its own NAME; it continues where it has stopped. Needs `nats-server -js` and nats-py (PyPI). `publish` ends when stdin has
ended and the server has stored every line; `read` ends with Ctrl-C. A line may have up to 1 MB (max_payload of the server).
"""
import asyncio
import sys

import nats


async def main(mode, server, subject, name=None):
    client = await nats.connect(server, max_reconnect_attempts=-1)
    stream = client.jetstream()
    # The first part of the subject is the stream: runs.7 and runs.8 are in the stream "runs".
    topic = subject.split(".")[0]
    await stream.add_stream(name=topic, subjects=[f"{topic}.>"])
    if mode == "publish":
        lines = asyncio.StreamReader(limit=1 << 20)
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        async for line in lines:
            await stream.publish(subject, line.rstrip(b"\n"))
    else:
        reader = await stream.subscribe(subject, durable=name, manual_ack=True)
        async for message in reader.messages:
            sys.stdout.buffer.write(message.data + b"\n")
            sys.stdout.buffer.flush()
            await message.ack()
    await client.close()


try:
    asyncio.run(main(*sys.argv[1:]))
except KeyboardInterrupt:
    pass
