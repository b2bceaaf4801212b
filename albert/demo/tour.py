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

from albert import create_pretraining_data, modeling, run_pretraining, tokenization, train_vocab
from albert.demo import corpus as demo_corpus
from albert.demo import findings as demo_findings
from albert.demo import options as phase_options
from albert.demo import page, runs
from albert.pretraining import model
from albert.util import files
from albert.util.errors import UserError

_FEWEST_DOCUMENTS = 50
_EVALUATION_BATCHES = 8  # of 64 sequences
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class Recipe(NamedTuple):
    """The run; it learns a good deal in a few minutes of training on two cores.

    Short sequences and a small vocabulary give many updates a minute; larger initial weights
    (initializer_range) let a narrow model learn from the first updates on.
    """

    language: str = "en"
    text: str = "stories"
    stories: int = 12000
    vocab_size: int = 2000  # of prose; stories have a token for each word, or Chinese character
    max_seq_length: int = 80
    max_predictions_per_seq: int = 12
    masked_lm_prob: float = 0.15
    dupe_factor: int = 5
    hidden_size: int = 128
    num_hidden_layers: int = 2
    num_attention_heads: int = 4
    train_batch_size: int = 32
    learning_rate: float = 0.001
    num_train_steps: int = phase_options.TOUR_STEPS
    num_warmup_steps: int = 100  # where steps are fewer, an eighth of them
    evaluations: int = 4  # after that of the untrained model
    library: str = ""  # folder with Python's sources; default: the running Python's


# Prose has sentences of many kinds: twice the usual number of masked words makes more of each.
_PROSE = {
    "max_seq_length": 64,
    "max_predictions_per_seq": 20,
    "masked_lm_prob": 0.3,
    "dupe_factor": 20,
    "num_warmup_steps": 200,
}
# A story has more characters than words.
_CHINESE = {"max_seq_length": 88, "max_predictions_per_seq": 14}


def run(options: argparse.Namespace) -> None:
    """Runs the phase."""
    recipe = recipe_of(options)
    folder = runs.output_folder(options.o, "run")
    with runs.held(folder, options.o):
        run_tour(folder, recipe)


