# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Record files NAME-00000-of-00016 and so on: their names, and whether they may be written.

Beside the shards lie NAME.counts.json, which is written last and says that all is there, and, if
there were any, the bad lines in NAME.bad_lines-00000-of-00016 and so on.
"""

import glob
import logging
import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional

from albert.pretraining import beam_files
from albert.util import files, many_files

MOST_SHARDS = 99999

_LOGGER = logging.getLogger(__name__)


class ShardNames(NamedTuple):
    """The paths of all files of a job."""

    base: str  # with the folder
    ending: str
    count: int

    def shard(self, number: int) -> str:
        """Returns the path of a record file."""
        return f"{self.base}-{self._place(number)}{self.ending}"

    def bad_lines(self, number: int) -> str:
        """Returns the path of a file of bad lines."""
        return f"{self.base}.bad_lines-{self._place(number)}"

    @property
    def counts(self) -> str:
        """The path of the counts."""
        return f"{self.base}.counts.json"

    @property
    def pattern(self) -> str:
        """What stands for all record files, for run_pretraining."""
        return f"{self.base}-*{self.ending}"

    def is_one(self, path: str) -> bool:
        """Returns whether a path is one of a job's files, whatever the number of shards."""
        is_numbered = _numbers(path, self) is not None
        is_beside = os.path.dirname(path) == os.path.dirname(self.base)
        return path == self.counts or (is_numbered and is_beside)

    def _place(self, number: int) -> str:
        return f"{number:05d}-of-{self.count:05d}"


def names(output_file: str, num_shards: int) -> ShardNames:
    """Returns the names that --output_file stands for.

    Args:
      output_file: data/train, or data/train-*.tf_record for names that end like this.
      num_shards: how many record files.

    Raises:
      ValueError: a name that cannot be used, or a number of shards.
    """
    if not 1 <= num_shards <= MOST_SHARDS:
        raise ValueError(
            f"--num_shards is {num_shards}; it must be between 1 and {MOST_SHARDS}, because their "
            "numbers have five digits."
        )
    folder, name = os.path.split(output_file)
    base, star, ending = name.partition("*")
    is_clear = base.endswith("-") if star else base
    if "," in output_file or set("*?[") & set(folder + ending) or not is_clear or base == "-":
        raise ValueError(
            f"--output_file={output_file} must be one name, to which -00000-of-00016 is added, or "
            "one with '-*' where this is to stand, such as data/train-*.tf_record."
        )
    base = base[:-1] if star else base
    return ShardNames(beam_files.join(beam_files.absolute(folder), base), ending, num_shards)


