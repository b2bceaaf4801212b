# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Computes the parameters, memory and largest batch of a training.

  python -m albert plan base_v2 --max_seq_length=128 --batch=32 --memory_gb=12
  python -m albert plan --albert_config_file=albert_config.json --task=squad_v2
  python -m albert plan xxlarge_v2 --batch=4096 --devices=64 --tflops=100 --precision=bfloat16
  python -m albert plan --list
  python -m albert plan --table

The numbers are computed from the configuration, without building or training a model. They are for
the default --use_xla, and for either optimizer. GB are 10^9 bytes. The memory of a device is the
sum of weights, gradients and optimizer state, activations, temporaries, and --runtime_gb for the
process itself.
"""

import dataclasses
import json
import os
from typing import Any, Dict, List, Mapping, Optional, Tuple

from albert import configs
from albert.configs import model_config, published
from albert.configs.shared_flags import MemoryFlags
from albert.util import UserError, cli, wording
from albert.util.flags import flag

# Task -> sequences per example.
NUM_SEQUENCES = {"pretraining": 1, "classification": 1, "squad_v1": 1, "squad_v2": 1, "race": 4}
GIGA = 1e9
# Bytes of an activation in each --precision.
ACTIVATION_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
FLOAT32 = 4
FRAGMENTATION = 1.08  # measured factor of activations and temporaries


@dataclasses.dataclass(frozen=True)
class Flags(MemoryFlags):
    """The script's flags."""

    name: Optional[str] = flag(
        None, "A published size: base_v2 is short for --name=base_v2.", positional=True
    )
    albert_config_file: Optional[str] = flag(
        None, "JSON file with the model's architecture.", path=True, replaces=("name",)
    )
    albert_dir: Optional[str] = flag(
        None,
        "Model: a folder, or the name of a released model.",
        path=True,
        replaces=("name", "albert_config_file"),
    )
    list: bool = flag(False, "Show all published sizes, and exit.")
    table: bool = flag(False, "Compare sizes with their published numbers, and exit.")
    json: bool = flag(False, "Print JSON.")
    task: str = flag("pretraining", "Task to train.", choices=tuple(NUM_SEQUENCES))
    max_seq_length: int = flag(512, "Tokens per sequence.", lower=1)
    batch: int = flag(32, "Batch size, as --train_batch_size of the training scripts.", lower=1)
    devices: int = flag(1, "Devices (GPUs, TPU cores) that share the batch.", lower=1)
    tflops: Optional[float] = flag(
        None, "TFLOP/s that a device reaches, to estimate the time of a step.", lower=0.001
    )
    max_predictions_per_seq: int = flag(20, "Masked tokens per sequence.", lower=1)
    num_labels: int = flag(2, "Number of labels (classification).", lower=1)
    memory_gb: float = flag(12.0, "Memory of a device, in 10^9 bytes.", lower=0.001)
    runtime_gb: float = flag(0.82, "GB that the process needs without a model.", lower=0)

    def check(self) -> None:
        """Checks the batch size and the model."""
        super().check()
        if self.batch % self.parts:
            raise UserError(
                f"--batch={self.batch} must be a multiple of {self.parts}: --devices times "
                "--gradient_accumulation_steps."
            )
        names_model = self.name or self.albert_config_file or self.albert_dir
        if not (self.list or self.table or names_model):
            raise UserError(
                "Name one model: a published size (albert plan base_v2; --list shows all), "
                "--albert_config_file or --albert_dir."
            )
        if self.name:
            published_path(self.name)  # raises UserError for an unknown size

    @property
    def parts(self) -> int:
        """Micro-batches of all devices together."""
        return self.devices * self.gradient_accumulation_steps


def published_path(name: str) -> str:
    """Returns the configuration file of a size, such as base_v2. Raises UserError if unknown."""
    prefixed = f"albert_{name}"
    return configs.preset_path(prefixed if prefixed in configs.preset_names() else name)


# ---- Parameters and operations. `config` is a model_config.AlbertConfig.


def parameters(config: Any, run: Flags) -> Dict[str, int]:
    """Returns the number of parameters by part, and their sum as "total"."""
    counts = model_config.parameter_counts(config, run.task, num_labels=run.num_labels)
    return dict(counts, total=sum(counts.values()))


