"""The transports behind the border of `gregor.worker.borders.transport`."""
