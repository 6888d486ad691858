"""A comparison in words."""

from __future__ import annotations

import pickle

import pytest

from tests.estimation.logs import comparison


def test_the_certificate_is_called_computation():
    """So that nobody takes it for a statement about the processes."""
    text = repr(comparison())
    assert "computation" in text
    assert "estimated chains" in text
    assert "guarantee" in text
    assert "not to be trusted" in text


def test_one_sentence_for_a_manager():
    """What happened, how sure that is, and where."""
    assert comparison("changed").sentence.startswith("Behaviour changed")
    assert "product → cart" in comparison("changed").sentence
    assert comparison().sentence.startswith("No change")
    assert comparison("changed").sentence in repr(comparison("changed"))
    assert "only in b: " in comparison("changed").sentence
    assert "only in b" in repr(comparison("changed"))


def test_the_null_has_quantiles():
    """Ascending."""
    quantiles = comparison().null_quantiles()
    assert list(quantiles.values()) == sorted(quantiles.values())
    assert set(quantiles) == {0.5, 0.9, 0.95, 0.99}


def test_intervals():
    """The corrected one lies below the percentiles, which are biased upwards."""
    found = comparison("changed")
    assert found.interval[0] < found.percentile_interval[0]
    assert found.interval[1] < found.percentile_interval[1]


def test_how_many_sequences_the_guarantee_needs():
    """More than there are."""
    first, second = comparison("changed").sequences_needed
    assert first > comparison("changed").a.n_sequences
    assert second > comparison("changed").b.n_sequences


def test_notes_of_both_logs_are_kept():
    """With the log that each is about."""
    assert any(note.startswith("a: ") and "absorbing" in note for note in comparison().notes)


def test_it_is_read_only_and_can_be_pickled():
    """Like every answer."""
    found = comparison()
    again = pickle.loads(pickle.dumps(found))
    assert again.p_value == found.p_value
    with pytest.raises(ValueError, match="read-only"):
        found.null[0] = 0
    with pytest.raises(AttributeError):
        found.seed = 3


def test_notebooks_show_a_table():
    """With names as text."""
    assert "<table>" in comparison()._repr_html_()