def checkpoint_bytes(config: Any, run: Flags) -> Dict[str, int]:
    """Returns the sizes of a checkpoint, as exported and as training writes it.

    AdamW and LAMB keep two numbers for each parameter with a gradient: SQuAD's loss does not use
    the pooler.
    """
    counts = parameters(config, run)
    weights = FLOAT32 * counts["total"]
    idle = counts["pooler"] if run.task.startswith("squad") else 0
    return {"weights": weights, "with_slots": 3 * weights - 2 * FLOAT32 * idle}


def operations(config: Any, run: Flags) -> Dict[str, int]:
    """Returns the floating-point operations of an update's matrix products; a multiply-add is two.

    The backward pass has two products for each one of the forward pass. Recomputation runs the
    blocks' forward pass once more.
    """
    length, embedding, hidden = run.max_seq_length, config.embedding_size, config.hidden_size
    # Per token: the dense layers, scores and weighted sum of a block.
    block = 4 * hidden * hidden + 2 * hidden * config.intermediate_size + 2 * length * hidden
    words = model_config.masked_lm_width(config)
    word = hidden * words + embedding * config.vocab_size
    word += words * embedding if words != embedding else 0
    pooled = hidden * hidden
    # Three layers of squad_v2 are applied to each token: start_logits, the half of
    # end_logits/dense_0 that does not depend on the start, and end_logits/dense_1.
    head = {
        "pretraining": run.max_predictions_per_seq * word + pooled + 2 * hidden,
        "classification": pooled + run.num_labels * hidden,
        "squad_v1": length * 2 * hidden,
        "squad_v2": length * (pooled + 2 * hidden) + 3 * pooled + hidden,
        "race": pooled + hidden,
    }[run.task]
    mapping = length * embedding * hidden if embedding != hidden else 0
    sequences = run.batch * NUM_SEQUENCES[run.task]
    encoder = 2 * sequences * length * block * config.num_hidden_layers * config.inner_group_num
    forward = encoder + 2 * sequences * (mapping + head)
    kinds = {
        "forward": forward,
        "backward": 2 * forward,
        "recomputation": encoder if run.recompute else 0,
    }
    return dict(kinds, total=sum(kinds.values()))


# ---- Memory.


def memory(config: Any, run: Flags) -> Dict[str, float]:
    """Returns the bytes of a run by kind, and their sum as "peak".

    Activations are freed before the update, but gradients and new slots do not fit into their
    memory: measured processes grew by both.
    """
    saved = checkpoint_bytes(config, run)
    slots = saved["with_slots"] - saved["weights"]
    gradients = slots / 2
    activations, temporaries = _activations_and_temporaries(config, run)
    if run.precision == "float32":  # joined weights of query, key and value
        copies = FLOAT32 * model_config.weight_sets(config, "attention") * 3 * config.hidden_size**2
    else:
        copies = ACTIVATION_BYTES[run.precision] * parameters(config, run)["encoder"]
    kinds = {
        "runtime": run.runtime_gb * GIGA,
        "weights": saved["weights"],
        "slots": slots,
        "copies": copies,
        "activations": FRAGMENTATION * activations,
        "temporaries": FRAGMENTATION * temporaries,
        # Accumulation adds the sums before and after a micro-batch.
        "gradients": gradients * (3 if run.gradient_accumulation_steps > 1 else 1),
        # Variables are updated a few at a time; fitted as a third of all new weights and slots.
        "update": gradients,
    }
    return dict(kinds, peak=sum(kinds.values()))


