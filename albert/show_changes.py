# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shows in numbers and sentences what ALBERT changes in BERT.

  python -m albert.show_changes
  python -m albert.show_changes base_v2 --language=zh
  python -m albert.show_changes --albert_dir=base_v2 --text_a='He left.' --text_b='He came back.'

The three changes are factorised embeddings, layers that share their weights, and the order of
sentences as a task in place of the next sentence (arXiv:1909.11942, section 3.1). Parameters are
those of a published size, or of the model in --albert_dir, beside a BERT of the same layers. That
model, if it has its pretraining heads, also says how probable it finds either order.
"""

import dataclasses
from typing import Iterator, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from albert import modeling, plan, tokenization
from albert.command_line import cli
from albert.pretrained import inference
from albert.pretraining import pairs
from albert.pretraining.settings import DataSettings
from albert.util.errors import UserError
from albert.util.flags import Settings, flag

DEFAULT_NAME = "base_v2"
# Language -> two sentences in their order, and one of another document.
TEXTS = {
    "en": (
        "In the night the lamp of the lighthouse went out.",
        "Martha climbed the stairs and lit it again.",
        "The bakery opens at five, when the street is still dark.",
    ),
    "zh": (
        "夜里，灯塔的灯灭了。",
        "玛莎爬上楼梯，又把它点亮了。",
        "面包店五点开门，那时街上还很暗。",
    ),
}


@dataclasses.dataclass(frozen=True)
class Flags(Settings):
    """The script's flags."""

    name: Optional[str] = flag(None, f"A published size; default: {DEFAULT_NAME}.", positional=True)
    albert_dir: Optional[str] = flag(
        None, "Folder of a pretrained model, or the name of a released one.", path=True
    )
    language: str = flag("en", "Language of the sentences.", choices=sorted(TEXTS))
    text_a: Optional[str] = flag(None, "Your first sentence.")
    text_b: Optional[str] = flag(None, "The sentence that follows --text_a.")


# ---- The two models.


def bert_like(config: modeling.AlbertConfig) -> modeling.AlbertConfig:
    """Returns a BERT of the same layers: wide embeddings, nothing shared."""
    values = dict(config.to_dict(), embedding_size=config.hidden_size, share_type="none")
    return modeling.AlbertConfig.from_dict(values)


def embedding_parameters(config: modeling.AlbertConfig) -> Tuple[int, int]:
    """Returns the weights of the tokens' vectors: V * H as BERT has them, V * E + E * H."""
    wide = config.vocab_size * config.hidden_size
    return wide, (config.vocab_size + config.hidden_size) * config.embedding_size


def _embedding_lines(config: modeling.AlbertConfig) -> Iterator[str]:
    tokens, short, width = config.vocab_size, config.embedding_size, config.hidden_size
    wide, factorised = embedding_parameters(config)
    formula = f"{tokens:,} x {short:,} + {short:,} x {width:,}"
    yield "1. Factorised embeddings"
    yield "   BERT learns for each token a vector as wide as its layers. ALBERT learns a short one,"
    yield "   and one matrix that widens them all."
    yield f"     BERT    V x H          {f'{tokens:,} x {width:,}':<32}{wide:>15,}"
    yield f"     ALBERT  V x E + E x H  {formula:<32}{factorised:>15,}"
    yield f"   {wide / factorised:.1f} times fewer weights."


def _sharing_lines(config: modeling.AlbertConfig) -> Iterator[str]:
    bert, albert = (modeling.parameter_counts(one) for one in (bert_like(config), config))
    yield "2. Layers that share their weights"
    yield f"   BERT learns {config.num_hidden_layers} layers one by one. ALBERT learns one and"
    yield "   applies it again and again: as much computing, far less to keep."
    yield f"     {'':<12}{'BERT':>16}{'ALBERT':>16}"
    for counts in (bert, albert):
        counts["all"] = sum(counts.values())
    for part, after in albert.items():
        times = "" if bert[part] == after else f"{bert[part] / after:10.1f} times fewer"
        yield f"     {part:<12}{bert[part]:>16,}{after:>16,}{times}"


# ---- The task.


class LabelledPair(NamedTuple):
    """Two segments as pretraining puts them together."""

    tokens_a: List[str]
    tokens_b: List[str]
    label: int


