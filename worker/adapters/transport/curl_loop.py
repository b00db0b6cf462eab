"""libcurl's multi interface on the running asyncio loop: sockets and timers are the loop's, there is no thread."""

import asyncio
import select

import pycurl

from gregor.worker.observe.cpu_time import CpuTime

_EVENTS = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}


class CurlLoop:
    """Runs easy handles; each gives a future of (curl's error number, its message), 0 meaning success.

    The loop watches one descriptor, an epoll of all of libcurl's: libcurl changes what it waits for several times a
    request, which costs a loop of Python far more than it costs epoll.
    """

    def __init__(self, idle_connections: int, cpu_time: CpuTime) -> None:
        self._loop = asyncio.get_running_loop()
        self._cpu_time = cpu_time
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, idle_connections)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._schedule)
        self._running: dict[pycurl.Curl, asyncio.Future[tuple[int, str]]] = {}
        self._watched: set[int] = set()
        self._saving = 0
        self._epoll = select.epoll()
        self._loop.add_reader(self._epoll.fileno(), self._ready)
        self._timer: asyncio.Handle | None = None

    def start(self, handle: pycurl.Curl) -> asyncio.Future[tuple[int, str]]:
        """Begin a transfer. Its callbacks run on the loop's thread, from the loop's own callbacks only."""
        future: asyncio.Future[tuple[int, str]] = self._loop.create_future()
        self._running[handle] = future
        if self._saving and len(self._running) > self._saving:
            self._save(len(self._running))
        self._multi.add_handle(handle)
        return future

    def abort(self, handle: pycurl.Curl) -> None:
        """Take a transfer off and close its connection; its future stays as it is. Not from curl's callbacks."""
        if self._running.pop(handle, None) is not None:
            self._multi.remove_handle(handle)

    def save_connections(self) -> None:
        """Descriptors are short: from the next connection on no more are open than transfers run now."""
        self._save(max(1, len(self._running)))

    def _save(self, connections: int) -> None:
        """Keep no more open than that. Never fewer than run: libcurl would let the others wait."""
        self._saving = connections
        self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, connections)

    def close(self) -> None:
        """End everything; transfers that run get a cancelled future."""
        for handle, future in list(self._running.items()):
            self.abort(handle)
            future.cancel()
        if self._timer is not None:
            self._timer.cancel()
        self._multi.close()
        self._loop.remove_reader(self._epoll.fileno())
        self._epoll.close()

    def _watch(self, what: int, descriptor: int, multi: object, data: object) -> None:
        events = _EVENTS.get(what)
        if events is None:
            if descriptor in self._watched:
                self._watched.remove(descriptor)
                self._epoll.unregister(descriptor)
        elif descriptor in self._watched:
            self._epoll.modify(descriptor, events)
        else:
            self._watched.add(descriptor)
            self._epoll.register(descriptor, events)

    def _schedule(self, milliseconds: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if milliseconds < 0:
            self._timer = None
        elif milliseconds == 0:
            self._timer = self._loop.call_soon(self._on_time)  # libcurl forbids acting on the timer from here
        else:
            self._timer = self._loop.call_later(milliseconds / 1000, self._on_time)

    def _on_time(self) -> None:
        self._act([(pycurl.SOCKET_TIMEOUT, 0)])

    def _ready(self) -> None:
        self._act(self._epoll.poll(0))

    def _act(self, ready: list[tuple[int, int]]) -> None:
        """Let libcurl go on with sockets that are ready. An error is read, as the end is."""
        before = self._cpu_time.switch("fetch")
        running = len(self._running)
        for descriptor, events in ready:
            reads = pycurl.CSELECT_IN if events & ~select.EPOLLOUT else 0
            writes = pycurl.CSELECT_OUT if events & select.EPOLLOUT else 0
            _, running = self._multi.socket_action(descriptor, reads | writes)
        if running < len(self._running):
            self._collect()
        self._cpu_time.switch(before)

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
