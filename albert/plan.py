# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Parameters, operations, memory and the largest batch of a training run, before it is started.

  python -m albert.plan base_v2 --max_seq_length=128 --batch=32 --memory_gb=12
  python -m albert.plan --albert_config_file=albert_config.json --task=squad_v2
  python -m albert.plan --list
  python -m albert.plan --table

Nothing is built or trained: the numbers are computed from the configuration, for the scripts'
default --use_xla. AdamW and LAMB keep the same state. GB are 10^9 bytes. Memory counts what each
operation of `modeling` and `ops.fused` keeps for the backward pass, and the temporaries at the
peak. What the runtime adds was measured; docs/planning.md compares the sums with processes.

Dimensions: b sequences per micro-batch, S sequence, T = b * S tokens, E embedding, H hidden,
I intermediate, N heads, V vocabulary, P predictions per sequence, C classes.
"""

import dataclasses
import json
import os
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple

import tensorflow.compat.v1 as tf

from albert import configs, modeling
from albert.command_line import cli
from albert.configs import published
from albert.configs.flags import MemoryFlags
from albert.pretrained import released
from albert.util.errors import UserError
from albert.util.flags import flag

# Task -> sequences of one example.
TASKS = {"pretraining": 1, "classification": 1, "squad_v1": 1, "squad_v2": 1, "race": 4}


@dataclasses.dataclass(frozen=True)
class Flags(MemoryFlags):
    """The script's flags."""

    name: Optional[str] = flag(
        None, "A published size, such as base_v2; --name= is optional.", positional=True
    )
    albert_config_file: Optional[str] = flag(
        None, "JSON file with the model's architecture.", path=True
    )
    albert_dir: Optional[str] = flag(None, "Folder of a model.", path=True)
    list: bool = flag(False, "Show all published sizes, and exit.")
    table: bool = flag(False, "Show sizes beside those that their authors give, and exit.")
    json: bool = flag(False, "Print JSON.")
    task: str = flag("pretraining", "What is trained.", choices=tuple(TASKS))
    max_seq_length: int = flag(512, "Tokens per sequence.", lower=1)
    batch: int = flag(32, "Examples per update: the scripts' --train_batch_size.", lower=1)
    max_predictions_per_seq: int = flag(20, "Masked tokens per sequence.", lower=1)
    num_labels: int = flag(2, "Labels of a classification.", lower=1)
    memory_gb: float = flag(12.0, "Memory for the process, in 10^9 bytes.", lower=0.001)
    runtime_gb: Optional[float] = flag(
        None, "Memory before model and data; default: as measured on a CPU.", lower=0
    )

    def check(self) -> None:
        """Checks that one model is named, and its name."""
        super().check()
        if self.list or self.table:
            return
        names = ("name", "albert_config_file", "albert_dir")
        named = [f"--{name}" for name in names if getattr(self, name)]
        if len(named) != 1:
            raise UserError(
                "Name one model: a published size (albert plan base_v2; --list shows all), "
                f"--albert_config_file or --albert_dir. Found: {' and '.join(named) or 'nothing'}."
            )
        if self.name:
            published_path(self.name)


def published_path(name: str) -> str:
    """Returns the configuration file of a size, such as base_v2; UserError for an unknown one."""
    prefixed = f"albert_{name}"
    return configs.preset_path(prefixed if prefixed in configs.preset_names() else name)


GIGA = 1e9
# Bytes of an activation in each --precision.
ACTIVATION_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
FLOAT32 = 4
SLOTS = 2  # AdamW and LAMB keep two numbers for each parameter


class Job(NamedTuple):
    """A training run; the fields are explained by the flags of the same names."""

    config: modeling.AlbertConfig
    task: str
    batch: int
    length: int
    precision: str = "float32"
    recompute: bool = False
    accumulation: int = 1
    predictions: int = 20
    num_labels: int = 2

    def check(self) -> None:
        """Raises ValueError for a sequence or a number of micro-batches that cannot be."""
        longest = self.config.max_position_embeddings
        if self.length > longest:
            raise UserError(
                f"--max_seq_length={self.length} is longer than the model's "
                f"max_position_embeddings, {longest}."
            )
        if self.batch % self.accumulation:
            raise UserError(
                f"--batch={self.batch} is not a multiple of --gradient_accumulation_steps="
                f"{self.accumulation}: the micro-batches of an update have the same size."
            )

    @property
    def parameters(self) -> Dict[str, int]:
        """Returns the number of parameters by part."""
        return modeling.parameter_counts(self.config, self.task, num_labels=self.num_labels)

    @property
    def trained(self) -> int:
        """Returns the parameters with gradients and slots: SQuAD's loss does not use the pooler."""
        counts = self.parameters
        return sum(counts.values()) - (counts["pooler"] if self.task.startswith("squad") else 0)