def _activations_and_temporaries(config: Any, run: Flags) -> Tuple[float, float]:
    """Returns the bytes of the activations, and the peak of temporary bytes in the backward pass.

    Compiled clusters keep little: the input of a gelu, the result of a softmax, the two summands of
    a LayerNorm. Recomputation keeps the inputs of the blocks, and the rest of one block at a time.

    The peak is at the start of the backward pass, with (nearly) all activations in memory, in
    - the heads: the gradient of the masked tokens' logits,
    - the last block's feed-forward part: gradients before and after gelu, and gelu again, or
    - its attention: gradients of probabilities and scores, and a product in float32. By then, the
      activations of the feed-forward part are free.
    A block also has the gradients of its weights, until they are added to the other layers'.
    """
    width = ACTIVATION_BYTES[run.precision]
    blocks = config.num_hidden_layers * config.inner_group_num
    sequences = run.batch // run.parts * NUM_SEQUENCES[run.task]
    tokens = sequences * run.max_seq_length  # of a micro-batch
    hidden, inner = tokens * config.hidden_size, tokens * config.intermediate_size
    # [sequences, heads, length, length]
    scores = tokens * run.max_seq_length * config.num_attention_heads

    # Query, key, value, weighted sum, the results of both sub-layers and the LayerNorm between.
    block = (7 * hidden + inner + scores) * width
    # The blocks' inputs. In 16 bits, the heads also need the last output in float32.
    activations = (blocks + 1) * hidden * width + (hidden * FLOAT32 if width != FLOAT32 else 0)
    # The input and output of the embeddings' LayerNorm, in float32.
    embedded = tokens * config.embedding_size
    activations += FLOAT32 * (
        embedded + (embedded if config.embedding_layout == "google" else hidden)
    )
    if config.attention_probs_dropout_prob:  # the dropped probabilities
        block += scores * width
    if config.hidden_dropout_prob:
        block, activations = block + 2 * hidden, activations + hidden
    activations += block * (1 if run.recompute else blocks)

    feed_forward = 3 * (inner + hidden) * width
    attention = (2 * scores + 5 * hidden - inner) * width + scores * FLOAT32
    logits = 0  # b sequences of a micro-batch, P predictions of each, V vocabulary
    if run.task == "pretraining":
        logits = sequences * run.max_predictions_per_seq * config.vocab_size
    weights = parameters(config, run)["encoder"] / model_config.weight_sets(config, "feed_forward")
    head = FLOAT32 * (3 * logits + 2 * hidden)
    return activations, max(head, max(feed_forward, attention) + width * weights)


def largest_batch(config: Any, run: Flags) -> int:
    """Returns the examples of the largest micro-batch that fits into --memory_gb; 0 if none fits.

    Ignores `run.batch`.
    """
    size = 0
    for power in range(40, -1, -1):
        variant = run.replace(batch=(size + 2**power) * run.parts)
        if memory(config, variant)["peak"] <= run.memory_gb * GIGA:
            size += 2**power
    return size


# ---- Output.


def plan(config: Any, run: Flags) -> Dict[str, Any]:
    """Returns the output of --json: the needs in 32 and 16 bits, with and without recomputation.

    The 16 bits are bfloat16, unless --precision is float16. Both need the same memory.

    Raises:
      UserError: --max_seq_length is above the model's positions.
    """
    model_config.check_length(run.max_seq_length, config)
    ways = []
    for precision in ("float32", "float16" if run.precision == "float16" else "bfloat16"):
        for recompute in (False, True):
            variant = run.replace(precision=precision, recompute=recompute)
            needed = memory(config, variant)
            way: Dict[str, Any] = {
                "precision": precision,
                "recompute": recompute,
                "is_chosen": variant == run,
                "operations": operations(config, variant),
                "memory_bytes": needed,
                "fits": needed["peak"] <= run.memory_gb * GIGA,
                "largest_batch": largest_batch(config, variant) * run.parts,
            }
            if run.tflops:  # the speed in --precision
                seconds = way["operations"]["total"] / (run.devices * run.tflops * 1e12)
                way["seconds_per_step"] = seconds if precision == run.precision else None
            ways.append(way)
    names = ("task", "max_seq_length", "batch", "devices", "gradient_accumulation_steps")
    return {
        **{name: getattr(run, name) for name in names},
        "memory_gb": run.memory_gb,
        "parameters": parameters(config, run),
        "checkpoint_bytes": checkpoint_bytes(config, run),
        "ways": ways,
    }


def _plan_lines(planned: Mapping[str, Any]) -> List[str]:
    """Formats the result of `plan` as tables."""
    ways, limit = planned["ways"], f"{planned['memory_gb']:g} GB"
    (chosen,) = [way for way in ways if way["is_chosen"]]
    titles = []
    for way in ways:
        title = f"{way['precision']}, recompute" if way["recompute"] else way["precision"]
        titles.append(f"{title}*" if way["is_chosen"] else title)
    sections = [
        (["parameters", "number"], 1, [planned["parameters"]]),
        (["checkpoint", "MB"], 1e6, [planned["checkpoint_bytes"]]),
        (["operations per step", "GFLOP"], GIGA, [chosen["operations"]]),
        (["memory of a device, GB", *titles], GIGA, [way["memory_bytes"] for way in ways]),
    ]
    tables = []
    for head, unit, columns in sections:
        digits = 0 if unit == 1 else 2
        rows = [
            [name.replace("_", " "), *(f"{column[name] / unit:,.{digits}f}" for column in columns)]
            for name in columns[0]
        ]
        tables.append([head, *rows])
    for name in ("fits", "largest_batch"):
        row = [f"{name.replace('_', ' ')} in {limit}", *(cell(way[name]) for way in ways)]
        tables[-1].append(row)
    if "seconds_per_step" in chosen:
        tables[-1].append(["seconds per step", *(cell(way["seconds_per_step"]) for way in ways)])
    lines = [line for table in tables for line in [*wording.table(table), ""]]
    return [*lines, "* your --precision and --recompute"]


