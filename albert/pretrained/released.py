# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The released models, downloaded once, and which file of a model's folder is what.

A released archive unpacks to a folder with albert_config.json, model.ckpt-best.* and a vocabulary:
30k-clean.model (SentencePiece) or vocab_chinese.txt (WordPiece). Models trained here also record
which vocabulary they have (see `model_vocabulary`).

In the cache folder, base_v2 of the releases is

  albert_base_v2/albert_base/     the model, as the archive has it
  albert_base_v2.json             address, size and SHA-256 of the archive, and of every file in it

and, during the download, the archive under the hidden name .albert_base_v2.tar.gz. A model is in
the cache whole or not at all, and each later use compares it with its record.
"""

import contextlib
import logging
import os
import re
import shutil
import time
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, cast

import tensorflow.compat.v1 as tf

from albert import modeling, tokenization
from albert.pretrained import downloads, model_vocabulary, warm_start
from albert.pretrained.settings import BASE_URL, CACHE_DIR, ModelSettings, Settings
from albert.util import files, wording

_LOGGER = logging.getLogger("albert")

CONFIG_NAME = "albert_config.json"
SPM_MODEL_NAME = "30k-clean.model"
CHINESE_VOCAB_NAME = "vocab_chinese.txt"
FROM_TF_HUB = "from_tf_hub"  # what published commands give as the vocabulary of a module
_RECORD_VERSION = 1

# The names that each kind of file may have.
_CONFIGS = r"albert_config.*\.json"
_SPM_MODELS = r".*\.model"
_WORDPIECES = r".*vocab.*\.txt"


# ---------------------------------------------------------------------------------------------
# Releases.


class Release(NamedTuple):
    """A published model."""

    name: str  # such as base_v2
    archive: str  # the published file
    folder: str  # that the archive unpacks to
    vocabulary: str  # file in the archive


RELEASES = {
    f"{size}_{version}": Release(
        f"{size}_{version}",
        f"albert_{size}_{version}.tar.gz",
        f"albert_{size}",
        CHINESE_VOCAB_NAME if version == "zh" else SPM_MODEL_NAME,
    )
    for version in ("v1", "v2", "zh")
    for size in ("base", "large", "xlarge", "xxlarge")
}


def find_release(name: str) -> Release:
    """Returns a release by its name: base_v2, albert_base_v2 or albert_base_v2.tar.gz."""
    bare = re.sub(r"^albert_|\.tar\.gz$", "", name.strip().lower())
    if bare not in RELEASES:
        hint = wording.did_you_mean(bare, RELEASES)
        raise ValueError(
            f"There is no released model {name!r}.{hint} Names: {', '.join(RELEASES)}."
        )
    return RELEASES[bare]


def local_folder(place: str, flag: str) -> str:
    """Returns the folder that a flag names: itself, or that of a released model in the cache.

    Args:
      place: a folder, or else the name of a released model, which is downloaded if it is not in
        the cache.
      flag: such as "albert_dir", for messages.

    Raises:
      ValueError: the model in the cache has changed, or what arrived is no model.
      ConnectionError: it cannot be downloaded.
    """
    if "/" in place or tf.io.gfile.exists(place):
        return place
    try:
        release = find_release(place)
    except ValueError:
        return place  # find_files reports the missing folder
    try:
        return obtain(release)
    except ConnectionError as error:
        raise ConnectionError(
            f"--{flag}={place} is no folder here, and the released model of this name is not in "
            f"{CACHE_DIR}: {error} On a machine without a network, name the folder of the unpacked "
            "archive."
        ) from error


# ---------------------------------------------------------------------------------------------
# The cache.


def obtain(
    release: Release,
    *,
    sha256: Optional[str] = None,
    cache_dir: Optional[str] = None,
    base_url: Optional[str] = None,
    limits: downloads.Limits = downloads.USUAL_LIMITS,
    wait: Callable[[float], None] = time.sleep,
) -> str:
    """Returns the folder of a model in the cache, after downloading it if it is not there.

    Args:
      release: which one.
      sha256: that its archive must have, if it is known.
      cache_dir: None for CACHE_DIR.
      base_url: address of the folder with the archives; None for BASE_URL.
      limits, wait: see downloads.fetch.

    Raises:
      ValueError: the cache is on another machine; the server does not have the archive; that is
        damaged, unsafe, no model, or another one than before; or files in the cache have changed
        since the download.
      ConnectionError: the server cannot be reached, or the transfer stops again and again.
    """
    cache_dir = os.path.expanduser(cache_dir or CACHE_DIR)
    if "://" in cache_dir:
        raise ValueError(
            f"--cache_dir={cache_dir} must be a folder of this machine: downloads are unpacked and "
            "locked there. Copy the model from there to where it is wanted."
        )
    os.makedirs(cache_dir, exist_ok=True)
    folder = os.path.join(cache_dir, f"albert_{release.name}")
    with _locked(os.path.join(cache_dir, f".albert_{release.name}.lock"), release.name):
        if os.path.isdir(folder):
            record = _read_record(folder)
            _check_sha256(f"The archive of {folder}", record, {"--sha256": sha256})
            _check_unchanged(folder, record)
        else:
            url = f"{(base_url or BASE_URL).rstrip('/')}/{release.archive}"
            archive = os.path.join(cache_dir, f".{release.archive}")
            recorded = f"{folder}.json, from the first download (if this one is meant, remove it)"
            has_record = os.path.exists(f"{folder}.json")
            earlier = _read_record(folder)["sha256"] if has_record else None
            _LOGGER.info("Downloading %s.", url)
            fetched = downloads.fetch(url, archive, limits=limits, wait=wait)._asdict()
            try:
                _check_sha256(url, fetched, {"--sha256": sha256, recorded: earlier})
                record = _unpacked(archive, folder, {"url": url, **fetched})
            except ValueError:
                downloads.discard(archive)
                raise
            downloads.discard(archive)
    return _model_folder(folder, record["files"])


@contextlib.contextmanager
def _locked(path: str, name: str) -> Iterator[None]:
    """Lets one process at a time work on a model; the lock of one that was killed is free."""
    import fcntl  # not on every system

    # Not through a link, which another user may have put there.
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
    with os.fdopen(descriptor, "r+b") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _LOGGER.info("Another process is downloading %s; waiting for it.", name)
            fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _read_record(folder: str) -> Dict[str, Any]:
    """What was downloaded into a folder, by the record beside it."""
    path = f"{folder}.json"
    if not os.path.exists(path):
        raise ValueError(
            f"{folder} was not downloaded by this command: {path} is missing. Use the folder as it "
            "is by --albert_dir, or choose another --cache_dir."
        )
    try:
        record = files.read_json_object(path)
        version, *_ = (record[key] for key in ("format_version", "url", "sha256", "files"))
    except (ValueError, KeyError, TypeError) as error:
        version, record = error, {}
    if version != _RECORD_VERSION:
        raise ValueError(
            f"{path} does not describe a download (format_version is {version!r} and should be "
            f"{_RECORD_VERSION}). Remove it and the folder beside it to download again."
        )
    return record


def _check_unchanged(folder: str, record: Dict[str, Any]) -> None:
    changed: List[str] = []
    for name, fingerprint in record["files"].items():
        path = os.path.join(folder, name)
        if not os.path.exists(path) or _fingerprint(path) != fingerprint:
            changed.append(name)
    if changed:
        raise ValueError(
            f"The model in {folder} has changed since it was downloaded: {', '.join(changed)}. "
            "Remove the folder to download it again, or, if the change is meant, move it out of "
            "the cache."
        )
    _LOGGER.info(
        "%s is as it was downloaded: %s.", folder, wording.counted(len(record["files"]), "file")
    )


def _check_sha256(what: str, record: Dict[str, Any], wanted: Dict[str, Optional[str]]) -> None:
    """Compares an archive's hash with the known ones, which are named by where they stand."""
    for source, sha256 in wanted.items():
        if sha256 and sha256.lower() != record["sha256"]:
            raise ValueError(
                f"{what} is not the archive that is wanted: its SHA-256 is {record['sha256']}, not "
                f"{sha256} as in {source}. It is not used."
            )