# ---- Parameters and operations.


def checkpoint_bytes(job: Job) -> Dict[str, int]:
    """Returns the sizes of a checkpoint, as exported and as training writes it."""
    weights = FLOAT32 * sum(job.parameters.values())
    return {"weights": weights, "with_slots": weights + SLOTS * FLOAT32 * job.trained}


def operations(job: Job) -> Dict[str, int]:
    """Returns the floating-point operations of one update's matrix products; a multiply-add is two.

    The backward pass has two products for each one of the forward pass. Recomputation runs the
    blocks' forward pass once more.
    """
    config, length = job.config, job.length
    embedding, hidden = config.embedding_size, config.hidden_size
    sequences = job.batch * TASKS[job.task]
    # Dense layers, scores and weighted sum of a block, for a token.
    block = 4 * hidden * hidden + 2 * hidden * config.intermediate_size + 2 * length * hidden
    blocks = config.num_hidden_layers * config.inner_group_num
    words = modeling.masked_lm_width(config)
    word = hidden * words + embedding * config.vocab_size
    word += words * embedding if words != embedding else 0
    # Of squad_v2's layers start_logits, the half of end_logits/dense_0 that does not depend on the
    # start, and end_logits/dense_1 are applied to every token.
    head = {
        "pretraining": job.predictions * word + 2 * hidden + hidden * hidden,
        "classification": job.num_labels * hidden + hidden * hidden,
        "squad_v1": 2 * length * hidden,
        "squad_v2": length * (hidden * hidden + 2 * hidden) + 3 * hidden * hidden + hidden,
        "race": hidden + hidden * hidden,
    }[job.task]
    encoder = 2 * sequences * length * blocks * block
    mapping = 0 if embedding == hidden else length * embedding * hidden
    forward = encoder + 2 * sequences * (mapping + head)
    again = encoder if job.recompute else 0
    return {
        "forward": forward,
        "backward": 2 * forward,
        "recomputation": again,
        "total": 3 * forward + again,
    }


# ---- Memory.


class Runtime(NamedTuple):
    """Further memory of the process, measured on a CPU.

    Attributes:
      standing: bytes before model and data: libraries, graph and compiled clusters.
      each_block: bytes of graph and compiled clusters per block of the encoder.
      activations_factor, temporaries_factor: what fragmentation of the memory multiplies them by.
    """

    standing: float
    each_block: float
    activations_factor: float
    temporaries_factor: float


TF1 = Runtime(250e6, 35e6, activations_factor=1.42, temporaries_factor=0.81)
TF2 = Runtime(800e6, 0.0, activations_factor=1.08, temporaries_factor=1.08)
LATEST = TF2._replace(standing=960e6)


def runtime_of(version: str) -> Runtime:
    """Returns the further memory with a version of TensorFlow, such as "2.15.1"."""
    if version.startswith("1."):
        return TF1
    return TF2 if version.startswith("2.15.") else LATEST


def memory(job: Job, runtime: Runtime) -> Dict[str, float]:
    """Returns the bytes of a run by kind, and their sum as "peak"; raises ValueError as Job.check.

    Activations are freed before the update, but their memory does not fit gradients and new slots:
    measured processes grew by both.
    """
    job.check()
    config = job.config
    counts = job.parameters
    gradients = FLOAT32 * job.trained
    activations, temporaries = _activations_and_temporaries(job)
    if job.precision == "float32":  # query, key and value joined
        copies = FLOAT32 * modeling.weight_sets(config, "attention") * 3 * config.hidden_size**2
    else:
        copies = ACTIVATION_BYTES[job.precision] * counts["encoder"]
    found = {
        "runtime": runtime.standing
        + runtime.each_block * config.num_hidden_layers * config.inner_group_num,
        "weights": FLOAT32 * sum(counts.values()),
        "slots": SLOTS * gradients,
        "copies": copies,
        "activations": runtime.activations_factor * activations,
        "temporaries": runtime.temporaries_factor * temporaries,
        # Accumulation adds the sums before and after a micro-batch.
        "gradients": gradients * (3 if job.accumulation > 1 else 1),
        # Variables are updated a few at a time; fitted as a third of all new weights and slots.
        "update": gradients,
    }
    return dict(found, peak=sum(found.values()))


