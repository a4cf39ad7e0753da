"""Redis and PostgreSQL for the examples: started on the loopback where they are installed, ended with the test."""

from __future__ import annotations

import glob
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

_WAIT_S = 60
_POSTGRES = sorted(glob.glob("/usr/lib/postgresql/*/bin")) + ["/usr/local/bin", "/usr/bin"]


def redis_command() -> str | None:
    """The server of Redis, or of Valkey."""
    return shutil.which("redis-server") or shutil.which("valkey-server")


def postgres_folder() -> str | None:
    """Where `initdb` and `postgres` are."""
    return next((folder for folder in _POSTGRES if os.path.exists(f"{folder}/initdb")), None)


def unprivileged() -> list[str] | None:
    """PostgreSQL refuses to run as root: it gets another user's rights. None where nothing can give them."""
    if os.geteuid() != 0:
        return []
    command = shutil.which("setpriv")
    return command and [command, "--reuid=65534", "--regid=65534", "--clear-groups"] or None


@contextmanager
def redis_server() -> Iterator[str]:
    """Its address."""
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder]
        with _running([redis_command() or "", *options], port):
            yield f"redis://127.0.0.1:{port}/0"


@contextmanager
def postgres_server() -> Iterator[str]:
    """Its address."""
    binaries, user, port = postgres_folder() or "", unprivileged() or [], _free_port()
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        data = f"{folder}/data"
        options = ["--auth=trust", "--username=acuity", "--no-sync", "-D", data]
        subprocess.run([*user, f"{binaries}/initdb", *options], check=True, capture_output=True)
        settings = ["-D", data, "-k", folder, "-h", "127.0.0.1", "-p", str(port), "-F"]
        with _running([*user, f"{binaries}/postgres", *settings], port):
            yield f"postgresql://acuity@127.0.0.1:{port}/postgres"


@contextmanager
def _running(command: list[str], port: int) -> Iterator[None]:
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            _until_listening(process, port)
            yield
        finally:
            process.terminate()
            process.wait()


def _until_listening(process: subprocess.Popen[bytes], port: int) -> None:
    until = time.monotonic() + _WAIT_S
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise RuntimeError(f"{process.args!r} does not listen")


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
