# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The released models, downloaded once, and which file of a model's folder is what.

A released archive unpacks to a folder with albert_config.json, model.ckpt-best.* and a vocabulary:
30k-clean.model (SentencePiece) or vocab_chinese.txt (WordPiece). Models trained here also record
which vocabulary they have (see `model_vocabulary`).

A release is in the cache folder whole or not at all, as the archive has it (albert_zh's: converted
to a folder of ours), with a record of its files: see downloads.cache.
"""

import os
import re
import shutil
from typing import Any, Dict, Iterable, NamedTuple, Optional, Sequence

import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.checkpoints import weights
from albert.configs import published
from albert.downloads import archives, cache
from albert.downloads.settings import USUAL_LIMITS, Limits
from albert.pretrained import model_vocabulary, warm_start
from albert.pretrained.releases import Release, named
from albert.pretrained.settings import (
    ALBERT_ZH_URL,
    BASE_URL,
    CACHE_DIR,
    CONFIG_NAME,
    SPM_MODEL_NAME,
    Settings,
)
from albert.util import files, wording
from albert.util.errors import UserError
from albert.util.flags import AnySettings

FROM_TF_HUB = "from_tf_hub"  # what published commands give as the vocabulary of a module

# The names that each kind of file may have.
_CONFIGS = r"albert_config.*\.json"
_SPM_MODELS = r".*\.model"
_WORDPIECES = r".*vocab.*\.txt"


def local_folder(place: str, label: str) -> str:
    """Returns the folder that a user names: itself, or that of a released model in the cache.

    Args:
      place: a folder, or else the name of a released model, which is downloaded if it is not in
        the cache.
      label: how messages show where the user named it, such as "--albert_dir=base_v2".

    Raises:
      UserError: there is neither such a folder nor such a name; the model cannot be downloaded, or
        is no model; or that in the cache has changed.
    """
    if tf.io.gfile.isdir(place):
        return place
    release = named(place, label)
    if release is None:
        raise UserError(f"{label}: there is no such folder.{folders_like(place)}")
    try:
        return obtain(release)
    except UserError as error:
        raise type(error)(f"{label}: there is no such folder, and no model: {error}") from error


def folders_like(place: str) -> str:
    """Returns " Did you mean ...?" with what is called like a folder that is not there, or ""."""
    parent = os.path.dirname(place.rstrip("/"))
    if not tf.io.gfile.isdir(parent or "."):
        return ""
    beside = [os.path.join(parent, name).rstrip("/") for name in tf.io.gfile.listdir(parent or ".")]
    return wording.did_you_mean(place.rstrip("/"), beside, cutoff=0.8)


# ---------------------------------------------------------------------------------------------
# The cache.


def obtain(
    release: Release,
    *,
    sha256: Optional[str] = None,
    cache_dir: Optional[str] = None,
    base_url: Optional[str] = None,
    limits: Limits = USUAL_LIMITS,
) -> str:
    """Returns the folder of a model in the cache, after downloading it if it is not there.

    Args:
      release: which one.
      sha256: that its archive must have, if it is known.
      cache_dir: None for CACHE_DIR.
      base_url: address of the folder with the archives; None for the public one.
      limits: of the transfer.

    Raises:
      UserError: see cache.obtain.
    """
    cache_dir = os.path.expanduser(cache_dir or CACHE_DIR)
    base_url = (base_url or (ALBERT_ZH_URL if release.is_albert_zh else BASE_URL)).rstrip("/")
    folder = os.path.join(cache_dir, f"albert_{release.bare_name}")
    source = cache.Source(f"{base_url}/{release.archive}", sha256)

    def make(paths: Sequence[str], new: str) -> None:
        if release.is_albert_zh:
            unpacked = os.path.join(new, ".archive")
            found = _model_folder(unpacked, archives.unpack(paths[0], unpacked), _CONFIGS)
            _convert_albert_zh(found, os.path.join(new, release.folder))
            shutil.rmtree(unpacked)
        else:
            find_files(_model_folder(new, archives.unpack(paths[0], new)), label=release.archive)

    record = cache.obtain(folder, [source], make, limits=limits)
    return _model_folder(folder, record["files"])


def _model_folder(folder: str, names: Iterable[str], config: str = CONFIG_NAME) -> str:
    """The folder that holds the configuration; the archives have one around everything."""
    inner = [os.path.dirname(name) for name in names if re.fullmatch(config, name.split("/")[-1])]
    if not inner:
        raise UserError(f"The archive for {folder} holds no {CONFIG_NAME}.")
    return os.path.join(folder, min(inner)).rstrip("/")


def _convert_albert_zh(source: str, folder: str) -> None:
    """Writes albert_zh's model in the folder `source` as one of ours."""
    found = find_files(source, label=source)
    config, values, _ = weights.from_albert_zh(
        modeling.AlbertConfig.from_json_file(found.albert_config_file),
        weights.read_checkpoint(found.init_checkpoint),
    )
    vocabulary = model_vocabulary.Vocabulary("vocab_file", found.vocab_file, do_lower_case=True)
    write_model(folder, config, values, vocabulary=vocabulary)