def labelled_pairs(
    sentences: Sequence[List[str]], other: List[str], *, random_next_sentence: bool = False
) -> List[LabelledPair]:
    """Returns a pair with label 0 and one with label 1, as data creation makes them.

    Args:
      sentences: the tokens of a document's two sentences.
      other: tokens of another document, of which BERT's task needs one.
      random_next_sentence: BERT's task in place of ALBERT's.
    """
    texts = [*sentences, other]
    tokens = [token for text in texts for token in text]
    document, neighbour = pairs.Document(0, 0, 0, 2), pairs.Document(1, 1, 2, 3)
    block = pairs.TokenizedBlock(
        ids=np.arange(len(tokens), dtype=np.int32),
        word_starts=np.ones(len(tokens), bool),
        borders=np.cumsum([0, *map(len, texts)]),
        documents=(document,),
        neighbours=(neighbour,),
    )
    settings = DataSettings(
        max_seq_length=len(tokens) + 3,
        short_seq_prob=0.0,
        random_next_sentence=random_next_sentence,
    )
    made = pairs.make_pairs(block, settings).pairs
    made = made.take(np.argsort(made.start_a, kind="stable"))  # pairs with the first sentence first
    found = []
    for label in (0, 1):
        one = made.take(made.label.tolist().index(label))
        a = tokens[one.start_a : one.start_a + one.length_a]
        b = tokens[one.start_b : one.start_b + one.length_b]
        found.append(LabelledPair(a, b, label))
    return found


def _task_lines(settings: Flags, source: Optional[inference.Source]) -> Iterator[str]:
    texts = _texts(settings)
    # Without a vocabulary: words, signs and Chinese characters.
    cut = source.tokenizer.tokenize if source else tokenization.BasicTokenizer(False).tokenize
    *sentences, other = map(cut, texts)
    if not all(sentences):
        raise UserError("--text_a and --text_b must each have a word.")
    yield "3. The order of sentences in place of the next sentence"
    yield "   Half of ALBERT's pairs are swapped. Both halves are about the same things, so only"
    yield "   what makes a text hang together tells them apart."
    judged, notes = _judged(source, texts[:2]) if source else (["", ""], [])
    names = ("in order", "swapped")
    for name, pair, judgement in zip(names, labelled_pairs(sentences, other), judged):
        yield from _pair_lines(name, pair)
        if judgement:
            yield f"       the model says: {judgement}"
    yield from notes
    yield "   Half of BERT's have a second segment from elsewhere. Its words give it away."
    names = ("next", "random")
    for name, pair in zip(names, labelled_pairs(sentences, other, random_next_sentence=True)):
        yield from _pair_lines(name, pair)


def _judged(source: inference.Source, texts: List[str]) -> Tuple[List[str], List[str]]:
    """What the model says of two texts in either order, and notes on that."""
    if not inference.has_order_head(source):
        return ["", ""], ["   The model lacks its head for this, as fine-tuned models do."]
    with inference.OrderJudge(source) as model:
        shares = model.in_order([texts, texts[::-1]])
    said = [f"{share:.1%} in order, {1 - share:.1%} swapped" for share in shares]
    length = sum(map(len, source.tokenizer.encode_ids_batch(texts))) + 3  # [CLS], [SEP] and [SEP]
    longest = source.max_seq_length
    if length <= longest:
        return said, []
    return said, [f"   Of {length:,} tokens it read {longest:,}, which are all its positions."]


def _texts(settings: Flags) -> List[str]:
    """Two sentences in their order and one from elsewhere."""
    given = [settings.text_a, settings.text_b]
    if any(given) and not all(given):
        raise UserError("--text_a and --text_b belong together: give both, or neither.")
    *usual, other = TEXTS[settings.language]
    return [*(given if all(given) else usual), other]


def _pair_lines(name: str, pair: LabelledPair) -> Iterator[str]:
    yield f"     label {pair.label}, {name}"
    yield f"       segment 0  {' '.join(['[CLS]', *pair.tokens_a, '[SEP]'])}"
    yield f"       segment 1  {' '.join([*pair.tokens_b, '[SEP]'])}"


# ---- The script.


def changes(settings: Flags) -> List[str]:
    """Returns what the script prints, line by line.

    Raises:
      ValueError: an unknown size, a model that cannot be used, or half a pair of sentences.
    """
    source = None
    if settings.albert_dir:
        if settings.name:
            raise UserError("--name and --albert_dir name two models. Give one.")
        source = inference.folder_source(settings.albert_dir)
    if settings.name in TEXTS:
        raise UserError(
            f"{settings.name!r} is a language and no published size: --language={settings.name}."
        )
    name = settings.albert_dir or settings.name or DEFAULT_NAME
    path = None if source else plan.published_path(name)
    config = source.config if source else modeling.AlbertConfig.from_json_file(path)
    lines = [f"What ALBERT changes in BERT: {name}", ""]
    for part in (_embedding_lines(config), _sharing_lines(config), _task_lines(settings, source)):
        lines += [*part, ""]
    return lines[:-1]


def main(settings: Flags) -> None:
    """Runs the script."""
    print("\n".join(changes(settings)))


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
