# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Checks whether this machine is ready to train.

  python -m albert doctor
  python -m albert doctor --output_dir=/data/run1 --spm_model_file=30k-clean.model

In less than a minute, the doctor checks the versions of Python and TensorFlow, the devices, the
space for checkpoints, the vocabulary, and a few training steps of a two-layer model in float32 and
bfloat16. A line that says PROBLEM also says how to solve it. The exit status is then 1.
"""

import dataclasses
import os
import platform
import shutil
import tempfile
import time
from typing import List, Tuple

from albert.configs.shared_flags import TokenizerFlags
from albert.util import UserError, cli, wording
from albert.util.flags import flag

# A checkpoint of xxlarge with LAMB's slots is 2.7 GB. Training writes a new checkpoint before it
# deletes an old one.
_ENOUGH_DISK_BYTES = 6e9
_UPDATES = 4


@dataclasses.dataclass(frozen=True)
class Flags(TokenizerFlags):
    """The script's flags."""

    output_dir: str = flag(".", "Folder for checkpoints.", path=True)


# ---- The checks. Each returns a result, or raises an error with the problem.


def check_versions(flags: Flags) -> str:
    """Reports the versions of Python and TensorFlow."""
    import numpy as np
    import tensorflow.compat.v1 as tf

    return (
        f"Python {platform.python_version()}, TensorFlow {tf.__version__}, "
        f"NumPy {np.__version__}, {platform.system()} {platform.machine()}."
    )


def check_devices(flags: Flags) -> str:
    """Checks that TensorFlow uses the GPUs of the driver."""
    from albert.runtimes import devices

    unused = devices.driver_gpus()
    if unused and not devices.gpus():
        raise UserError(
            f"TensorFlow does not use {devices.describe(unused)}, which nvidia-smi lists. See "
            "docs/gpu.md."
        )
    return devices.training_line()


def check_disk(flags: Flags) -> str:
    """Checks that the folder is writable, and reports the free space."""
    if "://" in flags.output_dir:
        return f"Not checked: {flags.output_dir} is not on this machine."
    folder = os.path.abspath(flags.output_dir)
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    tempfile.TemporaryFile(dir=folder).close()
    free = shutil.disk_usage(folder).free
    report = f"{free / 1e9:.0f} GB are free in {folder}."
    if free < _ENOUGH_DISK_BYTES:
        report += " For large models, keep fewer checkpoints (--keep_checkpoint_max)."
    return report


def check_vocabulary(flags: Flags) -> str:
    """Checks that the vocabulary splits a sentence into tokens."""
    from albert import tokenization

    if not flags.spm_model_file and not flags.vocab_file:
        return "Not checked. To check yours, add --spm_model_file or --vocab_file."
    tokenizer = tokenization.FullTokenizer(
        flags.vocab_file, flags.do_lower_case, flags.spm_model_file
    )
    tokenizer.required_ids(["[CLS]", "[SEP]", "[MASK]"])
    tokens = tokenizer.tokenize_text("The quick brown fox jumps over the lazy dog.")
    return f"The vocabulary has {len(tokenizer.vocab)} tokens: {' '.join(tokens)}"


def check_training(flags: Flags) -> str:
    """Trains a model with base's width in float32 and in bfloat16."""
    speeds = []
    for precision in ("float32", "bfloat16"):
        try:
            milliseconds, losses, idle = train_two_layers(precision)
        except Exception as error:  # noqa: BLE001  Old devices lack bfloat16.
            if precision == "float32":
                raise
            speeds.append(f"{precision} does not work here ({_first_line(error)})")
            continue
        if idle:
            raise UserError(f"In {precision} no gradient reaches {', '.join(idle)}.")
        if not losses[-1] < losses[0]:
            raise UserError(f"In {precision} the loss does not fall: {losses[0]}, {losses[-1]}.")
        speeds.append(f"{milliseconds:.0f} ms per step in {precision}")
    return f"A model of two layers: {', '.join(speeds)}."


def train_two_layers(precision: str) -> Tuple[float, List[float], List[str]]:
    """Returns milliseconds per update, the losses, and the variables without a gradient."""
    import numpy as np
    import tensorflow.compat.v1 as tf

    from albert import modeling
    from albert.data import record_format
    from albert.runtimes import compat
    from albert.tasks.pretraining import features as pretraining_features
    from albert.tasks.pretraining.flags import PretrainingFlags
    from albert.tasks.pretraining.head import PretrainingProgram

    config = modeling.AlbertConfig(
        1000, hidden_size=768, num_hidden_layers=2, num_attention_heads=12, intermediate_size=3072
    )
    flags = PretrainingFlags(
        learning_rate=1e-3, num_train_steps=100, num_warmup_steps=0, precision=precision
    )
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        ids = tf.constant(np.random.RandomState(1).randint(1, 1000, [4, 128]))
        features = pretraining_features.feature_spec(128, 20).features
        batch = {feature.name: tf.ones([4, *feature.shape], feature.dtype) for feature in features}
        batch = record_format.integers_to_int32(dict(batch, input_ids=ids))
        spec = PretrainingProgram(flags, config).model_fn(batch, None, "train", {})
        with tf.Session(config=compat.base_session_config()) as session:
            session.run(tf.global_variables_initializer())
            losses, seconds = [], []
            for _ in range(_UPDATES):
                began = time.perf_counter()
                losses.append(float(session.run([spec.loss, spec.train_op])[0]))
                seconds.append(time.perf_counter() - began)
            values = session.run({v.op.name: v for v in tf.global_variables()})
        names = [variable.op.name for variable in tf.trainable_variables()]
    # A variable without a gradient has no first moment; NaN is as bad as zero.
    idle = [name for name in names if not np.any(np.abs(values.get(f"{name}/adam_m", 0)) > 0)]
    return 1000 * min(seconds), losses, idle  # The first update compiles.


CHECKS = {
    "Versions": check_versions,
    "Devices": check_devices,
    "Disk": check_disk,
    "Vocabulary": check_vocabulary,
    "Training": check_training,
}


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".split("\n")[0]


def main(flags: Flags) -> int:
    """Runs the checks. Returns 1 if there is a problem."""
    problems = 0
    for name, check in CHECKS.items():
        try:
            state, text = "ok", check(flags)
        except Exception as error:  # noqa: BLE001  After any error, run the other checks.
            state, text = "PROBLEM", _first_line(error)
            problems += 1
        print(f"{state:8}{name:12}{text}", flush=True)
    unsolved = f"{wording.counted(problems, 'problem')} to solve before you train."
    print(unsolved if problems else "Ready to train.")
    return int(problems > 0)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
