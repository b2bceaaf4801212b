# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags that several scripts share, each declared once; see util/flags.py."""

import dataclasses
import functools
import os
from typing import Optional

from albert.util import UserError
from albert.util.flags import BELOW_ONE, LARGEST, SMALLEST, WITHOUT_EFFECT, BaseFlags, flag

OPTIMIZERS = ("lamb", "adamw")
PRECISIONS = ("float32", "bfloat16", "float16")
PADDINGS = ("longest", "bucket", "max")
END, HEAD_TAIL, WINDOWS = TRUNCATIONS = ("end", "head_tail", "windows")
DISTRIBUTION_STRATEGIES = ("none", "mirrored", "multi_worker")

data_flag = functools.partial(flag, group="Data")
output_flag = functools.partial(flag, group="Output")
model_flag = functools.partial(flag, group="Model")
_model_path = functools.partial(model_flag, None, path=True)
training_flag = functools.partial(flag, group="Training")
evaluation_flag = functools.partial(flag, group="Evaluation and prediction")
_tpu = functools.partial(flag, group="TPU")
speed_flag = functools.partial(flag, group="Memory and speed")
_distribution = functools.partial(flag, group="Distribution")
accepted_flag = functools.partial(flag, help="No effect here.", group=WITHOUT_EFFECT)
keep_checkpoint_max = functools.partial(  # The flag's name differs between scripts.
    flag,
    5,
    "Newest checkpoints to keep, besides the best; 0: keep all.",
    lower=0,
    group="Checkpoints",
)


@dataclasses.dataclass(frozen=True)
class ModelFlags(BaseFlags):
    """The flags that choose a model."""

    albert_dir: Optional[str] = _model_path(
        "Model: a folder, or the name of a released model, such as base_v2."
    )
    albert_config_file: Optional[str] = _model_path("JSON file with the model's architecture.")
    init_checkpoint: Optional[str] = _model_path(
        "Checkpoint to start from: a path prefix, its .index file or folder, or a released name."
    )


@dataclasses.dataclass(frozen=True)
class TokenizerFlags(BaseFlags):
    """The flags that choose a vocabulary."""

    vocab_file: Optional[str] = _model_path("WordPiece vocabulary, one token per line.")
    spm_model_file: Optional[str] = _model_path("SentencePiece vocabulary (.model).")
    do_lower_case: bool = model_flag(True, "Lower-case the text; must match the model's training.")


@dataclasses.dataclass(frozen=True)
class EncoderFlags(ModelFlags, TokenizerFlags):
    """The flags that choose a pretrained encoder, its vocabulary and the length of its input."""

    albert_hub_module_handle: Optional[str] = _model_path(
        "TF-Hub module: a folder or a URL; replaces --albert_dir.",
        replaces=("albert_dir", "albert_config_file", "init_checkpoint"),
    )
    max_seq_length: Optional[int] = data_flag(
        None, "Maximum tokens per input; longer inputs are cut.", lower=4
    )

    def check(self) -> None:
        """Checks that a flag names a model. A script with --do_train needs it only to train."""
        super().check()
        names = ["albert_dir", "init_checkpoint", "albert_hub_module_handle"]
        if hasattr(self, "do_train"):
            names.append("albert_config_file")  # Training can start from random weights.
        needs_model = getattr(self, "do_train", True)
        if needs_model and not any(getattr(self, name) for name in names):
            raise UserError(
                "--albert_dir must be given (a folder, or a name such as base_v2), or one of "
                f"{', '.join(f'--{name}' for name in names[1:])}."
            )


@dataclasses.dataclass(frozen=True)
class MemoryFlags(BaseFlags):
    """The flags that reduce the memory of a training step."""

    precision: str = speed_flag(
        "float32",
        "Number format: bfloat16 for TPUs, new GPUs and new CPUs; float16 for old GPUs.",
        choices=PRECISIONS,
    )
    recompute: bool = speed_flag(
        False, "Recompute activations in the backward pass to save memory."
    )
    gradient_accumulation_steps: int = speed_flag(
        1, "Split each batch into this many micro-batches to save memory.", lower=1
    )


