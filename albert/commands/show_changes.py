# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Shows ALBERT's three changes to BERT, with numbers and examples.

  python -m albert show_changes
  python -m albert show_changes base_v2 --language=zh
  python -m albert show_changes --albert_dir=base_v2 --text_a='He left.' --text_b='He came back.'

The changes are factorised embeddings, shared layer weights, and sentence-order prediction in place
of next-sentence prediction (arXiv:1909.11942, section 3.1). The command compares the parameters of
a published size, or of the model in --albert_dir, with a BERT of the same layers. With
--albert_dir it also prints the probability of each order of the two sentences.
"""

import dataclasses
from typing import Any, Optional, Tuple

from albert.commands import plan
from albert.util import cli, wording
from albert.util.flags import BaseFlags, flag

DEFAULT_NAME = "base_v2"
# Language -> two sentences in order, and a sentence of another document.
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
class Flags(BaseFlags):
    """The script's flags."""

    name: Optional[str] = flag(None, f"A published size; default: {DEFAULT_NAME}.", positional=True)
    albert_dir: Optional[str] = flag(
        None,
        "Pretrained model: a folder, or the name of a released model.",
        path=True,
        replaces=("name",),
    )
    language: str = flag("en", "Language of the sentences.", choices=sorted(TEXTS))
    text_a: Optional[str] = flag(None, "Your own first sentence.", needs="text_b")
    text_b: Optional[str] = flag(None, "Your own second sentence.", needs="text_a")


# ---- The two models. `config` is a modeling.AlbertConfig.


def bert_like(config: Any) -> Any:
    """Returns the configuration of a BERT with the same layers: wide embeddings, nothing shared."""
    values = dict(config.to_dict(), embedding_size=config.hidden_size, share_type="none")
    return type(config).from_dict(values)


def embedding_parameters(config: Any) -> Tuple[int, int]:
    """Returns the numbers of embedding weights: BERT's V * H, and ALBERT's V * E + E * H."""
    wide = config.vocab_size * config.hidden_size
    return wide, (config.vocab_size + config.hidden_size) * config.embedding_size


# ---- The script.

_PAGE = """\
What ALBERT changes in BERT: {name}

1. Factorised embeddings
   For each token, BERT learns a vector of the hidden size H. ALBERT learns a shorter vector of
   size E, and one matrix that maps all of them to size H.
     BERT    V x H          {config.vocab_size:,} x {config.hidden_size:,} = {wide:,}
     ALBERT  V x E + E x H  {config.vocab_size:,} x {config.embedding_size:,} + \
{config.embedding_size:,} x {config.hidden_size:,} = {factorised:,}, {times:.1f} times fewer

2. Shared layer weights
   BERT has {config.num_hidden_layers} layers with their own weights. ALBERT uses the same weights
   in all layers. The computation is the same, but there are far fewer parameters.
     {table}

3. Sentence-order prediction in place of next-sentence prediction
   ALBERT swaps half of the pairs. Both segments are about the same topic, so the model must
   learn how sentences follow each other.
     label 0, in order{guesses[0]}
       segment 0  [CLS] {first} [SEP]
       segment 1  {second} [SEP]
     label 1, swapped{guesses[1]}
       segment 0  [CLS] {second} [SEP]
       segment 1  {first} [SEP]
   In half of BERT's pairs, the second segment is from another text. The topic alone often
   shows it.
     label 0, next
       segment 0  [CLS] {first} [SEP]
       segment 1  {second} [SEP]
     label 1, random
       segment 0  [CLS] {first} [SEP]
       segment 1  {other} [SEP]"""


def changes(flags: Flags) -> str:
    """Returns the script's output.

    Raises:
      UserError: the size is unknown, or the model cannot be used.
    """
    from albert import modeling, tokenization
    from albert.models import inference, pretrained

    name, texts = flags.albert_dir or flags.name or DEFAULT_NAME, TEXTS[flags.language]
    if flags.text_a and flags.text_b:
        texts = flags.text_a, flags.text_b, texts[2]
    if flags.albert_dir:
        model = pretrained.find_model(albert_dir=flags.albert_dir)
        config, tokenize = model.config, model.tokenizer.tokenize_text
        with inference.InferenceModel(pretrained.OrderTask(model), model.checkpoint) as order_model:
            probabilities = order_model.predict([texts[:2], texts[1::-1]])
        guesses = [
            f"; the model's guess: {value:.1%} in order, {1 - value:.1%} swapped"
            for value in probabilities
        ]
    else:
        config = modeling.AlbertConfig.from_json_file(plan.published_path(name))
        tokenize = tokenization.BasicTokenizer(False).tokenize  # words, signs, Chinese characters
        guesses = ["", ""]
    bert, albert = (plan.parameters(model, plan.Flags()) for model in (bert_like(config), config))
    rows = [("part", "BERT", "ALBERT", "times fewer")]
    for part, count in albert.items():
        rows.append((part, f"{bert[part]:,}", f"{count:,}", f"{bert[part] / count:.1f}"))
    wide, factorised = embedding_parameters(config)
    first, second, other = (" ".join(tokenize(text)) for text in texts)
    return _PAGE.format(
        name=name,
        config=config,
        wide=wide,
        factorised=factorised,
        times=wide / factorised,
        table="\n     ".join(wording.table(rows)),
        guesses=guesses,
        first=first,
        second=second,
        other=other,
    )


def main(flags: Flags) -> None:
    """Runs the script."""
    print(changes(flags))


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
