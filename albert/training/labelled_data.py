# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Labelled data that a program passes: paths, lists, dicts and pandas frames.

Rows in memory are written as JSON lines. Then a script's code reads them, so the same rows give the
same bytes, and the script resumes what a program began.
"""

import json
import os
import re
import tempfile
from typing import Any, Dict, Iterable, List, Mapping, Sequence, Tuple, Type

from albert.configs.shared_flags import FineTuningFlags, TaskFlags
from albert.training.task import Task
from albert.util import UserError, files
from albert.util import flags as flags_lib

_FOLDER = "data"  # in --output_dir


def flags_for(
    kind: Type[Task], train: Any, dev: Any = None, *, script: str = "", **options: Any
) -> FineTuningFlags:
    """Returns the flags of a script's training. Writes rows in memory below --output_dir.

    Args:
      kind: the task.
      train, dev: see albert.fine_tune.
      script: the script that repeats the run with run.toml.
      options: other flags by name.

    Raises:
      UserError: a flag or a row is wrong.
    """
    flags = flags_lib.make(kind.flags_class, **options)
    if not flags.output_dir:
        raise UserError("output_dir must be given: the folder for the training.")
    data = {"train": train}
    if dev is not None:
        data["dev"] = dev
    data_flags = _data_flags(kind, data, os.path.join(flags.output_dir, _FOLDER))
    flags = flags_lib.make(kind.flags_class, **{"do_train": True, **data_flags, **options})
    flags = kind.declare_data(flags)
    flags.check()
    return flags.with_script(script)


def _data_flags(kind: Type[Task], data: Mapping[str, Any], folder: str) -> Dict[str, Any]:
    """Returns the flags that name data by split, and evaluate the development data.

    Writes rows in memory below `folder`, and a copy of each file that the task reads only there.
    """
    paths = {
        split: _path_of(kind, part, folder=folder, split=split) for split, part in data.items()
    }
    first, has_dev = next(iter(paths.values())), "dev" in data
    if "data_dir" not in flags_lib.describe(kind.flags_class):
        names = {kind.file_flags[split]: path for split, path in paths.items()}
        return {"do_predict": has_dev, **names}
    if not files.is_folder(first):
        data_dir = os.path.dirname(first) or "."
        names = {
            kind.file_flags[split]: os.path.relpath(path, data_dir) for split, path in paths.items()
        }
        return {"data_dir": data_dir, "do_eval": has_dev, **names}
    if len(set(paths.values())) > 1:
        raise UserError(f"'{first}' is a folder. Leave out dev, or give train and dev as files.")
    if first != folder:
        return {"data_dir": first, "do_eval": True}
    return {"data_dir": folder, "do_eval": has_dev, **kind.folder_flags}


def _path_of(kind: Type[Task], data: Any, *, folder: str, split: str) -> str:
    """Returns the file or the folder of data; `folder` if the task reads only folders."""
    path = os.path.join(folder, kind.rows_file.format(split))
    if isinstance(data, (str, os.PathLike)):
        source = os.path.expanduser(os.fspath(data))
        if kind.file_flags or files.is_folder(source):
            return source
        content, ending = files.read_bytes(source), files.ending(source)
        if ending not in files.JSON_LINES:
            path = os.path.splitext(path)[0] + ending
    else:
        content = "".join(_lines(kind, data)).encode("utf-8")
    files.make_folders(os.path.dirname(path))
    files.atomic_write_bytes(path, content)
    return path if kind.file_flags else folder


def _lines(kind: Type[Task], data: Any) -> List[str]:
    """Returns the rows as JSON lines."""
    if hasattr(data, "iterrows"):  # a pandas frame
        data = data.to_dict("records")
    if isinstance(data, Mapping) or not isinstance(data, Iterable):  # the content of a file
        data = [data]
    lines = []
    for number, row in enumerate(data, start=1):
        try:
            if isinstance(row, (list, tuple)):
                row = zip(kind.row_names[len(row)], row)
            text = json.dumps(dict(row), ensure_ascii=False, default=lambda array: array.tolist())
            lines.append(text + "\n")
        except (AttributeError, TypeError, ValueError, KeyError) as error:
            raise UserError(
                f"Row {number} is {str(row)[:60]!r}. docs/train_in_python.md says which "
                "rows albert.fine_tune takes."
            ) from error
    return lines


def read(task: Task, model_dir: str, data: Any) -> Tuple[Task, Sequence[Any]]:
    """Returns a task with the flags of its training, and labelled examples.

    Args:
      task: the task of a loaded model.
      model_dir: the folder with the run.toml of the training, if there is one.
      data: as albert.fine_tune takes them.
    """
    kind, declared = type(task), flags_lib.describe(task.flags_class)
    record = os.path.join(model_dir, flags_lib.RECORD_NAME)
    recorded = flags_lib.read_toml(record) if files.exists(record) else {}
    names = declared.keys() - flags_lib.describe(TaskFlags).keys()
    trained = {name: recorded[name] for name in names & recorded.keys()}
    task_file = os.path.join(model_dir, _FOLDER, "task.json")
    if files.exists(task_file):  # The folder may have another name than in training.
        trained["task_file"] = task_file
    # Measured with what an export will use, such as its threshold.
    description = task.describe(is_export=True)
    decoding = {name: description[name] for name in task.heard_flags if name in description}
    with tempfile.TemporaryDirectory() as folder:
        data_flags = _data_flags(kind, {"dev": data}, folder)
        name = data_flags.pop("dev_file", None)
        values = {**task.flags.explicit_values(), **trained, **decoding, **data_flags}
        flags = flags_lib.make(kind.flags_class, **values)
        try:
            reader = kind(flags, task.tokenizer, task.description)
            if name:
                return reader, reader.read_file(os.path.join(data_flags["data_dir"], name))
            splits = reader.splits("dev")  # none if questions have no answers
            return reader, reader.examples(splits[0]) if splits else []
        except UserError as error:
            raise UserError(re.sub(f"{folder}/[^:']*:?", "row ", str(error))) from error
