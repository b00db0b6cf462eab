"""Content codings: whole, cut, damaged, mislabelled and hostile bodies."""

import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.fetch.content_coding import CODINGS, Corrupt, Decoder, TooLarge

PAGE = b"<!doctype html><title>page</title>" + b"".join(b"<p>paragraph %d</p>\n" % n for n in range(3000))
LIMIT = 1 << 20


def raw_deflate(data: bytes) -> bytes:
    stream = zlib.compressobj(wbits=-15)
    return stream.compress(data) + stream.flush()


def zstd_streamed(data: bytes) -> bytes:
    stream = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    return stream.compress(data) + stream.flush()


ENCODERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "x-gzip": ("X-GZip", gzip.compress),
    "zlib": ("deflate", zlib.compress),
    "raw deflate": ("deflate", raw_deflate),
    "brotli": ("br", brotli.compress),
    "zstd": ("zstd", zstandard.ZstdCompressor().compress),
    "zstd streamed": ("zstd", zstd_streamed),
}
EACH = pytest.mark.parametrize(("coding", "encode"), ENCODERS.values(), ids=ENCODERS.keys())


def decode(coding: str, body: bytes, *, size: int = 4096, limit: int = LIMIT) -> tuple[bytes, str]:
    """What a body decodes to, and the fault that ended it."""
    decoder, found = Decoder(coding, limit), b""
    try:
        for start in range(0, len(body), size):
            found += decoder.feed(body[start : start + size])
        found += decoder.finish()
    except (Corrupt, TooLarge) as fault:
        return found, type(fault).__name__
    return found, ""


@EACH
@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_a_body_comes_out_whole_however_it_is_cut_into_pieces(
    coding: str, encode: Callable[[bytes], bytes], size: int
) -> None:
    assert decode(coding, encode(PAGE), size=size) == (PAGE, "")


@EACH
@pytest.mark.parametrize("data", [b"", b"a", b"<p>short</p>"])
def test_short_bodies(coding: str, encode: Callable[[bytes], bytes], data: bytes) -> None:
    assert decode(coding, encode(data)) == (data, "")


@EACH
def test_a_cut_body_is_never_taken_for_a_whole_one_and_its_beginning_is_kept(
    coding: str, encode: Callable[[bytes], bytes]
) -> None:
    body = encode(PAGE)
    found, fault = decode(coding, body[: len(body) // 2])
    assert fault == "Corrupt"
    assert PAGE.startswith(found)
    assert decode(coding, body[:-1])[1] == "Corrupt"


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_what_precedes_the_damage_is_kept(coding: str) -> None:
    body = bytearray(gzip.compress(PAGE) if coding == "gzip" else zlib.compress(PAGE))
    body[-2] ^= 0xFF
    assert decode(coding, bytes(body), size=1 << 20) == (PAGE, "Corrupt")


def test_the_fault_comes_after_the_bytes_before_it_and_then_stays() -> None:
    decoder = Decoder("gzip", 100)
    assert decoder.feed(gzip.compress(PAGE)) == PAGE[:100]
    for _ in range(2):
        with pytest.raises(TooLarge):
            decoder.feed(b"more")


@EACH
def test_the_limit_is_exact(coding: str, encode: Callable[[bytes], bytes]) -> None:
    assert decode(coding, encode(PAGE), limit=len(PAGE)) == (PAGE, "")
    assert decode(coding, encode(PAGE), limit=len(PAGE) - 1) == (PAGE[:-1], "TooLarge")


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "gzip, gzip", "zstd, br", "deflate"])
def test_a_bomb_costs_no_more_than_the_limit(coding: str) -> None:
    body = bytes(64 << 20)
    encoders: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.compress,
        "deflate": zlib.compress,
        "br": lambda data: bytes(brotli.compress(data, quality=1)),
        "zstd": zstandard.compress,
    }
    for name in coding.split(", "):
        body = encoders[name](body)
    decoder, size = Decoder(coding, LIMIT), 0
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge):
            for start in range(0, len(body), 16384):
                size += len(decoder.feed(body[start : start + 16384]))
            decoder.finish()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == LIMIT
    assert peak < 3 * LIMIT


def test_several_codings_are_removed_from_the_last_to_the_first() -> None:
    body = zstandard.compress(brotli.compress(zlib.compress(gzip.compress(PAGE))))
    assert decode(" GZIP, deflate,identity,, br,zstd", body) == (PAGE, "")


