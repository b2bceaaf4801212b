# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""From text to a small trained ALBERT in a few minutes, with a report page.

The text is English prose that ships with Python. A vocabulary is trained on it, records are made,
and a small model learns to predict masked words and the order of sentences. It is evaluated on
documents that it did not train on. Each run has a folder of its own.
"""

import argparse
import pathlib
import platform
import time
from typing import NamedTuple

from albert import create_pretraining_data, modeling, run_pretraining, train_vocab
from albert.demo import corpus as demo_corpus
from albert.demo import findings as demo_findings
from albert.demo import options as phase_options
from albert.demo import page, runs
from albert.pretraining import model
from albert.util import files, folder_lock

_FEWEST_DOCUMENTS = 50


class Recipe(NamedTuple):
    """The run; it learns a good deal in two minutes of training on two cores.

    Short sequences and a small vocabulary give many updates per minute; twice the usual number of
    masked words makes more of each; larger initial weights (initializer_range) let a narrow model
    learn from the first updates on. Held-out text is masked as usual.
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
    num_train_steps: int = phase_options.TOUR_STEPS
    num_warmup_steps: int = 200  # where steps are fewer, an eighth of them
    evaluations: int = 4  # after that of the untrained model
    library: str = ""  # folder with Python's sources; default: the running Python's


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    if options.steps < 1:
        raise ValueError(f"--steps {options.steps} must be at least 1.")
    folder = runs.output_folder(options.o, "run")
    with folder_lock.held(str(folder)):
        warmup = min(Recipe().num_warmup_steps, options.steps // 8)
        run_tour(folder, Recipe(num_train_steps=options.steps, num_warmup_steps=warmup))


def run_tour(path: pathlib.Path, recipe: Recipe) -> demo_findings.Findings:
    """Makes everything from text to report in the folder `path`, or continues there.

    Raises:
      ValueError: the folder holds something else, there is too little text, or no matplotlib.
    """
    began = time.time()
    page.check_matplotlib()
    runs.claim_folder(str(path), dict(recipe._asdict(), python=platform.python_version()))
    commands = runs.Commands()
    _announce(1, f"English prose that ships with Python {platform.python_version()}")
    corpus = _write_text(path, recipe)
    _announce(2, f"Vocabulary of {recipe.vocab_size} tokens")
    # Trained again by a second start: it takes a second, and the same text gives the same bytes.
    commands(
        train_vocab,
        input_file=path / "train.txt",
        model_prefix=path / "vocabulary",
        vocab_size=recipe.vocab_size,
        overwrite=True,
    )
    _announce(3, "Records of masked sequences and swapped sentences")
    _create_data(path, recipe, commands)
    _announce(4, f"Pretraining, {recipe.num_train_steps} steps, and evaluation on held-out text")
    outcome = _pretrain(path, recipe, commands)
    _announce(5, "What was learnt")
    spec = model.feature_spec(recipe.max_seq_length, recipe.max_predictions_per_seq)
    findings = demo_findings.examine(path, corpus, spec)
    print(demo_findings.summary(findings))
    page.write_page(
        path / "report.html",
        findings,
        commands=commands.lines,
        seconds=dict(commands.seconds, all=time.time() - began),
        examples_per_second=outcome.training.examples_per_second if outcome.training else None,
    )
    print(f"\nReport page: {(path / 'report.html').resolve().as_uri()}")
    return findings


def _announce(number: int, text: str) -> None:
    print(f"\n[{number}/5] {text}", flush=True)


def _write_text(path: pathlib.Path, recipe: Recipe) -> demo_corpus.Corpus:
    """Extracts the prose and writes train.txt and held_out.txt."""
    corpus = demo_corpus.read_corpus(recipe.library)
    if len(corpus.training) < _FEWEST_DOCUMENTS or not corpus.held_out:
        raise ValueError(
            f"Only {len(corpus.training)} documents of prose were found: the sources of this "
            "Python's library are missing. Use another Python, or pretraining -i with your text."
        )
    for name, documents in (("train", corpus.training), ("held_out", corpus.held_out)):
        demo_corpus.write_documents(documents, str(path / f"{name}.txt"))
        sentences = [sentence for document in documents for sentence in document.sentences]
        print(
            f"    {name}.txt: {len(documents):,} documents, {len(sentences):,} sentences, "
            f"{sum(map(len, sentences)):,} characters"
        )
    return corpus


def _create_data(path: pathlib.Path, recipe: Recipe, commands: runs.Commands) -> None:
    kinds = (("train", recipe.dupe_factor, recipe.masked_lm_prob), ("held_out", 2, 0.15))
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
    path: pathlib.Path, recipe: Recipe, commands: runs.Commands
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
