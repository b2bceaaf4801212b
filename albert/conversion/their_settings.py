# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The settings in files of Hugging Face and SentencePiece, and what becomes of each.

their_settings.json has a table for each file: "fixed" are the values that albert implements,
"same" the keys of albert_config.json, "converted" what the conversion reads, and the rest has no
effect on the ids and outputs of a text. Of tokenizer.json it has the steps that albert takes too.
"""

import itertools
import json
import pathlib
from typing import Any, Mapping

from albert.util.errors import UserError

TABLES = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def check(settings: Mapping[str, Any], table: str, where: str) -> None:
    """Refuses, by name, a value that a table does not allow, and a key that it does not have.

    None is no setting. A token may be an object with its text as `content`.
    """
    groups = dict(TABLES[table])
    fixed, free = groups.pop("fixed"), itertools.chain(*groups.values())
    for key in settings.keys() - set(free):
        value = settings[key]
        value = value.get("content", value) if isinstance(value, dict) else value
        if value is not None and value not in fixed.get(key, ()):
            hint = "albert does not know this setting. If it has no effect, remove it."
            if key in fixed:
                hint = f"It must be {' or '.join(map(json.dumps, fixed[key]))}."
            raise UserError(f"{where}: {key} is {json.dumps(value)[:60]}. {hint}")
