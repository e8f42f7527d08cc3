"""A server that answers every request with the same hold, as cheaply as asyncio can; prints its port."""

from __future__ import annotations

import asyncio
from typing import cast

BODY = b'{"id":4711,"resourceId":7,"quantity":1,"state":"ACTIVE","revision":0,"resourceRevision":1}'
ANSWER = (
    b"HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nIdempotency-Replayed: false\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
)


class OneHold(asyncio.Protocol):
    """Counts heads, not bodies: the clients of this benchmark send both in one piece or the body last."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        """Answer once a head."""
        if b"\r\n\r\n" in data and self._transport is not None:
            self._transport.write(ANSWER)


async def main() -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_server(OneHold, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
