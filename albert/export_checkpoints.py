# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Writes a trained model without its optimiser: encoder and pretraining heads only.

  python -m albert.export_checkpoints --albert_directory=output/base \\
      --export_path=albert_mine/model.ckpt-best

--albert_directory is what run_pretraining has written, or any folder with albert_config.json and
checkpoints, or the name of a released model. The new checkpoint has less than half of the bytes.
Configuration and vocabulary are put beside it, so that the new folder is used as a released archive
is: by --albert_dir. The vocabulary is the one in --albert_directory unless a flag names another.
Nothing is overwritten, and every value is read back and compared before the files get their names.
"""

import contextlib
import dataclasses
import glob
import logging
import os
from typing import Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np
import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.checkpoints import checkpoint_files
from albert.command_line import cli
from albert.configs.flags import TokenizerFlags
from albert.pretrained import inference, model_vocabulary, released, warm_start
from albert.runtimes import compat
from albert.training import hooks
from albert.util import files
from albert.util.errors import UserError
from albert.util.flags import flag


@dataclasses.dataclass(frozen=True)
class Flags(TokenizerFlags):
    """The script's flags."""

    albert_directory: str = flag(
        None, "Folder with albert_config.json and the checkpoint.", path=True, required=True
    )
    checkpoint_name: Optional[str] = flag(
        None, "Checkpoint in --albert_directory; default: model.ckpt-best, or the newest."
    )
    export_path: str = flag(
        None, "Path prefix of the new checkpoint, or its folder.", path=True, required=True
    )


_LOGGER = logging.getLogger("albert")


class Export(NamedTuple):
    """What was written."""

    checkpoint: str  # prefix of the new one
    bytes_before: int
    bytes_after: int


def export(settings: Flags) -> Export:
    """Writes the checkpoint that the settings ask for.

    Raises:
      ValueError: a part of the model is missing or does not fit, or a file that would be written
        exists.
    """
    folder = released.local_folder(
        settings.albert_directory, f"--albert_directory={settings.albert_directory}"
    )
    label = f"--albert_directory={folder}"
    model = released.find_files(
        folder,
        released.ModelFiles(
            init_checkpoint=released.named_checkpoint(folder, settings.checkpoint_name),
            spm_model_file=settings.spm_model_file,
            vocab_file=settings.vocab_file,
        ),
        label=label,
        vocabulary="optional",
    )
    vocabulary = released.vocabulary_of(model, folder, settings, label=label)
    config = modeling.AlbertConfig.from_json_file(model.albert_config_file)
    companions = _companions(model, vocabulary, config)
    target, name = _target(settings.export_path)
    new = os.path.join(target, name)
    expected = [name + ".index", *companions]
    with _staged(target, expected + [model_vocabulary.RECORD_NAME] * bool(vocabulary)) as staged:
        report = _write_weights(config, model.init_checkpoint, os.path.join(staged, name))
        for base, path in companions.items():
            tf.io.gfile.copy(path, os.path.join(staged, base))
        if vocabulary:
            model_vocabulary.put(staged, vocabulary)
    exported = Export(new, _size(model.init_checkpoint), _size(new))
    dropped = report.optimizer_state + report.left_over
    _LOGGER.info(
        "Wrote %d variables, %s parameters, to %s; left behind %d, %s numbers (%d of the "
        "optimiser). %.1f MB were %.1f MB. Beside it: %s.",
        len(report.loaded),
        f"{warm_start.count_parameters(report.loaded):,}",
        new,
        len(dropped),
        f"{warm_start.count_parameters(dropped):,}",
        len(report.optimizer_state),
        exported.bytes_after / 1e6,
        exported.bytes_before / 1e6,
        ", ".join(sorted(companions)),
    )
    return exported


def _companions(
    model: released.ModelFiles,
    vocabulary: Optional[model_vocabulary.Vocabulary],
    config: modeling.AlbertConfig,
) -> Dict[str, str]:
    """New base name -> path of what goes beside the checkpoint."""
    companions = {released.CONFIG_NAME: model.albert_config_file}
    if vocabulary is None:
        _LOGGER.warning(
            "There is no vocabulary beside the checkpoint, so the new folder will have none. Name "
            "it by --spm_model_file or --vocab_file."
        )
        return companions
    tokenizer = tokenization.FullTokenizer(
        model.vocab_file, vocabulary.do_lower_case, model.spm_model_file
    )
    tokenization.check_vocab_size(tokenizer, config.vocab_size)
    listed = model_vocabulary.listing(vocabulary.path)
    for path in filter(None, (vocabulary.path, listed)):
        companions[os.path.basename(path)] = path
    return companions