def _activations_and_temporaries(job: Job) -> Tuple[float, float]:
    """Bytes kept for the backward pass, and the peak of its temporary bytes.

    Compiled clusters keep their inputs only: for gelu its input, for a softmax its result, for a
    LayerNorm the two summands. Recomputation keeps the inputs of the blocks, and the rest of one
    block at a time.

    The peak, while (nearly) all activations are kept, is the gradient of the masked tokens' logits,
    or in the last block's backward pass that of the feed-forward part (gradients before and after
    gelu, and gelu again) or of the attention (gradients of probabilities and scores, and their
    float32 product inside the cluster), when the feed-forward's activations are freed. A block also
    has the gradients of its weights before they are added to those of the other layers.
    """
    config, width = job.config, ACTIVATION_BYTES[job.precision]
    blocks = config.num_hidden_layers * config.inner_group_num
    sequences = job.batch // job.accumulation * TASKS[job.task]
    tokens = sequences * job.length  # T
    hidden, inner = tokens * config.hidden_size, tokens * config.intermediate_size
    scores = tokens * job.length * config.num_attention_heads  # b N S S

    # Query, key, value, weighted sum, the results of both sub-layers and the LayerNorm between.
    block = (7 * hidden + inner + scores) * width
    # The inputs of blocks; with 2 bytes also the last output in float32 for the heads.
    kept = (blocks + 1) * hidden * width + (hidden * FLOAT32 if width != FLOAT32 else 0)
    # The input and output of the embeddings' LayerNorm, in float32.
    embedded = tokens * config.embedding_size
    kept += FLOAT32 * (embedded + (embedded if config.embedding_layout == "google" else hidden))
    if config.attention_probs_dropout_prob:  # the dropped probabilities, and a mask of bytes
        block += scores * (width + 1)
    if config.hidden_dropout_prob:
        block, kept = block + 2 * hidden, kept + hidden
    kept += block * (1 if job.recompute else blocks)

    feed_forward = 3 * (inner + hidden) * width
    attention = (2 * scores + 5 * hidden - inner) * width + scores * FLOAT32
    logits = 0  # b P V
    if job.task == "pretraining":
        logits = sequences * job.predictions * config.vocab_size
    weights = width * job.parameters["encoder"] / modeling.weight_sets(config, "feed_forward")
    head = FLOAT32 * (3 * logits + 2 * hidden)
    return kept, max(head, max(feed_forward, attention) + weights)


def largest_batch(job: Job, runtime: Runtime, *, memory_bytes: float) -> int:
    """Returns the largest micro-batch in examples with a peak of at most `memory_bytes`, or 0.

    The batch of `job` does not matter; with accumulation it may be any multiple of the result.
    """

    def fits(size: int) -> bool:
        tried = job._replace(batch=size * job.accumulation)
        return memory(tried, runtime)["peak"] <= memory_bytes

    low, high = 0, 1
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


# ---- The command.


def main(settings: Flags) -> None:
    """Runs the script; raises ValueError if not exactly one model is named, or as Job.check."""
    if settings.list or settings.table:
        rows: List[Any] = compared_sizes()
        lines = size_table(rows)
        if settings.list:
            rows = [published_size(name) for name in configs.preset_names()]
            lines = list(_list_lines(rows))
        shown = [dict(row._asdict() if settings.table else row) for row in rows]
        print(json.dumps(shown, indent=2) if settings.json else "\n".join(lines))
        return
    path = _config_path(settings)
    job = Job(
        modeling.AlbertConfig.from_json_file(path),
        settings.task,
        settings.batch,
        settings.max_seq_length,
        precision=settings.precision,
        recompute=settings.recompute,
        accumulation=settings.gradient_accumulation_steps,
        predictions=settings.max_predictions_per_seq,
        num_labels=settings.num_labels,
    )
    runtime = runtime_of(tf.__version__)
    if settings.runtime_gb is not None:
        runtime = runtime._replace(standing=settings.runtime_gb * GIGA, each_block=0.0)
    found = plan(job, runtime, memory_bytes=settings.memory_gb * GIGA)
    print(json.dumps(found, indent=2) if settings.json else "\n".join(_lines(path, found)))


