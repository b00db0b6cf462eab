"""What a crawl says of the credentials that its seeds hold."""

import pytest

from gregor.worker.commands.crawl import _tell_of_credentials
from gregor.worker.config.credentials import basic
from gregor.worker.config.settings import Config, HostOverride, replace


@pytest.mark.parametrize(("password", "replaced"), [("other", True), ("secret", False)])
def test_a_seed_that_goes_before_a_table_is_told_of(
    password: str, replaced: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ME", "me")
    monkeypatch.setenv("WORD", password)
    table = HostOverride(host="a.test", username_env="ME", password_env="WORD")
    seeds = {"https://a.test": basic("me", "secret"), "https://b.test": basic("you", "secret")}
    _tell_of_credentials(replace(Config(), hosts=(table,)), seeds)
    said = capsys.readouterr().err
    assert "used in this run alone, for https://a.test, https://b.test" in said and "secret" not in said
    assert said.endswith("instead of those of a [[host]] table, in this run, for https://a.test\n") == replaced
    assert said.count("\n") == 1 + replaced