def _fingerprint(path: str) -> Dict[str, Any]:
    content = files.file_fingerprint(path)
    return {"size": content["size"], "sha256": content["sha256"]}


def _model_folder(folder: str, names: Iterable[str]) -> str:
    """The folder that holds the configuration; the archives have one around everything."""
    inner = {os.path.dirname(name) for name in names if os.path.basename(name) == CONFIG_NAME}
    if not inner:
        raise ValueError(f"it holds no {CONFIG_NAME}.")
    return os.path.join(folder, min(inner)).rstrip("/")


def _unpacked(archive: str, folder: str, record: Dict[str, Any]) -> Dict[str, Any]:
    """Unpacks an archive to `folder`, and writes and returns its record."""
    parent, name = os.path.split(folder)
    temporary = os.path.join(parent, f".{name}.unpacked")
    shutil.rmtree(temporary, ignore_errors=True)  # of a process that was killed
    os.makedirs(temporary)
    try:
        names = downloads.unpack(archive, temporary)
        find_files(_model_folder(temporary, names), label="its folder")
        prints = {name: _fingerprint(os.path.join(temporary, name)) for name in names}
        record = {"format_version": _RECORD_VERSION, **record, "files": prints}
        # The record is written first, because a record without its folder does no harm.
        files.atomic_write_json(f"{folder}.json", record)
        os.rename(temporary, folder)
    except downloads.DamagedArchiveError as error:
        raise ValueError(
            f"The archive from {record['url']} is damaged ({error.__cause__}). It was removed: run "
            "the same command again; if that does not help, the one on the server is damaged."
        ) from error
    except ValueError as error:
        raise ValueError(f"{record['url']} is not the archive of a model: {error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return record


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
      label: what messages call the folder, e.g. "--albert_dir=albert_base".
      vocabulary: "required", "optional" (None where there is none), or "unused".

    Raises:
      ValueError: the folder lacks a part, or has several of a kind, or its vocabulary is not that
        of the model.
    """
    found, by_name = named or ModelFiles(), {}
    if not tf.io.gfile.isdir(folder):
        hint = wording.did_you_mean(folder.lower(), RELEASES, cutoff=0.8)
        raise ValueError(f"{label} is not a folder, nor the name of a released model.{hint}")
    if not found.albert_config_file:
        config = _only(folder, _CONFIGS, CONFIG_NAME, label=label)
        found = found._replace(albert_config_file=config)
    if vocabulary != "unused" and not found.vocabulary:
        description, _ = model_vocabulary.read_description(folder)
        recorded = model_vocabulary.recorded_files(folder, description)
        if not any(recorded.values()):
            by_name = _vocabulary_by_name(folder, label, is_required=vocabulary == "required")
        found = found._replace(**{**recorded, **by_name})
    if not found.init_checkpoint:
        found = found._replace(init_checkpoint=_checkpoint_in(folder))
    if by_name:
        _check_vocabulary(found)
    return found


def _vocabulary_by_name(folder: str, label: str, *, is_required: bool) -> Dict[str, str]:
    if _fitting(folder, _SPM_MODELS):
        return {"spm_model_file": _only(folder, _SPM_MODELS, SPM_MODEL_NAME, label=label)}
    if is_required or _fitting(folder, _WORDPIECES):
        wanted = "a SentencePiece model or vocab.txt"
        return {"vocab_file": _only(folder, _WORDPIECES, wanted, label=label)}
    return {}


def named_checkpoint(folder: str, name: Optional[str]) -> Optional[str]:
    """Returns the prefix of the checkpoint of this name; None leaves it to `find_files`."""
    if not name or not tf.io.gfile.isdir(folder):
        return None
    return warm_start.resolve_checkpoint(os.path.join(folder, name))


def vocabulary_of(
    found: ModelFiles, folder: str, settings: Settings, *, label: str
) -> Optional[model_vocabulary.Vocabulary]:
    """Returns the vocabulary among a model's files, with what its folder records of lower case.

    Where nothing is recorded, settings.do_lower_case counts. `label` is for messages.

    Raises:
      ValueError: --do_lower_case was given and contradicts the folder's record.
    """
    for key in model_vocabulary.KEYS:
        path = getattr(found, key)
        if path:
            lower = _lower_case(folder, path, settings, label=label)
            return model_vocabulary.Vocabulary(key, path, lower)
    return None


def _lower_case(folder: str, path: str, settings: Settings, *, label: str) -> bool:
    wanted = bool(settings.to_dict()["do_lower_case"])
    recorded = model_vocabulary.recorded_lower_case(folder, path)
    if recorded is None or recorded == wanted:
        return wanted
    described = "uncased (text is made lower case)" if recorded else "cased"
    if "do_lower_case" in settings.given:
        raise ValueError(
            f"--do_lower_case={str(wanted).lower()} contradicts {label}, where the "
            f"model is recorded as {described}. Leave the flag out."
        )
    _LOGGER.info("The model of %s is %s, as is recorded there.", label, described)
    return recorded


def _fitting(folder: str, pattern: str) -> List[str]:
    """The visible names in a folder that fit; gfile marks folders on gs:// by a slash."""
    names = sorted(name for name in tf.io.gfile.listdir(folder) if not name.startswith("."))
    return [name for name in names if re.fullmatch(pattern, name)]


def _only(folder: str, pattern: str, wanted: str, *, label: str) -> str:
    """The one file of a folder whose name fits; where several do, the usual name decides."""
    fitting = _fitting(folder, pattern)
    if wanted in fitting:
        fitting = [wanted]
    if len(fitting) != 1:
        present = _fitting(folder, ".*")
        inner = (os.path.join(folder, name.rstrip("/")) for name in present)
        # An archive may have been unpacked into the folder that is named.
        meant = [path for path in inner if tf.io.gfile.exists(os.path.join(path, CONFIG_NAME))]
        raise ValueError(
            f"{label} should hold {wanted}; found: {', '.join(fitting or present) or 'nothing'}. "
            + (f"Did you mean {meant[0]}? " if meant else "")
            + "Name the file by its own flag (--albert_config_file, --spm_model_file or "
            "--vocab_file)."
        )
    return os.path.join(folder, fitting[0])


def _checkpoint_in(folder: str) -> str:
    try:
        return warm_start.resolve_checkpoint(folder)
    except ValueError as error:
        raise ValueError(
            f"{error} (To start from random weights, name the configuration and the vocabulary by "
            "their own flags in place of the folder.)"
        ) from error


def _check_vocabulary(found: ModelFiles) -> None:
    vocab_size = modeling.AlbertConfig.from_json_file(found.albert_config_file).vocab_size
    tokenizer = tokenization.FullTokenizer(found.vocab_file, True, found.spm_model_file)
    if len(tokenizer.vocab) != vocab_size:
        raise ValueError(
            f"{found.vocabulary} has {len(tokenizer.vocab)} tokens, but "
            f"the vocab_size of {found.albert_config_file} is {vocab_size}: they do not belong "
            "together. Put the model's own vocabulary into the folder, or name one by "
            "--spm_model_file or --vocab_file."
        )


# ---------------------------------------------------------------------------------------------
# The flags of a script.


def completed(settings: ModelSettings, *, with_vocabulary: bool = True) -> ModelSettings:
    """Returns settings in which the parts of the model are named that its folder holds.

    --albert_dir, a folder or the name of a released model, stands for --albert_config_file,
    --init_checkpoint and the vocabulary where they are not given. Without it, what
    --init_checkpoint lacks beside it is looked for in the checkpoint's own folder. What the folder
    records of lower case takes precedence over the default of --do_lower_case. Settings may be
    completed twice.

    Args:
      settings: with albert_dir, albert_config_file and init_checkpoint; may have spm_model_file,
        vocab_file, do_lower_case and albert_hub_module_handle.
      with_vocabulary: False: no vocabulary is looked for.

    Raises:
      ValueError: a folder beside a hub module, or the vocabulary of a module without one; or what
        `find_files`, `vocabulary_of` and
        resolve_checkpoint raise.
      ConnectionError: a released model cannot be downloaded.
    """
    flags = settings.to_dict()
    folder = flags["albert_dir"]
    if flags.get("spm_model_file") == FROM_TF_HUB:
        if not flags.get("albert_hub_module_handle"):
            raise ValueError(
                f"--spm_model_file={FROM_TF_HUB} takes the vocabulary of a module, and no "
                "--albert_hub_module_handle is given. Name the module, or the vocabulary's file."
            )
        settings = cast(ModelSettings, settings.replace(spm_model_file=None))
    if flags.get("albert_hub_module_handle"):
        if folder:
            raise ValueError(
                f"--albert_dir={folder} and --albert_hub_module_handle exclude each other: the "
                "module brings its weights. Leave one of them out."
            )
        return settings
    found = ModelFiles(*(flags.get(field) or None for field in ModelFiles._fields))
    has_tokenizer = with_vocabulary and "spm_model_file" in flags
    changes: Dict[str, Any] = {}
    is_complete, start = False, found.init_checkpoint
    if folder:
        folder = changes["albert_dir"] = local_folder(folder, "albert_dir")
        label, vocabulary = f"--albert_dir={folder}", "required"
    elif start and (has_tokenizer or not found.albert_config_file):
        label, vocabulary = f"The folder of --init_checkpoint={start}", "optional"
        # If complete, the checkpoint is not read: it may have been deleted since training began.
        is_complete = bool(found.albert_config_file and found.vocabulary)
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
        changes["do_lower_case"] = recorded and recorded.do_lower_case
    new = {name: value for name, value in changes.items() if flags.get(name, value) != value}
    return cast(ModelSettings, settings.replace(**new)) if new else settings
