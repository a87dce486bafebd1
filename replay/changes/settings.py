"""Settings of Spark (``--conf NAME=VALUE``) whose values are secret."""

from __future__ import annotations

import re

_SECRET = re.compile(r"secret|password|token|credential|access[.]?key", re.IGNORECASE)
#: Settings that only say where a secret is, or whether there is one.
_PLACE = re.compile(r"File$|\.secretKeyRef\.|\.secrets\.|\.enabled$")


def is_secret_setting(name: str) -> bool:
    """Whether the value of a setting is secret, by its name: what Spark itself hides
    (``spark.redaction.regex``), but for names of files and of secrets that a cluster keeps."""
    return bool(_SECRET.search(name)) and not _PLACE.search(name)
