"""The transports behind the border of `gregor.worker.transport`."""
