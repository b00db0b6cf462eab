"""Builds the extension of pyproject.toml."""

import sys
from pathlib import Path

from setuptools import Extension, setup

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from sources import unpacked  # noqa: E402 - beside this file, which is not where Python looks when it is built

PYTHON = "0x030b0000"
"""The oldest Python whose stable interface is used."""

fetched = unpacked()

setup(
    ext_modules=[
        Extension(
            "gregor_native._core",
            sources=sorted(str(path.relative_to(HERE)) for path in (HERE / "src").glob("*.cpp")),
            depends=sorted(str(path.relative_to(HERE)) for path in (HERE / "src").glob("*.hpp")),
            include_dirs=[str(fetched["xxhash"] / "deps/xxhash")],
            define_macros=[("Py_LIMITED_API", PYTHON), ("XXH_INLINE_ALL", "1")],
            extra_compile_args=["-std=c++20", "-O3", "-g0", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"],
            py_limited_api=True,
            language="c++",
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