def test_too_many_codings_are_refused() -> None:
    with pytest.raises(Corrupt):
        Decoder("gzip," * 6, LIMIT).feed(b"x")


def test_gzip_members_follow_one_another_and_what_is_no_member_is_ignored() -> None:
    members = [gzip.compress(part) for part in (b"one ", b"two ", b"", b"three")]
    for size in (1, 7, 1 << 20):
        assert decode("gzip", b"".join(members), size=size) == (b"one two three", "")
        assert decode("gzip", members[0] + bytes(600) + members[1] + b"\0trailing", size=size) == (b"one two ", "")


@pytest.mark.parametrize(
    ("coding", "encode"),
    [("gzip", gzip.compress), ("deflate", zlib.compress), ("br", brotli.compress), ("zstd", zstandard.compress)],
)
@pytest.mark.parametrize("body", [b"one two three", bytes(300_000)])
def test_octets_behind_the_end_are_ignored(coding: str, encode: Callable[[bytes], bytes], body: bytes) -> None:
    for behind in (b"", b"x", b"\xfftrailing" * 900):
        for size in (1, 1000, 1 << 20):
            assert decode(coding, encode(body) + behind, size=size, limit=len(body)) == (body, "")


def test_gzip_that_is_called_deflate_is_still_gzip() -> None:
    for size in (1, 7, 1 << 20):
        assert decode("deflate", gzip.compress(PAGE), size=size) == (PAGE, "")
        assert decode("deflate, br", brotli.compress(gzip.compress(PAGE)), size=size) == (PAGE, "")


def test_zstd_frames_follow_one_another() -> None:
    skippable = b"\x53\x2a\x4d\x18" + (70000).to_bytes(4, "little") + bytes(70000)
    frames = skippable + zstandard.compress(b"one ") + skippable + zstd_streamed(b"two")
    for size in (1, 1 << 20):
        assert decode("zstd", frames, size=size) == (b"one two", "")
    assert decode("zstd", frames + b"trailing garbage")[0] == b"one two"


def test_a_zstd_window_beyond_what_the_coding_allows_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=25)
    stream = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    assert decode("zstd", stream.compress(PAGE) + stream.flush()) == (b"", "Corrupt")


@pytest.mark.parametrize("coding", sorted(CODINGS))
@pytest.mark.parametrize("body", [b"", PAGE, b"  plain text, nothing else"])
def test_a_body_that_is_plainly_not_coded_passes(coding: str, body: bytes) -> None:
    assert decode(coding, body) == (body, "")


@pytest.mark.parametrize(
    ("coding", "unknown", "body", "found"),
    [
        ("utf-8", "utf-8", PAGE, PAGE),
        ("gzip, compress", "compress", b"\x1f\x9dxx", b"\x1f\x9dxx"),
        ("aes128gcm, gzip", "aes128gcm", gzip.compress(b"secret"), b"secret"),
        ("identity", None, PAGE, PAGE),
        ("", None, PAGE, PAGE),
    ],
)
def test_an_unknown_coding_stays(coding: str, unknown: str | None, body: bytes, found: bytes) -> None:
    assert Decoder(coding, LIMIT).unknown == unknown
    assert decode(coding, body) == (found, "")


@given(
    st.lists(st.sampled_from([*sorted(CODINGS), "identity", "x"]), max_size=7).map(",".join) | st.text(max_size=20),
    st.binary(max_size=300),
    st.sampled_from([b"", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\x78\x9c", gzip.compress(PAGE)[:200]]),
    st.integers(1, 100),
)
def test_no_body_does_more_than_be_corrupt_or_too_large(header: str, data: bytes, start: bytes, size: int) -> None:
    found, _ = decode(header, start + data, size=size, limit=1000)
    assert len(found) <= 1000


@pytest.mark.parametrize(
    ("coding", "part"), [("gzip", gzip.compress(b"")), ("zstd", zstandard.ZstdCompressor().compress(b""))]
)
def test_what_expands_to_nothing_is_taken_apart_up_to_a_number_of_steps(coding: str, part: bytes) -> None:
    assert decode(coding, part * 110_000, size=1 << 20) == (b"", "TooLarge")
    assert decode(coding, part * 5_000 + ENCODERS[coding][1](b"text"), size=1 << 20) == (b"text", "")
