# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What a training run will take: parameters, operations, memory, the largest batch, and time.

  python -m albert.plan base_v2 --max_seq_length=128 --batch=32 --memory_gb=12
  python -m albert.plan --albert_config_file=albert_config.json --task=squad_v2 --measure
  python -m albert.plan --list

Nothing is built or trained; the numbers are worked out from the configuration. They are those of
the training scripts with their default --use_xla, and of either optimiser, since AdamW and LAMB
keep the same state. GB are 10^9 bytes. Times need --measure, which tries this machine for a second
or two, or the rate of another one: --gflops.
"""

import json
import os
from typing import Any, Dict, Iterator, List, NamedTuple, Optional

from absl import flags

from albert import configs, machine_rates, model_size, modeling, training_plan
from albert.pretrained import released as released_models
from albert.util import flags as flags_lib
from albert.util import runtime as precision

GIGA = 1e9

# ---------------------------------------------------------------------------------------------
# Flags.


def define_flags(flag_values: flags.FlagValues):
    """Defines the script's flags."""
    flags_lib.string(
        flag_values,
        "name",
        None,
        help="A published size, such as base_v2, large_zh or albert_zh_tiny; --name= may be left "
        "out. Or name the model by one of the next two flags.",
    )
    flags_lib.path(
        flag_values, "albert_config_file", help="JSON file with the model's architecture."
    )
    flags_lib.path(flag_values, "albert_dir", help="Folder of a model, with albert_config.json.")
    flags_lib.boolean(flag_values, "list", False, help="Show all published sizes, and end.")
    flags_lib.boolean(flag_values, "json", False, help="Print JSON in place of tables.")
    _define_run_flags(flag_values)
    _define_machine_flags(flag_values)


def _define_run_flags(flag_values: flags.FlagValues):
    flags_lib.choice(
        flag_values,
        "task",
        "pretraining",
        choices=list(model_size.TASKS),
        help="What is trained. An example of race is four sequences.",
    )
    flags_lib.integer(
        flag_values, "max_seq_length", 512, lower_bound=1, help="Pieces in a sequence."
    )
    flags_lib.integer(
        flag_values,
        "batch",
        32,
        lower_bound=1,
        help="Examples in one update: the scripts' --train_batch_size.",
    )
    flags_lib.integer(
        flag_values,
        "max_predictions_per_seq",
        20,
        lower_bound=1,
        help="Masked words in a sequence, of pretraining.",
    )
    flags_lib.integer(
        flag_values, "num_labels", 2, lower_bound=1, help="Labels of a classification."
    )
    flags_lib.define_update_flags(flag_values)
    flags_lib.integer(
        flag_values, "num_train_steps", None, lower_bound=1, help="Updates to tell the time of."
    )
    flags_lib.integer(
        flag_values,
        "num_examples",
        None,
        lower_bound=1,
        help="Examples in the training data, to tell the time of an epoch.",
    )


def _define_machine_flags(flag_values: flags.FlagValues):
    flags_lib.floating(
        flag_values,
        "memory_gb",
        12.0,
        lower_bound=0.001,
        help="Memory for the process, in 10^9 bytes.",
    )
    flags_lib.floating(
        flag_values,
        "runtime_gb",
        None,
        lower_bound=0.0,
        help="What the process takes before model and data; by default as measured on a CPU with "
        "the TensorFlow that runs this. On a GPU, what is taken of the device's memory.",
    )
    flags_lib.floating(
        flag_values,
        "gflops",
        None,
        lower_bound=0.001,
        help="10^9 operations a second of a large matrix product in --precision.",
    )
    flags_lib.boolean(
        flag_values,
        "measure",
        False,
        help="Measure that rate on this machine, and how fast it handles what is between products.",
    )
    flags_lib.floating(
        flag_values,
        "utilisation",
        None,
        lower_bound=0.01,
        upper_bound=1.0,
        help="Share of the rate that a whole step reaches; by default, with --gflops, "
        + ", ".join(f"{share} in {name}" for name, share in training_plan.UTILISATION.items())
        + ", and with --measure what follows from both rates.",
    )


