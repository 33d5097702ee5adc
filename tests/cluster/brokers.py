"""RabbitMQ on three machines, with deploy/rabbitmq.conf."""

import secrets
from collections.abc import Sequence
from pathlib import Path

from config.dev_stack.processes import Child, last_lines
from tests.cluster.network import Machine, Site
from tests.cluster.topology import DEPLOY
from tests.support.live_stack import eventually

# Debian's own starter changes the user, and forgets where the files are to be.
PROGRAMS = "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin"


class Brokers:
    """Three nodes, by one name."""

    def __init__(self, site: Site) -> None:
        self.machines: Sequence[Machine] = [site.machine(f"rabbitmq{number}") for number in (1, 2, 3)]
        self.site = site
        self.password = secrets.token_hex(8)
        (self.programs,) = Path("/").glob(PROGRAMS.removeprefix("/"))
        self.cookie = secrets.token_hex(10)

    @property
    def url(self) -> str:
        """The address by which any of them is found that is there."""
        return f"amqp://tablewire:{self.password}@rabbitmq:5672//"

    def environment(self, machine: Machine) -> dict[str, str]:
        """Where a node keeps everything."""
        home = self.site.folder / machine.name
        home.mkdir(exist_ok=True)
        cookie = home / ".erlang.cookie"
        if not cookie.exists():
            cookie.write_text(self.cookie)
            cookie.chmod(0o400)
        file = home / "rabbitmq.conf"
        shipped = (DEPLOY / "rabbitmq.conf").read_text()
        file.write_text(f"{shipped}default_user = tablewire\ndefault_pass = {self.password}\n")
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "RABBITMQ_NODENAME": f"rabbit@{machine.name}",
            "RABBITMQ_MNESIA_BASE": str(home / "data"),
            "RABBITMQ_LOG_BASE": str(home / "log"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_CONFIG_FILE": str(file),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
            "RABBITMQ_GENERATED_CONFIG_DIR": str(home / "generated"),
        }

    def start(self) -> None:
        """Start all three, and return when they have found each other."""
        children: list[Child] = []
        for machine in self.machines:
            env = self.environment(machine)
            children.append(machine.start("rabbitmq", str(self.programs / "rabbitmq-server"), env=env))
        assert eventually(self.are_three, within_s=120), last_lines(children[0].log, lines=40)

    def are_three(self) -> bool:
        """Whether the first knows all of them to run."""
        output = self.ask(self.machines[0], "eval", "length(rabbit_nodes:all_running()).", check=False)
        return output.strip() == "3"

    def ask(self, machine: Machine, *words: str, check: bool = True) -> str:
        """What rabbitmqctl says on a machine."""
        command = str(self.programs / "rabbitmqctl")
        return machine.run(command, "-q", *words, env=self.environment(machine), check=check)

    def leader(self, queue: str) -> Machine:
        """The machine that leads a queue."""
        output = self.ask(self.machines[-1], "list_queues", "--silent", "name", "type", "leader")
        rows = [line.split("\t") for line in output.splitlines()]
        ((_, kind, node),) = (row for row in rows if row[0] == queue)
        assert kind == "quorum", kind
        return next(machine for machine in self.machines if node == f"rabbit@{machine.name}")
