"""What a page shows by its styles and drawings: asked for only where requisites are wanted, by a look of its own."""

from collections.abc import Iterable, Mapping
from typing import Final

from lxml import etree
from selectolax.lexbor import LexborNode

from gregor.worker.read import css
from gregor.worker.read.html.collector import Collector

_SELECTED: Final = "style, [style], svg image, svg use, feImage"
_DRAWN: Final = {"image": "image", "use": "use", "feimage": "image"}
"""Elements of drawings that show what is elsewhere, and the kind of such a link."""
_HREFS: Final = ("href", "xlink:href", "{http://www.w3.org/1999/xlink}href")


def of_tree(page: Collector, root: LexborNode) -> None:
    """Add what the styles and drawings of a tree refer to."""
    for node in root.css(_SELECTED):
        _add(page, node.tag or "", node.attributes, (node.text(),) if node.tag == "style" else ())


def of_xml(page: Collector, root: etree._Element) -> None:
    """The same of a document that was read as XML."""
    for element in root.iter(etree.Element):
        name = str(element.tag).rpartition("}")[2].lower()
        attributes = {str(key): str(value) for key, value in element.attrib.items()}
        _add(page, name, attributes, map(str, element.itertext()) if name == "style" else ())


def _add(page: Collector, name: str, attributes: Mapping[str, str | None], texts: Iterable[str]) -> None:
    for styles in (*texts, attributes.get("style") or ""):
        for reference, kind in css.references(styles) if styles else ():
            page.add(reference, kind)
    if name in _DRAWN:
        reference = next((value for href in _HREFS if (value := attributes.get(href))), "").strip()
        if reference and not reference.startswith("#"):  # that is in the drawing itself
            page.add(reference, _DRAWN[name])
