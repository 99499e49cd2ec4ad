"""A client trusts the system's certificates, and reads none where there is no TLS."""

from __future__ import annotations

import ssl

import pytest

from agent_tui.providers.certificates import trusted_by


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def test_without_tls_no_certificate_is_read_and_none_is_trusted() -> None:
    context = trusted_by("http://127.0.0.1:8000/v1")
    assert context.get_ca_certs() == []
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_with_tls_or_behind_a_proxy_servers_are_verified_by_the_systems_certificates(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, secure = trusted_by("http://127.0.0.1/v1"), trusted_by("https://api.openai.com/v1")
    assert secure is not plain
    assert secure.verify_mode is ssl.CERT_REQUIRED
    assert secure.check_hostname
    assert trusted_by("https://api.anthropic.com") is secure
    monkeypatch.setenv("HTTP_PROXY", "https://proxy.example")
    assert trusted_by("http://127.0.0.1/v1") is secure
