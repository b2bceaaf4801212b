# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks whether this machine is ready to train, and says what to do where it is not.

  python -m albert.doctor
  python -m albert.doctor --output_dir=/data/run1 --spm_model_file=30k-clean.model

It takes less than a minute. There is a line for each of: the versions of Python and TensorFlow;
GPUs, or why none is used; the speed of each number format, and which --precision pays; memory; room
for checkpoints; the vocabulary; and pretraining steps of two layers. A line with "note" says what
could be better, one with "PROBLEM" what to solve first; the exit status is 1 if there is one.
"""

import contextlib
import dataclasses
import functools
import math
import os
import pathlib
import platform
import re
import shutil
import sys
import tempfile
import time
from typing import Callable, Dict, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

from albert.command_line import cli
from albert.configs.flags import TokenizerFlags
from albert.util import wording
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class Flags(TokenizerFlags):
    """The script's flags."""

    output_dir: str = flag(".", "Where checkpoints are to be written.", path=True)


try:
    import numpy as np
    import tensorflow.compat.v1 as tf

    from albert import modeling, tokenization
    from albert.pretraining import model as pretraining
    from albert.runtimes import compat, devices, estimator
except Exception as error:
    if __name__ == "__main__":  # what is missing or broken is a finding
        sys.exit(f"PROBLEM {sys.executable} cannot load what albert needs: {error!r}")
    raise

OK, NOTE, PROBLEM = "ok", "note", "PROBLEM"

# A checkpoint of xxlarge with LAMB's slots is 2.7 GB, and a new one is written before an old one
# goes.
_ENOUGH_DISK_BYTES = 6e9
# Distributions that bring the module tensorflow.
_RIVALS = {
    *("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-rocm"),
    *("intel-tensorflow", "nvidia-tensorflow"),
}
# Products are timed of this many rows and columns, until one takes long enough to be timed well.
SIZES = (256, 512, 1024, 2048, 4096, 8192)
_LONG_ENOUGH_SECONDS = 0.02
_PRODUCTS = 4  # one after another
_UPDATES = 3
# Formats that are hardly faster are not worth their lower precision.
_WORTH_IT = 1.2
_SENTENCE = "The quick brown fox jumps over the lazy dog."


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


def check_versions(settings: Flags) -> Iterator[Finding]:
    """Python, TensorFlow and what its computations come through."""
    del settings
    kind = "tf.estimator" if estimator.HAS_TF_ESTIMATOR else "this package's estimators"
    yield Finding(
        OK,
        f"Python {platform.python_version()}, TensorFlow {tf.__version__} with {kind}, "
        f"NumPy {np.__version__}, {platform.system()} {platform.machine()}.",
    )
    names = set(_tensorflows())
    if len(names) > 1:
        text = f"{' and '.join(sorted(names))} are installed over each other."
        remedy = f"Run pip uninstall {' '.join(sorted(names))}, then install the one you want."
        yield Finding(NOTE, text, remedy)
    elif names == {"tensorflow-cpu"}:
        text = "pip installs tensorflow over tensorflow-cpu where a package needs tensorflow."
        yield Finding(NOTE, text, "Replace it by tensorflow, which runs on CPUs too.")


def _tensorflows() -> Dict[str, str]:
    """Name -> version of the installed distributions of TensorFlow."""
    found = {}
    for folder in sys.path:
        for path in pathlib.Path(folder).glob("*tensorflow*.dist-info"):
            name, version = path.stem.split("-")[:2]
            found[name.replace("_", "-")] = version
    return {name: version for name, version in found.items() if name in _RIVALS}


def check_devices(settings: Flags) -> Iterator[Finding]:
    """GPUs, or why there is none."""
    del settings
    driver = devices.read_driver()
    gpus = devices.usable_gpus(driver)
    if not gpus:
        absence = devices.why_no_gpu(driver)
        # A machine that has none is not in need of anything.
        state = PROBLEM if absence.remedy else OK
        yield Finding(
            state, f"Training is on {devices.describe([])}: {absence.reason}", absence.remedy
        )
        return
    yield Finding(OK, f"TensorFlow uses {devices.describe(gpus)}.")
    yield from kernels_for(gpus)


