"""Translated texts of the menu: {"da": {"name": "...", "description": "..."}}."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

MAX_LANGUAGES = 20
# A language of two or three letters, with or without a region: "da", "de-AT".
LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Z]{2})?", re.ASCII)
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def find_problems(translations: Any, lengths: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield the path (`da.name`, or "") and the message of each problem; `lengths` has the texts that there may be."""
    if not isinstance(translations, dict):
        yield "", _("This must be an object.")
        return
    if len(translations) > MAX_LANGUAGES:
        yield "", _("This must have at most %(most)s languages.") % {"most": MAX_LANGUAGES}
        return
    for language, texts in translations.items():
        if not LANGUAGE.fullmatch(language):
            yield language[:20], _("A language is a tag such as `da` or `de-AT`.")
        elif not isinstance(texts, dict):
            yield language, _("This must be an object.")
        elif unknown := [name for name in texts if name not in lengths]:
            yield f"{language}.{unknown[0][:40]}", _("Known texts: %(names)s.") % {"names": ", ".join(lengths)}
        else:
            for name, text in texts.items():
                if not isinstance(text, str):
                    yield f"{language}.{name}", _("This must be a string.")
                elif len(text) > lengths[name]:
                    message = _("This must be at most {max_length} characters long.")
                    yield f"{language}.{name}", message.format(max_length=lengths[name])
                elif CONTROL.search(text):
                    yield f"{language}.{name}", _("This holds a control character.")


def validate(translations: Any, lengths: Mapping[str, int]) -> None:
    """Raise ValidationError for the field `translations`."""
    if problems := [
        f"{path}: {message}" if path else message for path, message in find_problems(translations, lengths)
    ]:
        raise ValidationError({"translations": problems})
