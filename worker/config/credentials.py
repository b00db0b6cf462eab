"""Which origin gets which Authorization header; the secrets come from the environment only."""

import base64
from collections.abc import Mapping

from gregor.worker.config.settings import Config, ConfigError, HostOverride


def authorizations(config: Config, environ: Mapping[str, str]) -> dict[str, str]:
    """The header's value by origin (`https://host[:port]`): Basic (RFC 7617, UTF-8) or Bearer (RFC 6750).

    Raises ConfigError when a named variable is not set.
    """
    by_origin: dict[str, str] = {}
    for override in config.hosts:
        value = _value(override, environ)
        if value is not None:
            for origin in override.origins or (f"https://{override.host}",):
                by_origin[_origin(origin, override.host)] = value
    return by_origin


def _value(override: HostOverride, environ: Mapping[str, str]) -> str | None:
    if override.bearer_env and (override.username_env or override.password_env):
        raise ConfigError(f"[[host]] {override.host}: bearer_env excludes username_env and password_env")
    if override.bearer_env:
        return f"Bearer {_secret(override, override.bearer_env, environ)}"
    if not override.username_env and not override.password_env:
        return None
    if not override.username_env or not override.password_env:
        raise ConfigError(f"[[host]] {override.host}: username_env and password_env belong together")
    user = _secret(override, override.username_env, environ)
    if ":" in user:
        raise ConfigError(f"[[host]] {override.host}: a user name of Basic has no colon ({override.username_env})")
    return basic(user, _secret(override, override.password_env, environ))


def keeps_cookies(config: Config) -> bool:
    """Whether cookies are kept and sent: asked for, or given in a file."""
    return config.cookies or bool(config.cookies_file)


def basic(user: str, password: str) -> str:
    """The header's value of a user name without colon and a password (RFC 7617, UTF-8)."""
    return f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}"


def _secret(override: HostOverride, variable: str, environ: Mapping[str, str]) -> str:
    value = environ.get(variable, "")
    if not value or not value.isprintable():
        raise ConfigError(f"[[host]] {override.host}: set the environment variable {variable} to one line of text")
    return value


def _origin(text: str, host: str) -> str:
    scheme, separator, rest = text.rstrip("/").lower().partition("://")
    if scheme not in ("http", "https") or not separator or not rest or set(rest) & set("/?#@"):
        raise ConfigError(f"[[host]] {host}: an origin is http(s)://host[:port], not {text!r}")
    return f"{scheme}://{rest.removesuffix(':80' if scheme == 'http' else ':443')}"