# ---------------------------------------------------------------------------------------------
# The plan.


class Column(NamedTuple):
    """One way to run the same batch.

    Attributes:
      precision, recompute: the way.
      is_chosen: whether it is the one the flags ask for.
      operations: of one update.
      memory: of one update.
      fits: whether that is within the limit.
      largest_micro_batch: the most examples that are within it.
      step_seconds: None where the rate is not known.
    """

    precision: str
    recompute: bool
    is_chosen: bool
    operations: training_plan.Work
    memory: training_plan.Memory
    fits: bool
    largest_micro_batch: int
    step_seconds: Optional[float]

    @property
    def title(self) -> str:
        """Returns what tables call it."""
        return self.precision + (", recompute" if self.recompute else "")


def main(settings: Any):
    """Runs the script.

    Raises:
      ValueError: no model or several are named, or what training_plan.check raises.
    """
    if settings.list:
        rows = [_preset_row(name) for name in configs.preset_names()]
        print(json.dumps(rows, indent=2) if settings.json else _presets_table(rows))
        return
    if settings.utilisation and not (settings.measure or settings.gflops):
        raise ValueError(
            f"--utilisation={settings.utilisation:g} is a share of a rate: give --gflops or "
            "--measure too."
        )
    if settings.measure and settings.gflops:
        raise ValueError("Give --gflops or --measure, not both.")
    path = _config_path(settings)
    config = modeling.AlbertConfig.from_json_file(path)
    job = training_plan.Job(
        config,
        settings.task,
        settings.batch,
        settings.max_seq_length,
        precision=settings.precision,
        recompute=settings.recompute,
        accumulation=settings.gradient_accumulation_steps,
        predictions=settings.max_predictions_per_seq,
        num_labels=settings.num_labels,
    )
    training_plan.check(job)
    columns = list(_columns(job, settings))
    if settings.json:
        print(json.dumps(_as_json(job, columns, settings), indent=2))
        return
    print("\n".join(_report(path, job, columns=columns, settings=settings)))


def _config_path(settings: Any) -> str:
    """The configuration file of the model that the flags name."""
    named = [
        flag for flag in ("name", "albert_config_file", "albert_dir") if getattr(settings, flag)
    ]
    if len(named) != 1:
        found = " and ".join(f"--{flag}" for flag in named) or "nothing"
        raise ValueError(
            "Name one model: a published size (`python -m albert.plan base_v2`; --list shows all), "
            f"--albert_config_file or --albert_dir. Found: {found}."
        )
    if settings.albert_config_file:
        return settings.albert_config_file
    if settings.albert_dir:
        folder = released_models.local_folder(settings.albert_dir, "albert_dir")
        return os.path.join(folder, released_models.CONFIG_NAME)
    names = configs.preset_names()
    return configs.preset_path(
        f"albert_{settings.name}" if f"albert_{settings.name}" in names else settings.name
    )


def _columns(job: training_plan.Job, settings: Any) -> Iterator[Column]:
    """The four ways to run the batch."""
    runtime = training_plan.runtime_of(is_tf2=precision.is_tf2())
    if settings.runtime_gb is not None:
        runtime = runtime._replace(standing=settings.runtime_gb * GIGA, each_block=0.0)
    limit = settings.memory_gb * GIGA
    for name in training_plan.ACTIVATION_BYTES:
        rates = _rates(name, settings)
        for recompute in (False, True):
            tried = job._replace(precision=name, recompute=recompute)
            memory = training_plan.memory(tried, runtime)
            seconds = None
            if rates:
                seconds = training_plan.step_seconds(
                    tried, rates, runtime=runtime, utilisation=settings.utilisation
                )
            yield Column(
                precision=name,
                recompute=recompute,
                is_chosen=(name, recompute) == (job.precision, job.recompute),
                operations=training_plan.work(tried),
                memory=memory,
                fits=memory.peak <= limit,
                largest_micro_batch=training_plan.largest_batch(tried, runtime, memory_bytes=limit),
                step_seconds=seconds,
            )


