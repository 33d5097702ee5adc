"""Each language has all texts of guests, and those of the dashboard all others, with one translation for each term."""

import re
import tomllib
from pathlib import Path

import pytest
from django.conf import settings

from config.management.commands import collect_texts
from config.management.commands.collect_texts import by_key, load, load_compiled

LANGUAGES = ["da", "de", "es", "fr", "it", "ja", "nl", "pt"]
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|\{\w+\}|<[^>]+>")
FILES = [
    *map(collect_texts.guests_file, collect_texts.languages_of_guests()),
    *map(collect_texts.dashboard_file, collect_texts.languages_of_dashboard()),
]
of_each_catalogue = pytest.mark.parametrize(
    "path", FILES, ids=[str(path.parent.parent.relative_to(settings.BASE_DIR)) for path in FILES]
)


def test_these_languages_are_tested() -> None:
    assert collect_texts.languages_of_guests() == LANGUAGES
    assert collect_texts.languages_of_dashboard() == ["de", "fr", "es"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_all_texts_of_guests_and_none_that_is_gone(language: str) -> None:
    in_catalog = by_key(load(collect_texts.guests_file(language))).keys()
    assert len(in_catalog) > 300
    # docs/languages.md says how to collect them.
    assert sorted(collect_texts.texts_of_guests() - in_catalog, key=str) == []
    assert sorted(in_catalog - collect_texts.all_texts(), key=str) == []


@pytest.mark.parametrize("language", collect_texts.languages_of_dashboard())
def test_a_language_of_the_dashboard_has_exactly_the_other_texts(language: str) -> None:
    in_catalog = by_key(load(collect_texts.dashboard_file(language))).keys()
    assert sorted(in_catalog ^ collect_texts.texts_of_dashboard(language), key=str) == []


@of_each_catalogue
def test_each_text_is_translated_with_its_placeholders(path: Path) -> None:
    texts = load(path)
    assert [text.id for text in texts if text.id and text.fuzzy] == []
    for (forms, _context), translations in by_key(texts).items():
        assert len(translations) == (texts.num_plurals if len(forms) > 1 else 1), forms
        for translation in translations:
            assert translation.strip(), forms
            expected = sorted(PLACEHOLDER.findall(forms[-1]))
            assert sorted(PLACEHOLDER.findall(translation)) == expected, translation


@of_each_catalogue
def test_the_compiled_texts_are_those_of_the_source(path: Path) -> None:
    # docs/languages.md says how to compile them.
    assert by_key(load_compiled(path)) == by_key(load(path))


@of_each_catalogue
def test_a_term_has_the_translations_of_the_glossary(path: Path) -> None:
    glossary = Path(settings.BASE_DIR) / "locale" / f"glossary-{path.parent.parent.name}.toml"
    terms = tomllib.loads(glossary.read_text())
    assert len(terms) > 15
    for (forms, _context), translations in by_key(load(path)).items():
        for term, accepted in terms.items():
            if re.search(rf"\b{term}(e?s)?\b", PLACEHOLDER.sub("", forms[0]), re.IGNORECASE):
                text = translations[0].lower()
                assert any(form.lower() in text for form in accepted), (term, forms[0], translations[0])