# ---------------------------------------------------------------------------------------------
# The files in a folder.


class ModelFiles(NamedTuple):
    """Where the parts of a model are; of the two vocabularies one is None."""

    albert_config_file: Optional[str] = None
    init_checkpoint: Optional[str] = None
    spm_model_file: Optional[str] = None
    vocab_file: Optional[str] = None

    @property
    def vocabulary(self) -> Optional[str]:
        """The path of the vocabulary, if there is one."""
        return self.spm_model_file or self.vocab_file


def find_files(
    folder: str,
    named: Optional[ModelFiles] = None,
    *,
    label: str,
    vocabulary: str = "required",
) -> ModelFiles:
    """Returns the files of the model in a folder; those that are named already stay.

    A vocabulary is found by the folder's record of it, or else by its name. One that is found by
    its name has to have a token for each row of the model's table. One that is named, or recorded,
    need not: that may be meant.

    Args:
      folder: such as an unpacked archive.
      named: the files that need not be found.
      label: what messages call the folder, e.g. "--albert_dir=base_v2".
      vocabulary: "required", "optional" (None where there is none), or "unused".

    Raises:
      ValueError: the folder lacks a part, or has several of a kind, or its vocabulary is not that
        of the model.
    """
    found, by_name = named or ModelFiles(), {}
    if not tf.io.gfile.isdir(folder):
        raise UserError(f"{label} is not a folder.")
    if not found.albert_config_file:
        config = _only_file(folder, _CONFIGS, CONFIG_NAME, label=label)
        found = found._replace(albert_config_file=config)
    if vocabulary != "unused" and not found.vocabulary:
        description, _ = model_vocabulary.read_description(folder)
        recorded = model_vocabulary.recorded_files(folder, description)
        if not any(recorded.values()):
            by_name = _vocabulary_by_name(folder, label, is_required=vocabulary == "required")
        found = found._replace(**{**recorded, **by_name})
    if not found.init_checkpoint:
        found = found._replace(init_checkpoint=warm_start.resolve_checkpoint(folder))
    if by_name:
        _check_vocabulary(found)
    return found


class OpenModel(NamedTuple):
    """A model's folder."""

    files: ModelFiles
    config: modeling.AlbertConfig
    vocabulary: Optional[model_vocabulary.Vocabulary]


def open_model(
    folder: str,
    settings: Settings,
    *,
    label: str,
    named: Optional[ModelFiles] = None,
    vocabulary: str = "required",
) -> OpenModel:
    """Returns the files, configuration and vocabulary of the model in a folder.

    The arguments are those of `find_files` and `vocabulary_of`.

    Raises:
      ValueError: as these raise, or the vocabulary has more tokens than the model's table has rows.
    """
    found = find_files(folder, named, label=label, vocabulary=vocabulary)
    config = modeling.AlbertConfig.from_json_file(found.albert_config_file)
    own = vocabulary_of(found, folder, settings, label=label)
    if own:
        tokenizer = tokenization.FullTokenizer(
            found.vocab_file, bool(own.do_lower_case), found.spm_model_file
        )
        tokenization.check_vocab_size(tokenizer, config.vocab_size)
    return OpenModel(found, config, own)


