# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Downloads released models, and finds the files in a model's folder.

A released archive unpacks to a folder with albert_config.json, model.ckpt-best.* and a vocabulary:
30k-clean.model (SentencePiece) or vocab_chinese.txt (WordPiece). Models trained here also record
which vocabulary they have (see `model_vocabulary`).

A release is in the cache folder whole or not at all, as the archive has it (albert_zh's: converted
to a folder of ours), with a record of its files: see downloads.cache.
"""

import fnmatch
import os
import pathlib
import shutil
from typing import Any, Dict, Mapping, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.checkpoints import checkpoint_files, weights
from albert.downloads import archives, cache
from albert.downloads.settings import USUAL, Source, TransferFlags
from albert.fine_tuning_utils import Vocabulary
from albert.pretrained import exported, model_vocabulary, warm_start
from albert.pretrained.releases import Release, find_release
from albert.pretrained.settings import (
    ALBERT_ZH_URL,
    BASE_URL,
    CACHE_DIR,
    CONFIG_NAME,
    SPM_MODEL_NAME,
)
from albert.runtimes import hub_module
from albert.util import files
from albert.util.errors import UserError
from albert.util.flags import AnySettings

# The names that a file may have, by the flag that names it, and the one that is taken of several.
_NAMES = {
    "albert_config_file": ("albert_config*.json", CONFIG_NAME),
    "spm_model_file": ("*.model", SPM_MODEL_NAME),
    "vocab_file": ("*vocab*.txt", "vocab.txt"),
}

ModelFiles = Dict[str, Any]  # paths by flag, and do_lower_case where that is recorded


def local_folder(model: str) -> str:
    """Returns the folder of a model: the given folder, or a released model's in the cache.

    Args:
      model: a folder, or the name of a released model, which is downloaded if it is not in the
        cache.

    Raises:
      UserError: there is no such folder and no such name; or the model cannot be downloaded, or is
        not a model.
    """
    if "\0" not in model and tf.io.gfile.isdir(model):
        return model
    return obtain(find_release(model))


# ---- the cache ----


def obtain(
    release: Release,
    settings: TransferFlags = USUAL,
    *,
    cache_dir: Optional[str] = None,
) -> str:
    """Returns the folder of a model in the cache, after downloading it if it is not there.

    Args:
      release: which one.
      settings: of the transfer.
      cache_dir: None for CACHE_DIR.

    Raises:
      UserError: see cache.obtain.
    """
    source = Source(f"{ALBERT_ZH_URL if release.is_albert_zh else BASE_URL}/{release.archive}")
    name = release.name if release.is_albert_zh else f"albert_{release.name}"
    folder = os.path.join(os.path.expanduser(cache_dir or CACHE_DIR), name)

    def make(paths: Sequence[str], new: str) -> None:
        unpacked = os.path.join(new, ".archive") if release.is_albert_zh else new
        archives.unpack(paths[0], unpacked)
        model_files = find_files(_model_folder(unpacked))
        if release.is_albert_zh:
            _convert_albert_zh(model_files, os.path.join(new, release.folder))
            shutil.rmtree(unpacked)

    cache.obtain(folder, [source], make, settings=settings)
    return _model_folder(folder)


def _model_folder(folder: str) -> str:
    """Returns the folder that holds the configuration; most archives have one around everything."""
    configs = sorted(pathlib.Path(folder).rglob("albert_config*.json"))
    return str(configs[0].parent) if configs else folder


def _convert_albert_zh(model_files: ModelFiles, folder: str) -> None:
    """Writes albert_zh's model as one of ours."""
    config, values, _ = weights.from_albert_zh(
        modeling.AlbertConfig.from_json_file(model_files["albert_config_file"]),
        weights.read_checkpoint(model_files["init_checkpoint"]),
    )
    vocabulary = Vocabulary("vocab_file", model_files["vocab_file"], do_lower_case=True)
    write_model(folder, config, values, vocabulary=vocabulary)


# ---- the files in a folder ----


def find_files(
    folder: str, named: Mapping[str, str] = {}, *, with_vocabulary: bool = True
) -> ModelFiles:
    """Returns the files of the model in a folder; those that are named already stay.

    A vocabulary is found by the folder's record of it, or else by its name; it may be missing. An
    exported model stands for the checkpoint.

    Args:
      folder: such as an unpacked archive.
      named: the files that need not be found.
      with_vocabulary: False: no vocabulary is looked for.

    Raises:
      UserError: the folder has no checkpoint, or several files of a kind; or its vocabulary has
        changed.
    """
    model_files: ModelFiles = dict(named)
    if "albert_config_file" not in model_files:
        config = _file_by_name(folder, "albert_config_file")
        model_files["albert_config_file"] = config or os.path.join(folder, CONFIG_NAME)
    if "init_checkpoint" not in model_files:
        program = None if checkpoint_files.names_in(folder) else exported.find(folder)
        model_files["init_checkpoint"] = program or warm_start.resolve_checkpoint(folder)
    if with_vocabulary:
        path = model_files.get("spm_model_file") or model_files.get("vocab_file")
        vocabulary = model_vocabulary.recorded(folder, path)
        if vocabulary:
            lower = vocabulary.do_lower_case
            model_files.update({vocabulary.key: vocabulary.path, "do_lower_case": lower})
        elif not path:
            by_name = ((key, _file_by_name(folder, key)) for key in model_vocabulary.KEYS)
            model_files.update([item for item in by_name if item[1]][:1])
    return model_files


