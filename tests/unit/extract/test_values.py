"""Texts as numbers, dates, URLs and truth."""

from decimal import Decimal
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gregor.worker.extract import prices, values
from gregor.worker.extract.model import FieldKind, KindName, NotOfType
from gregor.worker.extract.numbers import decimal
from tests.unit.extract.made import parsed

AT = 1_800_000_000.0
"""2027-01-15, 08:00 UTC."""


@pytest.mark.parametrize(
    ("text", "language", "number"),
    [
        ("12", "", "12"),
        ("-12.5", "", "-12.5"),
        ("−3", "", "-3"),
        ("$1,234.50", "", "1234.50"),
        ("1.234,50 €", "", "1234.50"),
        ("1 234,50", "", "1234.50"),
        ("1\u00a0234\u00a0567", "", "1234567"),
        ("1'234.50", "", "1234.50"),
        ("1’234", "", "1234"),
        ("12,34,567", "", "1234567"),
        ("1.234.567", "", "1234567"),
        ("1,234", "", "1234"),
        ("1,234", "en-GB", "1234"),
        ("1,234", "de", "1.234"),
        ("1.234", "de-AT", "1234"),
        ("1.234", "en", "1.234"),
        ("0,5", "en", "0.5"),
        ("0.500", "", "0.500"),
        (",5", "", "0.5"),
        ("4 pieces", "", "4"),
        ("No. 7", "", "7"),
        ("Terminal-2", "", "2"),
        ("10 - 20", "", None),
        ("1.2.3", "", None),
        ("none", "", None),
        ("", "", None),
        ("1" * 200, "", None),
        ("٣", "", "3"),
        ("۱٬۲۳۴", "fa", "1234"),
        ("١٫٥", "ar", "1.5"),
        ("１，２３４", "ja", "1234"),
        ("x²", "", None),
        ("No.7", "", "7"),
        ("1.2k", "", None),
        ("5M views", "", None),
        ("1,5 Mio.", "de", None),
        ("2 thousand", "", None),
        ("3万", "ja", None),
        ("3 millimetres", "", "3"),
    ],
)
def test_numbers(text: str, language: str, number: str | None) -> None:
    assert decimal(text, language) == (None if number is None else Decimal(number))


@given(
    st.decimals(min_value=0, max_value=10**12, places=2),
    st.sampled_from(
        [(",", ".", "en"), (".", ",", "de"), (" ", ",", "fr"), ("\u202f", ",", ""), ("'", ".", ""), ("", ".", "")]
    ),
    st.sampled_from(["{}", "{} €", "EUR {}", "-{}"]),
)
def test_a_number_is_read_as_it_was_written(number: Decimal, how: tuple[str, str, str], around: str) -> None:
    group, point, language = how
    written = f"{number:,.2f}".replace(",", "\0").replace(".", point).replace("\0", group)
    assert decimal(around.format(written), language) == (-number if around.startswith("-") else number)


