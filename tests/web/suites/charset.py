"""Character encodings: BOM, Content-Type, meta, XML declaration, labels (Encoding, HTML and Fetch Standards)."""

from gregor.worker.web import media_type
from gregor.worker.web.encodings import sniff
from tests.web.suites import Line, Suite, Verdict, equal, octets


def _sniffing(case: Line) -> Verdict:
    body, content_type = octets(case, "body"), case["content_type"]
    if case.get("xml") and not content_type:
        content_type = "application/xml"
    name = sniff.sniff(body[: sniff.PRESCAN], content_type, default=case["default"])
    if name not in case.get("accept", [case["encoding"]]):
        return Verdict(False, f"expected {case['encoding']}, got {name}")
    return equal(sniff.decode(body, name), case["text"]) if "text" in case else Verdict(True, "")


def _late_meta(case: Line) -> Verdict:
    return equal(sniff.sniff(octets(case, "body"), case["content_type"]), case["encoding"])


def _header(case: Line) -> Verdict:
    value = ", ".join(case["values"])
    parsed = media_type.extract(value)
    found = {"encoding": sniff.header_charset(value), "mime_type": str(parsed) if parsed else None}
    return equal({key: found[key] for key in found if key in case}, {key: case[key] for key in found if key in case})


def _label(case: Line) -> Verdict:
    return equal(sniff.lookup(case["label"]), case["encoding"])


SUITES = [
    Suite("charset/sniffing", "charset/sniffing.jsonl", "html5lib 139, w3lib 119, bs4 106 of 149", _sniffing),
    Suite("charset/late_meta", "charset/late_meta.jsonl", "html5lib 4, w3lib 2 of 4", _late_meta),
    Suite("charset/header", "charset/content_type_header.jsonl", "w3lib 58, email.message 58 of 71", _header),
    Suite("charset/labels", "charset/labels.jsonl", "", _label),
]
