# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Trains a small ALBERT from text in a few minutes, and writes a report page.

The text is everyday stories in English or Chinese, which the demo makes from tables of words and
plots, or English prose that ships with Python. The demo makes a vocabulary and records, and trains
a small model to predict masked words and the order of texts. The report page shows its predictions
on text that it did not see in training. Each run writes to a new folder, unless you give -o.
"""

import argparse
import html
import platform
import shlex
import time
from typing import Any, Dict, NamedTuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import create_pretraining_data, modeling, run_pretraining, tokenization
from albert.commands import train_vocab
from albert.commands.demo import corpus as demo_corpus
from albert.commands.demo import findings as demo_findings
from albert.commands.demo import page, runs
from albert.formats import model_folder
from albert.training import hooks
from albert.util import UserError, files, progress

STORIES = 12000


class Kind(NamedTuple):
    """A kind of text, and the flags of its records and of training."""

    text: str
    lengths: Dict[str, int]  # also flags of training
    # The training records repeat the text, each time with other masks.
    copies: Dict[str, Any] = {"dupe_factor": 5, "masked_lm_prob": 0.3}
    # Small batches and many masks: two thirds of the work of 32 stories with 15% masks.
    training: Dict[str, Any] = {
        "train_batch_size": 20,
        "learning_rate": 0.002,
        "adam_beta_2": 0.98,
    }


_STORIES = "everyday stories in {}, made by the demo from tables of words and plots"
KINDS = {
    "en": Kind(
        _STORIES.format("English"),
        {"max_seq_length": 80, "max_predictions_per_seq": 24},
    ),
    # A Chinese story has more characters than an English story has words.
    "zh": Kind(
        _STORIES.format("Chinese"),
        {"max_seq_length": 88, "max_predictions_per_seq": 26},
    ),
    # Prose varies more than stories, so the records repeat it more often.
    "python": Kind(
        f"English prose that ships with Python {platform.python_version()}",
        {"max_seq_length": 64, "max_predictions_per_seq": 20},
        {"dupe_factor": 20, "masked_lm_prob": 0.3},
        {"train_batch_size": 32, "learning_rate": 0.001},
    ),
}
# A narrow model learns much in a few minutes on two cores: short sequences and a small vocabulary
# allow many updates a minute, and with larger initial weights the loss falls from the first update.
MODEL: Dict[str, Any] = {
    "embedding_size": 128,
    "hidden_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 512,
    "initializer_range": 0.08,
}
EVALUATIONS = 4  # besides the untrained model's


def run_phase(options: argparse.Namespace) -> None:
    """Runs the phase."""
    if options.text == "python" and options.language != "en":
        raise UserError(f"--text python is English: leave out --language {options.language}.")
    kind = options.language if options.text == "stories" else options.text
    with runs.open_run(
        options.o, "run", text=kind, steps=options.steps, python=platform.python_version()
    ) as run:
        run_tour(run, kind, options.steps)


def run_tour(run: runs.DemoRun, kind: str, steps: int) -> demo_findings.Findings:
    """Runs or resumes all steps from the text to the report, in the run's folder."""
    path, began = run.path, time.time()
    print(f"\n[1/5] Text: {KINDS[kind].text}", flush=True)
    corpus = _make_text(run, kind)
    print("\n[2/5] Vocabulary", flush=True)
    vocabulary = _make_vocabulary(run, kind, corpus)
    print("\n[3/5] Records of masked sequences and swapped texts", flush=True)
    _make_records(run, kind, vocabulary)
    print(f"\n[4/5] Pretraining, {steps:,} steps, and evaluation on held-out text", flush=True)
    tokens_from: Dict[str, Any] = {"vocab_file": None, **vocabulary}
    tokenizer = tokenization.FullTokenizer(**tokens_from)
    length = KINDS[kind].lengths["max_seq_length"]
    config = modeling.AlbertConfig(len(tokenizer.vocab), max_position_embeddings=length, **MODEL)
    files.atomic_write_text(str(path / "albert_config.json"), config.to_json_string())
    _pretrain(run, kind, steps)
    print("\n[5/5] What it learned", flush=True)
    best = str(path / "model" / "model.ckpt-best")
    task = demo_findings.ProbeTask(model_folder.PretrainedModel(config, best, tokenizer, length))
    findings = task.examine(path, corpus, path / "names.txt" if kind == "zh" else None)
    curve = hooks.read_curve(str(path / "model" / hooks.CURVE_NAME))
    training_lines, held_out_lines = (
        [line for text in part for line in text.sentences] for part in corpus
    )
    page.write_page(
        path / "report.html",
        findings,
        curve,
        text=KINDS[kind].text,
        language="zh" if kind == "zh" else "en",
        config=config,
        model=model_folder.model_summary(config),
        tensorflow=tf.__version__,
        characters=sum(map(len, training_lines)) / 1e6,
        documents=list(map(len, corpus)),
        seen=np.mean(np.isin(held_out_lines, training_lines)),
        speed=float(curve[-1]["examples_per_second"] or 0),
        commands="</pre><pre>".join(map(html.escape, run.lines)),
        model_folder=html.escape(shlex.quote(str(path / "model"))),
        gap=html.escape(shlex.quote(findings.questions[0].with_gap)),
        time=progress.format_seconds(time.time() - began),
        times={name: progress.format_seconds(value) for name, value in run.seconds.items()},
    )
    print(demo_findings.summary(findings))
    print(f"\nReport page: {(path / 'report.html').resolve().as_uri()}")
    return findings


