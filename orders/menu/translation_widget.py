"""The form widget of translations: a row for Danish, for each other language, and for one more."""

import json
from typing import Any

from django import forms
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django_stubs_ext import StrPromise

SUGGESTED = "da"


class TranslationsWidget(forms.Widget):
    """Reads and renders JSON text; `texts` are the names of the texts and their labels."""

    use_fieldset = True

    def __init__(self, texts: dict[str, StrPromise]) -> None:
        self.texts = texts
        super().__init__()

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        getlist = getattr(data, "getlist", lambda key: data.get(key, []))
        languages = [language.strip() for language in getlist(f"{name}-language")]
        columns = {text: getlist(f"{name}-{text}") for text in self.texts}
        rows: dict[str, dict[str, str]] = {}
        for number, language in enumerate(languages):
            texts = {
                text: value
                for text, values in columns.items()
                if (value := "".join(values[number : number + 1]).strip())
            }
            if texts:
                rows[language] = rows.get(language, {}) | {
                    text: value.replace("\r\n", "\n") for text, value in texts.items()
                }
        return json.dumps(rows)

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        return f"{name}-language" not in data

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        try:
            stored = json.loads(value or "{}") or {}
        except ValueError:
            stored = {}
        languages = [*dict.fromkeys([SUGGESTED, *stored]), ""]
        rows = [
            {
                "language": language,
                "texts": [(text, label, stored.get(language, {}).get(text, "")) for text, label in self.texts.items()],
            }
            for language in languages
            if language or "" not in stored
        ]
        return render_to_string("orders/menu_translations.html", {"name": name, "rows": rows, "attrs": attrs or {}})
