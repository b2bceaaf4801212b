# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a script does under some flags, as far as can be seen early: is another flag heard?

A probe calls the script's `main` and ends it where the first session opens, with the graph that
stands by then; or lets it run to its end. What comes of it is compared: the graph, the files, the
log, what is printed, or the sentence with which it ends.
"""

import collections
import contextlib
import io
import logging
import pathlib
import re
import shutil
from typing import Any, Callable, NamedTuple
from unittest import mock

import numpy as np
import tensorflow.compat.v1 as tf

from albert.data import text_lines
from albert.runtimes import estimator as tf_estimator
from albert.util import flags as flags_lib
from albert.util.errors import UserError

# What a clock says, names drawn by lot, and names that TensorFlow numbers through the process.
_TIMES = re.compile(r"[\d.,]+(?= ?(s|ms|seconds|MB|GB|\w*/s)\b)|\d+:\d\d(:\d\d)?")
_DRAWN = re.compile(rb"_temp_\w+")
_CLOCK_KEYS = re.compile(r'"(\w*seconds\w*|\w*time\w*|began|\w*memory\w*)": [^,}\n]+')
_NUMBERED = ("_gradient_op_type", "_class", "shared_name", "body", "f", "function")


class _StopError(Exception):
    """A session was about to open."""


class Script(NamedTuple):
    """How a script is probed.

    Attributes:
      module: the script.
      folder: where it writes; removed before each probe.
      prepare: called with `folder` before each probe.
      runs_through: the probe ends where the script ends.
    """

    module: Any
    folder: pathlib.Path
    prepare: Callable[[pathlib.Path], Any]
    runs_through: bool = False

    def outcome(self, arguments):
        """Returns what can be seen of the script under the arguments."""
        shutil.rmtree(str(self.folder), ignore_errors=True)
        self.prepare(self.folder)
        seen = {"sessions": [], "hooks": []}
        logged, printed = io.StringIO(), io.StringIO()
        logger = logging.getLogger("albert")
        handler = logging.StreamHandler(logged)
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            with contextlib.redirect_stdout(printed), _watched(seen, self.runs_through):
                self.module.main(flags_lib.parse(self.module.Flags, arguments))
        except (UserError, tf.errors.OpError) as error:
            seen["error"] = str(error)
        except _StopError:
            seen["stopped"] = True
        finally:
            logger.removeHandler(handler)
        seen["log"], seen["printed"] = (
            _TIMES.sub("#", stream.getvalue()) for stream in (logged, printed)
        )
        seen["files"] = _contents(self.folder)
        return seen


@contextlib.contextmanager
def _watched(seen, may_open):
    """Notes what the hooks of a training were told, and the graph of the first session that opens.

    The script ends there; or it runs, and what is fed is noted.
    """
    read, run, train = text_lines.read_lines, tf.Session.run, tf_estimator.Estimator.train

    def reading(*arguments):
        """Elsewhere the lines that have come are answered together, which is a matter of time."""
        return iter([[line for lines in read(*arguments) for line in lines]])

    def opening(self, target="", graph=None, config=None):
        self._session = None  # for __del__
        seen["sessions"].append((str(target), graph_content(graph or tf.get_default_graph())))
        raise _StopError

    def running(self, fetches, feed_dict=None, **options):
        fed = [len(value) for value in (feed_dict or {}).values() if np.ndim(value)]
        seen["sessions"].append(fed)
        return run(self, fetches, feed_dict, **options)

    def training(self, input_fn, hooks=None, **options):
        told = [value for hook in hooks or () for value in _told(hook, 2)]
        seen["hooks"].append((options, told))
        return train(self, input_fn, hooks=hooks, **options)

    session = ("run", running) if may_open else ("__init__", opening)
    with mock.patch.object(text_lines, "read_lines", reading), mock.patch.object(
        tf.Session, *session
    ), mock.patch.object(tf_estimator.Estimator, "train", training):
        yield


def _told(thing, depth):
    """The numbers that an object holds, and those of the objects it holds."""
    found = []
    for name, value in sorted(getattr(thing, "__dict__", {}).items()):
        if isinstance(value, (int, float)) and "time" not in name:
            found.append((type(thing).__name__, name, value))
        elif depth and not isinstance(value, flags_lib.Settings):
            found += _told(value, depth - 1)
    return found


def graph_content(graph):
    """Returns how often each operation with its constants and attributes stands in a graph."""
    definition = graph.as_graph_def()
    nodes = [*definition.node, *(n for f in definition.library.function for n in f.node_def)]
    savers = graph.get_collection(tf.GraphKeys.SAVERS)
    counts = collections.Counter(str(saver.saver_def.max_to_keep) for saver in savers)
    for node in nodes:
        own = (name for name in node.attr if _is_own(node, name))
        counts[(node.op, *sorted((name, _bytes(node.attr[name])) for name in own))] += 1
    return counts


def _is_own(node, name):
    return name not in _NUMBERED and node.attr[name].WhichOneof("value") != "func"


def _bytes(value):
    content = value.SerializeToString(deterministic=True)
    return _DRAWN.sub(lambda drawn: b"_" * len(drawn.group()), content)


def _contents(folder):
    """The files below a folder, without what the clock says."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".meta" or path.name.startswith(("events.", "graph.")):
            continue  # TensorFlow 1.15 writes graphs in another order each time
        if path.is_file():
            content = path.read_bytes()
            with contextlib.suppress(UnicodeDecodeError):
                content = _CLOCK_KEYS.sub("#", content.decode("utf-8"))
            files[str(path.relative_to(folder))] = content
    return files


def is_heard(argument, without, with_it):
    """Returns whether a flag made a difference; a sentence, if that is it, is about the flag.

    Args:
      argument: --name=value.
      without, with_it: what was seen without the flag and with it.
    """
    if "error" in with_it and "error" not in without:
        name, _, value = argument[2:].partition("=")
        return name in with_it["error"] or value in with_it["error"]
    return without != with_it
