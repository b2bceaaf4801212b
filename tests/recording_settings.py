# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Settings that know which of them a script has read, so that no flag is defined in vain."""

from typing import Any, Callable, Dict, List, Sequence

from albert import flags_lib


class RecordingSettings(flags_lib.Settings):
    """Settings that note in `recorded` which of them are read."""

    def __init__(self, recorded: Dict[str, None], **values: Any):
        super().__init__(**values)
        self.__dict__[" recorded"] = recorded  # no flag has such a name

    def __getattribute__(self, name):
        values = object.__getattribute__(self, "__dict__")
        if name in values:
            values[" recorded"][name] = None
        return object.__getattribute__(self, name)

    def to_dict(self):
        """Returns the flags alone."""
        values = super().to_dict()
        del values[" recorded"]
        return values

    def replace(self, **changes: Any) -> "RecordingSettings":
        """Returns settings that note in the same place what is read."""
        values = dict(self.to_dict(), **changes)
        return RecordingSettings(self.__dict__[" recorded"], **values)


def unread_flags(
    define_flags: Callable, commands: Sequence[Sequence[str]], main: Callable
) -> List[str]:
    """Returns the flags that `main` reads under none of the command lines."""
    recorded: Dict[str, None] = {}
    for arguments in commands:
        settings = flags_lib.parse(define_flags, arguments)
        main(RecordingSettings(recorded, **settings.to_dict()))
    return sorted(set(settings.to_dict()) - set(recorded))
