# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The demo's text: the stories that it makes, and the prose that it finds."""

import hashlib

import pytest

from albert.commands.demo import corpus as demo_corpus
from tests.support.recorded import assert_checksum

COUNT = 400


@pytest.fixture(scope="module", params=["en", "zh"])
def language(request):
    return request.param


@pytest.fixture(scope="module")
def corpus(language):
    return demo_corpus.make_stories(language, COUNT)


def all_sentences(documents):
    return [sentence for document in documents for sentence in document.sentences]


def test_stories_of_a_seed():
    # Numbers of `random.random` are the same since Python 3.2; what a choice makes of them is not.
    first, other = (
        "\n".join(all_sentences(demo_corpus.make_stories("en", 50, seed=seed).training))
        for seed in (7, 8)
    )
    # If the stories change, say so in CHANGELOG.md.
    assert_checksum("stories", hashlib.sha256(first.encode("utf-8")).hexdigest())
    assert other != first


def test_stories_held_out_are_of_other_topics(corpus):
    documents = corpus.training + corpus.held_out
    assert len({tuple(document.sentences) for document in documents}) == COUNT
    assert 0.05 * COUNT < len(corpus.held_out) < 0.2 * COUNT
    about, held_out = ({document.key for document in part} for part in corpus)
    assert not about & held_out
    assert len({document.key.split(":")[0] for document in documents}) >= 16


# ---- Prose.

SPAM = '''
"""Keep spam fresh.

This module keeps spam fresh for as long as it is needed.  It was written by hand.

    >>> import spam

Name      Meaning
====      =======
fresh     It was made today.
"""

def fry(spam, *, minutes):
    """Fry spam for some minutes, e.g. Three of them.

    - Return the pan to its place when the work is done.
    - The `spam` must be :class:`Fresh`, or ``ValueError`` is raised.

    fry(spam, minutes=3)
    """

class Can:
    """Hold a portion of spam."""

    async def open(self):
        """Open the can with great care.

        This module keeps spam fresh for as long as it is needed.
        """
'''


def test_prose_of_a_library(tmp_path, monkeypatch):
    statement = (
        'The "assert" statement\n**********************\n\n'
        "Assert statements are a convenient way to insert assertions.\n\n"
        '   assert_stmt ::= "assert" expression\n\n'
        'The simple form of the statement is equivalent to an "if" statement.\n'
    )
    monkeypatch.setattr(demo_corpus.topics, "topics", {"assert": statement})
    for name, content in {"spam.py": SPAM, "broken.py": "def :", "test/ham.py": SPAM}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    corpus = demo_corpus.read_prose(str(tmp_path))
    topic, fry, spam = sorted(corpus.training + corpus.held_out)
    sentences = ["This module keeps spam fresh for as long as it is needed."]
    assert spam == demo_corpus.Document("spam.py", [*sentences, "It was written by hand."])
    assert fry.sentences == [
        "Fry spam for some minutes, e.g. Three of them.",
        "Return the pan to its place when the work is done.",
        "The spam must be Fresh, or ValueError is raised.",
    ]
    assert topic.sentences == [
        "Assert statements are a convenient way to insert assertions.",
        "The simple form of the statement is equivalent to an if statement.",
    ]


def test_extract_sentences_leaves_out_others():
    others = """Too short indeed.
no capital letter at the start of this one.
No full stop at the end of this one
spam = fry(pan[0], 3) * minutes if x_y else {}."""
    assert [demo_corpus.extract_sentences(text) for text in others.splitlines()] == [[]] * 4
