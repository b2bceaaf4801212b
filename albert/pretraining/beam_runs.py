# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Running a pipeline of Apache Beam: its options checked, its errors in one sentence."""

import argparse
import difflib
import logging
import re
from typing import Any, Callable, Dict, List, Optional, Sequence

import apache_beam as beam
from apache_beam.options import pipeline_options
from apache_beam.runners import runner as runners
from apache_beam.runners.portability import fn_api_runner, portable_runner

_LOGGER = logging.getLogger(__name__)

_DIRECT = ("direct", "directrunner")
# Their job server has options of its own, and refuses those that it does not know.
_WITH_JOB_SERVER = ("portablerunner", "flinkrunner", "sparkrunner", "prismrunner")
# The last line of a traceback, perhaps with what Beam adds; a worker's error is text by then.
_USER_ERROR = re.compile(
    r"^(?:RuntimeError: )*(?:[\w.]+\.)?"
    r"(?:ValueError|\w*IOError|OSError|PermissionError|FileNotFoundError): "
    r"(.*?)(?: \[while running '.*)?$",
    re.MULTILINE,
)


# ------------------------------------------------------------------------------------------ options


class _Parser(argparse.ArgumentParser):
    """Knows the options of Beam; mistakes are ValueErrors."""

    def add_value_provider_argument(self, *names: str, **settings: Any) -> None:
        """Defines an option that a template may leave open; here it is one like others."""
        self.add_argument(*names, **settings)

    def error(self, message: str) -> None:
        raise ValueError(f"Options of Apache Beam: {message}.")


def parse_options(
    arguments: Sequence[str], *, program: str, own_flags: Sequence[str]
) -> pipeline_options.PipelineOptions:
    """Returns the options that `arguments` stand for.

    Args:
      arguments: such as ["--runner=FlinkRunner", "--parallelism", "8"].
      program: for messages.
      own_flags: names of the program's flags, which may have been meant.

    Raises:
      ValueError: an argument that neither the program nor Beam knows. Those of a runner with a job
        server are left to that; then there is a warning.
    """
    parser = _Parser(allow_abbrev=False, add_help=False)
    for kind in pipeline_options.PipelineOptions.__subclasses__():
        kind._add_argparse_args(parser)  # what Beam calls itself, and users define
    known, unknown = parser.parse_known_args(list(arguments))
    options = pipeline_options.PipelineOptions(list(arguments))
    if unknown and str(known.runner).lower() in _WITH_JOB_SERVER:
        _LOGGER.warning("The job server is given %s, which is not known here.", " ".join(unknown))
    elif unknown:
        names = [name.lstrip("-") for name in parser._option_string_actions] + list(own_flags)
        raise ValueError(_unknown(unknown[0], program=program, names=names))
    return options


def _unknown(argument: str, *, program: str, names: List[str]) -> str:
    """The message for an argument nobody knows."""
    if not argument.startswith("-"):
        return (
            f"Unexpected argument '{argument}': every value needs its flag. Write --flag or "
            "--noflag or --flag=true, not '--flag true', for a flag that is on or off."
        )
    name = argument.split("=")[0].lstrip("-")
    close = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean --{close[0]}?" if close else ""
    return (
        f"--{name} is neither a flag of {program} nor an option of Apache Beam "
        f"{beam.__version__}.{hint}"
    )


# ------------------------------------------------------------------------------------------ running


def run(
    options: pipeline_options.PipelineOptions, add_steps: Callable[[beam.Pipeline], None]
) -> Dict[str, int]:
    """Runs a pipeline to its end and returns the counters, if the runner gives any, by name.

    Args:
      options: of the pipeline.
      add_steps: adds the steps to the pipeline it is given.

    Raises:
      ValueError: raised so by a step (a worker's error comes as text; its sentence is found in it),
        or the job did not end well.
    """
    pipeline = beam.Pipeline(runner=_direct_runner(options), options=options)
    add_steps(pipeline)
    try:
        result = pipeline.run()
        state = result.wait_until_finish()
    except Exception as error:
        message = user_error(str(error))
        if message is None:
            raise
        raise ValueError(message) from error
    if state not in (None, runners.PipelineState.DONE):
        raise ValueError(f"The job ended as {state}. The log of its runner says why.")
    return _counters(result)


def user_error(text: str) -> Optional[str]:
    """Returns the sentence of a ValueError or OSError in a traceback; None for other errors."""
    found = _USER_ERROR.findall(text)
    return found[-1] if found else None


def _direct_runner(
    options: pipeline_options.PipelineOptions,
) -> Optional[runners.PipelineRunner]:
    """Beam's own runner in Python for DirectRunner; None for all others, which Beam finds.

    From Beam 2.65 on, DirectRunner hands a pipeline to Prism, a program that it downloads for that.
    --runner=PrismRunner does so if that is wanted.
    """
    name = options.view_as(pipeline_options.StandardOptions).runner or _DIRECT[0]
    if name.lower() not in _DIRECT:
        return None
    worker_options = options.view_as(pipeline_options.WorkerOptions)
    if not worker_options.default_sdk_harness_log_level:
        worker_options.default_sdk_harness_log_level = "WARNING"  # workers share this terminal
    encoded = portable_runner.JobServiceHandle.encode_pipeline_options(options.get_all_options())
    information = fn_api_runner.fn_runner.beam_provision_api_pb2.ProvisionInfo(
        pipeline_options=encoded
    )
    return fn_api_runner.FnApiRunner(
        provision_info=fn_api_runner.fn_runner.ExtendedProvisionInfo(information)
    )


def _counters(result: Any) -> Dict[str, int]:
    """The counters of all steps; {} where the runner keeps them to itself."""
    try:
        found = result.metrics().query()["counters"]
    except NotImplementedError:
        return {}
    counters: Dict[str, int] = {}
    for counter in found:
        name = counter.key.metric.name
        counters[name] = counters.get(name, 0) + int(counter.result or 0)
    return counters