def recipe_of(options: argparse.Namespace) -> Recipe:
    """Returns the recipe of the phase's options; raises ValueError where they are at odds."""
    if options.steps < 1:
        raise UserError(f"--steps {options.steps} must be at least 1.")
    if options.text == "python" and options.language != "en":
        raise UserError(f"--text python is English, so --language {options.language} is not.")
    special = _PROSE if options.text == "python" else _CHINESE if options.language == "zh" else {}
    recipe = Recipe(language=options.language, text=options.text)._replace(**special)
    warmup = min(recipe.num_warmup_steps, options.steps // 8)
    return recipe._replace(num_train_steps=options.steps, num_warmup_steps=warmup)


def run_tour(path: pathlib.Path, recipe: Recipe) -> demo_findings.Findings:
    """Makes everything from text to report in the folder `path`, or continues there.

    Raises:
      ValueError: the folder holds something else, there is too little text, or no matplotlib.
    """
    began = time.time()
    page.check_matplotlib()
    runs.claim_folder(str(path), dict(recipe._asdict(), python=platform.python_version()))
    commands = runs.Commands()
    _announce(1, f"Text: {describe_text(recipe)}")
    text = _write_text(path, recipe)
    _announce(2, "Vocabulary")
    vocabulary = _make_vocabulary(path, recipe, text, commands=commands)
    _announce(3, "Records of masked sequences and swapped texts")
    _create_data(path, recipe, text, commands=commands, vocabulary=vocabulary)
    _announce(4, f"Pretraining, {recipe.num_train_steps:,} steps, and evaluation on held-out text")
    outcome = _pretrain(path, recipe, commands)
    _announce(5, "What was learnt")
    spec = model.feature_spec(recipe.max_seq_length, recipe.max_predictions_per_seq)
    findings = demo_findings.examine(path, text, spec)
    page.write_page(
        path / "report.html",
        findings,
        text=describe_text(recipe),
        language=recipe.language,
        commands=commands.lines,
        seconds=dict(commands.seconds, all=time.time() - began),
        examples_per_second=outcome.training.examples_per_second if outcome.training else None,
    )
    print(demo_findings.summary(findings))
    print(f"\nReport page: {(path / 'report.html').resolve().as_uri()}")
    return findings


def describe_text(recipe: Recipe) -> str:
    """Returns what the text is, in a few words."""
    if recipe.text == "python":
        return f"English prose that ships with Python {platform.python_version()}"
    name = {"en": "English", "zh": "Chinese"}[recipe.language]
    return f"everyday stories in {name}, made by the demo from tables of words and plots"


def _announce(number: int, text: str) -> None:
    print(f"\n[{number}/5] {text}", flush=True)


def _write_text(path: pathlib.Path, recipe: Recipe) -> demo_findings.Text:
    """Makes or extracts the text and writes train.txt and held_out.txt, and names for jieba."""
    names = None
    if recipe.text == "python":
        corpus = demo_corpus.read_corpus(recipe.library)
    else:
        corpus = demo_corpus.make_stories(recipe.language, recipe.stories)
    if recipe.language == "zh":
        names = str(path / "names.txt")
        files.atomic_write_text(
            names, "\n".join(demo_corpus.names_of_people(recipe.language)) + "\n"
        )
    if len(corpus.training) < _FEWEST_DOCUMENTS or not corpus.held_out:
        raise UserError(
            f"Only {len(corpus.training)} documents of prose were found: the sources of this "
            "Python's library are missing. Use another Python, or --text stories."
        )
    for name, documents in (("train", corpus.training), ("held_out", corpus.held_out)):
        demo_corpus.write_documents(documents, str(path / f"{name}.txt"))
        sentences = [sentence for document in documents for sentence in document.sentences]
        print(
            f"    {name}.txt: {len(documents):,} documents, {len(sentences):,} sentences, "
            f"{sum(map(len, sentences)):,} characters"
        )
    return demo_findings.Text(corpus, recipe.language, names)


def _make_vocabulary(
    path: pathlib.Path, recipe: Recipe, text: demo_findings.Text, *, commands: runs.Commands
) -> Dict[str, Any]:
    """Makes the vocabulary; returns the flag that names it.

    A second start makes it again: it takes a second, and the same text gives the same bytes.
    """
    if recipe.text == "python":
        commands(
            train_vocab,
            input_file=path / "train.txt",
            model_prefix=path / "vocabulary",
            vocab_size=recipe.vocab_size,
            overwrite=True,
        )
        return {"spm_model_file": path / "vocabulary.model"}
    counts: Counter[str] = collections.Counter()
    basic = tokenization.BasicTokenizer()
    for document in text.corpus.training:
        for sentence in document.sentences:
            counts.update(basic.tokenize(sentence))
    tokens = [*_SPECIAL, *sorted(counts, key=lambda token: (-counts[token], token))]
    files.atomic_write_text(str(path / "vocab.txt"), "\n".join(tokens) + "\n")
    kind = "characters" if recipe.language == "zh" else "words"
    print(f"    vocab.txt: the {len(tokens):,} {kind} of train.txt, as WordPiece reads them")
    return {"vocab_file": path / "vocab.txt"}


def _create_data(
    path: pathlib.Path,
    recipe: Recipe,
    text: demo_findings.Text,
    *,
    commands: runs.Commands,
    vocabulary: Dict[str, Any],
) -> None:
    words = {}
    if text.user_dictionary:
        words = {"language": text.language, "user_dictionary": text.user_dictionary}
    kinds = (("train", recipe.dupe_factor, recipe.masked_lm_prob), ("held_out", 1, 0.15))
    for name, dupe_factor, masked_lm_prob in kinds:
        commands(
            create_pretraining_data,
            input_file=path / f"{name}.txt",
            output_file=path / f"{name}.tf_record",
            **vocabulary,
            **words,
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
        len(demo_findings.load_tokenizer(path).vocab),
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
        max_eval_steps=_EVALUATION_BATCHES,
        save_checkpoints_steps=max(1, recipe.num_train_steps // recipe.evaluations),
        keep_checkpoint_max=0,
        log_steps=max(1, recipe.num_train_steps // 40),
    )
