# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Whether this Python and its TensorFlow run the package, and whether another `albert` is about.

Every import of the package runs this first, on unsupported Pythons too: the syntax is that of 2.7
(no f-strings, no annotations), and nothing is imported that takes time.
"""

import os
import re
import sys

# The line of requirements.txt for a Python, by the oldest that it is for.
REQUIRED = (
    ((3, 10), "tensorflow>=2.15.1,<2.22"),
    ((3, 9), "tensorflow==2.15.1"),
    ((3, 7), "tensorflow==1.15.5"),
)
_PYTHONS = (
    "Python 3.10 to 3.13 (for TensorFlow 2.16 and later), 3.9 to 3.11 (for 2.15.1) or 3.7 "
    "(for 1.15.5)"
)
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Distributions that bring the module tensorflow.
_DISTRIBUTION = re.compile(
    r"(tensorflow|tensorflow_(?:cpu|gpu|intel|rocm|macos|cpu_aws)|nvidia_tensorflow"
    r"|intel_tensorflow|tf_nightly|albert|albert_tensorflow)"
    r"-(\d[^-]*)(?:-py[\d.]+)?\.(?:dist|egg)-info$",
    re.IGNORECASE,
)


def distributions():
    """Returns (name, version, folder) of each tensorflow and albert that pip installed.

    They are in the order in which folders are searched for imports.

    importlib.metadata, which knows them too, takes longer to load than may be spent here.
    """
    found = []
    for place in sys.path:
        try:
            names = sorted(os.listdir(place or os.curdir))
        except OSError:
            continue
        for match in filter(None, map(_DISTRIBUTION.match, names)):
            found.append((match.group(1).lower(), match.group(2), os.path.abspath(place)))
    return found


def installed_tensorflow():
    """Returns the version of the TensorFlow that would be imported, without importing it.

    It is "" if there is none, None if it does not say, as one that was not installed by pip.
    """
    if "tensorflow" in sys.modules:
        version = getattr(sys.modules["tensorflow"], "__version__", None)
        return version if isinstance(version, str) else None  # or a stand-in for documentation
    versions = [found[1] for found in distributions() if "albert" not in found[0]]
    if versions:
        return versions[0]
    from importlib import util

    return "" if util.find_spec("tensorflow") is None else None


def refusal(python, find_tensorflow):
    """Returns a sentence that says why the package does not run here and what to install, or "".

    Newer versions of TensorFlow than those that were tested are taken; a newer Python is, if it has
    a TensorFlow.

    Args:
      python: its version, such as (3, 12).
      find_tensorflow: installed_tensorflow; not called for a Python that nothing can help.
    """
    interpreter = "{} (Python {})".format(sys.executable, ".".join(map(str, python)))
    another = "install " + _PYTHONS + "."
    if python < (3, 7):
        return "albert does not run on {}: {}".format(interpreter, another)
    version = find_tensorflow()
    release = tuple(map(int, re.findall(r"\d+", version or "0.0")[:2]))
    if version is None or release == (1, 15) or release >= (2, 15):
        return ""
    if python == (3, 8):
        has = "TensorFlow " + version if version else "no TensorFlow"
        return (
            "albert runs on Python 3.8 only with NVIDIA's build of TensorFlow 1.15, but {} has {}: "
            "{}".format(interpreter, has, another)
        )
    fault = "needs TensorFlow, which is not installed for"
    if version:
        fault = "does not run on TensorFlow {}, which is installed for".format(version)
    return "albert {} {}: {}".format(fault, interpreter, _remedy(python, another))


def _remedy(python, another):
    """What to install for a Python that is supported."""
    if python > (3, 13):
        return another
    what = os.path.dirname(PACKAGE)
    if not os.path.isfile(os.path.join(what, "setup.py")):  # no checkout, with all that it needs
        what = next(line for oldest, line in REQUIRED if python >= oldest)
    return "run {} -m pip install '{}'".format(sys.executable, what)


def cannot_load(error):
    """Returns a sentence on an installed package that is not there or fails where it is imported.

    Args:
      error: what was raised, such as for a NumPy or protobuf that TensorFlow does not fit.
    """
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__
    python = sys.version_info[:2]
    lines = str(error).strip().splitlines() or [""]
    return "{} cannot load what albert needs ({}: {}): {}".format(
        sys.executable, type(error).__name__, lines[0], _remedy(python, "install " + _PYTHONS)
    )


def is_started_as_script():
    """Returns whether `python -m albert...` is what imports the package."""
    line = " ".join(getattr(sys, "orig_argv", ["-m albert"]))  # Python 3.10
    return sys.argv[:1] == ["-m"] and re.search(r"(^| )-m ?albert\b", line) is not None


def end_on_interrupt():
    """Makes Ctrl-C end this process by one line, until stop_signals.handled answers it.

    For a process that runs a command of ours, while it imports what that needs.
    """
    import signal

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupted)


def interrupted(number, frame):
    """The answer to Ctrl-C before a command has begun its work."""
    del number, frame
    os.write(2, b"Interrupted.\n")
    os._exit(130)  # an exception may be lost in a module that is being imported


def other_package():
    """Returns where another project's package of this name is importable, or "".

    Where it is in this folder's parent, its files and ours lie side by side in one folder.
    """
    for place in sys.path:
        other = os.path.join(os.path.abspath(place), "albert")
        if _first_line(other) not in (b"", _first_line(PACKAGE)):
            return other
    for name, _, folder in distributions():
        if "albert" in name and folder == os.path.dirname(PACKAGE):
            return PACKAGE
    return ""


def _first_line(package):
    """The copyright of a package: another copy of this one has the same."""
    try:
        with open(os.path.join(package, "__init__.py"), "rb") as stream:
            return stream.readline() or b"\n"
    except (IOError, OSError):
        return b""
