# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From text to a small trained ALBERT in a few minutes, with a report page.

The text is everyday stories, made by the demo from tables of words and plots, in English or
Chinese; or English prose that ships with Python. A vocabulary and records are made of it, and a
small model learns to predict masked words and the order of texts. It is asked about documents that
it did not train on. Each run has a folder of its own.
"""

import argparse
import collections
import pathlib
import platform
import time
from typing import Any, Counter, Dict, NamedTuple

import tensorflow.compat.v1 as tf

from albert import create_pretraining_data, modeling, run_pretraining, tokenization, train_vocab
from albert.demo import corpus as demo_corpus
from albert.demo import findings as demo_findings
from albert.demo import page, questions, runs
from albert.pretrained import inference
from albert.training import hooks
from albert.util import files, progress
from albert.util.errors import UserError


class Text(NamedTuple):
    """What a run trains on."""

    name: str
    data: Dict[str, Any]  # flags of the records
    training_data: Dict[str, Any]  # further ones of those to train on
    num_warmup_steps: int


TEXTS = {
    "en": Text(
        "everyday stories in English, made by the demo from tables of words and plots",
        {"max_seq_length": 80, "max_predictions_per_seq": 12},
        {"dupe_factor": 5},
        num_warmup_steps=100,
    ),
    # A story has more characters than words.
    "zh": Text(
        "everyday stories in Chinese, made by the demo from tables of words and plots",
        {"max_seq_length": 88, "max_predictions_per_seq": 14, "language": "zh"},
        {"dupe_factor": 5},
        num_warmup_steps=100,
    ),
    # Prose has sentences of many kinds: twice the usual number of masked words makes more of each.
    "python": Text(
        f"English prose that ships with Python {platform.python_version()}",
        {"max_seq_length": 64, "max_predictions_per_seq": 20},
        {"dupe_factor": 20, "masked_lm_prob": 0.3},
        num_warmup_steps=200,
    ),
}
STORIES = 12000
# A narrow model learns a good deal in a few minutes on two cores: short sequences and a small
# vocabulary give many updates a minute, and larger first weights let it learn from the first on.
MODEL = {
    "embedding_size": 128,
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 512,
    "initializer_range": 0.08,
}
EVALUATIONS = 4  # after that of the untrained model
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def run(options: argparse.Namespace) -> demo_findings.Findings:
    """Makes everything from text to report, or continues; returns what is reported."""
    if options.text == "python" and options.language != "en":
        raise UserError(f"--text python is English, so --language {options.language} is not.")
    kind = "python" if options.text == "python" else options.language
    text, commands, began = TEXTS[kind], runs.Commands(), time.time()
    identity = {"text": kind, "steps": options.steps, "python": platform.python_version()}
    with runs.held(options.o, "run", identity) as path:
        _announce(1, f"Text: {text.name}")
        corpus = _make_text(path, kind)
        _announce(2, "Vocabulary")
        vocabulary = _make_vocabulary(path, kind, corpus, commands=commands)
        _announce(3, "Records of masked sequences and swapped texts")
        _make_records(path, text, vocabulary, commands=commands)
        _announce(4, f"Pretraining, {options.steps:,} steps, and evaluation on held-out text")
        length = text.data["max_seq_length"]
        tokenizer = tokenization.FullTokenizer(**vocabulary)
        config = modeling.AlbertConfig(
            len(tokenizer.vocab), max_position_embeddings=length, **MODEL
        )
        outcome = _pretrain(path, text, config, commands=commands, steps=options.steps)
        _announce(5, "What was learnt")
        findings = demo_findings.examine(
            path,
            inference.Source(config, "", tokenizer, length),
            corpus,
            joint="" if kind == "zh" else " ",
            find=questions.word_finder(path / "names.txt" if kind == "zh" else None),
        )
        print(demo_findings.summary(findings))
        seen = {line for document in corpus.training for line in document.sentences}
        held_out = [line for document in corpus.held_out for line in document.sentences]
        times = {**commands.seconds, "all": time.time() - began}
        page.write_page(
            path / "report.html",
            findings,
            hooks.read_curve(str(path / "model" / "training_curve.csv")),
            text=text.name,
            language=options.language,
            layers=config.num_hidden_layers,
            length=length,
            parameters=f"{sum(modeling.parameter_counts(config, 'pretraining').values()):,}",
            tensorflow=tf.__version__,
            characters=f"{(path / 'train.txt').stat().st_size / 1e6:.1f}",
            training=f"{len(corpus.training):,}",
            held_out=f"{len(corpus.held_out):,}",
            seen=f"{sum(line in seen for line in held_out) / len(held_out):.0%}",
            speed=f"{outcome.training.examples_per_second:,.0f}" if outcome.training else "-",
            commands=commands.lines,
            **{name: progress.format_seconds(value) for name, value in times.items()},
        )
    print(f"\nReport page: {(path / 'report.html').resolve().as_uri()}")
    return findings


def _announce(number: int, text: str) -> None:
    print(f"\n[{number}/5] {text}", flush=True)


def _make_text(path: pathlib.Path, kind: str) -> demo_corpus.Corpus:
    """Writes train.txt and held_out.txt, and the names that jieba is to know."""
    if kind == "python":
        corpus = demo_corpus.read_prose()
    else:
        corpus = demo_corpus.make_stories(kind, STORIES)
        people = [row[""] for row in demo_corpus.read_grammar(kind).tables["person"]]
        files.atomic_write_text(str(path / "names.txt"), "\n".join(people) + "\n")
    for name, documents in zip(("train", "held_out"), corpus):
        demo_corpus.write_documents(documents, str(path / f"{name}.txt"))
        sentences = sum(len(document.sentences) for document in documents)
        print(f"    {name}.txt: {len(documents):,} documents, {sentences:,} sentences")
    return corpus


def _make_vocabulary(
    path: pathlib.Path, kind: str, corpus: demo_corpus.Corpus, *, commands: runs.Commands
) -> Dict[str, str]:
    """Returns the flag of the vocabulary; the same text gives the same bytes again."""
    if kind == "python":
        prefix = path / "vocabulary"
        text = path / "train.txt"
        commands(train_vocab, input_file=text, model_prefix=prefix, vocab_size=2000, overwrite=True)
        return {"spm_model_file": f"{prefix}.model"}
    counts: Counter[str] = collections.Counter()
    basic = tokenization.BasicTokenizer()
    for document in corpus.training:
        counts.update(basic.tokenize(" ".join(document.sentences)))
    tokens = [*_SPECIAL, *sorted(counts, key=lambda token: (-counts[token], token))]
    files.atomic_write_text(str(path / "vocab.txt"), "\n".join(tokens) + "\n")
    print(f"    vocab.txt: the {len(tokens):,} words (zh: characters) of train.txt")
    return {"vocab_file": str(path / "vocab.txt")}


def _make_records(
    path: pathlib.Path, text: Text, vocabulary: Dict[str, str], *, commands: runs.Commands
) -> None:
    names = {"user_dictionary": path / "names.txt"} if "language" in text.data else {}
    for name, flags in (("train", text.training_data), ("held_out", {"dupe_factor": 1})):
        commands(
            create_pretraining_data,
            input_file=path / f"{name}.txt",
            output_file=path / f"{name}.tf_record",
            ngram=1,
            **vocabulary,
            **text.data,
            **flags,
            **names,
        )


def _pretrain(
    path: pathlib.Path,
    text: Text,
    config: modeling.AlbertConfig,
    *,
    commands: runs.Commands,
    steps: int,
) -> run_pretraining.Outcome:
    config_file = str(path / "albert_config.json")
    files.atomic_write_text(config_file, config.to_json_string())
    return commands(
        run_pretraining,
        run_pretraining.pretrain,
        albert_config_file=config_file,
        input_file=path / "train.tf_record",
        eval_file=path / "held_out.tf_record",
        output_dir=path / "model",
        do_train=True,
        do_eval=True,
        eval_untrained=True,
        max_seq_length=text.data["max_seq_length"],
        max_predictions_per_seq=text.data["max_predictions_per_seq"],
        train_batch_size=32,
        optimizer="adamw",
        learning_rate=0.001,
        num_train_steps=steps,
        num_warmup_steps=min(text.num_warmup_steps, steps // 8),
        max_eval_steps=8,
        save_checkpoints_steps=max(1, steps // EVALUATIONS),
        keep_checkpoint_max=0,
        log_steps=max(1, steps // 40),
    )