def _make_text(run: runs.DemoRun, kind: str) -> demo_corpus.Corpus:
    """Writes train.txt and held_out.txt, and for jieba a file of names."""
    if kind == "python":
        corpus = demo_corpus.read_prose()
    else:
        corpus = demo_corpus.make_stories(kind, STORIES)
        people = [row[""] for row in demo_corpus.read_grammar(kind)[0]["person"]]
        files.atomic_write_text(str(run.path / "names.txt"), "\n".join(people))
    for name, documents in zip(("train", "held_out"), corpus):
        text = "\n\n".join("\n".join(document.sentences) for document in documents)
        files.atomic_write_text(str(run.path / f"{name}.txt"), text + "\n")
        print(f"    {name}.txt: {len(documents):,} documents, {len(text):,} characters")
    return corpus


def _make_vocabulary(run: runs.DemoRun, kind: str, corpus: demo_corpus.Corpus) -> Dict[str, str]:
    """Makes a vocabulary, and returns its flag. The same text gives the same bytes."""
    path = run.path
    if kind == "python":
        run(
            train_vocab,
            input_file=path / "train.txt",
            model_prefix=path / "vocabulary",
            vocab_size=2000,
            overwrite=True,
        )
    else:
        cut = tokenization.BasicTokenizer().tokenize
        lines = (" ".join(document.sentences) for document in corpus.training)
        words = demo_corpus.by_frequency(word for line in lines for word in cut(line))
        tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
        files.atomic_write_text(str(path / "vocab.txt"), "\n".join(tokens) + "\n")
        print(f"    vocab.txt: the {len(words):,} words (zh: characters) of train.txt")
    return runs.vocabulary_of(path)


def _make_records(run: runs.DemoRun, kind: str, vocabulary: Dict[str, str]) -> None:
    flags: Dict[str, Any] = {"ngram": 1, **vocabulary, **KINDS[kind].lengths}
    if kind == "zh":
        flags.update(language="zh", user_dictionary=run.path / "names.txt")
    for name, copies in (("train", KINDS[kind].copies), ("held_out", {"dupe_factor": 1})):
        run(
            create_pretraining_data,
            input_file=run.path / f"{name}.txt",
            output_file=run.path / f"{name}.tf_record",
            **flags,
            **copies,
        )


def _pretrain(run: runs.DemoRun, kind: str, steps: int) -> None:
    path = run.path
    run(
        run_pretraining,
        albert_config_file=path / "albert_config.json",
        input_file=path / "train.tf_record",
        eval_file=path / "held_out.tf_record",
        output_dir=path / "model",
        do_train=True,
        do_eval=True,
        eval_untrained=True,
        optimizer="adamw",
        num_train_steps=steps,
        num_warmup_steps=steps // 15,
        max_eval_steps=8,
        save_checkpoints_steps=max(1, steps // EVALUATIONS),
        keep_checkpoint_max=0,
        log_steps=max(1, steps // 40),
        **KINDS[kind].lengths,
        **KINDS[kind].training,
    )