def _file_by_name(folder: str, key: str) -> Optional[str]:
    """Returns the only file that matches a flag's pattern, or the one with the usual name."""
    pattern, usual = _NAMES[key]
    present = fnmatch.filter(checkpoint_files.names_in(folder, ""), pattern)
    names = [name for name in present if name[0] != "."]
    if usual in names:
        names = [usual]
    if len(names) > 1:
        raise UserError(f"{folder!r} has several: {', '.join(names)}. Choose one with --{key}.")
    return os.path.join(folder, names[0]) if names else None


def write_model(
    folder: str,
    config: modeling.AlbertConfig,
    values: weights.Values,
    *,
    vocabulary: Optional[Vocabulary] = None,
) -> None:
    """Writes configuration, checkpoint and, if there is one, the vocabulary under its own name."""
    files.atomic_write_text(os.path.join(folder, CONFIG_NAME), config.to_json_string())
    weights.write_checkpoint(os.path.join(folder, warm_start.BEST_CHECKPOINT), values)
    if vocabulary:
        model_vocabulary.put(folder, vocabulary)


def model_summary(config: modeling.AlbertConfig, is_cased: bool = False) -> str:
    """Returns "ALBERT (12 layers of 768, 11,683,584 parameters)": a model without its heads."""
    counts = modeling.parameter_counts(config)
    count = sum(counts.values()) - counts["head"]
    shape = f"{config.num_hidden_layers} layers of {config.hidden_size}"
    return f"ALBERT ({shape}, {count:,} parameters{', cased' if is_cased else ''})"


# ---- the flags of a script ----


def resolve_model_files(settings: AnySettings) -> AnySettings:
    """Returns the settings with the model's files from its folder filled in.

    The folder of --albert_dir (or a released model), or --albert_hub_module_handle, sets
    --albert_config_file, --init_checkpoint and the vocabulary, unless they are given. Without these
    flags, missing files are searched for beside --init_checkpoint. do_lower_case in a folder's
    record replaces the default of --do_lower_case.

    Args:
      settings: with albert_dir, albert_config_file and init_checkpoint; may have spm_model_file,
        vocab_file, do_lower_case and albert_hub_module_handle. Without do_lower_case no vocabulary
        is searched for: it is that of pretraining's records.

    Raises:
      UserError: see `local_folder`, `find_files` and `hub_module.read`.
    """
    flags = settings.to_dict()
    folder, start = flags["albert_dir"], flags["init_checkpoint"]
    module = flags.get("albert_hub_module_handle")
    has_tokenizer = "do_lower_case" in flags
    parts = ("init_checkpoint", *_NAMES)
    named = {name: flags[name] for name in parts if flags.get(name)}
    if module:
        origin, model_files = module, _module_files(module, named)
    elif folder or start and (has_tokenizer or not flags["albert_config_file"]):
        folder = folder and local_folder(folder)
        origin = folder or (start if tf.io.gfile.isdir(start) else os.path.dirname(start) or ".")
        model_files = find_files(origin, named, with_vocabulary=has_tokenizer)
    else:
        return settings
    recorded_lower, do_lower_case = (
        model_files.pop("do_lower_case", None),
        flags.get("do_lower_case"),
    )
    if recorded_lower not in (None, do_lower_case):
        if "do_lower_case" in settings.given:
            raise UserError(
                f"--do_lower_case={do_lower_case} contradicts {origin}, where it is "
                f"{recorded_lower}. Leave the flag out."
            )
        model_files["do_lower_case"] = recorded_lower
    new = {
        **dict.fromkeys(parts),
        **model_files,
        "albert_dir": folder,
        "albert_hub_module_handle": None,
    }
    changes = {name: value for name, value in new.items() if value != flags.get(name, value)}
    return settings.replace(**changes)


def _module_files(handle: str, named: Mapping[str, str]) -> ModelFiles:
    """Returns the files of a module, and its lower-casing where its vocabulary is used."""
    config, checkpoint, path, do_lower_case = hub_module.read(handle)
    model_files: ModelFiles = {"albert_config_file": config, "init_checkpoint": checkpoint}
    # So published commands ask for the module's own vocabulary.
    model_files.update({key: name for key, name in named.items() if name != "from_tf_hub"})
    if not model_vocabulary.KEYS.keys() & model_files.keys():
        key = "spm_model_file" if tokenization.is_sentencepiece(path) else "vocab_file"
        model_files.update({key: path, "do_lower_case": do_lower_case})
    return model_files
