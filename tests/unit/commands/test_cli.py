"""The command line: help, errors in one line, settings, completion. No crawl is needed for any of it."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from gregor.worker.base.typed import as_typed, command
from gregor.worker.commands import COMMANDS, cli, ordering
from gregor.worker.config.check import warnings
from gregor.worker.config.docs import page, settings
from gregor.worker.config.settings import Config
from gregor.worker.orders.model import KINDS

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("GREGOR_")]:
        monkeypatch.delenv(name)


def left(*words: str) -> int:
    """The exit code, however it comes."""
    try:
        return cli.main(words)
    except SystemExit as leaving:
        assert isinstance(leaving.code, int)
        return leaving.code


def complaint(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert left(*words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("gregor: ")
    assert captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize("words", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)])
def test_help(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert left(*words) == 0
    assert capsys.readouterr().out


ABOUT = ["--set", "about_operator=o", "--set", "about_purpose=p"]


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "COMMAND"),
        (["craw"], "invalid choice"),
        (["crawl", "--sed", "x"], "unrecognized arguments: --sed (see `gregor crawl --help`)"),
        (["crawl", "--revisit", "x"], "unrecognized arguments: --revisit; give it as --set revisit=… (see `gregor cr"),
        (["crawl", "--stale-after=30d"], "arguments: --stale-after=30d; give it as --set stale_after=… (see"),
        (["about", "--revisit"], "give it as --set revisit=…"),
        (["status", "--zzz"], "unrecognized arguments: --zzz (see"),
        (["crawl", "http://a.test/", "--max-page", "3"], "--max-page 3 (see `gregor crawl --help`)"),
        (["crawl", "http://a.test/", "--set", "delay"], "KEY=VALUE"),
        (["crawl", "http://a.test/", "--set", "dely=1"], "did you mean delay?"),
        (["crawl", "http://a.test/", "--delay", "soon"], "delay (from --delay)"),
        (["crawl", "http://a.test/", "--scope", "planet"], "scope (from --scope)"),
        (["crawl", "http://a.test/", "--config", "/nowhere.toml"], "No such file"),
        (["crawl", "nothing"], "seed 1: not an http(s) URL"),
        (["crawl", "--seeds", "/nowhere"], "cannot read seeds"),
        (["crawl", "--data", "/nowhere"], "no seed is given"),
        (
            ["crawl", "http://a.test/", "--host-table", "/nowhere"],
            "host_table /nowhere cannot be read: No such file or directory\n",
        ),
        (["crawl", "http://a.test/", "--host-table", __file__], "cannot be read: line 1: expected"),
        (["crawl", "http://a.test/", "--ca-file", "/nowhere"], "ca_file"),
        (["crawl", "http://a.test/", "--ca-file", __file__], "ca_file"),
        (["crawl", "http://a.test/", "--resolver", "x"], "resolver"),
        (["crawl", "http://a.test/", "--resolver", "localhost:53"], "resolver"),
        (["crawl", "http://a.test/", "--resolver", "127.0.0.1:99999"], "resolver"),
        (["crawl", "http://a.test/", "--set", "proxy=http://127.0.0.1:99999"], "proxy"),
        (["crawl", "http://a.test/", "--allow-network", "10.0.0.0/99"], "allow_networks"),
        (["crawl", "http://a.test/", "--include", "re:("], "RE2"),
        (["crawl", "http://a.test/", "--data", "/proc/nowhere"], "cannot be used"),
        (["pages", "--data", "/nowhere"], "holds no crawl"),
        (["pages", "--limit", "-1"], "--limit"),
        (["pages", "--limit", "few"], "--limit: expected integer >= 0, not 'few'"),
        (["show", "--data", "/nowhere", "http://a.test/"], "holds no crawl"),
        (["explain"], "URL"),
        (["export", "zip"], "invalid choice"),
        (["deadletters", "--json", "--retry"], "not allowed with"),
        (["config", "show", "--set", "delay=-1"], "delay (from --set)"),
        (["crawl", "\x1b[31m"], "\\x1b"),
        (["crawl", "http://a.test/", "--data", "\udcff"], "not UTF-8"),
        (["crawl", "http://a.test/\udcff"], "not UTF-8"),
        (["pages", "--host", "\udcff"], "not UTF-8"),
        (["\udcff"], "not UTF-8"),
        (["about", "--set", "user_agent=b/1 (+http://b.test/)", *ABOUT, "-o", "/nowhere/x"], "cannot write /nowhere/x"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], part: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert part in complaint(capsys, *words)
    assert not any(tmp_path.glob("data/*")) or "data" not in words


@pytest.mark.parametrize(
    ("words", "name", "values"),
    [
        (["export", "csv", "--data", "d", "items"], "what", "items"),
        (["export", "--data", "d", "csv", "--host", "a.test", "items", "-o", "x"], "what", "items"),
        (["export", "csv", "--data", "d"], "what", "pages"),
        (["crawl", "a", "--delay", "1", "b", "--data", "d", "c"], "seed", ["a", "b", "c"]),
        (["seed", "a", "--data", "d", "-"], "seed", ["a", "-"]),
        (["extract", "a", "--rules", "r", "b"], "urls", ["a", "b"]),
        (["recrawl", "--data", "d", "a", "--config", "c", "b"], "url", ["a", "b"]),
        (["import", "warc", "--data", "d", "a.warc", "--config", "c", "b.warc"], "files", ["a.warc", "b.warc"]),
        (["search", "a", "--limit", "3", "b", "--json", "c"], "words", ["a", "b", "c"]),
        (["search", "--json", "--", "a", "-b", "--c"], "words", ["a", "-b", "--c"]),
    ],
)
def test_what_is_no_option_may_stand_anywhere_among_options(words: list[str], name: str, values: object) -> None:
    arguments, unknown = cli.parser(words[0]).parse_known_args(words)
    assert (getattr(arguments, name), unknown) == (values, [])


def test_the_package_is_a_program_and_names_itself(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "gregor", "crawl", "--sed"], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert f"see `{command(str(ROOT / 'gregor/__main__.py'), sys.executable)} crawl --help`" in ran.stderr
    assert (
        subprocess.run([sys.executable, "-m", "gregor", "--version"], check=False, capture_output=True).returncode == 0
    )


@pytest.mark.parametrize(
    "words",
    [["init"], ["worker"], ["status"], ["orders"], ["pause"], ["crawl", "http://a.test/"], ["pages"], ["console"]],
)
def test_a_crawl_on_servers_without_their_clients(words: list[str], tmp_path: Path) -> None:
    hidden = (
        "import sys; [sys.modules.__setitem__(name, None) for name in {}]; from gregor.worker.commands import cli; "
    )
    code = hidden.format(["cassandra", "confluent_kafka", "kazoo", "redis"]) + "sys.exit(cli.main(sys.argv[1:]))"
    more = ["--set", "engine=cluster", "--set", "start_timeout=0", "--set", "server_timeout=1"]
    listen = ["--listen", "127.0.0.1:0"] if words == ["console"] else []
    line = [sys.executable, "-c", code, *words, *listen, *more]
    ran = subprocess.run(line, check=False, capture_output=True, text=True, cwd=tmp_path, timeout=60)
    assert ran.returncode == 2, ran.stderr
    assert ran.stderr.endswith("a crawl on servers needs their clients: pip install 'gregor-crawler[cluster]'\n")
    assert ran.stderr.count("\n") == 1


def test_hints_can_be_typed_here(tmp_path: Path) -> None:
    bare, scripts = tmp_path / "bare", tmp_path / "bin"
    bare.mkdir()
    scripts.mkdir()
    script, python = scripts / "gregor", str(scripts / "python3")
    script.touch()
    module = str(tmp_path / "lib/gregor/__main__.py")
    assert command(str(script), python, tmp_path) == "bin/gregor"
    assert command(str(script), python, Path("/")) == str(script).removeprefix("/")
    assert command(str(script), python, bare) == str(script)
    assert command(module, python, tmp_path) == "bin/gregor"
    assert command(module, str(bare / "python3"), tmp_path) == "bare/python3 -m gregor"
    assert command("/usr/bin/pytest", python, tmp_path) == "gregor"
    assert as_typed("see `gregor orders`, not gregor itself") == "see `gregor orders`, not gregor itself"


@pytest.mark.parametrize(
    ("words", "hint", "typed"),
    [
        (("status", "--data", "a b"), "`gregor orders`", "`gregor orders --data 'a b'`"),
        (("status", "--data=d"), "`gregor check --mend`", "`gregor check --mend --data d`"),
        (("status", "--config", "c.toml"), "`gregor init`", "`gregor init --config c.toml`"),
        (("status", "--data", "d"), "`gregor pages --data e`", "`gregor pages --data e`"),
        (("status", "--data"), "`gregor orders`", "`gregor orders`"),
        (("status", "--data", "d"), "`gregor status --help`", "`gregor status --help`"),
        (("status",), "`gregor orders`", "`gregor orders`"),
        ((), "`gregor crawl URL`", "`gregor crawl URL`"),
    ],
)
def test_hints_are_about_the_crawl_that_was_named(
    words: tuple[str, ...], hint: str, typed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/nowhere/gregor", *words])
    monkeypatch.setattr(shutil, "which", lambda name: "/nowhere/gregor")
    assert as_typed(f"see {hint}, then go on") == f"see {typed}, then go on"


def test_a_signal_while_modules_load_ends_it_in_silence(tmp_path: Path) -> None:
    (tmp_path / "argparse.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
    ran = subprocess.run(
        [sys.executable, "-c", "from gregor.start import main; main()"],
        check=False,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (ran.returncode, ran.stderr) == (3, b"")


@pytest.mark.parametrize("words", [["crawl", "--sed"], ["crawl", "nothing"], ["pages", "--data", "/nowhere"]])
@pytest.mark.parametrize("how", [{"GREGOR_LOG_FORMAT": "json"}, {}])
def test_json_is_every_line_of_standard_error(words: list[str], how: dict[str, str], tmp_path: Path) -> None:
    more = [] if how else ["--set", "log_format=json"]
    line = [sys.executable, "-m", "gregor", *words, *more]
    ran = subprocess.run(line, check=False, capture_output=True, cwd=tmp_path, env={**os.environ, **how})
    lines = [msgspec.json.decode(line) for line in ran.stderr.splitlines()]
    assert ran.returncode == 2
    assert [line["level"] for line in lines][-1] == "error"
    assert all({"time", "level", "source", "event"} <= line.keys() for line in lines)


@pytest.mark.parametrize(
    ("agent", "part"),
    [
        ("gregor/1 (+https://example.org/bot)", "example.org"),
        ("mybot/1 (me@example.com)", "example.com"),
        ("mybot/1 (+https://www.example.net/)", "example.net"),
        ("mybot/1 (+https://bots.example/)", "bots.example"),
        ("mybot/1", "no contact"),
        ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/120 Safari/537.36 (+https://a.org/)", "browser"),
        ("mybot Chrome/120 (+https://a.org/)", "browser"),
    ],
)
def test_a_user_agent_that_leads_to_nobody(agent: str, part: str) -> None:
    assert any(part in text for text in warnings(Config(user_agent=agent)))
    assert not warnings(Config(user_agent="mybot/1.0 (+https://www.kb.nl/bot; bot@kb.nl)"))


def test_the_last_flag_wins(capsys: pytest.CaptureFixture[str]) -> None:
    assert left("config", "show", "--json", "--set", "data=x", "--data", "y", "--delay", "2", "--set", "delay=3") == 0
    shown = msgspec.json.decode(capsys.readouterr().out)
    assert shown["data"] == {"value": "y", "source": "--data"}
    assert shown["delay"] == {"value": 3.0, "source": "--set"}
    assert shown["retries"] == {"value": Config().retries, "source": "default"}


def test_what_is_shown_can_be_read_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREGOR_MAX_PAGES", "7")
    hosts = 'hosts=[{host = "a.test", delay = 2.5}, {host = "b.test", headers = {X = "open-sesame"}}]'
    assert left("config", "show", "--set", "include=re:a b,*.pdf", "--set", "cookies=on", "--set", hosts) == 0
    text = capsys.readouterr().out
    assert "open-sesame" not in text
    (tmp_path / "c.toml").write_text(text)
    monkeypatch.delenv("GREGOR_MAX_PAGES")
    assert left("config", "show", "--config", str(tmp_path / "c.toml"), "--json") == 0
    shown = msgspec.json.decode(capsys.readouterr().out)
    assert shown["max_pages"]["value"] == 7
    assert shown["include"]["value"] == ["re:a b", "*.pdf"]
    assert [(host["host"], host["delay"]) for host in shown["hosts"]["value"]] == [("a.test", 2.5), ("b.test", None)]
    assert shown["cookies"] == {"value": True, "source": str(tmp_path / "c.toml")}


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert left("completion", shell) == 0
    script = capsys.readouterr().out
    assert "--max-pages" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True, timeout=60)


def test_every_command_has_its_own_words() -> None:
    top = cli.parser()
    (commands,) = [action for action in top._actions if isinstance(action, argparse._SubParsersAction)]
    assert set(commands.choices) == set(COMMANDS)


HEAVY = {"pycurl", "selectolax", "rich", "warcio", "numpy", "gregor.worker.compose.worker"}


@pytest.mark.parametrize(
    ("named", "heavy"),
    [
        ("from gregor.worker.commands import cli; cli.parser('')", HEAVY | {"asyncio"}),
        ("import gregor; gregor.Crawl", HEAVY | {"dns", "tenacity", "sqlite3", "gregor.worker.observe.stats"}),
    ],
)
def test_help_and_names_of_the_library_import_little(named: str, heavy: set[str]) -> None:
    line = f"import sys; {named}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True, timeout=60)
    assert not heavy & set(done.stdout.split())


def test_extraction_imports_nothing_of_a_crawl() -> None:
    """Its start counts for each process that shares the pages."""
    line = (
        "import sys; from gregor.worker.commands import extract, extracting; from gregor.worker.compose.engine import "
        "engine_of; from gregor.worker.config.settings import Config; engine_of(Config()); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True, timeout=60)
    of_a_crawl = {"settle.verdicts", "observe.stats", "operate.control", "links.traps", "politeness"}
    heavy = {"pycurl", "gmpy2", "numpy", "dateparser", *(f"gregor.worker.{name}" for name in of_a_crawl)}
    assert not heavy & set(done.stdout.split())


def test_a_reader_that_has_enough_is_no_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m gregor.worker.commands.cli config show | head -c 1",
        shell=True,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == b""


def test_any_encoding_of_a_terminal_will_do() -> None:
    line = [
        sys.executable,
        "-m",
        "gregor.worker.commands.cli",
        "config",
        "show",
        "--set",
        "crawl=c",
        "--set",
        "exclude=*ü*",
    ]
    environ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(line, capture_output=True, timeout=60, check=True, env=environ)
    assert b"\\xfc" in done.stdout


def test_the_page_of_settings_is_true() -> None:
    assert (ROOT / "docs" / "configuration.md").read_text() == page(), "python -m gregor.worker.config.docs writes it"
    assert all(setting.meaning for setting in settings())


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        ("config show", {0}),
        ("pages", {2}),
        ("seed --seeds -", {2}),
        # To its end, past a few lines of progress; 1 once its host was tried, which is not there. Its event loop takes
        # a file with a stream's number for a fault.
        ("crawl http://a.test/ --host-table table --max-time 0.3 --set progress_interval=0.1", {0, 1}),
    ],
)
@pytest.mark.parametrize("streams", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "2>/dev/full"])
def test_closed_streams_change_nothing(words: str, codes: set[int], streams: str, tmp_path: Path) -> None:
    (tmp_path / "table").write_text("a.test 127.0.0.1:9")
    line = f"exec {sys.executable} -m gregor.worker.commands.cli {words} {streams}"
    done = subprocess.run(line, shell=True, capture_output=True, timeout=60, check=False, cwd=tmp_path)
    assert done.returncode in codes
    assert b"Traceback" not in done.stderr


def test_every_command_of_a_table_is_listed() -> None:
    assert {name for name, command in COMMANDS.items() if command.module == "ordering"} == set(ordering.BY_NAME)
    assert {order.kind for order in ordering.BY_NAME.values()} == {*KINDS} - {"optout"}  # which deletes, too


def test_help_loads_no_command() -> None:
    code = "import sys; from gregor.worker.commands import cli\ntry: cli.main(['--help'])\nexcept SystemExit: pass\n"
    code += "print([name for name in sys.modules if name.startswith('gregor.worker.commands.')])"
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout.splitlines()[-1] == "['gregor.worker.commands.cli']"
