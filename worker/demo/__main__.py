"""`python -m gregor.worker.demo`: a crawl of the bundled web, which needs no network; then a look at the result.

`python -m gregor.worker.demo FOLDER` crawls into that data folder instead of build/demo.
`python -m gregor.worker.demo serve FILE` serves that web until a signal, and writes where it is to a host table.
"""

import contextlib
import fcntl
import signal
import sys
from pathlib import Path

from gregor.worker.base.errors import complain, why
from gregor.worker.base.replaced import replaced
from gregor.worker.base.typed import as_typed
from gregor.worker.commands.cli import main
from gregor.worker.demo.server import serving

AGENT = "user_agent=gregor/demo (the bundled web on loopback; postmaster@localhost)"
SETTINGS = (AGENT, "delay=0.2", "delay_factor=0", "max_crawl_delay=0.5", "sitemaps=true")


def demo(data: str) -> int:
    """Crawl into a data folder; the exit code of the crawl."""
    table = Path(f"{data}.hosts")  # the crawl keeps its name: later commands read it too
    try:
        table.parent.mkdir(parents=True, exist_ok=True)
        file = table.open("a")
    except OSError as error:
        complain(f"cannot write {table}: {why(error)}", "error")
        return 2
    with file, serving() as web:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:  # it crawls by the web that it serves itself, where this table says
            complain(f"another demonstration crawls into {data}: wait for its end, or name another folder", "error")
            return 2
        file.truncate(0)
        file.write("".join(f"{line}\n" for line in web.host_table_lines))
        file.flush()
        settings = [word for setting in SETTINGS for word in ("--set", setting)]
        words = ["crawl", *web.seeds, "--data", data, "--host-table", str(table), *settings]
        sys.argv[1:] = words  # hints in the report name the crawl that the words do
        code = main(words)
    if code == 0:
        print(as_typed(f"\nWhat was crawled: `gregor pages --data {data}`"))
    return code


def serve(table: Path) -> int:
    """Serve the bundled web; ``table`` names where, for --host-table, once it does."""
    with serving() as web:
        try:
            with replaced(table) as file:
                file.write("".join(f"{line}\n" for line in web.host_table_lines).encode())
        except OSError as error:
            complain(f"cannot write {table}: {why(error)}", "error")
            return 2
        print(
            as_typed(f"The bundled web is served: --host-table {table}. Its sites: {' '.join(web.seeds)}"), flush=True
        )
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()
    return 0


if __name__ == "__main__":
    if options := [word for word in sys.argv[1:] if word.startswith("-")]:
        print(__doc__, end="")
        sys.exit(0 if options[0] in ("-h", "--help") else 2)
    if sys.argv[1:2] == ["serve"]:
        sys.exit(serve(Path(sys.argv[2] if len(sys.argv) > 2 else "demo.hosts")))
    sys.exit(demo(sys.argv[1] if len(sys.argv) > 1 else "build/demo"))