def _config_path(settings: Flags) -> str:
    """The configuration file of the model that the flags name."""
    if settings.albert_config_file:
        return settings.albert_config_file
    if settings.albert_dir:
        folder = released.local_folder(settings.albert_dir, f"--albert_dir={settings.albert_dir}")
        return os.path.join(folder, released.CONFIG_NAME)
    return published_path(settings.name)


def plan(job: Job, runtime: Runtime, *, memory_bytes: float) -> Dict[str, Any]:
    """Returns what --json prints: the run's needs with 4 and 2 bytes, with and without recompute.

    Both formats of 2 bytes have the same; bfloat16 stands for them unless the other is chosen.
    """
    job.check()
    counts = job.parameters
    ways = []
    for precision in ("float32", "float16" if job.precision == "float16" else "bfloat16"):
        for recompute in (False, True):
            tried = job._replace(precision=precision, recompute=recompute)
            needed = memory(tried, runtime)
            largest = largest_batch(tried, runtime, memory_bytes=memory_bytes)
            way = {
                "precision": precision,
                "recompute": recompute,
                "is_chosen": tried == job,
                "operations": operations(tried),
                "memory_bytes": needed,
                "fits": needed["peak"] <= memory_bytes,
                "largest_micro_batch": largest,
                "largest_batch": largest * job.accumulation,
            }
            ways.append(way)
    return {
        "task": job.task,
        "max_seq_length": job.length,
        "batch": job.batch,
        "gradient_accumulation_steps": job.accumulation,
        "memory_limit_bytes": memory_bytes,
        "parameters": dict(counts, total=sum(counts.values())),
        "checkpoint_bytes": checkpoint_bytes(job),
        "ways": ways,
    }


_MEMORY_NAMES = {
    "slots": "optimiser's slots",
    "copies": "weights as products take them",
    "temporaries": "temporaries, backward",
    "update": "temporaries, update",
}


def _lines(path: str, found: Dict[str, Any]) -> Iterator[str]:
    """What `plan` found, as tables."""
    (chosen,) = [way for way in found["ways"] if way["is_chosen"]]
    accumulation, limit = found["gradient_accumulation_steps"], found["memory_limit_bytes"] / GIGA
    micro = f" in {accumulation} micro-batches" if accumulation > 1 else ""
    yield (
        f"{path}: {found['task']}, length {found['max_seq_length']},"
        + f" batch {found['batch']}{micro}"
    )
    yield ""
    yield "Parameters"
    for part, count in found["parameters"].items():
        yield f"  {part:<28}{count:>14,}"
    for name, size in zip((", weights alone", " with slots"), found["checkpoint_bytes"].values()):
        yield f"  {'checkpoint' + name:<28}{_megabytes(size):>14}"
    yield ""
    yield "Operations of one update, GFLOP"
    for name, count in chosen["operations"].items():
        yield f"  {name:<28}{count / GIGA:>14,.1f}"
    yield ""

    def line(name: str, cell: Any) -> str:
        return f"  {name:<32}" + "".join(f"{cell(way):>20}" for way in found["ways"])

    def title(way: Dict[str, Any]) -> str:
        name = way["precision"] + (", recompute" if way["recompute"] else "")
        return name + ("*" if way["is_chosen"] else "")

    yield "Memory of one update, GB (*: your --precision and --recompute)"
    yield line("", title)
    for kind in chosen["memory_bytes"]:
        name = _MEMORY_NAMES.get(kind, kind)
        yield line(name, lambda way, kind=kind: f"{way['memory_bytes'][kind] / GIGA:.2f}")
    yield line(f"fits {limit:g} GB", lambda way: "yes" if way["fits"] else "no")
    yield line(f"largest batch in {limit:g} GB", lambda way: f"{way['largest_batch']:,}")
    if accumulation > 1:
        yield line("largest micro-batch", lambda way: f"{way['largest_micro_batch']:,}")


def _megabytes(size: float) -> str:
    return f"{size / 1e6:,.1f} MB"


