import hashlib
from pathlib import Path

import pytest

from gregor.worker.base.spooled import BodyTooLarge, SpooledBody
from gregor.worker.read.document import Document


@pytest.mark.parametrize("size", [0, 10, 70_000, 300_000])
def test_a_spooled_body_reads_the_same_in_memory_and_from_its_file(size: int) -> None:
    data = bytes(range(256)) * (size // 256 + 1)
    data = data[:size]
    body = SpooledBody(cap=400_000, threshold=65_536)
    for start in range(0, size, 999):
        body.write(data[start : start + 999])
    assert (body.size, body.sha256) == (size, hashlib.sha256(data).hexdigest())
    assert (body.read(), body.read(), body.read(7)) == (data, data, data[:7])
    with body.open() as one, body.open() as other:
        assert one.read(100) + other.read(50) + one.read() == data[:100] + data[:50] + data[100:]
        one.seek(-5, 2)
        assert one.read() == data[-5:]
    body.close()
    body.close()


def test_the_cap_holds_and_the_file_goes(tmp_path: Path) -> None:
    body = SpooledBody(cap=100_000, threshold=65_536, folder=str(tmp_path))
    body.write(b"x" * 100_000)
    with pytest.raises(BodyTooLarge):
        body.write(b"y")
    assert body.size == 100_000
    body.close()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="threshold"):
        SpooledBody(cap=1, threshold=2**30)


def test_one_download_serves_many_readers() -> None:
    spooled = SpooledBody(cap=1000)
    spooled.write(b"<html>x")
    for body in (b"<html>x", spooled):
        document = Document("http://a.test/", body, "application/octet-stream;charset=KOI8-R")
        assert (document.content_type, document.header_charset, document.size) == ("text/html", "koi8-r", 7)
        assert document.read() == document.open().read() == document.read()
        assert document.sha256 == hashlib.sha256(b"<html>x").hexdigest()
