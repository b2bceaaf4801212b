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
from typing import Any, Iterator, List, Optional, Tuple

from albert import plan
from albert.command_line import cli
from albert.util import wording
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

    def check(self) -> None:
        """Checks that one model and no or two sentences are named."""
        super().check()
        if self.name and self.albert_dir:
            raise UserError("--name and --albert_dir name two models. Give one.")
        if bool(self.text_a) != bool(self.text_b):
            raise UserError("--text_a and --text_b belong together: give both, or neither.")


# ---- The two models. `config` is a modeling.AlbertConfig.


def bert_like(config: Any) -> Any:
    """Returns the configuration of a BERT of the same layers: wide embeddings, nothing shared."""
    values = dict(config.to_dict(), embedding_size=config.hidden_size, share_type="none")
    return type(config).from_dict(values)


def embedding_parameters(config: Any) -> Tuple[int, int]:
    """Returns the weights of the tokens' vectors: V * H as BERT has them, V * E + E * H."""
    wide = config.vocab_size * config.hidden_size
    return wide, (config.vocab_size + config.hidden_size) * config.embedding_size


def _embedding_lines(config: Any) -> Iterator[str]:
    tokens, short, width = config.vocab_size, config.embedding_size, config.hidden_size
    wide, factorised = embedding_parameters(config)
    yield "1. Factorised embeddings"
    yield "   BERT learns for each token a vector as wide as its layers. ALBERT learns a short one,"
    yield "   and one matrix that widens them all."
    yield f"     BERT    V x H          {tokens:,} x {width:,} = {wide:,}"
    yield (
        f"     ALBERT  V x E + E x H  {tokens:,} x {short:,} + {short:,} x {width:,} = "
        f"{factorised:,}, {wide / factorised:.1f} times fewer"
    )


def _sharing_lines(config: Any) -> Iterator[str]:
    yield "2. Layers that share their weights"
    yield f"   BERT learns {config.num_hidden_layers} layers one by one. ALBERT learns one and"
    yield "   applies it again and again: as much computing, far less to keep."
    bert, albert = (plan.parameters(model, plan.Flags()) for model in (bert_like(config), config))
    rows = [("part", "BERT", "ALBERT", "times fewer")]
    for part, count in albert.items():
        rows.append((part, f"{bert[part]:,}", f"{count:,}", f"{bert[part] / count:.1f}"))
    yield from (f"     {line}" for line in wording.table(rows, left=(0,)))


# ---- The task.


def _task_lines(settings: Flags, model: Any) -> Iterator[str]:
    from albert import tokenization

    texts = list(TEXTS[settings.language])
    if settings.text_a:
        texts[:2] = settings.text_a, settings.text_b
    # Without a vocabulary: words, signs and Chinese characters.
    cut = model.tokenizer.tokenize if model else tokenization.BasicTokenizer(False).tokenize
    first, second, other = map(cut, texts)
    if not first or not second:
        raise UserError("--text_a and --text_b must each have a word.")
    judged = _judge(model, texts[:2]) if model else []
    yield "3. The order of sentences in place of the next sentence"
    yield "   Half of ALBERT's pairs are swapped. Both halves are about the same things, so only"
    yield "   what makes a text hang together tells them apart."
    yield from _pair_lines("label 0, in order", first, second)
    yield from judged[:1]
    yield from _pair_lines("label 1, swapped", second, first)
    yield from judged[1:]
    yield "   Half of BERT's have a second segment from elsewhere. Its words give it away."
    yield from _pair_lines("label 0, next", first, second)
    yield from _pair_lines("label 1, random", first, other)


def _judge(model: Any, texts: List[str]) -> List[str]:
    """What the model says of two texts in either order."""
    from albert.pretrained import inference

    if not inference.has_order_head(model):
        return ["       The model lacks its head for this, as fine-tuned models do."]
    with inference.OrderJudge(model) as judge:
        shares = judge.in_order([texts, texts[::-1]])
    says = "       the model says: {:.1%} in order, {:.1%} swapped"
    return [says.format(share, 1 - share) for share in shares]


def _pair_lines(name: str, first: List[str], second: List[str]) -> Iterator[str]:
    yield f"     {name}"
    yield f"       segment 0  {' '.join(['[CLS]', *first, '[SEP]'])}"
    yield f"       segment 1  {' '.join([*second, '[SEP]'])}"


# ---- The script.


def changes(settings: Flags) -> List[str]:
    """Returns what the script prints, line by line.

    Raises:
      UserError: an unknown size, a model that cannot be used, or a sentence without words.
    """
    from albert import modeling
    from albert.pretrained import inference

    model, name = None, settings.albert_dir or settings.name or DEFAULT_NAME
    if settings.albert_dir:
        model = inference.folder_source(settings.albert_dir)
        config = model.config
    else:
        config = modeling.AlbertConfig.from_json_file(plan.published_path(name))
    lines = [f"What ALBERT changes in BERT: {name}"]
    for part in (_embedding_lines(config), _sharing_lines(config), _task_lines(settings, model)):
        lines += ["", *part]
    return lines


def main(settings: Flags) -> None:
    """Runs the script."""
    print("\n".join(changes(settings)))


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
