"""For all tests: a shell that runs the tests in the background ignores Ctrl-C, and what is ignored is handed down.

The processes that tests interrupt must not inherit that.
"""

import signal

for _signal in (signal.SIGINT, signal.SIGHUP):
    if signal.getsignal(_signal) == signal.SIG_IGN:
        signal.signal(_signal, signal.default_int_handler if _signal == signal.SIGINT else signal.SIG_DFL)