def cell(value: Any) -> str:
    """Formats a value for a table."""
    if isinstance(value, float):
        return f"{value:,.2f}"
    if value is None or isinstance(value, bool):
        return {None: "-", False: "no", True: "yes"}[value]
    return value if isinstance(value, str) else f"{value:,}"


def size(preset: str, **changes: Any) -> Dict[str, Any]:
    """Returns the row of a published size in --list.

    Args:
      preset: its name, such as albert_base_v2.
      **changes: values of the configuration that differ from the preset's.
    """
    config, run = _read_config(configs.preset_path(preset), **changes), Flags(batch=1)
    counts, saved = parameters(config, run), checkpoint_bytes(config, run)
    return {
        "name": ", ".join([preset, *(f"{key} {value}" for key, value in changes.items())]),
        "parameters": counts["total"],
        "without_heads": counts["total"] - counts["head"],
        "weights_mb": saved["weights"] / 1e6,
        "with_slots_mb": saved["with_slots"] / 1e6,
        "gflop_512_tokens": operations(config, run)["forward"] / GIGA,
    }


def compared_sizes() -> List[Dict[str, Any]]:
    """Returns the rows of --table: computed sizes beside the numbers of published.json.

    Megabytes are the authors': albert_zh counts the encoder, in 2^20 bytes; albert_pytorch counts
    10^6 bytes, and shared embeddings twice.
    """
    rows = []
    for row in published.document()["sizes"]:
        changes, source = row.get("changes", {}), row["source"]
        ours = size(row["preset"], **changes)
        megabytes = FLOAT32 * ours["without_heads"] / 2**20
        if source == "albert_pytorch":
            config = _read_config(configs.preset_path(row["preset"]), **changes)
            width, hidden = config.embedding_size, config.hidden_size
            copies = width * config.vocab_size
            if width != hidden:
                copies += width * hidden
            megabytes = ours["weights_mb"] + FLOAT32 * copies / 1e6
        compared = {
            "name": ours["name"],
            "source": published.document()["sources"][source]["project"],
            "parameters": ours["parameters"],
            "without_heads": ours["without_heads"],
            "published_millions": row["million_parameters"],
            "mb": megabytes if row["megabytes"] else None,
            "published_mb": row["megabytes"],
        }
        rows.append(compared)
    return rows


# ---- The command.


def _read_config(path: str, **changes: Any) -> Any:
    config = model_config.AlbertConfig.from_json_file(path)
    return model_config.AlbertConfig.from_dict(dict(config.to_dict(), **changes))


def _config_path(flags: Flags) -> str:
    """Returns the configuration file of the model in the flags."""
    if flags.albert_dir:
        from albert.formats.flags import CONFIG_NAME
        from albert.models import released

        folder = released.local_folder(flags.albert_dir)
        return os.path.join(folder, CONFIG_NAME)
    return flags.albert_config_file or published_path(flags.name)


def main(flags: Flags) -> None:
    """Runs the script."""
    output: Any
    if flags.list or flags.table:
        output = compared_sizes() if flags.table else list(map(size, configs.preset_names()))
        rows = [[name.replace("_", " ") for name in output[0]]]
        rows += [list(map(cell, row.values())) for row in output]
        lines = wording.table(rows)
    else:
        path = _config_path(flags)
        output = plan(_read_config(path), flags)
        work = f"{flags.batch} examples of {flags.max_seq_length} tokens per step"
        if flags.devices > 1:
            work += f" on {flags.devices} devices"
        lines = [f"{path}: {flags.task}, {work}, in {flags.memory_gb:g} GB", ""]
        lines += _plan_lines(output)
    print(json.dumps(output, indent=2) if flags.json else "\n".join(lines))


if __name__ == "__main__":
    cli.run(Flags, main, __doc__)