def _rates(name: str, settings: Any) -> Optional[training_plan.Rates]:
    """The machine's in a precision; --gflops is that of --precision alone."""
    if settings.measure:
        return machine_rates.measure(precision.compute_dtype(name))
    if settings.gflops and name == settings.precision:
        return training_plan.Rates(products=settings.gflops * GIGA)
    return None


# ---------------------------------------------------------------------------------------------
# What is printed.


def _report(
    path: str, job: training_plan.Job, *, columns: List[Column], settings: Any
) -> Iterator[str]:
    """The lines of the tables."""
    config, chosen = job.config, next(column for column in columns if column.is_chosen)
    yield f"{path}: {job.blocks} blocks, hidden size {config.hidden_size}"
    micro = job.batch // job.accumulation
    parts = f" in {job.accumulation} micro-batches of {micro}" if job.accumulation > 1 else ""
    yield f"{job.task}, length {job.length}, batch {job.batch}{parts}, {chosen.title}"
    yield from _parameter_lines(job)
    yield ""
    yield "Operations of one update, GFLOP"
    for name, count in _operations(chosen.operations).items():
        yield f"  {name:<28}{count / GIGA:>14,.1f}"
    yield ""
    yield from _memory_lines(columns, settings)
    yield from _batch_lines(job, columns, settings)
    yield from _time_lines(job, columns, settings)


def _parameter_lines(job: training_plan.Job) -> Iterator[str]:
    counts = model_size.parameter_counts(job.config, job.task, num_labels=job.num_labels)
    sizes = training_plan.checkpoint_bytes(job)
    yield ""
    yield "Parameters"
    for part, count in dict(counts, total=sum(counts.values())).items():
        yield f"  {part:<28}{count:>14,}"
    yield f"  {'checkpoint, weights alone':<28}{_megabytes(sizes.weights):>14}"
    yield f"  {'checkpoint with slots':<28}{_megabytes(sizes.with_slots):>14}"


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"


def _operations(work: training_plan.Work) -> Dict[str, int]:
    return dict(work._asdict(), total=work.total)


_MEMORY_NAMES = {
    "runtime": "runtime",
    "weights": "weights",
    "slots": "optimiser's slots",
    "copies": "weights as products take them",
    "activations": "activations",
    "temporaries": "temporaries, backward",
    "gradients": "gradients",
    "update": "temporaries, update",
    "peak": "peak",
}


def _table_line(name: str, cells: List[str]) -> str:
    return f"  {name:<32}" + "".join(f"{cell:>20}" for cell in cells)


def _memory_lines(columns: List[Column], settings: Any) -> Iterator[str]:
    titles = [column.title + ("*" if column.is_chosen else "") for column in columns]
    yield _table_line("", titles)[2:].replace(" " * 25, "Memory of one update, GB ", 1)
    for field, name in _MEMORY_NAMES.items():
        cells = [f"{getattr(column.memory, field) / GIGA:.2f}" for column in columns]
        yield _table_line(name, cells)
    fitting = ["yes" if column.fits else "no" for column in columns]
    yield _table_line(f"fits {settings.memory_gb:g} GB", fitting)


def _batch_lines(job: training_plan.Job, columns: List[Column], settings: Any) -> Iterator[str]:
    cells = [f"{column.largest_micro_batch:,}" for column in columns]
    if job.accumulation == 1:
        yield _table_line(f"largest batch in {settings.memory_gb:g} GB", cells)
    else:
        yield _table_line(f"largest micro-batch in {settings.memory_gb:g} GB", cells)
        cells = [f"{column.largest_micro_batch * job.accumulation:,}" for column in columns]
        yield _table_line(f"largest batch, {job.accumulation} micro-batches", cells)


