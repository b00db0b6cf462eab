"""For all tests.

A shell that runs the tests in the background ignores Ctrl-C, and what is ignored is handed down: the processes that
tests interrupt must not inherit that. How long an example of Hypothesis takes says how busy the machine is. A command
that a test runs in this process configures its log: what it set ends with the test. Profile "any" is for who asks only
whether there is an example, and not for the least one.
"""

import logging
import signal

import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("any", settings.get_profile("patient"), phases=(Phase.explicit, Phase.generate))
settings.load_profile("patient")

for _signal in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_signal) == signal.SIG_IGN:
        signal.signal(_signal, signal.default_int_handler if _signal == signal.SIGINT else signal.SIG_DFL)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Bytes are told by their number: compressed ones say when, and a test has one name in every process."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """The log is as no command had configured it."""
    root = logging.getLogger()
    for handler in root.handlers[:]:
        if type(handler).__module__ == "gregor.worker.observe.logging":
            root.removeHandler(handler)
    root.setLevel(logging.WARNING)
    logging.getLogger("gregor").setLevel(logging.NOTSET)