def _target(export_path: str) -> Tuple[str, str]:
    """The folder, and the name of the checkpoint in it."""
    if export_path.endswith("/") or tf.io.gfile.isdir(export_path):
        return export_path.rstrip("/") or "/", warm_start.BEST_CHECKPOINT
    return os.path.dirname(export_path) or ".", os.path.basename(export_path)


@contextlib.contextmanager
def _staged(target: str, expected: List[str]) -> Iterator[str]:
    """Yields a folder whose files move into `target` if the block succeeds.

    The index goes last: without it there is no checkpoint, only files that nothing reads. A file
    that is there already is a ValueError.
    """
    present = [name for name in expected if tf.io.gfile.exists(os.path.join(target, name))]
    if present:
        raise UserError(
            f"{os.path.join(target, present[0])} exists, and nothing is overwritten. Choose "
            "another --export_path, best in a new folder."
        )
    is_new = not tf.io.gfile.isdir(target)
    tf.io.gfile.makedirs(target)
    staged = os.path.join(target, f".export-{files.random_suffix()}")
    tf.io.gfile.makedirs(staged)
    try:
        with files.naming_path(target):
            yield staged
        for name in sorted(tf.io.gfile.listdir(staged), key=lambda item: item.endswith(".index")):
            tf.io.gfile.rename(os.path.join(staged, name), os.path.join(target, name))
    finally:
        tf.io.gfile.rmtree(staged)
        if is_new and not tf.io.gfile.listdir(target):
            tf.io.gfile.rmtree(target)


def _write_weights(
    config: modeling.AlbertConfig, checkpoint: str, prefix: str
) -> warm_start.Report:
    """Writes encoder and pretraining heads of a checkpoint to a new one."""
    _check_heads(checkpoint)
    with tf.Graph().as_default():
        zeros = tf.zeros([1, 1], tf.int32)
        inputs = dict.fromkeys((*inference.SEQUENCES, inference.POSITIONS), zeros)
        inference.pretraining_outputs(config, inputs, False)
        variables = tf.trainable_variables()
        report = warm_start.warm_start(
            checkpoint, variables, required_scopes=("bert", "cls")
        ).report
        with tf.Session(config=compat.session_config()) as session:
            session.run(tf.global_variables_initializer())
            saver = tf.train.Saver(variables)
            saver.save(session, prefix, write_state=False)
    hooks.make_meta_graph_plain(f"{prefix}.meta")
    _compare(checkpoint, prefix, [entry.name for entry in report.loaded])
    return report


def _check_heads(checkpoint: str) -> None:
    with checkpoint_files.explained(checkpoint):
        names = [name for name, _ in tf.train.list_variables(checkpoint)]
    if not any(name.startswith("cls/predictions/") for name in names):
        raise UserError(
            f"The checkpoint {checkpoint!r} has no pretraining heads (cls/predictions, "
            "cls/seq_relationship): it is of a fine-tuned model or of an encoder alone. Export one "
            "that run_pretraining wrote, or a released one."
        )


def _compare(old: str, new: str, names: List[str]) -> None:
    """Reads the file back, because a full disk can truncate it silently."""
    before, after = tf.train.load_checkpoint(old), tf.train.load_checkpoint(new)
    present = sorted(after.get_variable_to_shape_map())
    same = present == sorted(names) and all(
        np.array_equal(before.get_tensor(name), after.get_tensor(name)) for name in names
    )
    if not same:
        raise OSError(f"What was written to {new} is not what was read from {old}.")


def _size(prefix: str) -> int:
    """The bytes of a checkpoint's files."""
    paths = [f"{prefix}.index", *tf.io.gfile.glob(f"{glob.escape(prefix)}.data-*-of-*")]
    return sum(tf.io.gfile.stat(path).length for path in paths)


@cli.reads_flags(Flags)
def main(settings: Flags):
    """Runs the script."""
    export(settings)


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
