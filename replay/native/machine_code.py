"""Machine code that Numba makes once on a machine, and that is then loaded without Numba.

Importing Numba and having it load what its own cache holds takes 0.6 CPU s in every process, which
is more than the code itself runs for in most. So what is kept here is the object file alone: a
function over arrays and numbers, made for this processor, which llvmlite links in 5 ms. It is made
anew where the source, llvmlite or the processor is another one, or where the file is damaged.

A function is called by Numba's own convention: the place of the result, that of an error, and then
its arguments, of an array its owner (none), size, address, shape and strides. ctypes lets go of the
interpreter's lock meanwhile.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from replay.temp_folders import remove_unused, user_cache


@dataclass(frozen=True)
class ArrayOf:
    """An argument that is an array, contiguous in C order. ``fixed``: the function does not write
    to it."""

    dtype: str
    dimensions: int = 1
    fixed: bool = False


#: An argument that is a number of 64 bits.
NUMBER = None

Argument = ArrayOf | None


@dataclass(frozen=True, eq=False)
class Kernel:
    """The function ``name`` of a ``module`` that imports Numba; it returns a number. ``sources``:
    further modules whose text decides what it does. Each is itself alone: to hash all that it says
    takes longer than a small call."""

    module: str
    name: str
    arguments: tuple[Argument, ...]
    sources: tuple[str, ...] = ()


#: Arrays and numbers as the kernel says -> its result. TypeError for other arguments.
MachineCode = Callable[..., int]

_ENDING = ".machine-code"
#: The module that those of kernels import.
_SHARED = "replay.native.shared_kernel"
#: Threads that need a kernel wait for the one that makes it.
_MAKING = threading.Lock()


def loaded(kernel: Kernel) -> MachineCode:
    """The machine code of a kernel: what is kept of it, or made and kept now (a few CPU seconds).

    ImportError where Numba or llvmlite is not there, or switched off (``NUMBA_DISABLE_JIT``);
    OSError where there is no folder to keep it in; RuntimeError and others of these libraries.
    """
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        raise ImportError("NUMBA_DISABLE_JIT is set")
    llvmlite = import_module("llvmlite")
    llvm = import_module("llvmlite.binding")

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    processor = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    texts = [_source(name) for name in (kernel.module, *kernel.sources, _SHARED, __name__)]
    key = _digest([repr((kernel, llvmlite.__version__, processor)).encode(), *texts])
    name = f"{kernel.name}-{key[:32]}{_ENDING}"
    with _MAKING:
        kept = _kept(name)
        if kept is None:
            _check_folders(name)
            kept = _made(kernel, llvm, processor)
            _keep(name, kept)
    symbol, _, code = kept.partition(b"\n")
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    address = engine.get_function_address(symbol.decode())
    if not address:
        raise RuntimeError(f"found no {symbol.decode()} in what was kept of {kernel.name}")
    return _Call(kernel, address, engine)


@cache
def available(kernel: Kernel) -> MachineCode | None:
    """:func:`loaded`; None where that fails, for whatever reason: whoever asks has another way."""
    try:
        return loaded(kernel)
    except Exception:  # noqa: BLE001  Numba, llvmlite and a disk that is full say so in many ways
        return None


class _Call:
    """Calls a function at an address, which ``engine`` keeps in memory."""

    def __init__(self, kernel: Kernel, address: int, engine: Any) -> None:
        self.kernel, self.engine = kernel, engine
        kinds: list[Any] = [ctypes.c_void_p, ctypes.c_void_p]
        for argument in kernel.arguments:
            count = 1 if argument is None else 5 + 2 * argument.dimensions
            kinds += [ctypes.c_int64] * count
        self.function = ctypes.CFUNCTYPE(ctypes.c_int32, *kinds)(address)
        self.dtypes = [np.dtype(of.dtype if of else "int64") for of in kernel.arguments]

    def __call__(self, *arguments: Any) -> int:
        result, error = ctypes.c_int64(), ctypes.c_void_p()
        numbers: list[int] = []
        of_kernel = zip(self.kernel.arguments, self.dtypes, strict=True)
        for given, (wanted, dtype) in zip(arguments, of_kernel, strict=True):
            if wanted is None:
                numbers.append(given)
                continue
            flags = given.flags
            if (
                given.dtype != dtype
                or given.ndim != wanted.dimensions
                or not flags.c_contiguous
                or not (wanted.fixed or flags.writeable)
            ):
                raise TypeError(f"found an array of {given.dtype}; expected {wanted}")
            address = given.__array_interface__["data"][0]
            numbers += (0, 0, given.size, given.itemsize, address, *given.shape, *given.strides)
        failed = self.function(ctypes.addressof(result), ctypes.addressof(error), *numbers)
        if failed:
            raise RuntimeError(f"{self.kernel.name} ended with {failed}")
        return result.value


# -- making and keeping
# -------------------------------------------------------------------------------------------------


def _made(kernel: Kernel, llvm: Any, processor: tuple[str, str]) -> bytes:
    """The name of the symbol, a line end, and the object file that has it."""
    import numba

    def kind(argument: Argument) -> Any:
        if argument is None:
            return numba.types.int64
        of = numba.from_dtype(np.dtype(argument.dtype))
        return numba.types.Array(of, argument.dimensions, "C", argument.fixed)

    signature = tuple(kind(argument) for argument in kernel.arguments)
    source = getattr(import_module(kernel.module), kernel.name)
    # none of the ways in from Python: they would need Numba, and nothing but its own way is called
    without: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    alone: Any = numba.njit(**without)(source.py_func)
    alone.compile(signature)
    made = alone.overloads[signature]
    if made.signature.return_type != numba.types.int64:
        raise RuntimeError(f"{kernel.name} returns {made.signature.return_type}; expected a number")
    code = alone.inspect_llvm(signature)
    if " double " in code:
        # a byte that is no longer a signed number (shared_kernel.octet) is enough for it
        raise RuntimeError(f"{kernel.name} computes with floats; expected whole numbers only")
    name, features = processor
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=name, features=features, opt=3, jit=True
    )
    kept = machine.emit_object(llvm.parse_assembly(code))
    return bytes(made.fndesc.llvm_func_name.encode() + b"\n" + kept)


def _source(module: str) -> bytes:
    """The text of a module, which is not imported for it."""
    spec = find_spec(module)
    get_source: Any = None if spec is None else getattr(spec.loader, "get_source", None)
    text = None if get_source is None else get_source(module)
    if text is None:
        raise ImportError(f"found no source of {module}")
    return str(text).encode()


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()


def _folders() -> Iterator[Path]:
    """Where machine code is kept: the folder that is named for it, or beside the bytecode of this
    package, or else with the user's other caches."""
    if named := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(named)
        return
    yield Path(__file__).parent / "__pycache__"
    with suppress(RuntimeError):  # no home
        yield user_cache()


