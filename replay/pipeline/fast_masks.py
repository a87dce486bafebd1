"""The secrets from which machine code makes masks (:mod:`sqlgen.masking`), as numbers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from replay.arrays import Bytes
from replay.pipeline import fast_path_tables as tables
from sqlgen.masking import Digest, digest_of
from sqlgen.schema import Column, SqlType

_MASKED = (SqlType.VARCHAR, SqlType.SMALLINT, SqlType.INTEGER, SqlType.BIGINT)
_DIGESTS = tuple(digest_of(Column("", kind, False, 0, 0)) for kind in _MASKED)
#: Where the parameters of a digest say who it is for.
_PERSON = 48


def secret_of(column: Column) -> int:
    """The number of the secret for the masks of a column, from 1 on; 0 where machine code makes
    none."""
    digest = digest_of(column)
    return 0 if digest is None else 1 + _DIGESTS.index(digest)


@lru_cache(maxsize=16)
def secrets_of(key: bytes) -> Bytes:
    """The secrets of a key, as the kernel takes them (uint8[k,
    :data:`replay.pipeline.fast_path_tables.SECRET`]); none of an empty key."""
    digests = [digest for digest in _DIGESTS if digest is not None and key]
    secrets = np.zeros((len(digests), tables.SECRET), np.uint8)
    for secret, digest in zip(secrets, digests, strict=True):
        secret[:] = np.frombuffer(_secret(key, digest), np.uint8)
    return secrets


def _secret(key: bytes, digest: Digest) -> bytes:
    """The parameters of BLAKE2b (RFC 7693) for a sequence of blocks, the first of which is the key;
    that block; and the bits of a number."""
    parameters = bytes([digest.octets, len(key), 1, 1]).ljust(_PERSON, b"\0") + digest.person
    return (
        parameters.ljust(tables.PARAMETERS, b"\0")
        + key.ljust(tables.BLOCK, b"\0")
        + bytes([digest.bits])
    )
