"""Bodies whose framing is broken: what browsers show is kept, and never taken for whole when nobody can say it is."""

from gregor.worker.borders.transport import Failure, Limits
from tests.contract.test_transports import World, case

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


async def comes(world: World, raw: bytes, body: bytes, truncated: str | None) -> None:
    """An answer is read so; or curl says "protocol", so that the caller can try the other transport."""
    world.origin.raw("/", raw)
    result = await world.fetch("/")
    if isinstance(result, Failure):
        assert (world.kind, result.kind) == ("curl", "protocol"), raw
    else:
        assert (result.body.read(), result.truncated) == (body, truncated), raw


@case
async def test_a_length_that_is_none_leaves_a_mark(world: World) -> None:
    for length in (b"-5", b"+5", b"0x5", b"5.0", b"5 5", b"5;x", b"many", b"", b" ", b","):
        await comes(world, OK + b"Content-Length: " + length + b"\r\n\r\nhello and more", b"hello and more", "length")


@case
async def test_a_length_that_is_not_reached_is_a_cut(world: World) -> None:
    for length in (b"6", b"9223372036854775807", b"18446744073709551621", b"9" * 100):
        await comes(world, OK + b"Content-Length: " + length + b"\r\n\r\nhello", b"hello", "cut")


@case
async def test_the_same_length_twice_is_one(world: World) -> None:
    for lines in (
        b"Content-Length: 5\r\nContent-Length: 5\r\n",
        b"Content-Length: 5, 5\r\n",
        b"Content-Length: 05\r\n",
    ):
        await comes(world, OK + lines + b"\r\nhello and more", b"hello", None)


@case
async def test_lengths_that_contradict_each_other_are_refused(world: World) -> None:
    for lines in (
        b"5\r\nContent-Length: 6",
        b"5, 6",
        b"-5\r\nContent-Length: 5",
        b"5\r\nContent-Length: x",
        b"5\r\nContent-Length:",
    ):
        world.origin.raw("/", OK + b"Content-Length: " + lines + b"\r\n\r\nhello and more")
        assert (await world.failure("/")).kind == "protocol", lines


@case
async def test_a_blank_before_the_colon_changes_nothing(world: World) -> None:
    for blank in (b" ", b"\t", b" \t "):
        for close in (True, False):
            answers = {
                OK + b"Content-Length" + blank + b": 5\r\n\r\nhello": b"hello",
                OK + b"Content-Length" + blank + b": 5\r\n\r\nhello and more": b"hello",
                OK + b"Content-Length" + blank + b": 0\r\n\r\n": b"",
                OK + b"Transfer-Encoding" + blank + b": chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n": b"hello",
            }
            for raw, body in answers.items():
                world.origin.raw("/", raw, close=close)
                page = await world.page("/")
                assert (page.body.read(), page.truncated) == (body, None), (raw, close)
                assert page.elapsed < 1, "it waited for the end of a connection that stays"


@case
async def test_a_page_in_chunks_of_one_octet_comes_whole(world: World) -> None:
    body = b"word " * 80_000
    chunks = b"".join(b"1\r\n%c\r\n" % octet for octet in body)
    world.origin.raw("/", CHUNKED + chunks + b"0\r\n\r\n", close=False)
    page = await world.page("/", limits=Limits())
    assert (page.body.read(), page.truncated) == (body, None)


@case
async def test_chunks_override_a_length(world: World) -> None:
    for length in (b"3", b"-3", b"99"):
        raw = OK + b"Content-Length: " + length + b"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
        await comes(world, raw, b"hello", None)


@case
async def test_chunks_as_browsers_take_them(world: World) -> None:
    for chunks in (
        b"5\r\nhello\r\n0\r\n\r\n",
        b"5\nhello\n0\n\n",
        b"0005 \r\nhello\r\n000\r\n\r\n",
        b'2;a="b;c"\r\nhe\r\n3 ; d\r\nllo\r\n0\r\n\r\n',
        b"5\r\nhello\r\n0\r\nno trailer at all\r\n\r\n",
        b"5\r\nhello\r\n0\r\n",  # the last chunk has come: RFC 9112 section 8
    ):
        await comes(world, CHUNKED + chunks, b"hello", None)


@case
async def test_what_is_no_chunk_ends_the_body_with_a_mark(world: World) -> None:
    for size in (b"-5", b"+5", b"0x5", b"5g", b"5_0", b" 5", b"5 5", b"5\0", b"", b"zz", b"f" * 17, b"0g", b"0x0"):
        await comes(world, CHUNKED + b"3\r\nabc\r\n" + size + b"\r\nhello: x\r\n\r\n0\r\n\r\n", b"abc", "cut")
    for rest in (b"hello and more\r\n0\r\n\r\n", b"hello5\r\nworld\r\n0\r\n\r\n", b"hello\r\n0"):
        await comes(world, CHUNKED + b"5\r\n" + rest, b"hello", "cut")


@case
async def test_other_transfer_codings_are_refused(world: World) -> None:
    for coding in (b"gzip", b"gzip, chunked", b"xchunked", b"chunked;x=1"):
        world.origin.raw("/", OK + b"Transfer-Encoding: " + coding + b"\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        assert (await world.failure("/")).kind == "protocol", coding


@case
async def test_a_nul_never_joins_what_stands_around_it(world: World) -> None:
    world.origin.raw("/", b"HTTP/1.1 302 Found\r\nLocation: http://a\0b.test/\r\nContent-Length: 0\r\n\r\n")
    result = await world.fetch("/")
    assert isinstance(result, Failure) or result.header("location") == "http://a b.test/"


@case
async def test_a_connection_serves_on_after_chunks(world: World) -> None:
    world.origin.raw("/chunks", CHUNKED + b"5\r\nhello\r\n0\r\n\r\n", close=False)
    for _ in range(3):
        assert (await world.page("/chunks")).body.read() == b"hello"
    assert world.origin.connections == 1
