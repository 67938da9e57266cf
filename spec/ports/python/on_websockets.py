"""A socket of the package websockets."""
import websockets

# It reads 1 MiB by default.
RAISED = {}


class Socket:
    def __init__(self, ws):
        self.subprotocol, self.send, self.close, self.ws = ws.subprotocol, ws.send, ws.close, ws

    async def texts(self):
        async for text in self.ws:
            yield text

    def code(self):
        return self.ws.close_code


async def dial(url, options):
    return Socket(await websockets.connect(url, subprotocols=["mux.v1.json"], **options))