@dataclasses.dataclass(frozen=True)
class OptimizerFlags(BaseFlags):
    """The flags of the optimizer. The defaults of AdamW, LAMB and clipping are Google's."""

    optimizer: str = training_flag("adamw", "Optimizer.", choices=OPTIMIZERS)
    learning_rate: float = training_flag(5e-5, "Peak learning rate.", lower=0, below=LARGEST)
    weight_decay_rate: float = training_flag(
        0.01, "Weight decay, except for LayerNorm and biases.", lower=0
    )
    adam_beta_1: float = training_flag(
        0.9, "Decay of the first moment in AdamW and LAMB.", lower=0, below=BELOW_ONE
    )
    adam_beta_2: float = training_flag(
        0.999, "Decay of the second moment in AdamW and LAMB.", lower=0, below=BELOW_ONE
    )
    adam_epsilon: float = training_flag(
        1e-6, "Epsilon in the denominator of the update.", above=SMALLEST, below=LARGEST
    )
    max_grad_norm: float = training_flag(
        1.0, "Clip gradients to this global norm.", above=SMALLEST, below=LARGEST
    )


@dataclasses.dataclass(frozen=True)
class TpuFlags(BaseFlags):
    """The flags that choose a TPU."""

    use_tpu: bool = _tpu(False, "Train on a TPU.")
    tpu_name: Optional[str] = _tpu(None, "Name or grpc:// address of the Cloud TPU.")
    tpu_zone: Optional[str] = _tpu(None, "Zone of the Cloud TPU, if not this machine's.")
    gcp_project: Optional[str] = _tpu(None, "Project of the TPU, if not this machine's.")
    master: Optional[str] = _tpu(
        None, "Address of the TPU's server; replaces --tpu_name.", replaces=("tpu_name",)
    )
    num_tpu_cores: int = _tpu(8, "Cores of the TPU.", lower=1)
    iterations_per_loop: int = _tpu(1000, "Training steps per call of the TPU.", lower=1)


@dataclasses.dataclass(frozen=True)
class TrainingFlags(ModelFlags, OptimizerFlags, MemoryFlags, TpuFlags):
    """The flags of every script that trains."""

    # Some scripts lack these flags. Their values there:
    eval_batch_size = 0
    init_from_group0 = False
    padding = "max"  # type: Optional[str]
    predict_batch_size = 0

    output_dir: str = output_flag(
        None,
        "Folder for checkpoints and results; training resumes from it.",
        path=True,
        required=True,
    )
    do_train: bool = flag(False, "Train.", group="What to do")
    max_seq_length: int = data_flag(512, "Maximum tokens of an input.", lower=4)
    train_batch_size: int = training_flag(
        32, "Examples per update, over all devices and hosts.", lower=1
    )
    save_checkpoints_steps: int = flag(
        1000, "Steps between checkpoints.", lower=1, group="Checkpoints"
    )
    wait_for_checkpoints_minutes: float = evaluation_flag(
        0.0, "Minutes to wait for the next checkpoint of another process that trains.", lower=0
    )
    use_xla: bool = speed_flag(True, "Compile element-wise operations by XLA (TensorFlow 2).")
    distribution_strategy: str = _distribution(
        "none",
        "none: one device or a TPU; mirrored: all GPUs here; multi_worker: several hosts.",
        choices=DISTRIBUTION_STRATEGIES,
    )
    num_devices: Optional[int] = _distribution(
        None, "Number of devices for mirrored; default: all GPUs.", lower=1
    )
    worker_patience_seconds: Optional[float] = _distribution(
        None, "Stop if a worker is silent for this long (multi_worker); default: 60.", lower=1
    )
    seed: int = training_flag(
        12345, "Random seed for initialization, data order and dropout.", lower=0
    )
    log_steps: int = flag(100, "Steps between log lines.", lower=1, group="Log")
    use_horovod: bool = accepted_flag(False)
    enable_scoped_allocator: bool = accepted_flag(False)

    def check(self) -> None:
        """Checks --output_dir. TensorFlow uses it in glob patterns."""
        super().check()
        if os.path.isfile(self.output_dir):
            raise UserError(f"--output_dir={self.output_dir} is a file. Give a folder.")
        if set(self.output_dir) & set("*?[\\"):
            raise UserError(f"--output_dir={self.output_dir} must not contain *, ?, [ or \\.")


