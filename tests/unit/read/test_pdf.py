"""PDF text within bounds, and the main content of pages."""

import io
import time
import zlib

import msgspec
import pytest

from gregor.worker.read.document import Document
from gregor.worker.read.main_text import telling_apart
from gregor.worker.read.pdf import Pdf
from gregor.worker.read.processors import Processors

pypdf = pytest.importorskip("pypdf")
pytest.importorskip("resiliparse")


def pdf(
    content: bytes = b"BT /F1 12 Tf 72 700 Td (Tide tables) Tj ET", *, bomb: int = 0, letters: bytes = b""
) -> bytes:
    """A document of one page, written by hand, with a title and a link. ``letters``: what its font says they mean."""
    meaning = b"begincmap 1 begincodespacerange <00> <ff> endcodespacerange\n%s\nendcmap" % letters
    told = b" /ToUnicode 8 0 R" if letters else b""
    stream = zlib.compress(content + b" " * bomb if bomb else content)
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /Lang (en-GB) >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Annots [6 0 R]"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica%s >>" % told,
        b"<< /Type /Annot /Subtype /Link /A << /S /URI /URI (http://a.test/next) >> >>",
        b"<< /Title (Of  tides) >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(meaning), meaning),
    ]
    file, places = io.BytesIO(b"%PDF-1.4\n"), []
    file.seek(0, 2)
    for number, text in enumerate(objects, 1):
        places.append(file.tell())
        file.write(b"%d 0 obj\n%s\nendobj\n" % (number, text))
    start = file.tell()
    file.write(b"xref\n0 9\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places))
    file.write(b"trailer << /Size 9 /Root 1 0 R /Info 7 0 R >>\nstartxref\n%d\n%%%%EOF" % start)
    return file.getvalue()


def test_a_pdf_is_read_with_its_title_language_and_links() -> None:
    said = Processors().process(Document("http://a.test/x.pdf", pdf(), "application/pdf"))
    assert (said.title, said.text, said.lang, said.cut) == ("Of tides", "Tide tables", "en-GB", "")
    assert [(link.url, link.kind) for link in said.links] == [("http://a.test/next", "a")]


def test_half_a_surrogate_pair_is_no_letter_that_could_not_be_stored() -> None:
    """A font says what its letters mean, and may say anything; both halves of a pair are one character."""
    body = pdf(
        b"BT /F1 12 Tf 72 700 Td (Tide A) Tj (B) Tj ET", letters=b"2 beginbfchar <41> <D800> <42> <D83DDE00> endbfchar"
    )
    said = Processors().process(Document("http://a.test/x.pdf", body, "application/pdf"))
    assert said.text == "Tide \ufffd\U0001f600"
    assert msgspec.msgpack.encode(said)


@pytest.mark.parametrize(
    "body",
    [
        b"%PDF-1.4\n" + b"\0" * 1000,
        pdf()[:300],
        pdf(b"BT (x) Tj " + b"q " * 2_000_000),
        pdf(bomb=300_000_000),
    ],
    ids=["garbage", "cut", "deep", "bomb"],
)
def test_a_hostile_pdf_costs_its_text_alone(body: bytes) -> None:
    begun = time.monotonic()
    said = Pdf(seconds=2.0).process(Document("http://a.test/x.pdf", body, "application/pdf"))
    assert said is None or said.cut or not said.text or said.text == "x"
    assert time.monotonic() - begun < 40.0


def test_main_content_is_kept_and_pages_are_compared_by_all() -> None:
    words = " ".join(f"The {number}th tide of the year came in at noon." for number in range(30))
    page = f"<title>T</title><nav><ul><li><a href=/>Home</a></ul></nav><main><article><p>{words}</article></main>"
    page += "<footer>Imprint</footer>"
    said = telling_apart(Processors()).process(Document("http://a.test/", page.encode(), "text/html"))
    assert "Imprint" in said.text and "Imprint" not in said.main and "30" not in said.main
    assert said.main.startswith("The 0th tide") and "Home" not in said.main


def test_a_plug_in_keeps_its_type() -> None:
    class Own:
        types = ("text/html",)

        def process(self, document: Document) -> None:
            return None

    registry = Processors()
    registry.add("own", Own())
    assert telling_apart(registry).process(Document("http://a.test/", b"<p>x", "text/html")).main == ""
