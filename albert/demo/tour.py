# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From text to a small trained ALBERT in a few minutes, with a report page to look at.

The text is English prose that ships with Python. A vocabulary is trained on it, records are made,
a small model learns to find masked words and to tell the order of sentences, and documents that it
never saw show what it has learnt. Each run gets a folder of its own.
"""

import argparse
import os
import pathlib
import platform
import time
from typing import NamedTuple

from albert import create_pretraining_data, modeling, run_pretraining, train_vocab
from albert.demo import corpus as demo_corpus
from albert.demo import findings as demo_findings
from albert.demo import page as demo_page
from albert.demo import runs as demo_runs
from albert.util import files, folder_lock

_STEPS_IN_ALL = 5
_FEWEST_DOCUMENTS = 50
_USUAL_MASKED_LM_PROB = 0.15


class Recipe(NamedTuple):
    """The run, chosen so that it learns a good deal within two minutes of training on two cores.

    Short sequences and a small vocabulary give many updates a minute, masking twice as many words
    as usual makes more of each; weights that start larger than usual (initializer_range) let a
    narrow model learn from the first updates on. Held-out text is masked as usual.
    """

    vocab_size: int = 2000
    max_seq_length: int = 64
    max_predictions_per_seq: int = 20
    masked_lm_prob: float = 0.3  # of training
    dupe_factor: int = 20
    hidden_size: int = 128
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    train_batch_size: int = 32
    learning_rate: float = 0.001
    num_train_steps: int = 1600
    num_warmup_steps: int = 200
    evaluations: int = 4  # after that of the untrained model
    library: str = ""  # folder with Python's sources; that of the running Python by default


def _announce(number: int, text: str) -> None:
    print(f"\n[{number}/{_STEPS_IN_ALL}] {text}", flush=True)


# ---------------------------------------------------------------------------------------------
# The run.


def run_tour(folder: str, recipe: Recipe) -> demo_findings.Findings:
    """Makes the whole way from text to report in `folder`; goes on if it was interrupted there.

    Raises:
      ValueError: the folder holds something else, there is too little text to work with, or
        matplotlib, which draws the report, is not installed.
    """
    began = time.time()
    demo_page.check_matplotlib()
    demo_runs.claim_folder(folder, dict(recipe._asdict(), python=platform.python_version()))
    path = pathlib.Path(folder)
    commands = demo_runs.Commands()
    corpus = _write_text(path, recipe)
    _announce(2, f"Vocabulary of {recipe.vocab_size} pieces")
    _train_vocabulary(path, recipe, commands)
    _announce(3, "Records of masked sequences and swapped sentences")
    _create_data(path, recipe, commands)
    _announce(4, f"Pretraining, {recipe.num_train_steps} steps, and evaluation on held-out text")
    outcome = _pretrain(path, recipe, commands)
    _announce(5, "What was learnt")
    findings = demo_findings.examine(
        path,
        corpus,
        max_seq_length=recipe.max_seq_length,
        max_predictions_per_seq=recipe.max_predictions_per_seq,
    )
    speed = outcome.training.examples_per_second if outcome.training else None
    print(demo_findings.summary(findings))
    demo_page.write_page(
        path / "report.html",
        findings,
        commands=commands.lines,
        seconds=dict(commands.seconds, all=time.time() - began),
        examples_per_second=speed,
    )
    print(f"\nReport page: {(path / 'report.html').resolve().as_uri()}")
    return findings


def _write_text(path: pathlib.Path, recipe: Recipe) -> demo_corpus.Corpus:
    """Extracts the prose and writes train.txt and held_out.txt."""
    _announce(1, f"English prose that ships with Python {platform.python_version()}")
    corpus = demo_corpus.read_corpus(recipe.library)
    if len(corpus.training) < _FEWEST_DOCUMENTS or not corpus.held_out:
        raise ValueError(
            f"Only {len(corpus.training)} documents of prose were found: this Python has lost the "
            "sources of its library. Use another Python, or pretraining -i with text of yours."
        )
    demo_corpus.write_documents(corpus.training, str(path / "train.txt"))
    demo_corpus.write_documents(corpus.held_out, str(path / "held_out.txt"))
    for name, documents in (("to train on", corpus.training), ("held out", corpus.held_out)):
        sentences = [sentence for document in documents for sentence in document.sentences]
        print(
            f"    {name}: {len(documents):,} documents, {len(sentences):,} sentences, "
            f"{sum(map(len, sentences)):,} characters"
        )
    return corpus


def _train_vocabulary(path: pathlib.Path, recipe: Recipe, commands: demo_runs.Commands) -> None:
    # Made anew if it is there: it takes a second, and the same text gives the same bytes.
    commands(
        train_vocab,
        input_file=path / "train.txt",
        model_prefix=path / "vocabulary",
        vocab_size=recipe.vocab_size,
        overwrite=True,
    )


def _create_data(path: pathlib.Path, recipe: Recipe, commands: demo_runs.Commands) -> None:
    kinds = (
        ("train", recipe.dupe_factor, recipe.masked_lm_prob),
        ("held_out", 2, _USUAL_MASKED_LM_PROB),
    )
    for name, dupe_factor, masked_lm_prob in kinds:
        commands(
            create_pretraining_data,
            input_file=path / f"{name}.txt",
            output_file=path / f"{name}.tf_record",
            spm_model_file=path / "vocabulary.model",
            max_seq_length=recipe.max_seq_length,
            max_predictions_per_seq=recipe.max_predictions_per_seq,
            masked_lm_prob=masked_lm_prob,
            ngram=1,
            dupe_factor=dupe_factor,
        )


def _pretrain(
    path: pathlib.Path, recipe: Recipe, commands: demo_runs.Commands
) -> run_pretraining.Outcome:
    config = modeling.AlbertConfig(
        recipe.vocab_size,
        embedding_size=128,
        hidden_size=recipe.hidden_size,
        num_hidden_layers=recipe.num_hidden_layers,
        num_attention_heads=recipe.num_attention_heads,
        intermediate_size=4 * recipe.hidden_size,
        max_position_embeddings=recipe.max_seq_length,
        initializer_range=0.08,
    )
    files.atomic_write_text(str(path / "albert_config.json"), config.to_json_string())
    return commands(
        run_pretraining,
        run_pretraining.pretrain,
        albert_config_file=path / "albert_config.json",
        input_file=path / "train.tf_record",
        eval_file=path / "held_out.tf_record",
        output_dir=path / "model",
        do_train=True,
        do_eval=True,
        eval_untrained=True,
        max_seq_length=recipe.max_seq_length,
        max_predictions_per_seq=recipe.max_predictions_per_seq,
        train_batch_size=recipe.train_batch_size,
        optimizer="adamw",
        learning_rate=recipe.learning_rate,
        num_train_steps=recipe.num_train_steps,
        num_warmup_steps=recipe.num_warmup_steps,
        save_checkpoints_steps=max(1, recipe.num_train_steps // recipe.evaluations),
        keep_checkpoint_max=0,
        log_steps=max(1, recipe.num_train_steps // 40),
    )


# ---------------------------------------------------------------------------------------------
# The phase's options.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Defines the options of the phase."""
    parser.add_argument(
        "-o",
        metavar="DIR",
        help="folder for this run; a run that was interrupted there goes on (default: a new folder "
        f"in {demo_runs.DEFAULT_FOLDER})",
    )
    parser.add_argument(
        "--steps",
        type=int,
        default=Recipe().num_train_steps,
        metavar="N",
        help="training steps (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    if options.steps < 1:
        raise ValueError(f"--steps {options.steps} must be at least 1.")
    folder = os.path.expanduser(options.o or demo_runs.new_folder("run"))
    with folder_lock.held(folder):
        run_tour(folder, Recipe(num_train_steps=options.steps))
