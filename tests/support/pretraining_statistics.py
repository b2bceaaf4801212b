# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Statistics of pretraining data.

tests/fixtures/pretraining_statistics.json: mean and standard deviation over 24 seeds of a plain
program without the reference's faults (benchmarks/create_pretraining_data.py), on the text and with
the flags of the reference's own statistics (golden/pretraining_data_stats.json, blocks40).
"""

import pathlib
from typing import Any, Dict, List, Sequence

import numpy as np

from albert import tokenization
from albert.pretraining import documents as text_documents
from albert.pretraining import instances as pretraining_instances
from albert.pretraining import masking, words
from albert.pretraining import pairs as segment_pairs
from tests.support.shared import shared_path

EXPECTED = pathlib.Path(__file__).parents[1] / "fixtures" / "pretraining_statistics.json"
LENGTH, PREDICTIONS = 128, 20
RUNS = {
    "blocks40": {},
    "blocks40,favor_shorter_ngram=False": {"favor_shorter_ngram": False},
    "blocks40,random_next_sentence=True": {"random_next_sentence": True},
    "blocks40,do_whole_word_mask=False": {"do_whole_word_mask": False},
    "blocks40,ngram=1": {"ngram": 1},
    "blocks40,do_permutation=True": {"do_permutation": True},
}


def statistics(features: Dict[str, np.ndarray], mask_id: int) -> Dict[str, float]:
    """The statistics of the reference's README for N instances: arrays [N, S], [N, P]."""
    rows, slots = np.nonzero(features["masked_lm_weights"])
    positions = features["masked_lm_positions"][rows, slots]
    labels = features["masked_lm_ids"][rows, slots]
    output = features["input_ids"][rows, positions]
    length = features["input_mask"].sum(axis=1, dtype=np.int64)
    length_a = length - features["segment_ids"].sum(axis=1, dtype=np.int64) - 2
    per_row = np.bincount(rows, minlength=len(length))
    wanted = np.minimum(PREDICTIONS, np.maximum(1, np.rint(length * 0.15)))
    boundary = features["token_boundary"].astype(bool)
    masked = np.zeros(boundary.shape, bool)
    masked[rows, positions] = True
    is_mask, is_kept = output == mask_id, output == labels
    found = {
        "num_instances": len(length),
        "mean_length": length.mean(),
        "frac_length_128": (length == LENGTH).mean(),
        "mean_masked": per_row.mean(),
        "std_masked": per_row.std(),
        "frac_at_target": (per_row == wanted).mean(),
        "frac_mask": is_mask.mean(),
        "frac_kept": (is_kept & ~is_mask).mean(),
        "frac_random": (~is_kept & ~is_mask).mean(),
        "total_masked": len(rows),
        "frac_masked_tokens_word_start": boundary[rows, positions].mean(),
        "frac_label_1": features["next_sentence_labels"].mean(),
        "frac_token_boundary": boundary.sum() / length.sum(),
        "mean_len_a": length_a.mean(),
        "frac_a_of_ab": (length_a / (length - 3)).mean(),
    }
    found.update(_runs(masked, boundary))
    found["frac_masked_words_partial"] = _partial_words(masked, boundary, length=length, a=length_a)
    found["masked_special_tokens"] = _masked_specials(positions, rows, length=length, a=length_a)
    return {name: float(value) for name, value in found.items()}


def _runs(masked: np.ndarray, boundary: np.ndarray) -> Dict[str, float]:
    """Runs of adjacent masked positions, their length counted in words."""
    starts = masked & ~np.pad(masked, [(0, 0), (1, 0)], mode="constant")[:, :-1]
    number = np.cumsum(starts.reshape(-1)) - 1
    words = np.bincount(number[(masked & boundary).reshape(-1)], minlength=number[-1] + 1)
    words = np.maximum(words, 1)
    found = {f"frac_run_words_{n}": (words == n).mean() for n in (1, 2, 3)}
    found["frac_run_words_ge4"] = (words >= 4).mean()
    found["mean_run_words"] = words.mean()
    found["runs_per_sequence"] = len(words) / len(masked)
    return found


def _partial_words(masked: np.ndarray, boundary: np.ndarray, *, length, a) -> float:
    """Of the words with a masked piece, the share of those not masked whole."""
    place = np.arange(masked.shape[1])[None, :]
    second = a[:, None] + 2
    is_text = (place > 0) & (place != second - 1) & (place < length[:, None] - 1)
    starts = is_text & (boundary | (place == 1) | (place == second))
    word = np.cumsum(starts.reshape(-1)) - 1
    text = is_text.reshape(-1)
    sizes = np.bincount(word[text])
    counts = np.bincount(word[text & masked.reshape(-1)], minlength=len(sizes))
    return ((counts > 0) & (counts < sizes)).sum() / (counts > 0).sum()


def _masked_specials(positions: np.ndarray, rows: np.ndarray, *, length, a) -> int:
    """Predictions at [CLS] or [SEP]."""
    separators = (positions == a[rows] + 1) | (positions == length[rows] - 1)
    return int((separators | (positions == 0)).sum())


# ------------------------------------------------------------------------------------ both programs


def tokenizer() -> tokenization.FullTokenizer:
    return tokenization.FullTokenizer(None, True, str(shared_path("data/spm/30k-clean.model")))


def blocks40() -> List[List[str]]:
    """The text of the reference's statistics: documents of 40 sentences at most."""
    with open(str(shared_path("data/text/books_en.txt")), "rb") as stream:
        content = stream.read(1500000)
    documents = [[]]
    for line in content[: content.rindex(b"\n") + 1].decode("utf-8").split("\n"):
        if not line.strip() or len(documents[-1]) == 40:
            documents.append([])
        if line.strip():
            documents[-1].append(line)
    return [document for document in documents if document]


def our_block(
    documents: List[List[str]], pieces: tokenization.FullTokenizer
) -> segment_pairs.TokenizedBlock:
    """`documents` as one tokenised block."""
    raw = tuple(
        text_documents.RawDocument(
            index=number,
            source=number,
            part=0,
            path="",
            first_line=1,
            text="\n".join(document).encode("utf-8"),
        )
        for number, document in enumerate(documents)
    )
    maker = pretraining_instances.InstanceMaker(pieces, pretraining_instances.DataSettings())
    return maker.tokenize(text_documents.TextBlock(0, 0, 0, raw))[0]


def our_features(
    block: segment_pairs.TokenizedBlock, table: words.PieceTable, **flags: Any
) -> Dict[str, np.ndarray]:
    """Our features of all instances of `block`."""
    settings = pretraining_instances.DataSettings(max_seq_length=LENGTH, dupe_factor=2).replace(
        **flags
    )
    pairs = segment_pairs.make_pairs(block, settings).pairs
    return joined(
        [
            masking.masked_features(
                block, pairs.take(slice(start, start + 1000)), table=table, settings=settings
            )
            for start in range(0, len(pairs.key), 1000)
        ]
    )


def joined(batches: Sequence[Dict[str, np.ndarray]]) -> Dict[str, np.ndarray]:
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}
