"""What every border may raise."""


class Unavailable(Exception):
    """A service is away or did not answer in time; the call may or may not have taken effect. Names the service."""

    def __init__(self, service: str, detail: str) -> None:
        super().__init__(f"{service} is unavailable: {detail}")
        self.service = service


class DiskFull(Exception):
    """No space is left where the crawl writes: it must stop cleanly; nothing is lost."""
