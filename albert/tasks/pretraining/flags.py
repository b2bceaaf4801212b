# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The flags of run_pretraining."""

import dataclasses
from typing import Optional

from albert.configs import shared_flags
from albert.configs.shared_flags import data_flag, evaluation_flag, model_flag, training_flag
from albert.util import UserError
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class PretrainingFlags(shared_flags.TrainingFlags):
    """The flags of run_pretraining."""

    input_file: str = data_flag(
        None, "Records to train on: files and patterns, comma-separated.", path=True, required=True
    )
    eval_file: Optional[str] = data_flag(
        None, "Records to evaluate on; default: --input_file.", path=True
    )
    do_train: bool = flag(True)
    do_eval: bool = flag(False, "Evaluate every checkpoint in --output_dir.", group="What to do")
    max_seq_length: int = flag(512, "Tokens of a record's sequence.")
    max_predictions_per_seq: int = data_flag(20, "Maximum masked tokens of a record.", lower=1)
    masked_lm_budget: float = data_flag(
        0.0,
        "Draw masks during training. Ratio of masked to unmasked tokens, such as 0.1765 (15%); 0: "
        "use the records' masks.",
        lower=0,
        upper=1,
    )
    sentence_order: bool = training_flag(
        True, "Train on sentence order too; --nosentence_order: on masked words alone."
    )
    padding: str = data_flag(
        "max",
        "longest: pad to a batch's longest; bucket: group by length; max: to --max_seq_length.",
        choices=shared_flags.PADDINGS,
    )
    spm_model_file: Optional[str] = model_flag(
        None,
        "SentencePiece model of the records, if the records do not name it.",
        path=True,
        replaces=("vocab_file",),
    )
    vocab_file: Optional[str] = model_flag(
        None, "WordPiece vocabulary of the records, if the records do not name it.", path=True
    )
    share_type: Optional[str] = model_flag(
        None,
        "Weights that layers share: all, attention, ffn or none; default: as in the config file.",
    )
    init_from_group0: bool = model_flag(
        False, "Initialize all layer groups from group 0 of --init_checkpoint."
    )
    train_batch_size: int = flag(4096)
    eval_batch_size: int = evaluation_flag(64, "Batch size of evaluation.", lower=1)
    max_eval_steps: int = evaluation_flag(100, "Maximum batches to evaluate.", lower=1)
    eval_untrained: bool = evaluation_flag(
        False, "Also evaluate model.ckpt-0. It never counts as the best."
    )
    optimizer: str = flag("lamb")
    learning_rate: float = flag(0.00176)
    poly_power: float = training_flag(1.0, "Power of the learning rate decay.", lower=0)
    num_train_steps: int = training_flag(125000, "Training steps.", lower=1)
    num_warmup_steps: int = training_flag(3125, "Warm-up steps.", lower=0)
    start_warmup_step: int = training_flag(0, "Step at which warm-up begins.", lower=0)
    until_step: Optional[int] = training_flag(
        None, "Stop at this step, before --num_train_steps; the next run resumes.", lower=1
    )
    train_layers: Optional[int] = training_flag(
        None, "Use only the first N layers (models with shared weights; arXiv:2010.12562).", lower=1
    )
    save_checkpoints_steps: int = flag(5000)
    keep_checkpoint_max: int = shared_flags.keep_checkpoint_max()
    export_dir: Optional[str] = shared_flags.accepted_flag(None)

    @property
    def last_step(self) -> int:
        """The step at which this run ends; the schedule may go on."""
        return min(self.until_step or self.num_train_steps, self.num_train_steps)

    def check(self) -> None:
        """Checks flags against each other."""
        super().check()
        if not (self.albert_config_file or self.albert_dir or self.init_checkpoint):
            raise UserError(
                "--albert_config_file must be given, or --albert_dir, or --init_checkpoint with "
                "albert_config.json beside it."
            )
        if not self.do_train and not self.do_eval:
            raise UserError("Nothing to do. Give --do_train, --do_eval, or both.")
        is_remote = self.use_tpu and (self.master or self.tpu_name not in (None, "", "local"))
        if is_remote and self.masked_lm_budget:
            raise UserError(
                "--masked_lm_budget draws masks in Python, which a remote TPU's hosts do not run. "
                "Start the training on the TPU's own machine, or use records with masks."
            )