def _time_lines(job: training_plan.Job, columns: List[Column], settings: Any) -> Iterator[str]:
    if not any(column.step_seconds for column in columns):
        yield "Give --gflops or --measure to see times."
        return

    def cells(seconds: Any, form: Any) -> List[str]:
        return [
            form(seconds(column.step_seconds)) if column.step_seconds else "-" for column in columns
        ]

    yield _table_line("seconds an update", cells(float, "{:,.2f}".format))
    yield _table_line("examples/s", cells(lambda step: job.batch / step, "{:,.1f}".format))
    for name, updates in _updates(job, settings).items():
        yield _table_line(name, cells(lambda step, count=updates: count * step, _duration))


def _updates(job: training_plan.Job, settings: Any) -> Dict[str, float]:
    """Name of a period -> its updates."""
    found = {}
    if settings.num_examples:
        found["an epoch"] = settings.num_examples / job.batch
    if settings.num_train_steps:
        found[f"{settings.num_train_steps:,} updates"] = settings.num_train_steps
    return found


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return (f"{days:,} d " if days else "") + f"{hours}:{minutes:02d}:{rest:02d}"


def _as_json(job: training_plan.Job, columns: List[Column], settings: Any) -> Dict[str, Any]:
    """The same as an object."""
    counts = model_size.parameter_counts(job.config, job.task, num_labels=job.num_labels)
    ways = []
    for column in columns:
        way = {
            "precision": column.precision,
            "recompute": column.recompute,
            "is_chosen": column.is_chosen,
            "operations": _operations(column.operations),
            "memory_bytes": dict(column.memory._asdict(), peak=column.memory.peak),
            "fits": column.fits,
            "largest_micro_batch": column.largest_micro_batch,
            "largest_batch": column.largest_micro_batch * job.accumulation,
            "step_seconds": column.step_seconds,
        }
        if column.step_seconds:
            periods = _updates(job, settings).items()
            way["seconds"] = {name: count * column.step_seconds for name, count in periods}
        ways.append(way)
    return {
        "task": job.task,
        "max_seq_length": job.length,
        "batch": job.batch,
        "gradient_accumulation_steps": job.accumulation,
        "memory_limit_bytes": settings.memory_gb * GIGA,
        "parameters": dict(counts, total=sum(counts.values())),
        "checkpoint_bytes": training_plan.checkpoint_bytes(job)._asdict(),
        "ways": ways,
    }


def _preset_row(name: str) -> Dict[str, Any]:
    """A published size in numbers."""
    config = modeling.AlbertConfig.from_json_file(configs.preset_path(name))
    job = training_plan.Job(config, "pretraining", batch=1, length=512)
    counts = model_size.parameter_counts(config)
    return {
        "name": name,
        "parameters": sum(counts.values()),
        "without_heads": sum(counts.values()) - counts[model_size.HEAD],
        "checkpoint_bytes": training_plan.checkpoint_bytes(job)._asdict(),
        "forward_operations": training_plan.work(job).forward,
    }


def _presets_table(rows: List[Dict[str, Any]]) -> str:
    lines = [
        f"{'name':<20}{'parameters':>14}{'without heads':>16}{'weights':>13}{'with slots':>14}"
        f"{'GFLOP forward, 512 pieces':>28}"
    ]
    for row in rows:
        sizes = row["checkpoint_bytes"]
        lines.append(
            f"{row['name']:<20}{row['parameters']:>14,}{row['without_heads']:>16,}"
            f"{_megabytes(sizes['weights']):>13}{_megabytes(sizes['with_slots']):>14}"
            f"{row['forward_operations'] / GIGA:>28,.1f}"
        )
    return "\n".join(lines)


def cli():
    """Runs the script with the process's own arguments."""
    flags_lib.run(main, define_flags, usage=__doc__, positional="name")


if __name__ == "__main__":
    cli()
