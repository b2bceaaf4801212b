# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The stories that the demo makes."""

import hashlib
import re

import pytest

from albert.demo import corpus as stories
from albert.demo import options

COUNT = 400
SHA256_OF_SEED_7 = "f96d5a8c6cc45942f1eb884c393177ef4fff7e0bf0c4d5eed9b1d6bb1b131b80"


@pytest.fixture(scope="module", params=options.LANGUAGES)
def language(request):
    return request.param


@pytest.fixture(scope="module")
def corpus(language):
    return stories.make_stories(language, COUNT)


def all_sentences(documents):
    return [sentence for document in documents for sentence in document.sentences]


def test_a_seed_gives_the_same_stories_on_every_python():
    # Numbers of `random.random` are the same since Python 3.2; what a choice makes of them is not.
    texts = "\n".join(all_sentences(stories.make_stories("en", 50, seed=7).training))
    assert texts == "\n".join(all_sentences(stories.make_stories("en", 50, seed=7).training))
    assert texts != "\n".join(all_sentences(stories.make_stories("en", 50, seed=8).training))
    digest = hashlib.sha256(texts.encode("utf-8")).hexdigest()
    assert digest == SHA256_OF_SEED_7, "The stories changed: say so in CHANGELOG.md."


def test_every_slot_names_a_table_and_a_column_that_each_row_has(language):
    grammar = stories.read_grammar(language)
    used = set()
    for plot in grammar.plots:
        assert not plot[0].is_optional
        for form in (form for sentence in plot for form in sentence.forms):
            slots = re.findall(r"\{([^{}]*)\}", form)
            assert form.count("{") == len(slots) == form.count("}")
            used.update(
                re.fullmatch(r"([a-z]+)\d?(?:\.([a-z]+))?", slot).groups() for slot in slots
            )
    for table, column in used:
        assert all(row[column or ""] for row in grammar.tables[table]), (table, column)
    widths = {name: {len(row) for row in rows} for name, rows in grammar.tables.items()}
    assert all(len(several) == 1 for several in widths.values()), widths
    assert set(grammar.tables) == {table for table, _ in used}


def test_stories_differ_and_held_out_ones_are_about_other_things(corpus):
    documents = corpus.training + corpus.held_out
    assert len({tuple(document.sentences) for document in documents}) == COUNT
    assert 0.05 * COUNT < len(corpus.held_out) < 0.2 * COUNT
    about, held_out = ({document.source for document in part} for part in corpus)
    assert not about & held_out
    kinds = {document.source.split(":")[0] for document in documents}
    assert len(kinds) >= 16


def test_sentences_are_whole_and_begin_with_a_capital_letter(corpus, language):
    for sentence in all_sentences(corpus.training):
        assert not set("{}|[]_") & set(sentence) and not re.search(r"\s\s|^\s|\s$|\.\.", sentence)
        assert re.search(r"[.?!。？！]\"?$", sentence), sentence
        if language == "en":
            assert re.match(r"\"?[A-Z]", sentence), sentence
            assert not re.search(r"\b[Aa] [aeiou]|\b[Aa]n [^aeiouh]", sentence), sentence


def test_one_story_never_has_a_thing_twice(corpus):
    grammar = stories.read_grammar("en")
    people = {row[""] for row in grammar.tables["person"]}
    for document in corpus.training:
        about = document.source.split(": ")[1].split()
        assert len(set(about) & people) == len([word for word in about if word in people])