def write_model(
    folder: str,
    config: modeling.AlbertConfig,
    values: weights.Values,
    *,
    vocabulary: Optional[model_vocabulary.Vocabulary] = None,
) -> None:
    """Writes configuration, checkpoint and, if there is one, the vocabulary under its own name."""
    files.atomic_write_text(os.path.join(folder, CONFIG_NAME), config.to_json_string())
    weights.write_checkpoint(os.path.join(folder, warm_start.BEST_CHECKPOINT), values)
    if vocabulary:
        model_vocabulary.put(folder, vocabulary)


def _vocabulary_by_name(folder: str, label: str, *, is_required: bool) -> Dict[str, str]:
    model = _only_file(folder, _SPM_MODELS, SPM_MODEL_NAME, label=label, is_required=False)
    if model:
        return {"spm_model_file": model}
    usual = "a SentencePiece model or vocab.txt"
    words = _only_file(folder, _WORDPIECES, usual, label=label, is_required=is_required)
    return {"vocab_file": words} if words else {}


def named_checkpoint(folder: str, name: Optional[str]) -> Optional[str]:
    """Returns the prefix of the checkpoint of this name; None leaves it to `find_files`."""
    if not name or not tf.io.gfile.isdir(folder):
        return None
    return warm_start.resolve_checkpoint(os.path.join(folder, name))


def model_summary(config: Optional[modeling.AlbertConfig], is_cased: bool = False) -> str:
    """Returns "ALBERT base (12 layers of 768, 11.7M parameters)": a model in words, without heads.

    Of a hub module without a configuration only the name is known.
    """
    if config is None:
        return "ALBERT"
    size = published.recognise(config.to_dict())
    counts = modeling.parameter_counts(config)
    parameters = sum(counts.values()) - counts["head"]
    number = f"{parameters / 1e6:.1f}M" if parameters >= 1e6 else f"{parameters:,}"
    shape = f"{config.num_hidden_layers} layers of {config.hidden_size}"
    name = f"ALBERT {size.size}" if size else "ALBERT"
    return f"{name} ({shape}, {number} parameters{', cased' if is_cased else ''})"


def vocabulary_of(
    found: ModelFiles, folder: str, settings: Settings, *, label: str
) -> Optional[model_vocabulary.Vocabulary]:
    """Returns the vocabulary among a model's files, with what its folder records of lower case.

    Where nothing is recorded, settings.do_lower_case counts. `label` is for messages.

    Raises:
      UserError: --do_lower_case was given and contradicts the folder's record.
    """
    for key in model_vocabulary.KEYS:
        path = getattr(found, key)
        if path:
            wanted = settings.to_dict()["do_lower_case"]
            recorded = model_vocabulary.recorded_lower_case(folder, path)
            if recorded not in (None, wanted) and "do_lower_case" in settings.given:
                raise UserError(
                    f"--do_lower_case={str(wanted).lower()} contradicts {label}, where the model "
                    f"is recorded as {'uncased' if recorded else 'cased'}. Leave the flag out."
                )
            return model_vocabulary.Vocabulary(key, path, wanted if recorded is None else recorded)
    return None


def _only_file(
    folder: str, pattern: str, usual: str, *, label: str, is_required: bool = True
) -> Optional[str]:
    """The one file of a folder whose name fits; where several do, the usual name decides."""
    # gfile marks folders on gs:// by a slash.
    names = sorted(name for name in tf.io.gfile.listdir(folder) if not name.startswith("."))
    fitting = [name for name in names if re.fullmatch(pattern, name)]
    if usual in fitting or len(fitting) == 1:
        return os.path.join(folder, usual if usual in fitting else fitting[0])
    if fitting or is_required:
        raise UserError(
            f"{label} should hold {usual}; found: {', '.join(fitting or names) or 'nothing'}. Name "
            "the file by its own flag (--albert_config_file, --spm_model_file or --vocab_file)."
        )
    return None


