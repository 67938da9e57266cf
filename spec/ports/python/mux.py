"""A dialer of mux.v1.json over any socket, with one call at a time: streams, resets, fragments, pings and the close."""
import json

# A code point of the encoded payload takes at most 4 bytes in its fragment. So no message has more than 65 536.
SLICE = 16_000
REFUSED, CANCEL = 7, 8


class Reset(Exception):
    """The remote has reset the stream, or ended the socket. Its arguments are the code and the payload."""


def encoded(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Mux:
    def __init__(self, socket):
        self.socket, self.stream, self.goaway = socket, -1, None

    async def frames(self):
        """The frames of the current stream, until the socket has ended."""
        try:
            async for text in self.socket.texts():
                frame = json.loads(text)
                if await self.is_mine(frame):
                    yield frame
        except (ValueError, KeyError, TypeError) as error:
            await self.end(1, 1002, reason=str(error))

    async def is_mine(self, frame):
        """Handles a frame of the connection."""
        kind, stream = frame["type"], frame.get("stream")
        if kind == "ping":
            await self.send("pong", nonce=frame.get("nonce"))
        elif kind == "goaway":
            self.goaway = frame.get("code", 0)
        elif kind == "open" and stream % 2 == 1:
            raise ValueError("expected an even stream id")
        elif kind == "open" and not frame.get("more"):
            await self.send("reset", stream, code=REFUSED)
        return kind in ("data", "reset") and stream == self.stream

    async def send(self, type, stream=None, **fields):
        """Sends a frame: `type`, `stream`, then the other keys in order, without the fields at their default."""
        keys = {"type": type, "stream": stream, **dict(sorted(fields.items()))}
        await self.socket.send(encoded({key: value for key, value in keys.items() if value is not None}))

    async def call(self, payload, most=None):
        """Opens a stream, and returns its payloads, or cancels it after the first of them."""
        self.stream += 2
        text = encoded(payload)
        *slices, last = [text[at : at + SLICE] for at in range(0, len(text), SLICE)]
        for fragment in slices:
            await self.send("open", self.stream, fragment=fragment, more=True)
        await self.send("open", self.stream, end=True, **({"fragment": last} if slices else {"payload": payload}))
        got, parts = [], []
        async for frame in self.frames():
            parts.append(frame.get("fragment", ""))
            if frame.get("more"):
                continue
            whole, parts = "".join(parts), []
            if frame["type"] == "reset":
                raise Reset(frame.get("code"), frame.get("payload"))
            if whole or "payload" in frame:
                got.append(json.loads(whole) if whole else frame["payload"])
            if frame.get("end"):
                return got
            if len(got) == most:
                await self.send("reset", self.stream, code=CANCEL)
                return got
        raise Reset(None, None)

    async def end(self, code=0, close=1000, **reason):
        await self.send("goaway", code=code, last_stream=0, **reason)
        await self.socket.close(close)