def published_size(name: str) -> Dict[str, Any]:
    """Returns a published size in numbers: a row of --list."""
    config = modeling.AlbertConfig.from_json_file(configs.preset_path(name))
    job = Job(config, "pretraining", 1, 512)
    counts = job.parameters
    return {
        "name": name,
        "parameters": sum(counts.values()),
        "without_heads": sum(counts.values()) - counts["head"],
        "checkpoint_bytes": checkpoint_bytes(job),
        "forward_operations": operations(job)["forward"],
    }


class ComparedSize(NamedTuple):
    """The size of a published model, as computed and as its authors give it.

    Attributes:
      parameters: with the heads of pretraining.
      without_heads: the encoder alone, with embeddings and pooler.
      published_millions, published_megabytes: None where they are not given.
      megabytes: as the authors count them; None where they do not.
    """

    source: str  # project
    name: str
    parameters: int
    without_heads: int
    published_millions: Optional[float]
    megabytes: Optional[float]
    published_megabytes: Optional[float]


def compared_sizes() -> List[ComparedSize]:
    """Returns the sizes that are published, beside what follows from the configurations."""
    return [_compared_size(size) for size in published.document()["sizes"]]


def _compared_size(size: Mapping[str, Any]) -> ComparedSize:
    changes = size.get("changes", {})
    with open(configs.preset_path(size["preset"]), encoding="utf-8") as stream:
        config = modeling.AlbertConfig.from_dict(dict(json.load(stream), **changes))
    counts = modeling.parameter_counts(config)
    total = sum(counts.values())
    without_heads, megabytes = total - counts["head"], None
    if size["source"] == "albert_zh":  # the encoder, in 2^20 bytes
        megabytes = FLOAT32 * without_heads / 2**20
    elif size["source"] == "albert_pytorch":  # in 10^6 bytes; shared embeddings are saved twice
        width, hidden = config.embedding_size, config.hidden_size
        copies = width * (config.vocab_size + (hidden if width != hidden else 0))
        megabytes = FLOAT32 * (total + copies) / 1e6
    parts = [f"{key.split('_')[0]} {value}" for key, value in changes.items()]
    return ComparedSize(
        published.document()["sources"][size["source"]]["project"],
        ", ".join([size["preset"], *parts]),
        *(total, without_heads),
        published_millions=size["million_parameters"],
        megabytes=megabytes if size["megabytes"] else None,
        published_megabytes=size["megabytes"],
    )


SIZE_HEAD = (
    *("name", "parameters", "without heads", "published", "minus ours"),
    *("MB", "published MB", "minus ours"),
)


def size_cells(row: ComparedSize) -> Tuple[str, ...]:
    """Returns a row below SIZE_HEAD; differences are the published number minus ours."""

    def pair(ours: Optional[float], theirs: Optional[float], places: int) -> Tuple[str, str]:
        if ours is None or theirs is None:
            return "-", "-"
        return f"{theirs:.{places}f}", f"{round(theirs - ours, 1) + 0.0:+.1f}"  # no -0.0

    millions = pair(row.without_heads / 1e6, row.published_millions, 0)
    megabytes = pair(row.megabytes, row.published_megabytes, 1)
    return (
        *(row.name, f"{row.parameters:,}", f"{row.without_heads:,}"),
        *(f"{millions[0]} M" if row.published_millions else "-", millions[1]),
        *("-" if row.megabytes is None else f"{row.megabytes:.1f}", *megabytes),
    )


def size_table(rows: Sequence[ComparedSize]) -> List[str]:
    """Returns the lines of --table: a table for each project."""
    lines: List[str] = []
    for project in dict.fromkeys(row.source for row in rows):
        cells = [SIZE_HEAD, *(size_cells(row) for row in rows if row.source == project)]
        lines += ["", project] if lines else [project]
        for name, *numbers in cells:
            lines.append(f"  {name:<48}" + "".join(f"{number:>15}" for number in numbers))
    return lines


def _list_lines(rows: Any) -> Iterator[str]:
    yield (
        f"{'name':<20}{'parameters':>14}{'without heads':>16}{'weights':>13}{'with slots':>14}"
        f"{'GFLOP forward, 512 tokens':>28}"
    )
    for row in rows:
        sizes = row["checkpoint_bytes"]
        yield (
            f"{row['name']:<20}{row['parameters']:>14,}{row['without_heads']:>16,}"
            f"{_megabytes(sizes['weights']):>13}{_megabytes(sizes['with_slots']):>14}"
            f"{row['forward_operations'] / GIGA:>28,.1f}"
        )


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