def kernels_for(gpus: Sequence[devices.Gpu]) -> Iterator[Finding]:
    """Whether this TensorFlow was built for GPUs of these compute capabilities."""
    build = tf.sysconfig.get_build_info() if compat.is_tf2() else {}
    built = [
        (int(major), int(minor))
        for name in build.get("cuda_compute_capabilities", [])
        for major, minor in re.findall(r"_(\d+)(\d)$", name)
    ]
    for capability in sorted({gpu.capability for gpu in gpus if gpu.capability}):
        number = ".".join(map(str, capability))
        if not compat.is_tf2() and capability >= (8, 0) and not _is_nvidias_build():
            yield Finding(
                PROBLEM,
                f"TensorFlow {tf.__version__} for CUDA 10.0 does not know GPUs of compute "
                f"capability {number}.",
                "Only NVIDIA's build of it does: see docs/gpu.md.",
            )
        elif built and not any(
            major == capability[0] and minor <= capability[1] for major, minor in built
        ):
            yield Finding(
                NOTE,
                f"TensorFlow {tf.__version__} has no programs for compute capability {number}: "
                "they are compiled when they are first used, which can take half an hour.",
                "A newer TensorFlow may have them; compiled ones are kept in ~/.nv.",
            )


def _is_nvidias_build() -> bool:
    """NVIDIA's builds of TensorFlow 1.15 have a version such as 1.15.5+nv23.03."""
    return any("+nv" in version for version in _tensorflows().values())


def check_precision(settings: Flags) -> Iterator[Finding]:
    """Rates of matrix products in each number format."""
    del settings
    rates = product_rates()
    listed = ", ".join(f"{name} {rate / 1e12:.2g} TFLOP/s" for name, rate in rates.items())
    advised = advised_precision(rates)
    advice = f" --precision={advised} pays here." if advised != "float32" else ""
    yield Finding(OK, f"Matrix products: {listed}.{advice}")


def advised_precision(rates: Mapping[str, float]) -> str:
    """Returns the format to train in, given the rate of matrix products in each.

    bfloat16 goes before float16, which needs a loss scale: it has to be about as fast.
    """
    pays = [name for name in rates if rates[name] > _WORTH_IT * rates["float32"]]
    if not pays:
        return "float32"
    fastest = max(pays, key=lambda name: rates[name])
    if "bfloat16" in pays and rates["bfloat16"] * _WORTH_IT > rates[fastest]:
        return "bfloat16"
    return fastest


def check_memory(settings: Flags) -> Iterator[Finding]:
    """What is there; `python -m albert.plan` says what a training needs."""
    del settings
    plan = "`python -m albert.plan` says what a training needs."
    limits = _memory_limits()
    if limits:
        yield Finding(OK, f"{min(limits) / 1e9:.0f} GB. {plan}")
    else:
        yield Finding(NOTE, f"How much memory there is could not be found out. {plan}")


