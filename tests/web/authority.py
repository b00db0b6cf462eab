"""Certificates for the hosts of a recorded web: a CA made for the run, a certificate a host when first asked."""

import ssl
from pathlib import Path

import trustme


class Authority:
    """Issues certificates by the server name of the TLS handshake; `ca_file` is what a crawler must trust."""

    def __init__(self, ca_file: Path) -> None:
        self._ca = trustme.CA()
        self._ca.cert_pem.write_to_path(ca_file)
        self._contexts: dict[str, ssl.SSLContext] = {}

    def context(self) -> ssl.SSLContext:
        """The server's context. A client that sends no name gets a certificate for 127.0.0.1."""
        context = self._issue("127.0.0.1")
        context.sni_callback = self._pick
        return context

    def _pick(self, connection: ssl.SSLSocket | ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        if name is None:
            return
        if name not in self._contexts:
            self._contexts[name] = self._issue(name)
        connection.context = self._contexts[name]

    def _issue(self, name: str) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        self._ca.issue_cert(name).configure_cert(context)
        return context
