"""Certificates: what a verification found, with the digests of what it was about, sealed with a
digest of itself and, with a key, signed (Ed25519). And checking one again."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.errors import InputError, UsageError, Where, optional_library
from replay.storage import Place, opened, read_bytes, size_of

#: What is no part of what a certificate says.
_SEALS = ("sha256", "signature")
#: Bytes of a file that are digested at a time.
_BLOCK = 1 << 20
_ALGORITHM = "Ed25519"
#: What a signature consists of.
_PARTS = {"algorithm", "public_key", "value"}
_LIBRARY = ("cryptography", "sign", "a signed certificate")


def file_facts(path: Place) -> dict[str, Any]:
    """Name, size and digest of a file."""
    digest = hashlib.sha256()
    with opened(path) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return {"name": path.name, "size": size_of(path), "sha256": digest.hexdigest()}


def sealed(body: Mapping[str, Any]) -> dict[str, Any]:
    """The certificate with the digest of what it says."""
    said = {name: value for name, value in body.items() if name not in _SEALS}
    return {**said, "sha256": hashlib.sha256(_canonical(said)).hexdigest()}


def _canonical(body: Mapping[str, Any]) -> bytes:
    """JSON in the one form that is digested and signed: names in order, UTF-8."""
    return json.dumps(body, sort_keys=True, ensure_ascii=False).encode()


def write(certificate: Mapping[str, Any], path: Path, key: Path | None = None) -> None:
    """Write a certificate, signed where a private ``key`` (PEM) is given. UsageError (LR1001,
    LR1005) for a key that cannot sign."""
    signed = dict(certificate)
    if key is not None:
        signed["signature"] = _signature(signed, key)
    text = json.dumps(signed, indent=1, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8")


def _signature(certificate: Mapping[str, Any], path: Path) -> dict[str, str]:
    optional_library(*_LIBRARY)
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        key = serialization.load_pem_private_key(read_bytes(path), None)
    except (ValueError, TypeError) as error:
        raise _unusable(path, str(error)) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise _unusable(path, f"found {type(key).__name__}")
    said = {name: value for name, value in certificate.items() if name != "signature"}
    public = key.public_key().public_bytes_raw()
    return {
        "algorithm": _ALGORITHM,
        "public_key": base64.b64encode(public).decode(),
        "value": base64.b64encode(key.sign(_canonical(said))).decode(),
    }


def _unusable(path: Path, why: str) -> UsageError:
    return UsageError(
        "LR1001",
        f"cannot use the key {path}: {why}; expected an Ed25519 key in PEM without a passphrase",
        hint="Make one with: openssl genpkey -algorithm ed25519 -out FILE",
    )


# -- checking
# -------------------------------------------------------------------------------------------------


def read(path: Path) -> dict[str, Any]:
    """A certificate. InputError (LR2001) for a file that is none, and for JSON that readers take in
    different ways: a name that stands twice, NaN, half a character."""
    found = "JSON without a sha256"
    try:
        document = json.loads(read_bytes(path), object_pairs_hook=_once, parse_constant=_no_value)
        _canonical(document)
    except (ValueError, RecursionError) as error:
        document, found = None, str(error)
    if not isinstance(document, dict) or not isinstance(document.get("sha256"), str):
        raise InputError(
            "LR2001",
            f"found no certificate ({found}); expected JSON with a sha256",
            Where(str(path)),
            "Ask who issued it for the file as it was written",
        )
    return document


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, of which each name stands once: readers differ in which one they take."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name that stands twice")
    return found


def _no_value(word: str) -> Any:
    raise ValueError(f"{word}, which is no JSON")


def faults_of(
    certificate: Mapping[str, Any], public_key: Path | None
) -> tuple[list[str], list[str]]:
    """(what is wrong with the seals of a certificate, what is to be said of them)."""
    faults, notes = [], []
    if sealed(certificate)["sha256"] != certificate["sha256"]:
        faults.append("it was changed: its SHA-256 is not that of what it says")
    signature = certificate.get("signature")
    if signature is None:
        if public_key is not None:
            faults.append("it is not signed")
        return faults, ["unsigned: detects accidents, not tampering"]
    key = signature.get("public_key", "") if isinstance(signature, dict) else ""
    if not _signed(certificate, signature):
        faults.append("its signature is not one of what it says")
    if public_key is None:
        notes.append(f"signed with the key {key}; --public-key FILE checks whose that is")
    elif base64.b64encode(_public(public_key)).decode() != key:
        faults.append(f"it was signed with another key ({key}) than {public_key}")
    else:
        notes.append(f"signed with the key of {public_key}")
    return faults, notes


def _signed(certificate: Mapping[str, Any], signature: Any) -> bool:
    optional_library(*_LIBRARY)
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    said = {name: value for name, value in certificate.items() if name != "signature"}
    try:
        if set(signature) != _PARTS or signature["algorithm"] != _ALGORITHM:
            return False
        key = Ed25519PublicKey.from_public_bytes(_decoded(signature["public_key"]))
        key.verify(_decoded(signature["value"]), _canonical(said))
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return False
    return True


def _decoded(text: str) -> bytes:
    """What base 64 stands for, in its one spelling; ValueError for others."""
    found = base64.b64decode(text, validate=True)
    if base64.b64encode(found).decode() != text:
        raise ValueError(text)
    return found


def _public(path: Path) -> bytes:
    optional_library(*_LIBRARY)
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = serialization.load_pem_public_key(read_bytes(path))
    except ValueError as error:
        raise _unusable(path, str(error)) from None
    if not isinstance(key, Ed25519PublicKey):
        raise _unusable(path, f"found {type(key).__name__}")
    return key.public_bytes_raw()


def other_inputs(certificate: Mapping[str, Any], paths: Iterable[Path]) -> list[str]:
    """How the files of a log are not those of a certificate."""
    given = [file_facts(path) for path in paths]
    listed = [entry for entry in certificate.get("inputs", ()) if isinstance(entry, dict)]
    known = {entry.get("sha256") for entry in listed}
    faults = [
        f"it is of other files than {entry['name']} (SHA-256 {entry['sha256']})"
        for entry in given
        if entry["sha256"] not in known
    ]
    seen = {entry["sha256"] for entry in given}
    return faults + [
        f"it is also of {entry.get('name')}, which was not given"
        for entry in listed
        if entry.get("sha256") not in seen
    ]
