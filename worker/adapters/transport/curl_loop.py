"""libcurl's multi interface on the running asyncio loop: sockets and timers are the loop's, there is no thread."""

import asyncio

import pycurl

from gregor.worker.spending import Spending

_READ = (pycurl.POLL_IN, pycurl.POLL_INOUT)
_WRITE = (pycurl.POLL_OUT, pycurl.POLL_INOUT)


class CurlLoop:
    """Runs easy handles; each gives a future of (curl's error number, its message), 0 meaning success."""

    def __init__(self, idle_connections: int, spending: Spending) -> None:
        self._loop = asyncio.get_running_loop()
        self._spending = spending
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, idle_connections)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._schedule)
        self._running: dict[pycurl.Curl, asyncio.Future[tuple[int, str]]] = {}
        self._watched: dict[int, int] = {}
        self._timer: asyncio.Handle | None = None

    def start(self, handle: pycurl.Curl) -> asyncio.Future[tuple[int, str]]:
        """Begin a transfer. Its callbacks run on the loop's thread, from the loop's own callbacks only."""
        future: asyncio.Future[tuple[int, str]] = self._loop.create_future()
        self._running[handle] = future
        self._multi.add_handle(handle)
        return future

    def abort(self, handle: pycurl.Curl) -> None:
        """Take a transfer off and close its connection; its future stays as it is. Not from curl's callbacks."""
        if self._running.pop(handle, None) is not None:
            self._multi.remove_handle(handle)

    def close(self) -> None:
        """End everything; transfers that run get a cancelled future."""
        for handle, future in list(self._running.items()):
            self.abort(handle)
            future.cancel()
        if self._timer is not None:
            self._timer.cancel()
        self._multi.close()

    def _watch(self, what: int, descriptor: int, multi: object, data: object) -> None:
        before = self._watched.pop(descriptor, pycurl.POLL_REMOVE)
        if what != pycurl.POLL_REMOVE:
            self._watched[descriptor] = what
        if (what in _READ) != (before in _READ):
            if what in _READ:
                self._loop.add_reader(descriptor, self._act, descriptor, pycurl.CSELECT_IN)
            else:
                self._loop.remove_reader(descriptor)
        if (what in _WRITE) != (before in _WRITE):
            if what in _WRITE:
                self._loop.add_writer(descriptor, self._act, descriptor, pycurl.CSELECT_OUT)
            else:
                self._loop.remove_writer(descriptor)

    def _schedule(self, milliseconds: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if milliseconds < 0:
            self._timer = None
        elif milliseconds == 0:
            # libcurl forbids acting on the timer from here.
            self._timer = self._loop.call_soon(self._act, pycurl.SOCKET_TIMEOUT, 0)
        else:
            self._timer = self._loop.call_later(milliseconds / 1000, self._act, pycurl.SOCKET_TIMEOUT, 0)

    def _act(self, descriptor: int, events: int) -> None:
        before = self._spending.switch("fetch")
        _, running = self._multi.socket_action(descriptor, events)
        if running < len(self._running):
            self._collect()
        self._spending.switch(before)

    def _collect(self) -> None:
        while True:
            left, succeeded, failed = self._multi.info_read()
            for handle in succeeded:
                self._finish(handle, 0, "")
            for handle, number, message in failed:
                self._finish(handle, number, message)
            if left == 0:
                return

    def _finish(self, handle: pycurl.Curl, number: int, message: str) -> None:
        future = self._running.pop(handle)
        self._multi.remove_handle(handle)
        if not future.done():
            future.set_result((number, message))
