# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Labelled data that a program passes: paths, lists, dicts and pandas frames.

Rows in memory are written as JSON lines once. Then a script's code reads them, so the same rows
give the same bytes, and the script resumes what a program began.
"""

import collections.abc
import json
import os
import tempfile
from typing import Any, Dict, List, Mapping, Sequence, Tuple, Type

from albert.configs.shared_flags import FineTuningFlags, TaskFlags
from albert.training import origin
from albert.training.task import Task
from albert.util import files
from albert.util import flags as flags_lib
from albert.util.errors import UserError

_FOLDER = "data"  # in --output_dir


def flags_for(
    kind: Type[Task],
    train: Any,
    dev: Any = None,
    *,
    output_dir: Any,
    script: str = "",
    **options: Any,
) -> FineTuningFlags:
    """Returns the flags of a script's training. Writes rows in memory below `output_dir`.

    Args:
      kind: the task.
      train, dev: see albert.fine_tune.
      output_dir: the script's --output_dir.
      script: the script that repeats the run with run.toml.
      options: other flags by name.

    Raises:
      UserError: a flag or a row is wrong, or the folder has a training on other rows.
    """
    output_dir = os.path.expanduser(os.fspath(output_dir))
    folder, declared = os.path.join(output_dir, _FOLDER), flags_lib.describe(kind.flags_class)
    values = {
        name: ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value
        for name, value in options.items()
    }
    values["output_dir"] = output_dir
    user_flags = flags_lib.make(kind.flags_class, **values)
    paths = {
        split: _path_of(kind, data, folder=folder, split=split)
        for split, data in (("train", train), ("dev", dev))
        if data is not None
    }
    evaluates = "dev" in paths or files.is_folder(paths["train"])
    action = "do_eval" if "do_eval" in declared else "do_predict"
    actions = {"do_train": True, action: evaluates}
    data_flags = {**_data_flags(kind, paths, folder), **kind.declare_data(user_flags, paths)}
    flags = flags_lib.make(kind.flags_class, **{**actions, **data_flags, **values})
    flags.check()
    return flags.with_script(script)


def _data_flags(kind: Type[Task], paths: Mapping[str, str], folder: str) -> Dict[str, Any]:
    """Returns the flags that name the files. `folder` has the rows from memory."""
    if "data_dir" not in flags_lib.describe(kind.flags_class):
        return {kind.file_flags[split]: path for split, path in paths.items()}
    if all(path == rows_path(kind, folder, split) for split, path in paths.items()):
        return {"data_dir": folder, **kind.rows_flags}
    first = next(iter(paths.values()))
    if files.is_folder(first):
        return {"data_dir": first}
    folder = os.path.dirname(first) or "."
    flags = {"data_dir": folder}
    for split, path in paths.items():
        if split not in kind.file_flags:
            raise UserError(f"'{path}' is a file. Give the folder of the data.")
        flags[kind.file_flags[split]] = os.path.relpath(path, folder)
    return flags


# ---- rows in memory ----


def rows_path(kind: Type[Task], folder: str, split: str) -> str:
    """Returns the file for rows in memory."""
    return os.path.join(folder, kind.rows_file.format(split))


def _path_of(kind: Type[Task], data: Any, *, folder: str, split: str) -> str:
    """Returns the path of data. Writes rows in memory into a folder."""
    if isinstance(data, (str, os.PathLike)):
        return os.path.expanduser(os.fspath(data))
    path, text = rows_path(kind, folder, split), "".join(_lines(kind, data))
    old = files.read_text(path) if files.exists(path) else text
    output_dir = os.path.dirname(folder)
    if split == "train" and old != text and origin.read(output_dir):
        raise UserError(f"'{output_dir}' has a training on other data. Choose another output_dir.")
    files.make_folders(os.path.dirname(path))
    files.atomic_write_text(path, text)
    return path


def _lines(kind: Type[Task], data: Any) -> List[str]:
    """Returns the rows as JSON lines."""
    if hasattr(data, "to_dict"):  # a pandas frame
        data = data.to_dict("records")
    if isinstance(data, Mapping):  # the content of a file
        data = [data]
    if not isinstance(data, collections.abc.Iterable):
        raise UserError(f"{data!r} is neither a path nor a list of rows.")
    lines = []
    for number, row in enumerate(data, start=1):
        try:
            if not isinstance(row, Mapping):
                row = dict(zip(kind.row_names[len(row)], row))
            lines.append(json.dumps(row, ensure_ascii=False, default=_json_value) + "\n")
        except (TypeError, ValueError, KeyError) as error:
            raise UserError(
                f"Row {number} is {str(row)[:60]!r}. docs/train_in_python.md says which "
                "rows albert.fine_tune takes."
            ) from error
    return lines


def _json_value(value: Any) -> Any:
    if not hasattr(value, "tolist"):  # of NumPy
        raise TypeError
    return value.tolist()


# ---- the data of a trained model ----


def read_rows(task: Task, model_dir: str, rows: Any) -> Tuple[Task, Sequence[Any]]:
    """Returns `read_for` of data as albert.fine_tune takes them."""
    with tempfile.TemporaryDirectory() as folder:
        path = _path_of(type(task), rows, folder=folder, split="dev")
        if path == rows_path(type(task), folder, "dev") and not task.file_flags:
            return read_for(task, model_dir, folder, **task.rows_flags)
        return read_for(task, model_dir, path)


def read_for(
    task: Task, model_dir: str, path: str, **data_flags: Any
) -> Tuple[Task, Sequence[Any]]:
    """Returns a task with the flags of its training, and the examples in a file or folder.

    Args:
      task: the task of a loaded model.
      model_dir: the folder with the run.toml of the training, if there is one.
      path: development data.
      data_flags: flags that replace those of the training.
    """
    declared = flags_lib.describe(task.flags_class)
    record = os.path.join(model_dir, flags_lib.RECORD_NAME)
    trained = flags_lib.read_toml(record) if files.exists(record) else {}
    for name in flags_lib.describe(TaskFlags):
        trained.pop(name, None)
    data = {"predict_file": path}
    if "data_dir" in declared:  # of SQuAD there is one file alone
        data = {"data_dir": path if files.is_folder(path) else os.path.dirname(path) or "."}
    # Measured with what an export will use, such as its threshold.
    description = task.describe(is_export=True)
    decoding = {name: description[name] for name in task.heard_flags if name in description}
    values = {
        **task.flags.explicit_values(),
        **trained,
        **decoding,
        **data,
        **data_flags,
        "do_eval": True,
        "do_predict": True,
    }
    own = {name: value for name, value in values.items() if name in declared}
    reader = type(task)(flags_lib.make(task.flags_class, **own), task.tokenizer, task.description)
    if path not in data.values():
        return reader, reader.read_file(path)
    splits = reader.splits("dev")  # none if questions have no answers
    return reader, reader.examples(splits[0]) if splits else []
