"""What the settings of a crawl are to a Kafka client."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from gregor.worker.adapters.cluster.kafka_client import client_settings
from gregor.worker.base.errors import BadInput
from gregor.worker.config.servers import Servers

IAM = Servers(kafka_security="sasl_ssl", kafka_sasl_mechanism="AWS_MSK_IAM")
SIGNER = "aws_msk_iam_sasl_signer"


def test_tls_and_passwords_are_passed_on() -> None:
    servers = Servers(
        kafka=("a:1", "b:2"),
        kafka_security="sasl_ssl",
        kafka_sasl_mechanism="SCRAM-SHA-256",
        kafka_username="gregor",
        kafka_password_env="SECRET",
        kafka_ca_file="/etc/ca.pem",
    )
    settings = client_settings(servers, {"SECRET": "s3cret"})
    told = {
        "bootstrap.servers": "a:1,b:2",
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": "gregor",
        "sasl.password": "s3cret",
        "ssl.ca.location": "/etc/ca.pem",
    }
    assert told.items() <= settings.items()
    with pytest.raises(BadInput, match="SECRET"):
        client_settings(servers, {})


def test_without_sasl_no_password_is_asked_for() -> None:
    settings = client_settings(Servers(kafka_security="ssl", kafka_password_env="NOT_SET"), {})
    assert not [name for name in settings if name.startswith("sasl")]


def test_the_role_of_the_machine_signs_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType(SIGNER)
    provider = SimpleNamespace(generate_auth_token=lambda region: (f"token of {region}", 1_700_000_000_500))
    module.__dict__["MSKAuthTokenProvider"] = provider
    monkeypatch.setitem(sys.modules, SIGNER, module)
    settings = client_settings(IAM, {"AWS_REGION": "eu-central-1"})
    assert settings["sasl.mechanism"] == "OAUTHBEARER"
    assert settings["oauth_cb"]("") == ("token of eu-central-1", 1_700_000_000.5)
    with pytest.raises(BadInput, match="AWS_REGION"):
        client_settings(IAM, {})


def test_the_package_that_signs_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, SIGNER, None)
    with pytest.raises(BadInput, match="aws-msk-iam-sasl-signer-python"):
        client_settings(IAM, {"AWS_REGION": "eu-central-1"})
