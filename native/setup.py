"""Builds the extension of pyproject.toml."""

import sys
from pathlib import Path

from setuptools import Extension, setup

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from sources import pinned, unpacked  # noqa: E402 - beside this file, which is not where Python looks when it is built

PYTHON = "0x030b0000"
"""The oldest Python whose stable interface is used."""

LEXBOR = ("core", "dom", "html", "ns", "ports/posix", "tag")
"""What of lexbor is needed to make a tree of a page."""

fetched = unpacked()
lexbor = fetched["selectolax"] / "lexbor/source"
ada = fetched["ada_url"] / "ada_url"

setup(
    libraries=[
        (
            "lexbor",
            {
                "sources": sorted(str(path) for part in LEXBOR for path in (lexbor / "lexbor" / part).rglob("*.c")),
                "include_dirs": [str(lexbor)],
                "macros": [("LEXBOR_STATIC", "1")],
                "cflags": ["-std=c99", "-O3", "-g0", "-fPIC", "-fvisibility=hidden", "-w"],
            },
        ),
        (
            "ada",
            {
                "sources": [str(ada / "ada.cpp")],
                "include_dirs": [str(ada)],
                "cflags": ["-std=c++20", "-O3", "-g0", "-fPIC", "-fvisibility=hidden", "-w"],
            },
        ),
    ],
    ext_modules=[
        Extension(
            "gregor_native._core",
            sources=sorted(str(path.relative_to(HERE)) for path in (HERE / "src").glob("*.cpp")),
            depends=sorted(str(path.relative_to(HERE)) for path in (HERE / "src").glob("*.hpp")),
            include_dirs=[str(fetched["xxhash"] / "deps/xxhash"), str(lexbor), str(ada)],
            define_macros=[
                ("Py_LIMITED_API", PYTHON),
                ("XXH_INLINE_ALL", "1"),
                ("LEXBOR_STATIC", "1"),
                ("SELECTOLAX", f'"{pinned()["selectolax"]}"'),
                ("ADA_URL", f'"{pinned()["ada_url"]}"'),
            ],
            libraries=["lexbor", "ada"],
            extra_link_args=["-Wl,--exclude-libs,ALL"],
            extra_compile_args=["-std=c++20", "-O3", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"],
            py_limited_api=True,
            language="c++",
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
