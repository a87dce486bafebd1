"""What a plug-in must give, as the program's classes say it, and what they do not say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

#: Annotations of arrays and tables, whose docstring says shapes.
ARRAYS = re.compile(
    r"\b(Bytes|Index|Mask|Lengths|Hashes|Versions|Records|Codes|RowMask|NDArray|Array|Table"
    r"|RecordBatch|Images)\b"
)
SHAPE = re.compile(r"\[n|\[m|``n``|\brows?\b|\bcolumns?\b")
ERRORS = re.compile(r"[Rr]aise|Error|Refusal")

#: What others implement beside protocols: dataclasses with functions that a plug-in gives.
GIVEN_BY_PLUG_INS = {"Family", "OrderRules"}


def contracts(module: ast.Module) -> Iterator[ast.ClassDef]:
    """The classes of a module that say what a plug-in gives."""
    for node in module.body:
        if isinstance(node, ast.ClassDef) and (
            any("Protocol" in ast.unparse(base) for base in node.bases)
            or node.name in GIVEN_BY_PLUG_INS
        ):
            yield node


def undescribed(lines: Sequence[str], node: ast.ClassDef) -> Iterator[str]:
    """What a contract does not say of its members."""
    about = ast.get_docstring(node) or ""
    told = [ast.get_docstring(one) or "" for one in node.body if isinstance(one, ast.FunctionDef)]
    if not ERRORS.search(about) and not (told and all(map(ERRORS.search, told))):
        yield "neither the class nor each member says which errors are raised"
    for member in node.body:
        if isinstance(member, ast.AnnAssign):
            name = ast.unparse(member.target)
            before = member.lineno - 2
            while lines[before].lstrip()[:1].isalpha():  # several fields share a comment
                before -= 1
            if f"``{name}``" not in about and not lines[before].lstrip().startswith("#:"):
                yield f"no docstring of {name}"
        elif isinstance(member, ast.FunctionDef) and not member.name.startswith("_"):
            text = ast.get_docstring(member) or ""
            given = [argument.annotation for argument in member.args.args] + [member.returns]
            kinds = " ".join(ast.unparse(kind) for kind in given if kind is not None)
            if not text:
                yield f"no docstring of {member.name}"
            elif ARRAYS.search(kinds) and not SHAPE.search(text):
                yield f"no shapes in the docstring of {member.name}"
