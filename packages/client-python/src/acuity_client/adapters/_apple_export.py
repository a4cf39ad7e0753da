"""The file that the Health app exports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple, NoReturn, Union

from ._error import AdapterError

_ELEMENT = re.compile(r"<(Record|ExportDate)\s([^>]*)>")
_PIECE_MIN = 65_536
_ELEMENT_MAX = 1_048_576
"""Longer than any element: what has no end by then is not the export."""


class ExportRecord(NamedTuple):
    """A record of the export, as it is written."""

    kind: str
    number: int
    attributes: str

    @property
    def path(self) -> str:
        """The field to name where it can't be read."""
        return f"export.Record[{self.number}]"

    def attribute(self, name: str) -> str | None:
        return _attribute_of(self.attributes, name)


class Exported(NamedTuple):
    """When the file was written."""

    at: str


def elements_of(pieces: Iterable[str], kinds: frozenset[str]) -> Iterator[Union[ExportRecord, Exported]]:
    """When the export was written, and its records of some kinds, in one pass."""
    records, has_root = 0, False
    for text in _whole_elements(pieces):
        has_root = has_root or "<HealthData" in text
        if not has_root:
            _not_the_export(text)
        for found in _ELEMENT.finditer(text):
            name, attributes = found.groups()
            if name == "ExportDate":
                yield Exported(_attribute_of(attributes, "value") or "")
            else:
                kind = _attribute_of(attributes, "type")
                if kind in kinds:
                    yield ExportRecord(kind, records, attributes)
                records += 1
    if not has_root:
        _not_the_export("")


def _whole_elements(pieces: Iterable[str]) -> Iterator[str]:
    """The text again, cut between elements."""
    kept: list[str] = []
    length = 0
    for piece in pieces:
        if not isinstance(piece, str):
            raise AdapterError("export", "expected text, not bytes")
        kept.append(piece)
        length += len(piece)
        if length < _PIECE_MIN:
            continue
        text = "".join(kept)
        end = text.rfind(">") + 1
        if end == 0 and length > _ELEMENT_MAX:
            _not_the_export(text)
        yield text[:end]
        kept, length = [text[end:]], len(text) - end
    yield "".join(kept)


def _not_the_export(text: str) -> NoReturn:
    begin = text.lstrip()
    look = ""
    if begin.startswith("PK"):
        look = "; this is the archive: unpack it first"
    elif begin.startswith(("[", "{")):
        look = "; this is JSON"
    raise AdapterError("export", f"expected the text of export.xml, with HealthData{look}")


def _attribute_of(attributes: str, name: str) -> str | None:
    sign = f'{name}="'
    at = 0 if attributes.startswith(sign) else attributes.find(f" {sign}") + 1
    if at == 0 and not attributes.startswith(sign):
        return None
    begin = at + len(sign)
    end = attributes.find('"', begin)
    return None if end < 0 else attributes[begin:end]