def _check_vocabulary(found: ModelFiles) -> None:
    vocab_size = modeling.AlbertConfig.from_json_file(found.albert_config_file).vocab_size
    tokenizer = tokenization.FullTokenizer(found.vocab_file, False, found.spm_model_file)
    if not 0 <= vocab_size - len(tokenizer.vocab) < tokenization.MOST_ROUNDING:
        raise UserError(
            f"{found.vocabulary} has {len(tokenizer.vocab)} tokens, but "
            f"the vocab_size of {found.albert_config_file} is {vocab_size}: they do not belong "
            "together. Put the model's own vocabulary into the folder, or name one by "
            "--spm_model_file or --vocab_file."
        )


# ---------------------------------------------------------------------------------------------
# The flags of a script.


def resolve_model_files(settings: AnySettings, *, with_vocabulary: bool = True) -> AnySettings:
    """Returns settings in which the parts of the model are named that its folder holds.

    --albert_dir, a folder or the name of a released model, stands for --albert_config_file,
    --init_checkpoint and the vocabulary where they are not given. Without it, what
    --init_checkpoint lacks beside it is looked for in the checkpoint's own folder. What the folder
    records of lower case takes precedence over the default of --do_lower_case. Settings may be
    resolved twice.

    Args:
      settings: with albert_dir, albert_config_file and init_checkpoint; may have spm_model_file,
        vocab_file, do_lower_case and albert_hub_module_handle.
      with_vocabulary: False: no vocabulary is looked for.

    Raises:
      UserError: a folder beside a hub module, or the vocabulary of a module without one; or what
        `local_folder`, `find_files`, `vocabulary_of` and resolve_checkpoint raise.
    """
    flags = settings.to_dict()
    folder, module = flags["albert_dir"], flags.get("albert_hub_module_handle")
    if flags.get("spm_model_file") == FROM_TF_HUB:
        if not module:
            raise UserError(
                f"--spm_model_file={FROM_TF_HUB} takes the vocabulary of a module, and no "
                "--albert_hub_module_handle is given. Name the module, or the vocabulary's file."
            )
        settings = settings.replace(spm_model_file=None)
    if module:
        if folder:
            raise UserError(
                f"--albert_dir={folder} and --albert_hub_module_handle exclude each other: the "
                "module brings its weights. Leave one of them out."
            )
        return settings
    found = ModelFiles(*(flags.get(field) or None for field in ModelFiles._fields))
    has_tokenizer = with_vocabulary and "spm_model_file" in flags
    changes: Dict[str, Any] = {}
    start = found.init_checkpoint
    # Then the checkpoint is not read: it may have been deleted since training began.
    is_complete = bool(found.albert_config_file and found.vocabulary and start and not folder)
    if folder:
        folder = changes["albert_dir"] = local_folder(folder, f"--albert_dir={folder}")
        label, vocabulary = f"--albert_dir={folder}", "required"
    elif start and (has_tokenizer or not found.albert_config_file):
        label, vocabulary = f"The folder of --init_checkpoint={start}", "optional"
        prefix = start if is_complete else warm_start.resolve_checkpoint(start)
        folder = prefix if tf.io.gfile.isdir(prefix) else os.path.dirname(prefix) or "."
    else:
        return settings
    if not is_complete:
        wanted = vocabulary if has_tokenizer else "unused"
        found = find_files(folder, found, label=label, vocabulary=wanted)
    changes.update((name, value) for name, value in found._asdict().items() if value)
    if has_tokenizer and found.vocabulary and "do_lower_case" in flags:
        recorded = vocabulary_of(found, folder, settings, label=label)
        changes["do_lower_case"] = recorded and recorded.do_lower_case  # type: ignore[assignment]
    new = {name: value for name, value in changes.items() if flags[name] != value}
    return settings.replace(**new) if new else settings
