"""Pages as a browser has them: what a form would send that is saved as it was opened."""

from html.parser import HTMLParser
from typing import Any


class FormReader(HTMLParser):
    """Collects what the form of this id would send, but for its buttons."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.form = form
        self.inside = False
        self.fields: dict[str, list[str]] = {}
        self.chooser: str | None = None
        self.area: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a field holds."""
        its = {name: "" if text is None else text for name, text in attrs}
        if tag == "form":
            self.inside = its.get("id") == self.form
        elif not self.inside:
            return
        elif tag == "select":
            self.chooser = its["name"]
        elif tag == "option" and self.chooser and "selected" in its:
            self.fields.setdefault(self.chooser, []).append(its["value"])
        elif tag == "textarea":
            self.area = its["name"]
            self.fields[self.area] = [""]
        elif tag == "input" and "name" in its and self.is_sent(its):
            self.fields.setdefault(its["name"], []).append(
                its.get("value", "on" if its.get("type") == "checkbox" else "")
            )

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """The same, written the short way."""
        self.handle_starttag(tag, attrs)

    def handle_data(self, data: str) -> None:
        """Note the text of an area."""
        if self.area:
            self.fields[self.area][0] += data

    def handle_endtag(self, tag: str) -> None:
        """Leave the form, or a part of it."""
        if tag == "form":
            self.inside = False
        elif tag == "select":
            self.chooser = None
        elif tag == "textarea":
            self.area = None

    @staticmethod
    def is_sent(its: dict[str, str]) -> bool:
        """Whether a browser sends this input without a click on it."""
        if its["name"] in ("_selected_action", "select_across", "csrfmiddlewaretoken"):
            return False
        return its.get("type") not in ("submit", "button") and (
            its.get("type") not in ("checkbox", "radio") or "checked" in its
        )


def form_of(page: Any, form: str) -> dict[str, Any]:
    """What the form of this id on the page sends; line ends are as browsers send them."""
    reader = FormReader(form)
    reader.feed(page.content.decode())
    assert reader.fields, f"no form {form}"
    # The line feed after the opening tag of an area is not of its text.
    return {name: [as_sent(text.removeprefix("\n")) for text in texts] for name, texts in reader.fields.items()}


def as_sent(text: str) -> str:
    """With CR LF for every line end."""
    return "\r\n".join(text.splitlines()) if "\n" in text or "\r" in text else text
