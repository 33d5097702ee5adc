"""A mail server on the loopback: it takes mail as a test tells it to."""

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage


@dataclass
class Postbox:
    """What has arrived, and how the next recipients and mails are answered: 250 where nothing is said."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipient: str = "250 ok"
    content: str = "250 ok"
    # Between a mail and the answer to it.
    delay_s: float = 0.0
    connections: int = 0

    @property
    def url(self) -> str:
        """Its EMAIL_URL."""
        return f"smtp://127.0.0.1:{self.port}"


class Talk(socketserver.StreamRequestHandler):
    """One connection, as far as RFC 5321 goes for a client that behaves."""

    box: Postbox

    def handle(self) -> None:
        """Answer until the client quits."""
        self.box.connections += 1
        self.say("220 ready")
        while line := self.rfile.readline():
            verb = line[:4].upper()
            if verb == b"DATA":
                self.say("354 go on")
                lines = list(iter(self.rfile.readline, b".\r\n"))
                if self.box.content.startswith("2"):
                    mail = message_from_bytes(b"".join(lines), policy=policy.default)
                    self.box.mails.append(mail)
                time.sleep(self.box.delay_s)
                self.say(self.box.content)
            elif verb == b"QUIT":
                return self.say("221 bye")
            else:
                self.say(self.box.recipient if verb == b"RCPT" else "250 ok")
        return None

    def say(self, line: str) -> None:
        """Answer one line."""
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def postbox() -> Iterator[Postbox]:
    """A server until the end."""
    box = Postbox()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), type("ItsTalk", (Talk,), {"box": box})) as server:
        server.daemon_threads = True
        box.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        try:
            yield box
        finally:
            server.shutdown()
