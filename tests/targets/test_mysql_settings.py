"""What a session on a MariaDB or MySQL tells the driver."""

from __future__ import annotations

import ssl
from typing import Any

import pytest

from replay.errors import UsageError
from replay.targets.mysql_settings import connect_arguments, connected

#: What has a driver check the certificate and its name.
CHECKED = {"ssl_verify_cert": True, "ssl_verify_identity": True}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("mariadb://h/", {"host": "h", "port": 3306}),
        ("mysql://u:a%20b@h:7/", {"host": "h", "port": 7, "user": "u", "password": "a b"}),
        ("mariadb://h/?ca=/c.pem", {"host": "h", "port": 3306, "ssl_ca": "/c.pem", **CHECKED}),
    ],
)
def test_a_url_as_arguments(
    url: str, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MYSQL_PWD", raising=False)
    assert connect_arguments(url) == expected


def test_a_url_with_what_is_not_known() -> None:
    with pytest.raises(UsageError, match="found the option 'tls'"):
        connect_arguments("mariadb://h/?tls=1")


def test_certificates_are_read_where_they_are_checked() -> None:
    """A connection that checks none encrypts as any other that checks none does."""
    one, two, checked = (
        connected({"defer_connect": True, **more}).ctx  # type: ignore[attr-defined]
        for more in ({}, {}, {"ssl_verify_cert": True})
    )
    assert one is two
    assert (one.verify_mode, one.check_hostname) == (ssl.CERT_NONE, False)
    assert one.cert_store_stats()["x509"] == 0
    assert checked.verify_mode == ssl.CERT_REQUIRED