@given(st.text(alphabet="0123456789., '-+eE€\u00a0٣", max_size=30), st.sampled_from(["", "de", "en", "xx"]))
def test_no_text_breaks_numbers(text: str, language: str) -> None:
    number = decimal(text, language)
    assert number is None or number.is_finite()


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (FieldKind("int"), "1,234 views", 1234),
        (FieldKind("int"), "12.0", 12),
        (FieldKind("float"), "12.5", 12.5),
        (FieldKind("decimal"), "12.50", "12.50"),
        (FieldKind("float"), "1.5e3", 1500.0),
        (FieldKind("decimal"), "-2E-3", "-0.002"),
        (FieldKind("bool"), "Yes", True),
        (FieldKind("bool"), "nein", False),
        (FieldKind("url"), "../b", "https://shop.example/b"),
        (FieldKind("url"), "mailto:a@b.example", "mailto:a@b.example"),
        (FieldKind("json"), '{"a": [1]}', {"a": [1]}),
        (FieldKind("price", language="de"), "1.234 €", {"amount": "1234", "currency": "€"}),
        (FieldKind("price"), "١٬٢٣٤ €", {"amount": "1234", "currency": "€"}),
        (FieldKind("date"), "2026-11-29", "2026-11-29"),
        (FieldKind("date"), "20261129", "2026-11-29"),
        (FieldKind("date"), "2026-W06-2", "2026-02-03"),
        (FieldKind("date"), "2026W062", "2026-02-03"),
        (FieldKind("date"), "2026-034", "2026-02-03"),
        (FieldKind("date"), "2024-366", "2024-12-31"),
        (FieldKind("datetime"), "2026-W06-2T10:00Z", "2026-02-03T10:00:00+00:00"),
        (FieldKind("datetime"), "2026-034T10:00", "2026-02-03T10:00:00"),
        (FieldKind("date"), "2026-11-29T23:30:00-05:00", "2026-11-29"),
        (FieldKind("date"), "Sun, 29 Nov 2026 22:36:24 GMT", "2026-11-29"),
        (FieldKind("date"), "29. November 2026", "2026-11-29"),
        (FieldKind("date", language="fr"), "29 août 2026", "2026-08-29"),
        (FieldKind("date", language="en"), "03/04/2026", "2026-03-04"),
        (FieldKind("date", language="en-GB"), "03/04/2026", "2026-04-03"),
        (FieldKind("date", language="en-us"), "03/04/2026", "2026-03-04"),
        (FieldKind("date", language="es-419"), "03/04/2026", "2026-04-03"),
        (FieldKind("date", language="en-XX"), "29 November 2026", "2026-11-29"),
        (FieldKind("date", language="de"), "03.04.2026", "2026-04-03"),
        (FieldKind("date", language="en"), "3 days ago", "2027-01-12"),
        (FieldKind("date", format="%d|%m|%Y"), "29|11|2026", "2026-11-29"),
        (FieldKind("datetime"), "2026-11-29T10:00:00Z", "2026-11-29T10:00:00+00:00"),
        (FieldKind("datetime"), "2026-11-29 10:00", "2026-11-29T10:00:00"),
        (FieldKind("datetime", zone="Europe/Berlin"), "2026-07-29 10:00", "2026-07-29T10:00:00+02:00"),
        (FieldKind("datetime", zone="Europe/Berlin"), "2026-07-29T10:00:00Z", "2026-07-29T10:00:00+00:00"),
        (FieldKind("datetime", language="en"), "November 29, 2026 3:15 PM", "2026-11-29T15:15:00"),
    ],
)
def test_a_text_of_a_type(kind: FieldKind, text: str, value: object) -> None:
    assert values.read(text, kind, parsed("<p>", at=AT)) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (FieldKind("int"), "12.5"),
        (FieldKind("int"), "twelve"),
        (FieldKind("bool"), "maybe"),
        (FieldKind("url"), "javascript:alert(1)"),
        (FieldKind("url"), "data:text/html,x"),
        (FieldKind("json"), "{"),
        (FieldKind("json"), "[" * 100_000),
        (FieldKind("price"), "gone"),
        (FieldKind("date", language="en"), "November 2026"),
        (FieldKind("date"), "soon"),
        (FieldKind("date"), "12"),
        (FieldKind("date"), "2026-13-45"),
        (FieldKind("date"), "2026-W06"),
        (FieldKind("date"), "2026-W06-8"),
        (FieldKind("date"), "2026-366"),
        (FieldKind("date"), "9999-366"),
        (FieldKind("float"), "1e999"),
        (FieldKind("decimal"), "1e9999"),
        (FieldKind("date", format="iso"), "29.11.2026"),
        (FieldKind("date", format="%d.%m.%Y"), "2026-11-29"),
        (FieldKind("date"), "1" * 5000),
    ],
)
def test_a_text_of_no_such_type(kind: FieldKind, text: str) -> None:
    with pytest.raises(NotOfType, match=r"^not "):
        values.read(text, kind, parsed("<p>", at=AT))


@pytest.mark.parametrize("name", get_args(KindName))
def test_nothing_is_no_value(name: KindName) -> None:
    assert values.read(" \n", FieldKind(name), parsed("<p>")) is None
    assert values.read(None, FieldKind(name), parsed("<p>")) is None