class ShardedOutputs:
    """The files of a job: whether they are current, and may be replaced."""

    def __init__(self, output_names: ShardNames, fingerprint: Mapping[str, Any]):
        """`fingerprint`: JSON values that say what the records are made from; "maker" and "text"
        are among them."""
        self.names = output_names
        self._fingerprint = files.normalized_fingerprint(fingerprint)

    def fingerprint_of(self, number: int) -> Dict[str, Any]:
        """Returns that of one shard: it also tells which share of the records it holds."""
        return dict(self._fingerprint, shard=number, shards=self.names.count)

    def report(self) -> Optional[Dict[str, Any]]:
        """Returns what the file of counts says if all files are there and current."""
        report = self._read_report()
        is_ours = report and report.get("fingerprint") == self._fingerprint
        if not is_ours or report.get("shards") != self.names.count:
            return None
        return None if any(self._reasons(range(self.names.count))) else report

    def report_text(self, counts: Mapping[str, int], bad_line_files: List[str]) -> str:
        """Returns the content of the file of counts."""
        return files.json_text(
            {
                "counts": dict(counts),
                "shards": self.names.count,
                "bad_line_files": sorted(map(os.path.basename, bad_line_files)),
                "fingerprint": self._fingerprint,
            }
        )

    def make_way(self, *, overwrite: bool) -> None:
        """Removes what an earlier run left that would not be replaced, and says what will be.

        Raises:
          ValueError: the folder cannot be written in; a file is there that was not made here, was
            changed since, was made from other text, or is of another number of shards.
        """
        self._check_folder()
        there = self._shards_there()
        others = [path for path, count in there.items() if count != self.names.count]
        if others and not overwrite:
            raise ValueError(
                f"--output_file: '{others[0]}' is of a run with {there[others[0]]} shards, not "
                f"{self.names.count}, and a pattern would read both. Remove those files, choose "
                "another name, or replace them by --overwrite."
            )
        if not overwrite:
            self._check_ours(sorted(set(there) - set(others)))
        for path in others:
            beam_files.remove(path)
            beam_files.remove(files.sidecar_path(path))
        for path in self._bad_lines_there() + [self.names.counts]:
            beam_files.remove(path)

    def _check_folder(self) -> None:
        """Writes a file into the folder, which is made if need be."""
        probe = beam_files.join(
            os.path.dirname(self.names.base), f".write-test-{files.random_suffix()}"
        )
        try:
            beam_files.write_text(probe, "?")
            beam_files.remove(probe)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"--output_file: cannot write in the folder '{os.path.dirname(probe)}' ({error})."
            ) from error

    def _check_ours(self, paths: List[str]) -> None:
        """Refuses to replace what this program did not make as it is."""
        counts = self.names.counts
        if beam_files.exists(counts) and self._read_report() is None:
            raise ValueError(_not_ours(counts, "it is not a file of counts"))
        numbers = [int(_numbers(path, self.names).group(1)) for path in paths]
        sidecars = many_files.each(beam_files.read_sidecar, paths)
        for path, number, reason, sidecar in zip(paths, numbers, self._reasons(numbers), sidecars):
            is_ours = sidecar and sidecar.fingerprint.get("maker") == self._fingerprint["maker"]
            if not is_ours or sidecar.bytes != beam_files.size(path):
                raise ValueError(_not_ours(path, reason))
            old, new = (one["text"]["names"] for one in (sidecar.fingerprint, self._fingerprint))
            if old != new:
                raise ValueError(
                    f"--output_file: '{path}' was made from files of other names than those of "
                    "--input_file. Choose another name, or replace it by --overwrite."
                )
            if reason and number == numbers[0]:
                _LOGGER.info("The output will be made again: of %s, %s.", path, reason)

    def _reasons(self, numbers: Any) -> List[str]:
        """Why each shard is stale, or ""."""

        def why(number: int) -> str:
            return beam_files.why_stale(self.names.shard(number), self.fingerprint_of(number))

        return list(many_files.each(why, numbers, "Looking at the output"))

    def _read_report(self) -> Optional[Dict[str, Any]]:
        """The content of the file of counts; None if there is none or it is no such file."""
        if not beam_files.exists(self.names.counts):
            return None
        try:
            text = beam_files.read_text(self.names.counts)
            report = files.parse_json(text, self.names.counts)
        except ValueError:
            return None
        is_ours = isinstance(report, dict) and {"counts", "fingerprint"} <= set(report)
        return report if is_ours else None

    def _shards_there(self) -> Dict[str, int]:
        """The shards of this name that are there, and how many there were of each run."""
        found = {}
        for path in beam_files.find(f"{glob.escape(self.names.base)}-*"):
            match = _numbers(path, self.names)
            if match:
                found[path] = int(match.group(2))
        return found

    def _bad_lines_there(self) -> List[str]:
        """The files of bad lines of an earlier run."""
        pattern = re.compile(r".*\.bad_lines-\d{5}-of-\d{5}")
        found = beam_files.find(f"{glob.escape(self.names.base)}.bad_lines-*")
        return [path for path in found if pattern.fullmatch(path)]


def _numbers(path: str, shard_names: ShardNames) -> Optional[Any]:
    """The match of a shard's number and of the number of shards in its path."""
    name = re.escape(os.path.basename(shard_names.base))
    ending = re.escape(shard_names.ending)
    return re.fullmatch(f"{name}-([0-9]{{5}})-of-([0-9]{{5}}){ending}", os.path.basename(path))


def _not_ours(path: str, reason: str) -> str:
    """The message for a file that must stay."""
    return (
        f"--output_file: '{path}' is there already, and this program did not make it as it is "
        f"({reason or 'it is another file'}). Choose another name, or replace it by --overwrite."
    )
