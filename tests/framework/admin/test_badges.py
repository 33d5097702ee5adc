"""Statuses in the lists of the back office."""

from types import SimpleNamespace

from framework.admin.badges import badge, badge_column, short_id


def test_a_badge_has_text_besides_its_colour() -> None:
    assert badge("<b>", "bad") == '<span class="badge bad">&lt;b&gt;</span>'


def test_a_column_colours_the_label_of_a_value() -> None:
    row = SimpleNamespace(state="open", get_state_display=lambda: "Open")
    assert badge_column("state", "State")(None, row) == badge("Open", "good")
    assert badge_column("state", "State", open="warn")(None, row) == badge("Open", "warn")
    assert badge_column("state", "State")(None, SimpleNamespace(state="")) == ""


def test_a_short_id_keeps_the_end_and_the_prefix() -> None:
    assert short_id("ord_01abcdefghij") == '<span class="id" title="ord_01abcdefghij">ord_…efghij</span>'
