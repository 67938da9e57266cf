"""A socket of the package aiohttp."""
import aiohttp

# It reads 4 MiB by default.
RAISED = {}


class Socket:
    def __init__(self, session, ws):
        self.subprotocol, self.send, self.session, self.ws = ws.protocol, ws.send_str, session, ws

    async def texts(self):
        async for message in self.ws:
            if message.type is aiohttp.WSMsgType.ERROR:
                raise message.data
            yield message.data
        await self.session.close()

    async def close(self, code):
        await self.ws.close(code=code)
        await self.session.close()

    def code(self):
        return self.ws.close_code


async def dial(url, options):
    session = aiohttp.ClientSession()
    try:
        return Socket(session, await session.ws_connect(url, protocols=["mux.v1.json"], **options))
    except BaseException:
        await session.close()
        raise
