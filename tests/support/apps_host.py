"""A host of MCP Apps: a page that shows the view of a tool's result and forwards its calls to the endpoint."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from tests.mcp.client import message

if TYPE_CHECKING:
    from playwright.sync_api import Frame, Page

addresses = itertools.count(1)
ADDRESS = "http://host.test/"
# What hosts must enforce for a view that declares no domain. A frame of `srcdoc` inherits it.
POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " media-src 'self' data:; connect-src 'none'; frame-src 'self'; object-src 'none'"
)


@dataclass
class Host:
    """A host in this page. `requested` are the addresses that the page has loaded, `called` the calls of the view."""

    page: "Page"
    mcp_url: str
    requested: list[str] = field(default_factory=list)
    called: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        body = Path(__file__).with_name("apps_host.html").read_text()
        headers = {"Content-Security-Policy": POLICY, "Content-Type": "text/html"}
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.page.route(ADDRESS, lambda route: route.fulfill(body=body, headers=headers))
        self.page.expose_function("hostForwardsCall", self._forward)
        self.page.goto(ADDRESS)

    def _forward(self, name: str, arguments: dict[str, Any]) -> Any:
        self.called.append((name, arguments))
        return self.call(name, **arguments)

    def rpc(self, method: str, params: Mapping[str, Any]) -> Any:
        """The result of a request, which comes from an address of its own: no limit is reached."""
        body, headers = message(method, params, era="2026-07-28")
        headers["X-Forwarded-For"] = f"10.77.{next(addresses)}.1"
        return httpx.post(self.mcp_url, json=body, headers=headers, timeout=60).json()["result"]

    def call(self, tool: str, **arguments: Any) -> Any:
        """The result of a call that the host makes."""
        return self.rpc("tools/call", {"name": tool, "arguments": arguments})

    def show(
        self,
        tool: str,
        arguments: Mapping[str, Any],
        result: Any,
        *,
        html: str | None = None,
        context: Mapping[str, Any] | None = None,
        has_tools: bool = True,
    ) -> "Frame":
        """Show the view of this result, as a host of this context that may call tools for it."""
        if html is None:
            (content,) = self.rpc("resources/read", {"uri": "ui://tablewire/view"})["contents"]
            html = content["text"]
        capabilities: dict[str, Any] = {"openLinks": {}, **({"serverTools": {}} if has_tools else {})}
        shown = {"html": html, "tool": tool, "arguments": dict(arguments), "result": result}
        self.page.evaluate(
            "(next) => window.show(next)", {**shown, "context": dict(context or {}), "capabilities": capabilities}
        )
        frame = self.page.locator("#view").element_handle()
        assert frame is not None
        view = frame.content_frame()
        assert view is not None
        # Each result has a heading.
        view.wait_for_selector("h1")
        return view

    def sent(self, method: str) -> list[Any]:
        """The parameters of the messages of this method that the view has sent."""
        found: list[Any] = self.page.evaluate(
            "(method) => sent.filter((each) => each.method === method).map((each) => each.params)", method
        )
        return found
