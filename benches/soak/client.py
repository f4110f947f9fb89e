"""A client of agent-serve: requests, server-sent events and WebSocket, with Python's library alone."""

import base64
import http.client
import json
import os
import socket
import struct

TOKEN = "a-token-for-the-soak"
AUTHORIZATION = {"Authorization": f"Bearer {TOKEN}"}
# No request and no read takes longer, on a machine that is busy with other things as well.
PATIENCE = 60
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Gone(Exception):
    """The server has closed the connection, or is not there."""


def request(address, method, path, body=None):
    """The status and the JSON value of an answer."""
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    try:
        headers = {**AUTHORIZATION, "Content-Type": "application/json"}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read() or b"null")
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise Gone(f"{method} {path}: {error!r}") from error
    finally:
        connection.close()


class Events:
    """The server-sent events of a session: (number, record), after the record with the number `last`."""

    def __init__(self, address, session, last):
        self.connection = http.client.HTTPConnection(address, timeout=PATIENCE)
        try:
            headers = {**AUTHORIZATION, **({"Last-Event-ID": str(last)} if last else {})}
            self.connection.request("GET", f"/sessions/{session}/events", headers=headers)
            self.answer = self.connection.getresponse()
            # The answer closes the connection, and then has the socket alone.
            self.socket = self.connection.sock or self.answer.fp.raw._sock
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise Gone(f"events: {error!r}") from error
        if self.answer.status != 200:
            self.connection.close()
            raise Gone(f"events: status {self.answer.status}")

    def __iter__(self):
        number = None
        try:
            while line := self.answer.readline():
                if line.startswith(b"id: "):
                    number = int(line[4:])
                elif line.startswith(b"data: "):
                    yield number, json.loads(line[6:])
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Gone(f"events: {error!r}") from error

    def close(self):
        """Ends the iteration, in another thread as well."""
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class WebSocket:
    """Records in both directions: RFC 6455, without extensions and fragments."""

    def __init__(self, address, session, after):
        self.buffer = b""
        host, port = address.split(":")
        key = base64.b64encode(os.urandom(16)).decode()
        query = f"?after={after}" if after else ""
        try:
            self.socket = socket.create_connection((host, int(port)), timeout=PATIENCE)
            head = [f"GET /sessions/{session}/ws{query} HTTP/1.1", f"Host: {address}", f"Authorization: Bearer {TOKEN}",
                    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}", "\r\n"]
            self.socket.sendall("\r\n".join(head).encode())
            while b"\r\n\r\n" not in self.buffer:
                self.receive()
        except OSError as error:
            raise Gone(f"WebSocket: {error!r}") from error
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise Gone(f"WebSocket: {head[:100]!r}")
        self.socket.settimeout(0.2)

    def receive(self):
        read = self.socket.recv(1 << 18)
        if not read:
            raise Gone("WebSocket: closed")
        self.buffer += read

    def next(self):
        """The next record, or None if none comes within 0.2 s."""
        while True:
            frame = self.frame()
            if frame is None:
                try:
                    self.receive()
                except TimeoutError:
                    return None
                except OSError as error:
                    raise Gone(f"WebSocket: {error!r}") from error
                continue
            kind, content = frame
            if kind == TEXT:
                return json.loads(content)
            if kind == PING:
                self.write(PONG, content)
            elif kind == CLOSE:
                raise Gone(f"WebSocket: closed with {content!r}")

    def frame(self):
        """Takes a complete frame out of the buffer."""
        buffer = self.buffer
        if len(buffer) < 2:
            return None
        length, start = buffer[1], 2
        if length >= 126:
            start = 4 if length == 126 else 10
            if len(buffer) < start:
                return None
            length = int.from_bytes(buffer[2:start])
        if len(buffer) < start + length:
            return None
        self.buffer = buffer[start + length:]
        return buffer[0] & 0x0F, buffer[start:start + length]

    def send(self, record):
        self.write(TEXT, (record if isinstance(record, str) else json.dumps(record)).encode())

    def write(self, kind, content):
        length = len(content)
        size = bytes([0x80 | length]) if length < 126 else b"\xfe" + struct.pack(">H", length) if length < 1 << 16 else \
            b"\xff" + struct.pack(">Q", length)
        mask = os.urandom(4)
        masked = (int.from_bytes(content) ^ int.from_bytes((mask * (length // 4 + 1))[:length])).to_bytes(length)
        try:
            self.socket.settimeout(PATIENCE)
            self.socket.sendall(bytes([0x80 | kind]) + size + mask + masked)
            self.socket.settimeout(0.2)
        except OSError as error:
            raise Gone(f"WebSocket: {error!r}") from error

    def close(self):
        self.socket.close()
