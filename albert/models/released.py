# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Finds the model that flags name: in a folder, in a TF-Hub module, or among the released models.

A release in the cache folder is always complete. Its files are as in the archive; a release of
albert_zh is converted. A record lists the downloads (see downloads.verified_cache).
"""

import os
import pathlib
import shutil
from typing import Mapping, Optional, Sequence

from albert import tokenization
from albert.configs import model_config
from albert.downloads import archives, verified_cache
from albert.downloads.flags import USUAL, Source, TransferFlags
from albert.formats import model_paths, model_vocabulary
from albert.formats.model_vocabulary import Vocabulary
from albert.models.flags import (
    ALBERT_ZH_URL,
    BASE_URL,
    CACHE_DIR,
    RELEASES,
    Release,
    find_release,
)
from albert.util import UserError, files
from albert.util.flags import AnyFlags


def local_folder(model: str) -> str:
    """Returns a model's folder. Downloads a released model if it is not in the cache.

    Args:
      model: a folder, or the name of a released model.

    Raises:
      UserError: `model` is neither, or the download fails, or its content is not a model.
    """
    if "\0" not in model and files.is_folder(model):
        return model
    return obtain(find_release(model))


# ---- the cache ----


def obtain(
    release: Release,
    flags: TransferFlags = USUAL,
    *,
    cache_dir: Optional[str] = None,
) -> str:
    """Returns the folder of a released model in the cache. Downloads the model if it is missing.

    Args:
      release: the model.
      flags: flags of the transfer.
      cache_dir: the cache folder; default: CACHE_DIR.

    Raises:
      UserError: see cache.obtain.
    """
    source = Source(f"{ALBERT_ZH_URL if release.is_albert_zh else BASE_URL}/{release.archive}")
    name = release.name if release.is_albert_zh else f"albert_{release.name}"
    folder = os.path.join(os.path.expanduser(cache_dir or CACHE_DIR), name)

    def make(paths: Sequence[str], new_folder: str) -> None:
        unpacked = os.path.join(new_folder, ".archive") if release.is_albert_zh else new_folder
        archives.unpack(paths[0], unpacked)
        model_files = model_paths.find_model_files(_model_folder(unpacked))
        if release.is_albert_zh:
            from albert.formats import albert_zh

            albert_zh.convert(
                model_config.AlbertConfig.from_json_file(model_files["albert_config_file"]),
                model_files["init_checkpoint"],
                os.path.join(new_folder, release.folder),
                vocabulary=Vocabulary("vocab_file", model_files["vocab_file"], do_lower_case=True),
            )
            shutil.rmtree(unpacked)

    verified_cache.obtain(folder, [source], make, flags=flags)
    return _model_folder(folder)


def _model_folder(folder: str) -> str:
    """Returns the folder of the configuration. Most archives have one folder at the top."""
    configs = sorted(pathlib.Path(folder).rglob("albert_config*.json"))
    return str(configs[0].parent) if configs else folder


# ---- the flags of a script ----


def resolve_model_files(flags: AnyFlags) -> AnyFlags:
    """Returns the flags, completed with the paths of the model's files; see BaseFlags.fill_in.

    --albert_dir (a folder or a released model) or --albert_hub_module_handle sets
    --albert_config_file, --init_checkpoint and the vocabulary, unless you set them yourself.
    Without --albert_dir and a module, this function searches for missing files beside
    --init_checkpoint, which can be the name of a released model. A do_lower_case that the folder
    records replaces the flag's default.

    Args:
      flags: with albert_dir, albert_config_file and init_checkpoint; may have spm_model_file,
        vocab_file, do_lower_case and albert_hub_module_handle. Without do_lower_case, ignores
        vocabularies, because pretraining uses the vocabulary of its records.

    Raises:
      UserError: see `local_folder`, `model_paths.find_model_files` and `hub_module.read`.
    """
    values = flags.to_dict()
    folder, checkpoint = values["albert_dir"], values["init_checkpoint"]
    paths = (checkpoint, f"{checkpoint}.index")
    if checkpoint in RELEASES and not any(map(files.exists, paths)):
        return resolve_model_files(flags.fill_in(init_checkpoint=local_folder(checkpoint)))
    module = values.get("albert_hub_module_handle")
    has_tokenizer = "do_lower_case" in values
    parts = ("init_checkpoint", *model_paths.FILE_PATTERNS)
    chosen = {name: values[name] for name in parts if values.get(name)}
    if module:
        origin, model_files = module, _module_files(module, chosen)
    elif folder or checkpoint and (has_tokenizer or not values["albert_config_file"]):
        folder = folder and local_folder(folder)
        is_folder = checkpoint and files.is_folder(checkpoint)
        origin = folder or (checkpoint if is_folder else os.path.dirname(checkpoint) or ".")
        model_files = model_paths.find_model_files(origin, chosen, with_vocabulary=has_tokenizer)
    else:
        return flags
    do_lower_case = values.get("do_lower_case")
    recorded_lower = model_files.pop("do_lower_case", None)
    if recorded_lower not in (None, do_lower_case):
        if "do_lower_case" in flags.explicit:
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
    changes = {name: value for name, value in new.items() if value != values.get(name, value)}
    return flags.fill_in(**changes)


def _module_files(handle: str, chosen: Mapping[str, str]) -> model_paths.ModelFiles:
    """Returns a module's files, and its do_lower_case if its vocabulary is used."""
    from albert.runtimes import hub_module

    config, checkpoint, path, do_lower_case = hub_module.read(handle)
    model_files: model_paths.ModelFiles = {
        "albert_config_file": config,
        "init_checkpoint": checkpoint,
    }
    # Published commands pass "from_tf_hub" to use the module's own vocabulary.
    model_files.update({key: name for key, name in chosen.items() if name != "from_tf_hub"})
    if not model_vocabulary.KEYS.keys() & model_files.keys():
        key = "spm_model_file" if tokenization.is_sentencepiece(path) else "vocab_file"
        model_files.update({key: path, "do_lower_case": do_lower_case})
    return model_files