@dataclasses.dataclass(frozen=True)
class FineTuningFlags(TrainingFlags, EncoderFlags):
    """The flags of every script that fine-tunes."""

    # Some tasks lack these flags. Their values there:
    do_eval = False
    export_dir = None  # type: Optional[str]
    keep_checkpoint_max = 0
    truncation = END

    max_seq_length: int = flag(512, "Maximum tokens per input; longer inputs are cut.")
    do_predict: bool = flag(False, "Predict with the best checkpoint.", group="What to do")
    predict_batch_size: int = evaluation_flag(8, "Batch size of prediction.", lower=1)
    train_step: int = training_flag(1000, "Training steps.", lower=1)
    warmup_step: int = training_flag(0, "Warm-up steps.", lower=0)
    num_train_epochs: Optional[float] = training_flag(
        None,
        "Passes over the training data; replaces --train_step.",
        above=0,
        upper=10**6,
        replaces=("train_step",),
    )
    warmup_proportion: Optional[float] = training_flag(
        None,
        "Fraction of training steps for warm-up; replaces --warmup_step.",
        lower=0,
        upper=1,
        replaces=("warmup_step",),
    )
    padding: Optional[str] = data_flag(
        None,
        "longest: pad to a batch's longest; bucket: group by length; max: to --max_seq_length.",
        choices=PADDINGS,
    )
    cached_dir: Optional[str] = data_flag(
        None, "Folder for cached training features; default: --output_dir.", path=True
    )
    checkpoint: Optional[str] = evaluation_flag(
        None, "Checkpoint to evaluate or predict with: a path prefix or a folder.", path=True
    )


@dataclasses.dataclass(frozen=True)
class TaskFlags(FineTuningFlags):
    """The flags of a task that has evaluation data of its own."""

    do_eval: bool = flag(False, "Evaluate every checkpoint in --output_dir.", group="What to do")
    eval_batch_size: int = evaluation_flag(8, "Batch size of evaluation.", lower=1)


@dataclasses.dataclass(frozen=True)
class EpochFlags(FineTuningFlags):
    """The flags of a task whose usual length of training is in passes over the data.

    In a class with several bases, this one's inherited fields win over those of later bases.
    """

    train_step: int = flag(None)
    warmup_step: int = flag(None)
    num_train_epochs: float = flag(3.0)
    warmup_proportion: float = flag(0.1)


@dataclasses.dataclass(frozen=True)
class SplitFileFlags(EpochFlags, TaskFlags):
    """The flags of a task that finds train, dev and test files in a folder."""

    data_dir: str = data_flag(
        None, "Folder with train, dev and test files.", path=True, required=True
    )
    train_file: Optional[str] = data_flag(
        None, "Training data in --data_dir; default: the files with train in their names."
    )
    dev_file: Optional[str] = data_flag(None, "Development data in --data_dir.")
    test_file: Optional[str] = data_flag(None, "Test data in --data_dir.")


@dataclasses.dataclass(frozen=True)
class TruncationFlags(BaseFlags):
    """The flag of a task that reads long texts."""

    truncation: str = data_flag(
        END,
        "What to read of long texts. end: the start; head_tail: start and end; windows: all parts.",
        choices=TRUNCATIONS,
    )


@dataclasses.dataclass(frozen=True)
class ExportFlags(BaseFlags):
    """The flags of a task that can export its best checkpoint."""

    keep_checkpoint_max: int = keep_checkpoint_max()
    export_dir: Optional[str] = output_flag(
        None, "Export the best checkpoint into this folder.", path=True
    )
