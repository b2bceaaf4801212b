# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks whether this machine is ready to train, and says what to do where it is not.

  python -m albert.doctor
  python -m albert.doctor --output_dir=/data/run1 --spm_model_file=30k-clean.model

One line for each check: Python and TensorFlow, devices, number formats, memory, disk, vocabulary,
and a step of training with a small model. The exit status is 1 if something does not work.
"""

import dataclasses
import math
import os
import platform
import shutil
import sys
import tempfile
import time
from typing import Callable, Iterator, NamedTuple, Optional

import numpy as np
import tensorflow.compat.v1 as tf
from absl import flags

from albert import modeling, optimization, tokenization
from albert.runtimes import compat, devices
from albert.util import flags as flags_lib

OK, NOTE, PROBLEM = "ok", "note", "PROBLEM"

# A checkpoint of xxlarge with LAMB's slots is 2.7 GB, and a new one is written before an old one
# goes.
_ENOUGH_DISK_BYTES = 6e9
_PRODUCT = 2048  # rows and columns of the products that are timed
_SENTENCE = "The quick brown fox jumps over the lazy dog."


@dataclasses.dataclass(frozen=True)
class DoctorSettings(flags_lib.Settings):
    """The flags."""

    output_dir: str
    spm_model_file: Optional[str]
    vocab_file: Optional[str]
    do_lower_case: bool


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags; returns the class of its settings."""
    flags_lib.path(flag_values, "output_dir", ".", help="Where checkpoints are to be written.")
    flags_lib.path(flag_values, "spm_model_file", help="SentencePiece model to try.")
    flags_lib.path(flag_values, "vocab_file", help="WordPiece vocabulary to try.")
    flags_lib.boolean(flag_values, "do_lower_case", True, help="Whether the model is uncased.")
    return DoctorSettings


class Finding(NamedTuple):
    """What a check found.

    Attributes:
      state: OK, NOTE (works, but could be better) or PROBLEM.
      text: a sentence.
      remedy: what to do, or "".
    """

    state: str
    text: str
    remedy: str = ""


def check_versions(settings: DoctorSettings) -> Iterator[Finding]:
    """Python, TensorFlow and how they fit."""
    del settings
    kind = "tf.estimator" if hasattr(tf, "estimator") else "this package's estimators"
    yield Finding(
        OK,
        f"Python {platform.python_version()}, TensorFlow {tf.__version__} with {kind}, "
        f"NumPy {np.__version__}, {platform.system()} {platform.machine()}.",
    )


def check_devices(settings: DoctorSettings) -> Iterator[Finding]:
    """GPUs, or why there is none."""
    del settings
    driver = devices.read_driver()
    gpus = devices.usable_gpus(driver)
    if gpus:
        yield Finding(OK, f"TensorFlow uses {devices.describe(gpus)}.")
    elif driver.gpus:
        text, _, remedy = devices.why_no_gpu(driver).partition(". ")
        yield Finding(PROBLEM, f"{text}.", remedy)
    else:
        yield Finding(OK, f"Training is on {devices.describe(gpus)}: {devices.why_no_gpu(driver)}")


def check_precision(settings: DoctorSettings) -> Iterator[Finding]:
    """Rates of matrix products in each number format."""
    del settings
    rates = {name: _product_rate(dtype) for name, dtype in compat.COMPUTE_DTYPES.items()}
    listed = ", ".join(f"{name} {rate / 1e9:,.0f} GFLOP/s" for name, rate in rates.items())
    best = max(rates, key=lambda name: rates[name])
    faster = rates[best] / rates["float32"]
    advice = f" --precision={best} pays here." if best != "float32" and faster > 1.2 else ""
    yield Finding(OK, f"Matrix products: {listed}.{advice}")


def check_memory(settings: DoctorSettings) -> Iterator[Finding]:
    """What is there; `python -m albert.plan` says what a training needs."""
    del settings
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        yield Finding(NOTE, "How much memory there is could not be found out.")
        return
    yield Finding(OK, f"Memory: {size / 1e9:.0f} GB. `python -m albert.plan` says what is needed.")


