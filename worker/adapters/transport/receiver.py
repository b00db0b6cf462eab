"""The body of one answer on its way in: content codings removed step by step, every size capped."""

from gregor.worker.decoding import Corrupt, Decoder, TooLarge
from gregor.worker.documents import SpooledBody
from gregor.worker.transport import Limits, Truncation


class Receiver:
    """Takes the pieces of a body as they arrive.

    After the last piece call `finish`. Then `truncated` or `corrupt` say what was wrong.
    """

    def __init__(self, headers: list[tuple[str, str]], limits: Limits) -> None:
        coding = ", ".join(value for name, value in headers if name.lower() == "content-encoding").strip()
        self._limits = limits
        self._decoder = Decoder(coding, limits.max_body) if coding and coding.lower() != "identity" else None
        self.wire = SpooledBody(cap=limits.max_wire)
        self.body = SpooledBody(cap=limits.max_body) if self._decoder else self.wire
        self.truncated: Truncation | None = None
        self.corrupt: str | None = None

    def feed(self, piece: bytes) -> bool:
        """Take a piece as received; False when no more is wanted."""
        room = (self._limits.max_wire if self._decoder else min(self._limits.max_wire, self._limits.max_body)) - (
            self.wire.size
        )
        over = len(piece) > room
        if over:
            piece = piece[:room]
            self.truncated = "size"
        self.wire.write(piece)
        if self._decoder is not None:
            self._decode(self._decoder, piece)
        return not over and self.truncated is None and self.corrupt is None

    def finish(self, truncated: Truncation | None) -> None:
        """No more comes; `truncated` says why, None at the regular end."""
        self.truncated = self.truncated or truncated
        if self._decoder is not None and self.truncated is None and self.corrupt is None:
            try:
                self.body.write(self._decoder.finish())
            except Corrupt as fault:
                self.corrupt = str(fault)
            except TooLarge:
                self.truncated = "size"

    def close(self) -> None:
        """Drop what was received."""
        self.wire.close()
        self.body.close()

    def _decode(self, decoder: Decoder, piece: bytes) -> None:
        try:
            self.body.write(decoder.feed(piece))
        except TooLarge:
            self.truncated = "size"
        except Corrupt as fault:
            self.corrupt = str(fault)
