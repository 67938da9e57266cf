"""Runs a library's socket: `program.py LIBRARY MODE URL`. Each mode but `hello` prints a line of JSON."""
import asyncio
import contextlib
import importlib
import json
import sys

from mux import Mux, Reset

BIG = 'é😀"x' * 125_000


async def facts(library, url):
    """What a library does by its defaults: the subprotocol that it finds, and the first message or why there is none."""
    socket = await library.dial(url, {})
    found = {"subprotocol": socket.subprotocol, "pieces": 1}
    try:
        async for text in socket.texts():
            found["characters"] = len(text)
            break
    except Exception as error:
        found["error"] = str(error)
    await socket.close(1000)
    return found


@contextlib.asynccontextmanager
async def connected(library, url):
    socket = await library.dial(url, library.RAISED)
    if socket.subprotocol != "mux.v1.json":
        await socket.close(1008)
        raise ValueError(f"expected the subprotocol mux.v1.json, got {socket.subprotocol}")
    yield Mux(socket)


async def hello(library, url):
    async with connected(library, url) as mux:
        assert await mux.call(["check.echo", "hello"]) == ["hello"]
        await mux.end()


async def calls(library, url):
    async with connected(library, url) as mux:
        found = {
            "echo": await mux.call({"op": "echo", "value": "é😀"}),
            "count": len(await mux.call({"op": "count"})),
            "first": await mux.call({"op": "ticks"}, 3),
            "cause": await mux.call({"op": "cause"}),
            "pinged": await mux.call({"op": "ping"}),
            "big": await mux.call({"op": "echo", "value": BIG}) == [BIG],
        }
        try:
            await mux.call({"op": "fail"})
        except Reset as reset:
            found["failed"] = reset.args
        await mux.end()
    async with connected(library, url) as mux:
        await mux.call({"op": "leave"})
        async for _ in mux.frames():
            pass
    return {**found, "goaway": mux.goaway, "close": mux.socket.code()}


library, mode, url = sys.argv[1:]
found = asyncio.run(globals()[mode](importlib.import_module(library), url))
if found is not None:
    print(json.dumps(found))