def check_disk(settings: DoctorSettings) -> Iterator[Finding]:
    """Whether checkpoints can be written, and how much space there is."""
    folder = settings.output_dir
    if "://" in folder:
        exists = tf.io.gfile.isdir(folder)
        yield Finding(
            OK if exists else NOTE, f"--output_dir={folder} is {'' if exists else 'not '}there."
        )
        return
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder) or "."
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(b"0" * 4096)
    except OSError as error:
        yield Finding(
            PROBLEM,
            f"Nothing can be written into {folder}: {error.strerror}.",
            "Choose another --output_dir, or change its permissions.",
        )
        return
    free = shutil.disk_usage(folder).free
    text = f"{free / 1e9:.0f} GB are free in {folder}."
    if free < _ENOUGH_DISK_BYTES:
        remedy = "Large models need more; keep fewer checkpoints by --keep_checkpoint_max."
        yield Finding(NOTE, text, remedy)
    else:
        yield Finding(OK, text)


def check_vocabulary(settings: DoctorSettings) -> Iterator[Finding]:
    """Whether the vocabulary that is named cuts a sentence into tokens."""
    if not settings.spm_model_file and not settings.vocab_file:
        yield Finding(NOTE, "No vocabulary was tried.", "Give --spm_model_file or --vocab_file.")
        return
    try:
        tokenizer = tokenization.FullTokenizer(
            settings.vocab_file, settings.do_lower_case, settings.spm_model_file
        )
        tokenizer.required_ids(["[CLS]", "[SEP]", "[MASK]"])
    except ValueError as error:
        yield Finding(PROBLEM, str(error))
        return
    tokens = tokenizer.tokenize(_SENTENCE)
    yield Finding(OK, f"The vocabulary has {len(tokenizer.vocab)} tokens: {' '.join(tokens)}")


def check_training_step(settings: DoctorSettings) -> Iterator[Finding]:
    """Two updates of a small model by LAMB."""
    del settings
    config = modeling.AlbertConfig(
        1000, hidden_size=128, num_hidden_layers=4, num_attention_heads=4, intermediate_size=512
    )
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        tf.train.create_global_step()
        ids = tf.constant(np.random.RandomState(1).randint(1, 1000, [8, 128]), tf.int32)
        model = modeling.AlbertModel(config, True, ids, scope="bert")
        loss = tf.reduce_mean(tf.square(model.get_sequence_output()))
        update = optimization.create_optimizer(loss, 1e-3, 10, 0, False, optimizer="lamb")
        with tf.Session(config=compat.session_config()) as session:
            session.run(tf.global_variables_initializer())
            session.run([update, loss])  # compilation is in it
            began = time.perf_counter()
            _, after = session.run([update, loss])
            seconds = time.perf_counter() - began
    if not math.isfinite(after):
        yield Finding(PROBLEM, f"The loss of a small model is {after} after two updates.")
    else:
        yield Finding(OK, f"A small model was trained: {1000 * seconds:.0f} ms an update.")


CHECKS = (
    ("Versions", check_versions),
    ("Devices", check_devices),
    ("Precision", check_precision),
    ("Memory", check_memory),
    ("Disk", check_disk),
    ("Vocabulary", check_vocabulary),
    ("Training", check_training_step),
)


def _product_rate(dtype: tf.DType) -> float:
    """Floating-point operations a second of a square product."""
    with tf.Graph().as_default(), tf.Session(config=compat.session_config()) as session:
        factor = tf.Variable(tf.ones([_PRODUCT, _PRODUCT], dtype))
        product = tf.reduce_sum(tf.cast(tf.matmul(factor, factor), tf.float32))
        session.run(tf.global_variables_initializer())
        times = []
        for _ in range(4):
            began = time.perf_counter()
            session.run(product)
            times.append(time.perf_counter() - began)
    return 2.0 * _PRODUCT**3 / min(times[1:])


def _findings(check: Callable, settings: DoctorSettings) -> Iterator[Finding]:
    """What a check finds; that it breaks is a finding too."""
    try:
        yield from check(settings)
    except Exception as error:  # noqa: BLE001  of whatever kind, the other checks go on
        first = str(error).strip().splitlines()[:1]
        yield Finding(PROBLEM, f"{type(error).__name__}: {''.join(first)}")


@flags_lib.reads_flags(define_flags)
def main(settings: DoctorSettings) -> int:
    """Runs the checks; returns 1 if there is a problem."""
    problems = 0
    for name, check in CHECKS:
        for finding in _findings(check, settings):
            problems += finding.state == PROBLEM
            print(f"{finding.state:8}{name:12}{finding.text}", flush=True)
            if finding.remedy:
                print(f"{'':20}{finding.remedy}")
    print("Ready to train." if not problems else f"{problems} to mend.", flush=True)
    return int(problems > 0)


def cli():
    """Runs the script with the process's own arguments."""
    sys.exit(flags_lib.run(main, define_flags, usage=__doc__))


if __name__ == "__main__":
    cli()