@pytest.mark.parametrize(
    ("text", "language", "amount", "currency"),
    [
        ("CHF 1’299.50", "", "1299.50", "CHF"),
        ("CHF 1’299.—", "", "1299", "CHF"),
        ("-5,00 €", "", "-5.00", "€"),
        ("−5,00 €", "", "-5.00", "€"),
        ("- 5 €", "", "-5", "€"),
        ("-$5", "", "-5", "$"),
        ("$-5.00", "", "-5.00", "$"),
        ("€ -5", "", "-5", "€"),
        ("US-$ 5", "", "5", "$"),
        ("EUR-5", "", "5", "EUR"),
        ("Preis - 5,00 €", "", "5.00", "€"),
        ("3 for $10", "", "10", "$"),
        ("3 $10", "", "10", "$"),
        ("2 Stück 10,00 €", "de", "10.00", "€"),
        ("2 Stück 10 Euro", "de", "10", None),
        ("14K gold $99", "", "99", "$"),
        ("€ 3,50 / 100 g", "", "3.50", "€"),
        ("-20% 15 €", "", "15", "€"),
        ("$1,299.00$1,299.00", "", "1299.00", "$"),
        ("NZD $123", "", "123", "NZD"),
        ("10 C$", "", "10", "C$"),
        ("2 x $U 10", "", "10", "$U"),
        ("S/.1,234.50", "", "1234.50", "S/."),
        ("5 € c/u", "es", "5", "€"),
        ("19.99", "", "19.99", None),
        ("from 12,50", "", "12.50", None),
        ("Free", "", "0", None),
        ("1 299,00 zł", "pl", "1299.00", "zł"),
        ("1 299 kr", "sv", "1299", "kr"),
        ("1 299:-", "sv", "1299", None),
        ("R$ 1.234,56", "pt-BR", "1234.56", "R$"),
        ("Rs. 1,25,000", "en-IN", "125000", "Rs"),
        ("Rs.500", "en-IN", "500", "Rs"),
        ("3,980円(税込)", "ja", "3980", "円"),
        ("12,000원", "ko", "12000", "원"),
        ("1 299 Kč", "cs", "1299", "Kč"),
        ("1 299,50 ₽", "ru", "1299.50", "₽"),
        ("1 299 руб.", "ru", "1299", "руб."),
    ],
)
def test_prices(text: str, language: str, amount: str, currency: str | None) -> None:
    price = values.read(text, FieldKind("price", language=language), parsed("<p>"))
    assert price == {"amount": amount, "currency": currency}


@pytest.mark.parametrize(
    "text",
    [
        *(
            "€ 5-10",
            "10 bis 20 €",
            "5/10 €",
            "$10 - $20",
            "5 und 10 €",
            "was $20.00 now $15.00",
            "10 € 5 Stück",
            "4 5 x",
            "$19 99",
            "19 99 €",
            "35€ 99",
        ),
        *(
            "£1.2m",
            "5 M€",
            "M€ 5",
            "€5m",
            "1,5 Mio. €",
            "1.2 billion USD",
            "₹1.2 lakh",
            "5 Mkr",
            "1万2000円",
            "2k",
            "Rp15rb",
        ),
        *("49 ct", "99¢", "1 € 50 ct", "99p", "50 Cent", "99 коп.", "50%"),
    ],
)
def test_what_may_be_several_prices_or_another_is_none(text: str) -> None:
    with pytest.raises(NotOfType, match="not a price"):
        values.read(text, FieldKind("price"), parsed("<p>"))


@given(st.text(alphabet="0123456789., '’-−–/%€$kmMEURCHF¢\u00a0٣円", max_size=40), st.sampled_from(["", "de", "en"]))
def test_no_text_breaks_prices(text: str, language: str) -> None:
    price = prices.read(text, language)
    assert price is None or price[0].is_finite()


@pytest.mark.parametrize(
    ("markup", "value"),
    [
        ("<a href=''>https://other.example/</a>", "https://shop.example/b/"),
        ("<a href>other</a>", "https://shop.example/b/"),
        ("<a href=' '>other</a>", "https://shop.example/b/"),
        ("<a>/other</a>", "https://shop.example/other"),
        ("<p>/other</p>", "https://shop.example/other"),
        ("<img src='' alt=x>", None),
        ("<blockquote cite=''>/other</blockquote>", None),
    ],
)
def test_an_empty_reference_is_no_text(markup: str, value: str | None) -> None:
    page = parsed(f"<body>{markup}", url="https://shop.example/b/")
    node = page.node.css_first("body > *") if page.node is not None else None
    assert values.read(node, FieldKind("url"), page) == value
    element = page.element.find("body/*") if page.element is not None else None
    assert element is not None
    assert values.read(element, FieldKind("url"), page) == value
