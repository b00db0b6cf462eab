"""The language of a document: as it says, else as its text looks; nothing where that tells too little."""

import asyncio
import sys

import pytest

from gregor.worker.fetch.outcomes import Fetched
from gregor.worker.read import languages
from tests.unit.test_examine import examiner, response, ticket, url

ENGLISH = (
    "The cat sits on the roof and looks at the birds that are searching for worms in the garden while the dog sleeps "
    "below the old tree and dreams of what there will be for dinner."
)
GERMAN = (
    "Die Katze sitzt auf dem Dach und schaut den Vögeln zu, die im Garten nach Würmern suchen, während der Hund unter "
    "dem alten Baum schläft und davon träumt, was es am Abend zu essen geben wird."
)
FRENCH = (
    "Le chat est assis sur le toit et regarde les oiseaux qui cherchent des vers dans le jardin, pendant que le chien "
    "dort sous le vieil arbre et rêve de ce qu'il y aura pour le dîner."
)
RUSSIAN = (
    "Кошка сидит на крыше и смотрит на птиц, которые ищут червей в саду, пока собака спит под старым деревом. Это было "
    "давно, ещё до того, как мы переехали в город, и с тех пор многое изменилось, но сад остался таким же."
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        (FRENCH, "fr"),
        (RUSSIAN, "ru"),
        ("猫は屋根の上に座って、庭で虫を探している鳥を見ています。犬は眠っています。", "ja"),
        ("猫坐在屋顶上，看着在花园里寻找虫子的鸟，而狗在大树下面安静地睡觉。", "zh"),
        ("고양이는 지붕 위에 앉아 정원에서 벌레를 찾는 새들을 보고 있습니다. 개는 자고 있습니다.", "ko"),
        ("แมวนั่งอยู่บนหลังคาและมองดูนกที่กำลังหาหนอนในสวน", "th"),
        (f"{ENGLISH} She calls it 猫.", "en"),
        ("Short.", ""),
        ("", ""),
        ("1 2 3 " * 100, ""),
        ("\ud800" * 200, ""),
    ],
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert languages.detected(text, "text/html") == language
    assert languages.detected(text, "text/html") == language, "always the same"


@pytest.mark.parametrize("media", ["text/css", "application/json", "text/javascript", "text/csv", "application/xml"])
def test_what_is_written_for_programs_has_none(media: str) -> None:
    assert languages.detected(GERMAN, media) == ""
    assert languages.detected(GERMAN, "application/xhtml+xml") == "de"


@pytest.mark.parametrize(
    ("lang", "header", "said"),
    [
        ("en", "de", "en"),
        (None, "de", "de"),
        ("", "pt-BR", "pt-BR"),
        (None, "de, en", ""),
        (None, "?", ""),
        (None, None, ""),
    ],
)
def test_what_a_document_says(lang: str | None, header: str | None, said: str) -> None:
    assert languages.declared(lang, header) == said


@pytest.mark.parametrize(
    ("html", "header", "language"),
    [
        ("<html lang=fr>", "de", "fr"),
        ("<html>", "de-AT", "de-AT"),
        ("<html>", "", "en"),
        ("<html lang='  '>", "", "en"),
    ],
)
def test_what_is_said_wins_and_else_the_text_decides(html: str, header: str, language: str) -> None:
    at = url("http://host/")
    answer = response(f"{html}<p>{ENGLISH}".encode(), *([("Content-Language", header)] if header else []))
    page = asyncio.run(examiner().of(ticket(at), at, Fetched(answer))).page
    assert page is not None and page.language == language


def test_without_the_extra_nothing_is_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    languages._is_installed.cache_clear()
    monkeypatch.setitem(sys.modules, "resiliparse", None)
    monkeypatch.setattr(languages, "find_spec", lambda name: None)
    assert languages.detected(ENGLISH, "text/html") == ""
    languages._is_installed.cache_clear()
