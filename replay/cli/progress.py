"""A progress bar on a terminal, and nothing where the output is not one."""

from __future__ import annotations

from typing import Any, TextIO

from replay.engine.contract import READING


class Bar:
    """Call it with (stage, done, total). Silent unless ``stream`` is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = getattr(stream, "raw", stream)  # past what shows a bar's characters as text
        self._bar: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, stage: str, done: int, total: int) -> None:
        if not self.stream.isatty():
            return
        if self._bar is None or self._bar.desc.rstrip(": ") != stage:
            if self._bar is not None:
                self._bar.close()
            from tqdm import tqdm  # terminals alone need it

            unit = {"unit": "B", "unit_scale": True} if stage == READING else {}
            self._bar = tqdm(total=total, desc=stage, file=self.stream, leave=False, **unit)
        self._bar.n = done
        self._bar.refresh()
