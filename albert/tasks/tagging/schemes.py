# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""How tags mark entities: the schemes, the entities in a sentence, and their scores.

scheme = find(["O", "B-PER", "I-PER"])      # its name is BIO
scheme.entities(["B-PER", "I-PER", "O"])    # [Entity("PER", 0, 1)]
"""

import re
from typing import Dict, Iterable, List, Mapping, NamedTuple, Optional, Pattern, Sequence, Tuple

from albert.util import UserError

OUTSIDE, PLAIN = "O", "plain"
# The letters for a word's position in its entity. IOB1, where B only separates entities, is BIO.
_LETTERS = {"BIO": "BI", "BIOES": "BIES", "BILOU": "BILU", "BMES": "BMES"}
SCHEME_NAMES = (*_LETTERS, PLAIN)
_BIOES_LETTERS = {"L": "E", "U": "S", "M": "I"}  # the letters of BIOES for other letters
_FORMS = (  # B-PER, B_PER, PER-B, PER_B, and B alone
    "(?P<position>[%s])-(?P<type>.+)",
    "(?P<position>[%s])_(?P<type>.+)",
    "(?P<type>.+)-(?P<position>[%s])",
    "(?P<type>.+)_(?P<position>[%s])",
    "(?P<position>[%s])(?P<type>)",
)
_LOOKS_MARKED = re.compile("(?i:[BIESLUM])[-_].+|.+[-_][BIESLUM]")


class Entity(NamedTuple):
    """An entity: type, first word and last word. Tags without a type have the type "_"."""

    type: str
    first: int
    last: int


class Scheme(NamedTuple):
    """The name of a scheme, and the pattern of its tags, except O."""

    name: str
    pattern: Pattern[str]

    def parse(self, tag: str) -> Tuple[str, str]:
        """Returns (position in BIOES, type) of a tag. The position of a plain tag is I."""
        match = self.pattern.fullmatch(tag)
        if tag == OUTSIDE or not match:
            return OUTSIDE, ""
        position = match.group("position") or "I"
        return _BIOES_LETTERS.get(position, position), match.group("type") or "_"

    def misfits(self, tags: Iterable[str]) -> List[str]:
        """Returns the tags that do not fit the scheme."""
        return [tag for tag in tags if tag != OUTSIDE and not self.pattern.fullmatch(tag)]

    def check(self, first_sentences: Mapping[str, str]) -> None:
        """Raises UserError if a tag does not fit the scheme.

        Args:
          first_sentences: tag -> location of the first sentence with this tag.
        """
        for tag in self.misfits(first_sentences):
            raise UserError(
                f"{first_sentences[tag]}: this sentence has the tag {tag!r}, which does not fit "
                f"the scheme {self.name}. Correct the tag, remove the line if it is a header, or "
                f"choose another --tag_scheme: {', '.join(SCHEME_NAMES)}."
            )

    def entities(self, tags: Sequence[str]) -> List[Entity]:
        """Returns the entities in a sentence, as conlleval finds them.

        A tag with I or E continues an entity of its type that the word before begins or continues.
        Each other tag except O begins an entity, even if the scheme does not allow it.
        """
        entities: List[Entity] = []
        open_type = None
        for number, tag in enumerate(tags):
            position, entity_type = self.parse(tag)
            if position in "IE" and entity_type == open_type:
                entities[-1] = entities[-1]._replace(last=number)
            elif position != OUTSIDE:
                entities.append(Entity(entity_type, number, number))
            open_type = entity_type if position in "BI" else None
        return entities


def find(labels: Sequence[str], name: Optional[str] = None) -> Scheme:
    """Returns the scheme that fits most labels of a data set.

    Args:
      labels: the different tags.
      name: one of SCHEME_NAMES; by default, the labels decide.
    """
    plain = Scheme(PLAIN, re.compile("(?P<position>)(?P<type>.+)"))
    if name == PLAIN:
        return plain
    candidates = [
        Scheme(scheme_name, re.compile(form % _LETTERS[scheme_name]))
        for scheme_name in ([name] if name else _LETTERS)
        for form in _FORMS
    ]
    best = min(candidates, key=lambda scheme: len(scheme.misfits(labels)))
    is_marked = name or any(map(_LOOKS_MARKED.fullmatch, labels))
    return plain if best.misfits(labels) and not is_marked else best


def scores(right: Sequence[List[Entity]], predicted: Sequence[List[Entity]]) -> Dict[str, float]:
    """Returns precision, recall and F1 from the entities of each sentence."""
    correct = sum(len({*pair[0]} & {*pair[1]}) for pair in zip(predicted, right))
    counts = [sum(map(len, entities)) for entities in (predicted, right)]
    precision, recall = (correct / max(count, 1) for count in counts)
    return {"precision": precision, "recall": recall, "f1": 2 * correct / max(sum(counts), 1)}
