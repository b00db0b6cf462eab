"""A certificate for a server on loopback, in the form that Java's servers read."""

from pathlib import Path
from typing import Final

import trustme
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

SERVER_FILE: Final = "server.pem"
CA_FILE: Final = "ca.pem"
"""Names in the folder of a server that speaks TLS."""


def write_certificates(home: Path) -> Path:
    """Write a certificate for 127.0.0.1 with its key, and the authority that signed it: whose file is returned."""
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    key = serialization.load_pem_private_key(certificate.private_key_pem.bytes(), None)
    # Kafka and Cassandra read no other form of a key.
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain = (blob.bytes() for blob in certificate.cert_chain_pems)
    (home / SERVER_FILE).write_bytes(b"".join([pem, *chain]))
    authority.cert_pem.write_to_path(home / CA_FILE)
    return home / CA_FILE
