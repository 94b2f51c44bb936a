"""Answers that are computed while the request still comes, for clients that read nothing before they have sent it all.

Most clients are such: without this, they would wait until somebody reads their body, and the server until somebody reads
its answer.
"""

import asyncio
from collections import deque
from typing import AsyncIterator, Awaitable, Callable

__all__ = ["computed_ahead"]

_IN_MEMORY = 4  # blocks that wait for the client; more go into files, or wait themselves


async def computed_ahead(blocks: AsyncIterator, body_comes: Callable[[], bool],
                         filed: Callable[[object], Awaitable]) -> AsyncIterator:
    """Yield the blocks of an iterator, which another task asks for them.

    Parameters
    ----------
    blocks : asynchronous generator
    body_comes : callable
        Whether the client still sends. As long as it does, blocks are computed whether or not it takes them.
    filed : callable
        Returns a block whose memory is a file.
    """
    ready, arrived, taken, failed = deque(), asyncio.Event(), asyncio.Event(), []

    async def produce():
        try:
            async for block in blocks:
                while len(ready) >= _IN_MEMORY and not body_comes():
                    taken.clear()
                    await taken.wait()
                ready.append(block if len(ready) < _IN_MEMORY else await filed(block))
                arrived.set()
        except Exception as error:
            failed.append(error)

    producer = asyncio.get_running_loop().create_task(produce())
    producer.add_done_callback(lambda _: arrived.set())
    try:
        while True:
            await arrived.wait()
            arrived.clear()
            while ready:
                taken.set()
                yield ready.popleft()
            if producer.done():
                break
        if failed:
            raise failed[0]
    finally:
        producer.cancel()
        await asyncio.gather(producer, return_exceptions=True)
        await blocks.aclose()