def _memory_limits() -> List[int]:
    """What the machine has, and what a container's limit is."""
    limits = []
    with contextlib.suppress(ValueError, OSError, AttributeError):
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in ("memory.max", "memory/memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):  # no container, or "max"
            limits.append(int(pathlib.Path("/sys/fs/cgroup", path).read_text(encoding="ascii")))
    return limits


def check_disk(settings: Flags) -> Iterator[Finding]:
    """Whether checkpoints can be written, and how much space there is."""
    folder = settings.output_dir
    if "://" in folder:
        if tf.io.gfile.isdir(folder):
            yield Finding(OK, f"--output_dir={folder} is there. Writing to it was not tried.")
        else:
            remedy = "Training makes it, if the bucket is there and you may write to it."
            yield Finding(NOTE, f"--output_dir={folder} is not there.", remedy)
        return
    folder = os.path.abspath(folder)
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    try:
        with tempfile.TemporaryFile(dir=folder) as stream:
            stream.write(b"0" * 4096)
    except OSError as error:
        yield Finding(
            PROBLEM,
            f"Nothing can be written to --output_dir={settings.output_dir}: no file can be made in "
            f"{folder} ({error.strerror}).",
            "Choose another --output_dir.",
        )
        return
    free = shutil.disk_usage(folder).free
    text = f"{free / 1e9:.0f} GB are free in {folder}."
    if free < _ENOUGH_DISK_BYTES:
        remedy = "Large models need more; keep fewer checkpoints by --keep_checkpoint_max."
        yield Finding(NOTE, text, remedy)
    else:
        yield Finding(OK, text)


def check_vocabulary(settings: Flags) -> Iterator[Finding]:
    """Whether the vocabulary that is named cuts a sentence into tokens."""
    if not settings.spm_model_file and not settings.vocab_file:
        yield Finding(OK, "Not checked: name yours by --spm_model_file or --vocab_file.")
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


def check_training_step(settings: Flags) -> Iterator[Finding]:
    """Pretraining steps of a model with base's width, in float32 and in the format that pays."""
    del settings
    for name in dict.fromkeys(["float32", advised_precision(product_rates())]):
        milliseconds, loss, untrained = _train_two_layers(compat.COMPUTE_DTYPES[name])
        if not math.isfinite(loss):
            yield Finding(PROBLEM, f"In {name} the loss of two layers becomes {loss}.")
        elif untrained:
            yield Finding(PROBLEM, f"In {name} the gradient of {', '.join(untrained)} is zero.")
        else:
            yield Finding(OK, f"Two layers train in {name}: {milliseconds:.0f} ms an update.")


def _train_two_layers(dtype: tf.DType) -> Tuple[float, float, List[str]]:
    """Milliseconds of an update, the loss after it, and the variables that no gradient reached."""
    config = modeling.AlbertConfig(
        1000, hidden_size=768, num_hidden_layers=2, num_attention_heads=12, intermediate_size=3072
    )
    model = pretraining.ModelSettings(
        config,
        None,
        1e-3,
        num_train_steps=10,
        num_warmup_steps=0,
        compute_dtype=dtype,
        use_xla=True,
    )
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        ids = tf.constant(np.random.RandomState(1).randint(1, 1000, [4, 128]), tf.int32)
        batch = {
            "input_ids": ids,
            "input_mask": tf.ones_like(ids),
            "segment_ids": tf.zeros_like(ids),
            "masked_lm_positions": tf.tile([tf.range(20)], [4, 1]),
            "masked_lm_ids": ids[:, :20],
            "masked_lm_weights": tf.ones([4, 20]),
            "next_sentence_labels": tf.constant([[0], [1], [0], [1]]),
        }
        spec = pretraining.build_model_fn(model)(batch, None, estimator.ModeKeys.TRAIN, {})
        names = [variable.op.name for variable in tf.trainable_variables()]
        with tf.Session(config=compat.session_config()) as session:
            session.run(tf.global_variables_initializer())
            session.run(spec.train_op)  # compilation is in it
            began = time.perf_counter()
            for _ in range(_UPDATES):
                session.run(spec.train_op)
            seconds = (time.perf_counter() - began) / _UPDATES
            moments = session.run({item.op.name: item for item in tf.global_variables()})
            untrained = [name for name in names if not np.any(moments.get(f"{name}/adam_m", 0))]
            return 1000 * seconds, float(session.run(spec.loss)), untrained


CHECKS = (
    ("Versions", check_versions),
    ("Devices", check_devices),
    ("Precision", check_precision),
    ("Memory", check_memory),
    ("Disk", check_disk),
    ("Vocabulary", check_vocabulary),
    ("Training", check_training_step),
)


@functools.lru_cache(maxsize=None)
def product_rates() -> Dict[str, float]:
    """Returns the floating-point operations a second of matrix products in each number format."""
    return {name: _product_rate(dtype) for name, dtype in compat.COMPUTE_DTYPES.items()}


def _product_rate(dtype: tf.DType) -> float:
    """The rate of square products, of a size that keeps the device busy for a moment."""
    rate = 0.0
    for size in SIZES:
        with tf.Graph().as_default(), tf.Session(config=compat.session_config()) as session:
            factor = tf.Variable(tf.ones([size, size], dtype) / size)  # a product is the same
            product = tf.identity(factor)
            for _ in range(_PRODUCTS):
                product = tf.matmul(product, factor)
            last = product[0, 0]
            session.run(tf.global_variables_initializer())
            session.run(last)
            began = time.perf_counter()
            session.run(last)
            seconds = time.perf_counter() - began
        rate = max(rate, 2.0 * size**3 * _PRODUCTS / seconds)
        if seconds > _LONG_ENOUGH_SECONDS:
            break
    return rate


def _findings(check: Callable, settings: Flags) -> Iterator[Finding]:
    """What a check finds; that it breaks is a finding too."""
    try:
        yield from check(settings)
    except Exception as error:  # noqa: BLE001  of whatever kind, the other checks go on
        first = str(error).strip().split("\n")[0]
        yield Finding(PROBLEM, f"{type(error).__name__}: {first}")


def main(settings: Flags) -> int:
    """Runs the checks; returns 1 if there is a problem."""
    problems = 0
    for name, check in CHECKS:
        for finding in _findings(check, settings):
            problems += finding.state == PROBLEM
            print(f"{finding.state:8}{name:12}{finding.text}", flush=True)
            if finding.remedy:
                print(f"{'':20}{finding.remedy}")
    unsolved = f"{wording.counted(problems, 'problem')} to solve before you train."
    print(unsolved if problems else "Ready to train.", flush=True)
    return int(problems > 0)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
