"""Each language has all texts of guests' pages and mail, with one translation for each term."""

import re
import tomllib
from pathlib import Path

import pytest
from django.conf import settings

from tests.languages import catalogs

LANGUAGES = ["da", "de", "es", "fr", "it", "ja", "nl", "pt"]


def test_these_languages_are_tested() -> None:
    assert catalogs.languages() == LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_exactly_the_texts_of_the_code(language: str) -> None:
    in_code, in_catalog = catalogs.texts_of_the_code(), catalogs.by_key(catalogs.load(language)).keys()
    assert len(in_code) > 300
    # docs/languages.md says how to collect them.
    assert sorted(in_code - in_catalog, key=str) == []
    assert sorted(in_catalog - in_code, key=str) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_text_is_translated_with_its_placeholders(language: str) -> None:
    texts = catalogs.load(language)
    assert [text.id for text in texts if text.id and text.fuzzy] == []
    for (forms, _context), translations in catalogs.by_key(texts).items():
        assert len(translations) == (texts.num_plurals if len(forms) > 1 else 1), forms
        for translation in translations:
            assert translation.strip(), forms
            expected = sorted(catalogs.PLACEHOLDER.findall(forms[-1]))
            assert sorted(catalogs.PLACEHOLDER.findall(translation)) == expected, translation


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_compiled_texts_are_those_of_the_source(language: str) -> None:
    # docs/languages.md says how to compile them.
    assert catalogs.by_key(catalogs.load_compiled(language)) == catalogs.by_key(catalogs.load(language))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_term_has_the_translations_of_the_glossary(language: str) -> None:
    glossary = Path(settings.BASE_DIR) / "locale" / f"glossary-{language}.toml"
    terms = tomllib.loads(glossary.read_text())
    assert len(terms) > 15
    for (forms, _context), translations in catalogs.by_key(catalogs.load(language)).items():
        for term, accepted in terms.items():
            if re.search(rf"\b{term}(e?s)?\b", catalogs.PLACEHOLDER.sub("", forms[0]), re.IGNORECASE):
                text = translations[0].lower()
                assert any(form.lower() in text for form in accepted), (term, forms[0], translations[0])