def _kept(name: str) -> bytes | None:
    """What is kept under a name; None where there is nothing, or it is damaged."""
    for folder in _folders():
        with suppress(OSError):
            stored = (folder / name).read_bytes()
            if _digest([stored[64:]]).encode() == stored[:64]:
                with suppress(OSError):  # a folder of others
                    os.utime(folder / name)  # it is still used
                return stored[64:]
    return None


def _check_folders(name: str) -> None:
    """Raises OSError where no folder takes a file: what is made would be lost, and made again by
    each process."""
    for folder in _folders():
        probe = folder / f".{name}-{os.getpid()}-{os.urandom(4).hex()}"
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink()
            return
    raise OSError("found no folder to keep machine code in")


def _keep(name: str, content: bytes) -> None:
    """Keep something, whole or not at all. OSError where there is no folder for it."""
    failures: Sequence[OSError] = ()
    for folder in _folders():
        own = folder / f".{name}-{os.getpid()}-{os.urandom(4).hex()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            own.write_bytes(_digest([content]).encode() + content)
            own.replace(folder / name)
            _clean(folder, name)
        except OSError as error:
            failures = [*failures, error]
            with suppress(OSError):
                own.unlink(missing_ok=True)
        else:
            return
    raise failures[0] if failures else OSError("found no folder to keep machine code in")


def _clean(folder: Path, name: str) -> None:
    """Remove what other sources, versions or processors had made of a kernel and nobody uses, and
    what a process left that ended while it wrote."""
    kernel = name.partition("-")[0]  # a name of Python has no "-"
    others = (*folder.glob(f"{kernel}-*{_ENDING}"), *folder.glob(f".{kernel}-*{_ENDING}-*"))
    remove_unused(others, (folder / name).stat().st_mtime)
