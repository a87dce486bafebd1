"""Machines that share nothing but a wire: network and mount namespaces of their own, whose links
meet at a bridge in one more, the hub. All of it ends with the processes that run in them; the
machine that tests run on is not changed."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

_NET = "10.213.77"
#: Options of Java on machines of a network, where it lives for seconds: to start with one compiler
#: and a plain collector takes less.
SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData")
#: The same for executors that the driver's machine starts.
EXECUTORS = ("--conf", f"spark.executor.extraJavaOptions={' '.join(SHORT_LIVED)}")
#: The hub's own address, where the driver of a test and its S3 server are.
HUB = f"{_NET}.1"
_HUB = f"""
set -e
ip link set lo up
ip link add bridge type bridge
ip addr add {HUB}/24 dev bridge
ip link set bridge up
echo ready
exec sleep infinity
"""
#: A machine waits for its link, and takes its address.
_LINKED = """
set -e
read go
ip link set lo up
ip addr add "$ADDRESS/24" dev wire
ip link set wire up
"""
#: Then it hides what other machines would not have, and becomes a program. $0: its folder, which
#: stays.
_HIDING = """
exec 9<"$0"
for one in $HIDDEN; do mount -t tmpfs none "$one"; done
mkdir -p "$0"
mount --bind /proc/self/fd/9 "$0"
exec 9<&-
cd "$0"
exec "$@"
"""
#: Opens a port at the hub, and gives the open socket to who started it.
_OPENS = """
import socket, sys
port = socket.create_server(("%s", 0))
socket.send_fds(socket.socket(fileno=int(sys.argv[1])), [b"x"], [port.fileno()])
"""


@dataclass
class Network:
    """A hub, by its process, and machines at it."""

    hub: subprocess.Popen[str]
    machines: list[subprocess.Popen[str]] = field(default_factory=list)

    def inside(self) -> list[str]:
        """The words before a command that runs at the hub."""
        more = [] if _is_root() else ["--user", "--preserve-credentials"]
        return ["nsenter", "--target", str(self.hub.pid), *more, "--net", "--mount", "--"]

    def opened(self) -> socket.socket:
        """A listening socket at the hub, for a server in this process."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            python = [shutil.which("python3") or "python3", "-c", _OPENS % HUB]
            subprocess.run(
                [*self.inside(), *python, str(theirs.fileno())],
                check=True,
                pass_fds=[theirs.fileno()],
                timeout=60,
            )
            _, handles, _, _ = socket.recv_fds(ours, 1, 1)
        return socket.socket(fileno=handles[0])

    def start(
        self, command: list[str], folder: Path, hidden: list[Path], environment: dict[str, str]
    ) -> tuple[subprocess.Popen[str], str]:
        """Start a program on a machine of its own, which sees nothing of folders that are
        ``hidden`` but its own: the process, and the address. ``{address}`` in words is that."""
        more = {"HIDDEN": " ".join(map(str, hidden)), "SPARK_LOCAL_IP": "{address}"}
        number = len(self.machines)
        address = f"{_NET}.{number + 10}"
        words = [word.replace("{address}", address) for word in command]
        stated = {
            name: word.replace("{address}", address) for name, word in (environment | more).items()
        }
        with (folder / "log").open("wb") as log:
            machine = subprocess.Popen(
                [
                    *self.inside(),
                    *("unshare", "--net", "--mount", "--propagation", "private"),
                    *("sh", "-c", _LINKED + _HIDING, str(folder), *words),
                ],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                text=True,
                env={**stated, "ADDRESS": address},
                start_new_session=True,
            )
        self.machines.append(machine)
        self._link(f"link{number}", machine.pid)
        assert machine.stdin is not None
        machine.stdin.write("go\n")
        machine.stdin.close()
        return machine, address

    def _link(self, name: str, machine: int) -> None:
        own = os.stat(f"/proc/{self.hub.pid}/ns/net").st_ino
        while os.stat(f"/proc/{machine}/ns/net").st_ino in (
            own,
            os.stat("/proc/self/ns/net").st_ino,
        ):
            assert Path(f"/proc/{machine}/comm").read_text(encoding="ascii")
        for line in (
            f"ip link add {name} type veth peer name wire netns {machine}",
            f"ip link set {name} master bridge",
            f"ip link set {name} up",
        ):
            subprocess.run([*self.inside(), *line.split()], check=True, timeout=60)


def _is_root() -> bool:
    return os.geteuid() == 0


@contextmanager
def network() -> Iterator[Network]:
    """A network while the context lasts; its machines end with it. Fails with what is missing."""
    for program in ("unshare", "nsenter", "ip"):
        assert shutil.which(program), f"{program} is missing: install util-linux and iproute2"
    mapped = [] if _is_root() else ["--user", "--map-root-user"]
    hub = subprocess.Popen(
        ["unshare", *mapped, "--net", "--mount", "sh", "-c", _HUB],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert hub.stdout is not None
    said = hub.stdout.readline().strip()
    if said != "ready":
        hub.kill()
        hub.wait()
        raise AssertionError(
            f"network namespaces are not to be had here ({said}): run the tests as root of a"
            " machine or container that may make them (CAP_SYS_ADMIN, CAP_NET_ADMIN), or as"
            " a user who may make user namespaces"
        )
    running = Network(hub)
    try:
        yield running
    finally:
        for process in (*running.machines, hub):
            stop(process)
        hub.stdout.close()


def stop(process: subprocess.Popen[str]) -> None:
    """End a process and what it started, at once."""
    if process.poll() is None:
        os.killpg(process.pid, 9)
    process.wait()


def children(process: int) -> list[int]:
    """The processes that another one started, by any of its threads."""
    found: list[int] = []
    for thread in Path(f"/proc/{process}/task").glob("*"):
        with suppress(OSError):  # it has ended
            found += map(int, (thread / "children").read_text(encoding="ascii").split())
    return found


def processes_of(machine: subprocess.Popen[str]) -> dict[int, str]:
    """The processes of a machine, by its network, with their commands."""
    found = {}
    with suppress(FileNotFoundError):  # it has ended
        network = os.stat(f"/proc/{machine.pid}/ns/net").st_ino
        for place in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if os.stat(place / "ns" / "net").st_ino == network:
                    found[int(place.name)] = (place / "cmdline").read_text(encoding="utf-8")
    return found
