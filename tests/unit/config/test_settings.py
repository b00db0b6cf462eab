"""Sources of settings, their order, and the one line that names what is wrong."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import fields

from gregor.worker.base.printable import escape
from gregor.worker.borders.transport import SocketAddress
from gregor.worker.compose.network import host_table
from gregor.worker.config.check import check, warnings, with_canonical_hosts
from gregor.worker.config.credentials import authorizations
from gregor.worker.config.docs import meaning
from gregor.worker.config.settings import Config, ConfigError, HostOverride, replace
from gregor.worker.config.sources import Given, load, shown
from gregor.worker.config.times import times_of


def flag(name: str, text: str) -> Given:
    return Given(name, text, "--set")


def write(folder: Path, text: str) -> str:
    path = folder / "gregor.toml"
    path.write_text(text)
    return str(path)


def refused(path: str | None, environ: dict[str, str], *flags: Given) -> str:
    with pytest.raises(ConfigError) as error:
        load(path, environ, flags)
    text = str(error.value)
    assert "\n" not in text
    return text


def test_defaults_hold() -> None:
    settings = load(None, {})
    assert settings.config == Config()
    assert settings.sources == {}


def test_later_sources_win(tmp_path: Path) -> None:
    path = write(tmp_path, "delay = 2\nconcurrency = 3\nretries = 4\n")
    environ = {"GREGOR_CONFIG": path, "GREGOR_CONCURRENCY": "5", "GREGOR_RETRIES": "6"}
    settings = load(None, environ, [flag("retries", "7")])
    assert (settings.config.delay, settings.config.concurrency, settings.config.retries) == (2.0, 5, 7)
    assert settings.sources == {"delay": path, "concurrency": "GREGOR_CONCURRENCY", "retries": "--set"}


def test_a_named_file_replaces_the_one_of_the_environment(tmp_path: Path) -> None:
    settings = load(write(tmp_path, "delay = 2"), {"GREGOR_CONFIG": "/nowhere.toml"})
    assert settings.config.delay == 2.0


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("cookies", "true", True),
        ("nofollow", "off", False),
        ("max_pages", "none", None),
        ("max_pages", "20", 20),
        ("per_address", "2", 2),
        ("delay", "0.25", 0.25),
        ("delay", "1.5 s", 1.5),
        ("stale_after", "30d", 2_592_000.0),
        ("revisit", "none", None),
        ("max_time", "90m", 5400.0),
        ("cassandra_retention", "2w", 1_209_600),
        ("canonical", "session_ids, sort_query", ("session_ids", "sort_query")),
        ("include", '["a,b", "c"]', ("a,b", "c")),
        ("weights", "4,3,2,1", (4, 3, 2, 1)),
        ("headers", '{Accept-Language = "de"}', {"Accept-Language": "de"}),
        ("user_agent", "ExampleBot/1.0 (+http://bot.example.test/)", "ExampleBot/1.0 (+http://bot.example.test/)"),
    ],
)
def test_a_text_becomes_its_type(name: str, text: str, value: object) -> None:
    assert getattr(load(None, {}, [flag(name, text)]).config, name) == value
    assert getattr(load(None, {f"GREGOR_{name.upper()}": text}).config, name) == value


def test_every_time_takes_a_unit_in_a_file_too(tmp_path: Path) -> None:
    times = times_of(Config)
    assert {"delay", "revisit", "stale_after", "max_time", "cassandra_retention", "stop_grace"} <= times
    assert not {"delay_factor", "retry_jitter", "revisit_share", "retries", "max_body"} & times
    for name in sorted(times):
        assert getattr(load(write(tmp_path, f'{name} = "60s"'), {}).config, name) == 60.0
    hosts = load(write(tmp_path, '[[host]]\nhost = "a.test"\ndelay = "2m"'), {}).config.hosts
    assert hosts[0].delay == 120.0
    assert "max_body" in refused(write(tmp_path, 'max_body = "1m"'), {})


def test_repeated_flags_add_up_and_keep_their_commas() -> None:
    flags = [Given("include", text, "--include", item=True) for text in ("/a{1,2}", "/b")]
    assert load(None, {"GREGOR_INCLUDE": "/c"}, flags).config.include == ("/a{1,2}", "/b")


def test_unknown_names_are_refused_with_the_nearest(tmp_path: Path) -> None:
    assert "did you mean delay?" in refused(None, {}, flag("dely", "1"))
    assert "did you mean GREGOR_MAX_BODY?" in refused(None, {"GREGOR_MAX_BODI": "1"})
    assert "did you mean retries?" in refused(write(tmp_path, "retrys = 1"), {})
    assert "did you mean delay?" in refused(write(tmp_path, '[[host]]\nhost = "a"\ndelai = 1'), {})
    assert "config show" in refused(None, {}, flag("zzz", "1"))


def test_variables_of_others_are_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path, '[[host]]\nhost = "a.test"\nbearer_env = "GREGOR_TOKEN_OF_A"')
    environ = {
        "GREGOR_TOKEN_OF_A": "x",
        "GREGOR_API_PORT_8080_TCP_ADDR": "10.0.0.1",
        "GREGOR_API_SERVICE_HOST": "10.0.0.1",
    }
    assert load(path, environ).config.hosts[0].host == "a.test"


@pytest.mark.parametrize(
    ("name", "text", "part"),
    [
        ("delay", "-1", "delay (from --set): expected number >= 0.0, not '-1'"),
        (
            "delay",
            "fast",
            "delay (from --set): expected seconds, or a time such as 90s, 45m, 12h, 30d or 2w, not 'fast'",
        ),
        ("robots_ttl", "2d", "robots_ttl (from --set): expected number <= 86400.0, not '2d'"),
        ("cookies", "maybe", "cookies (from --set): expected true or false, not 'maybe'"),
        ("max_pages", "many", "max_pages (from --set): expected integer or none, not 'many'"),
        ("max_pages", "-1", "max_pages (from --set): expected integer >= 0, not '-1'"),
        ("scope", "planet", "scope (from --set): expected one of host, domain, domains, prefixes, any, not 'planet'"),
        ("canonical", "sort", "canonical[0] (from --set): expected one of "),
        ("allow_networks", "10.0.0.0/99", "allow_networks"),
        ("allow_networks", "10.0.0.1/8", "allow_networks"),
        ("partitions", "0", "expected integer >= 1"),
        ("include", "[", "not a TOML value"),
        ("user_agent", "bad\nagent", "user_agent"),
        ("delay", "nan", "delay"),
        ("max_time", "inf", "max_time"),
    ],
)
def test_values_out_of_bounds_name_their_source(name: str, text: str, part: str) -> None:
    assert part in refused(None, {}, flag(name, text))


@pytest.mark.parametrize("name", [one.name for one in fields(Config) if "pattern='" in repr(one.type)])
def test_no_message_asks_for_a_regular_expression(name: str) -> None:
    message = refused(None, {}, flag(name, "\n-"))
    assert message.startswith(name)
    assert "regex" not in message
    assert meaning(name).partition(";")[0] in message


def test_types_of_a_file_are_strict(tmp_path: Path) -> None:
    assert "delay (from " in refused(write(tmp_path, 'delay = "1"'), {})
    assert load(write(tmp_path, 'delay = 1\nmax_pages = "none"'), {}).config.max_pages is None
    assert "hosts[0].delay" in refused(write(tmp_path, '[[host]]\nhost = "a"\ndelay = -1'), {})
    assert "[[host]]" in refused(write(tmp_path, 'host = "a"'), {})


def test_a_file_may_be_written_as_windows_does(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_bytes(b"\xef\xbb\xbfdelay = 3\r\n")
    assert load(str(tmp_path / "c.toml"), {}).config.delay == 3.0
    (tmp_path / "hosts").write_bytes(b"\xef\xbb\xbfa.test 127.0.0.1:8080\r\n")
    table = host_table(replace(Config(), host_table=str(tmp_path / "hosts")))
    assert table.lookup("a.test", 80) == (SocketAddress("127.0.0.1", 8080),)


def test_unreadable_files_are_one_line(tmp_path: Path) -> None:
    assert "No such file" in refused(str(tmp_path / "none.toml"), {})
    assert "Is a directory" in refused(str(tmp_path), {})
    assert "line 1" in refused(write(tmp_path, "delay 1"), {})
    (tmp_path / "latin.toml").write_bytes(b'user_agent = "\xe9"')
    assert "UTF-8" in refused(str(tmp_path / "latin.toml"), {})


@pytest.mark.parametrize(
    "changes",
    [
        {"queue_low": 64, "queue_size": 64},
        {"dns_ttl_min": 10.0, "dns_ttl_max": 1.0},
        {"retry_pause": 10.0, "retry_pause_max": 1.0},
        {"proxy": "http://p:1", "resolver": "127.0.0.1:53"},
        {"proxy": "http://:80"},
        {"proxy": "socks5://a b:1080"},
        {"proxy": "http://[::1:80"},
        {"proxy": "http://me:pass@word@p:80"},
        {"proxy": "http://me:1/word@p:80"},
        {"proxy": "http://me:1?word@p:80"},
        {"proxy": "http://me:1#word@p:80"},
        {"proxy": "http://me:wo%0d%0ard@p:80"},
        {"headers": {"A b": "x"}},
        {"headers": {"Host": "b.test"}},
        {"headers": {"content-length": "3"}},
        {"hosts": [{"host": "a", "headers": {"User-Agent": "another/1"}}]},
        {"headers": {"X": "a\r\nb"}},
        {"hosts": [{"host": "a", "headers": {"X": "é"}}]},
        {"hosts": [{"host": "a"}, {"host": "a"}]},
        {"hosts": [{"host": "A.test"}]},
        {"hosts": [{"host": "https://a.test"}]},
        *({"hosts": [{"host": host}]} for host in ("a.test:80", "a.test:http", "a.test.", "*.test", "127.1", "::1")),
    ],
)
def test_settings_that_exclude_each_other(changes: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        check(replace(Config(), **changes))


def test_the_password_of_a_proxy_may_be_any_text_that_is_percent_encoded() -> None:
    for word in ("p%40s%2Fs", "gr%C3%BC%C3%9Fe%C3%A0", "%E2%82%AC%20"):
        check(replace(Config(), proxy=f"http://me:{word}@proxy.test:80/"))


def test_a_host_is_named_as_its_urls_have_it() -> None:
    for host in ("a.test", "a.test:8080", "[::1]", "127.0.0.1", "a_b.test", "xn--bcher-kva.test"):
        assert with_canonical_hosts(replace(Config(), hosts=[{"host": host}])).hosts[0].host == host
    for host in ("Bücher.test:443", "xn--BCHER-kva.test", "https://bücher.test/"):
        assert with_canonical_hosts(replace(Config(), hosts=[{"host": host}])).hosts[0].host == "xn--bcher-kva.test"
    for host in ("*.a.test", "*", "a b"):
        with pytest.raises(ConfigError, match="not one host"):
            with_canonical_hosts(replace(Config(), hosts=[{"host": host}]))


@pytest.mark.parametrize("name", ["revisit", "revisit_min", "revisit_max", "bucket_width"])
@pytest.mark.parametrize("value", ["1e300", "1e11", "1e400", "inf"])
def test_no_date_is_beyond_what_can_be_kept(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name} "):
        load(None, {}, [Given(name, value, "--set")])


def test_no_text_holds_what_no_file_name_can(tmp_path: Path) -> None:
    for line in ('data = "a\\u0000b"', '[[host]]\nhost = "a"\nbearer_env = "A\\u0000"', 'include = ["\\u0000"]'):
        assert "NUL" in refused(write(tmp_path, line), {})


def test_hardly_meant() -> None:
    reachable = replace(Config(), user_agent="bot/1 (+https://www.kb.nl/bot)")
    assert warnings(reachable) == []
    assert "contact" in warnings(replace(Config(), user_agent="bot/1"))[0]
    (said,) = warnings(replace(reachable, proxy="http://127.0.0.1:1", host_table="table"))
    assert said.startswith("host_table has no effect")


def test_secrets_are_never_shown() -> None:
    config = replace(
        Config(),
        proxy="http://me:word@proxy.test:3128",
        headers={"X-Key": "word"},
        hosts=[{"host": "a.test", "headers": {"Cookie": "word"}}],
    )
    assert "word" not in repr(shown(config)).replace("password_", "").replace("topic_words", "")


def test_credentials_go_to_named_origins() -> None:
    basic = HostOverride(
        host="a.test", username_env="U", password_env="P", origins=("http://A.test:80/", "https://a.test:8443")
    )
    bearer = HostOverride(host="b.test", bearer_env="B")
    found = authorizations(Config(hosts=(basic, bearer)), {"U": "Aladdin", "P": "open sesame", "B": "token"})
    # RFC 7617 section 2
    assert found == {
        "http://a.test": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        "https://a.test:8443": "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
        "https://b.test": "Bearer token",
    }


@pytest.mark.parametrize(
    "override",
    [
        HostOverride(host="a", username_env="U"),
        HostOverride(host="a", username_env="U", password_env="P", bearer_env="P"),
        HostOverride(host="a", bearer_env="MISSING"),
        HostOverride(host="a", username_env="COLON", password_env="P"),
        HostOverride(host="a", bearer_env="P", origins=("https://a/path",)),
        HostOverride(host="a", bearer_env="P", origins=("ftp://a",)),
    ],
)
def test_credentials_that_cannot_be_used(override: HostOverride) -> None:
    environ = {"U": "user", "P": "secret-word", "COLON": "a:b"}
    with pytest.raises(ConfigError) as error:
        authorizations(Config(hosts=(override,)), environ)
    assert "secret-word" not in str(error.value)


@given(st.sampled_from(Config.__struct_fields__), st.text(max_size=20))
def test_any_text_is_a_value_or_one_line(name: str, text: str) -> None:
    try:
        load(None, {}, [flag(name, text)])
    except ConfigError as error:
        assert escape(str(error)) == str(error)
