# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Made pairs of sentences in MRPC's files, and a TF-Hub module, for the notebook without a network.

    python -m tests.support.paraphrases FOLDER

writes FOLDER/glue/MRPC and FOLDER/module. Both sentences of a pair speak of the same deed, in other
words; they are no paraphrases if one of them denies it. One label in twelve is wrong.
"""

import functools
import pathlib
import re
import sys

from albert import modeling
from tests.support import (
    classification_data,
    fine_tuned_models,
    hub_modules,
    pretrained_models,
    released_archives,
)

WHO = ["teacher", "baker", "sailor", "farmer", "doctor", "painter", "pilot", "singer"]
DID = [("buy", "bought"), ("fix", "fixed"), ("sell", "sold"), ("hide", "hid"), ("see", "saw")]
WHAT = ["boat", "house", "clock", "lamp", "wagon", "bridge", "ladder", "violin"]
WHEN = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
YES, NO = (
    ("{past}", "really {past}", "did {do}"),
    ("never {past}", "refused to {do}", "did not {do}"),
)
WRONG = 1 / 12  # of the labels
ORDERS = ("The {who} {did} the {what} on {when}.", "On {when} the {who} {did} the {what}.")


def _pair(generator):
    choices = {"who": WHO, "verb": DID, "what": WHAT, "when": WHEN}
    facts = {name: generator.choice(values) for name, values in choices.items()}
    do, past = facts.pop("verb")
    denied = [generator.random() < 0.5 for _ in range(2)]
    texts = []
    for is_denied in denied:
        did = generator.choice(NO if is_denied else YES).format(do=do, past=past)
        texts.append(generator.choice(ORDERS).format(did=did, **facts))
    return int((denied[0] == denied[1]) != (generator.random() < WRONG)), texts


write_mrpc = functools.partial(classification_data.write_mrpc, make_pair=_pair)


def write_module(folder, **sizes):
    """Writes `folder`/module: random weights, and a vocabulary of whole words."""
    model = pathlib.Path(folder) / "model"
    model.mkdir(parents=True)
    texts = f"{WHO} {DID} {WHAT} {WHEN} {YES} {NO} the on".lower()  # as the module reads them
    words = set(re.findall(r"[a-z]+", texts))
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *sorted(words)]
    (model / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    sizes = dict(released_archives.CONFIG, **sizes, vocab_size=len(vocabulary))
    config = modeling.AlbertConfig.from_dict(sizes)
    fine_tuned_models.write_model(model, config, pretrained_models.build, scale=0.02)
    hub_modules.export(model, model.parent / "module")


def main(folder):
    """Writes what the notebook's saved outputs were made with."""
    write_mrpc(pathlib.Path(folder) / "glue", train=4000, dev=400, test=400)
    sizes = {"embedding_size": 64, "hidden_size": 128, "intermediate_size": 512}
    write_module(folder, num_attention_heads=4, **sizes)


if __name__ == "__main__":
    main(sys.argv[1])
