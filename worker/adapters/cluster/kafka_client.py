"""What every Kafka client of a worker has in common: its settings, and its one thread.

librdkafka's calls block, and its callbacks come on whatever thread polls. So one thread does nothing but polling: it
runs what was given to `KafkaThread.call`, then polls producer and consumer, and hands all results of a round to the
event loop at once.
"""

import asyncio
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException

from gregor.worker.base.errors import BadInput
from gregor.worker.base.printable import one_line
from gregor.worker.borders.errors import Unavailable
from gregor.worker.config.servers import Servers, password

ClientOptions = dict[str, Any]

_CLOSE_TIMEOUT: Final = 10.0


class KafkaFailed(Exception):
    """The Kafka thread died, or is closed: the log cannot be used any more."""


def client_settings(servers: Servers, environ: Mapping[str, str] = os.environ) -> ClientOptions:
    """The settings of any client. Raises BadInput when a secret cannot be had."""
    settings: ClientOptions = {
        "bootstrap.servers": ",".join(servers.kafka),
        "client.id": "gregor",
        "broker.address.family": "v4",
        "socket.timeout.ms": int(servers.server_timeout * 1000),
        "socket.keepalive.enable": True,
        "reconnect.backoff.max.ms": 1000,
        # Else librdkafka writes a line to standard error for every failed connection.
        "log_level": 0,
        "security.protocol": servers.kafka_security,
    }
    if servers.kafka_ca_file:
        settings["ssl.ca.location"] = servers.kafka_ca_file
    if servers.kafka_security.startswith("sasl"):
        settings |= _sasl(servers, environ)
    return settings


def _sasl(servers: Servers, environ: Mapping[str, str]) -> ClientOptions:
    if servers.kafka_sasl_mechanism == "AWS_MSK_IAM":
        return {"sasl.mechanism": "OAUTHBEARER", "oauth_cb": _iam_token(environ)}
    return {
        "sasl.mechanism": servers.kafka_sasl_mechanism,
        "sasl.username": servers.kafka_username,
        "sasl.password": password(servers, "kafka", environ),
    }


def _iam_token(environ: Mapping[str, str]) -> Callable[[str], tuple[str, float]]:
    """A source of tokens signed by the AWS role of this process."""
    try:
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider  # type: ignore[import-not-found]
    except ImportError:
        raise BadInput("kafka_sasl_mechanism AWS_MSK_IAM needs the package aws-msk-iam-sasl-signer-python") from None
    region = environ.get("AWS_REGION") or environ.get("AWS_DEFAULT_REGION")
    if not region:
        raise BadInput("kafka_sasl_mechanism AWS_MSK_IAM: set the environment variable AWS_REGION")

    def token(_config: str) -> tuple[str, float]:
        text, expires_ms = MSKAuthTokenProvider.generate_auth_token(region)
        return text, expires_ms / 1000

    return token


def unavailable(error: KafkaError | KafkaException) -> Unavailable:
    """What a client's error is at the border."""
    if isinstance(error, KafkaException):
        error = error.args[0]
    detail = f"{error.name()}: {error.str()}" if isinstance(error, KafkaError) else str(error)
    return Unavailable("Kafka", one_line(detail, 300))


class KafkaThread:
    """Polls, in rounds, until it is closed. A failure in it ends all that waits, by way of ``when_ended``."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._calls: deque[Callable[[], None]] = deque()
        self._results: list[Callable[[], None]] = []
        self._closing = False
        self._failure: KafkaFailed | None = None
        self._ended = asyncio.Event()

    def start(
        self, poll: Callable[[], None], close: Callable[[], None], when_ended: Callable[[KafkaFailed], None]
    ) -> None:
        """``poll`` runs on the thread, for some milliseconds at most if nothing happens, ``close`` at its end.

        ``when_ended`` runs on the event loop.
        """
        threading.Thread(target=self._run, args=(poll, close, when_ended), name="kafka", daemon=True).start()

    def call(self, call: Callable[[], None]) -> None:
        """Run something on the thread, soon. From the event loop; raises `KafkaFailed`."""
        if self._failure is not None:
            raise self._failure
        self._calls.append(call)

    def tell(self, result: Callable[[], None]) -> None:
        """Run something on the event loop, at the end of this round. From the thread."""
        self._results.append(result)

    async def close(self) -> None:
        """End the thread after what was called. May be repeated. Raises TimeoutError while a call of it hangs."""
        self._closing = True
        async with asyncio.timeout(_CLOSE_TIMEOUT):
            await self._ended.wait()

    def _run(
        self, poll: Callable[[], None], close: Callable[[], None], when_ended: Callable[[KafkaFailed], None]
    ) -> None:
        failure = KafkaFailed("the log is closed")
        try:
            while not self._closing or self._calls:
                while self._calls:
                    self._calls.popleft()()
                poll()
                if self._results:
                    results, self._results = self._results, []
                    self._loop.call_soon_threadsafe(_run_all, results)
            close()
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits, who raises it
            failure = KafkaFailed(f"the Kafka thread died: {error!r}")
            failure.__cause__ = error

        def end() -> None:
            _run_all(self._results)
            self._failure = failure
            when_ended(failure)
            self._ended.set()

        self._loop.call_soon_threadsafe(end)


def _run_all(calls: list[Callable[[], None]]) -> None:
    for call in calls:
        call()
