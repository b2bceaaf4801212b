# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures the processor time to reach an accuracy of masked words on held-out text.

    make speedrun                                          # on stories that the demo makes
    python benchmarks/speedrun.py --text books.txt --spm_model_file 30k-clean.model --seeds 1 2 3
    python benchmarks/speedrun.py --programs ours ours:layers=2,4 ours:masks=0.4 --steps 4000

Each program runs the project's commands: it makes records, pretrains a small model (4 layers of
width 256), and evaluates all checkpoints on held-out text. The result is the processor time for the
records and for training to the first checkpoint with the accuracy, without evaluation. `ours` can
have these options:

    bfloat16      computes products in bfloat16
    layers=2,4    numbers of layers, each for an equal part of the steps
    length=32,64  lengths of records, each for an equal part of the steps
    masks=0.4     another fraction of masked tokens
    rate=0.005    another learning rate
    batch=64      another batch
"""

import itertools
import json
import os
import pathlib
import re
import shutil

import timing

HELD_OUT_MASKED = 0.15  # share of the tokens
SMALL = {
    "embedding_size": 128,
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}


def prepare(arguments):
    """Writes train.txt, eval.txt and small.json; makes a vocabulary if none is named."""
    folder = arguments.output_dir
    folder.mkdir(parents=True, exist_ok=True)
    if arguments.text:
        lines = pathlib.Path(arguments.text).read_text(encoding="utf-8").splitlines()
        cut = len(lines) * 95 // 100
        texts = lines[:cut], lines[cut:]
    else:
        from albert.commands.demo import corpus

        stories = corpus.make_stories("en", 20000)
        texts = [[line for story in part for line in [*story.sentences, ""]] for part in stories]
    for name, lines in zip(("train.txt", "eval.txt"), texts):
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    if not arguments.spm_model_file:
        prefix = folder / "vocabulary"
        timing.albert(
            "train_vocab", input_file=folder / "train.txt", model_prefix=prefix, vocab_size=700
        )
        arguments.spm_model_file = f"{prefix}.model"
    import sentencepiece

    size = sentencepiece.SentencePieceProcessor(arguments.spm_model_file).GetPieceSize()
    config = json.dumps(dict(SMALL, vocab_size=size))
    (folder / "small.json").write_text(config, encoding="utf-8")


def shape(length, share):
    """The flags of records of a length, with a share of masked tokens."""
    return {"max_seq_length": length, "max_predictions_per_seq": int(length * share) + 1}


def make_records(arguments, text, file, **flags):
    """Makes records of a text; returns the processor seconds."""
    flags.update(input_file=arguments.output_dir / text, output_file=file, ngram=1)
    flags["spm_model_file"] = arguments.spm_model_file
    return timing.timed(lambda: timing.albert("create_pretraining_data", **flags))[1]


def parts_of(options, arguments):
    """The parts of a training: (last update, layers, length) of each."""
    depths = options.get("layers", "4").split(",")
    lengths = options.get("length", "64").split(",")
    count = max(len(depths), len(lengths))
    for number in range(count):
        last = arguments.steps * (number + 1) // count
        depth = depths[number * len(depths) // count]
        length = int(lengths[number * len(lengths) // count])
        yield min(last, arguments.until_step), depth, length
        if last >= arguments.until_step:
            return


def train(program, seed, arguments):
    """Pretrains; returns the output_dir, and the seconds of records and by last update."""
    _, options = timing.options_of(program)
    share, steps = float(options.get("masks", 0.3)), arguments.steps
    folder = arguments.output_dir / re.sub("[:,]", "_", f"{program}-{seed}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    flags = {
        "albert_config_file": arguments.output_dir / "small.json",
        "output_dir": folder / "model",
        "train_batch_size": options.get("batch", 32),
        "learning_rate": options.get("rate", 0.0025),
        "num_train_steps": steps,
        "num_warmup_steps": max(steps // 20, 1),
        "save_checkpoints_steps": max(steps // 16, 1),
        "keep_checkpoint_max": 0,
        "seed": seed,
        "precision": "bfloat16" if "bfloat16" in options else "float32",
        "do_train": True,
    }
    data = {"masked_lm_prob": share, "dupe_factor": 10}
    made, trained = {}, {}
    for last, depth, length in parts_of(options, arguments):
        file, sizes = folder / f"{length}.tf_record", shape(length, share)
        if length not in made:
            made[length] = make_records(arguments, "train.txt", file, **data, **sizes)
        part = dict(flags, **sizes, input_file=file, train_layers=depth, until_step=last)
        trained[last] = timing.timed(lambda part=part: timing.albert("run_pretraining", **part))[1]
    return flags["output_dir"], sum(made.values()), trained


def evaluate(folder, file, arguments):
    """Evaluates all checkpoints; returns {step: accuracy on masked words}."""
    timing.albert(
        "run_pretraining",
        albert_config_file=arguments.output_dir / "small.json",
        input_file=file,
        output_dir=folder,
        do_eval=True,
        eval_batch_size=64,
        num_train_steps=arguments.steps,
        do_train=False,
        **shape(64, HELD_OUT_MASKED),
    )
    content = json.loads((folder / "eval_results.json").read_text(encoding="utf-8"))
    return {one["step"]: one["metrics"]["masked_lm_accuracy"] for one in content["results"]}


def seconds_until(step, trained):
    """Processor time up to a step, where each part's goes evenly over its steps."""
    total, first = 0.0, 0
    for last, seconds in sorted(trained.items()):
        total += seconds * max(0, min(step, last) - first) / (last - first)
        first = last
    return total


def rows_of(arguments):
    """Trains by each program with each seed; yields a row for each."""
    prepare(arguments)
    eval_file = arguments.output_dir / "eval.tf_record"
    sizes = shape(64, HELD_OUT_MASKED)
    make_records(arguments, "eval.txt", eval_file, dupe_factor=1, **sizes)
    for seed, program in itertools.product(arguments.seeds, arguments.programs):
        folder, made, trained = train(program, seed, arguments)
        found = evaluate(folder, eval_file, arguments)
        reached = [step for step, value in found.items() if value >= arguments.accuracy]
        step = min(reached, default=None)
        yield {
            "program": program,
            "seed": seed,
            "records, s": f"{made:.0f}",
            "training, s": f"{sum(trained.values()):.0f}",
            "best": f"{max(found.values()):.1%}",
            f"{arguments.accuracy:.1%} by update": step or "-",
            "processor s until then": f"{made + seconds_until(step, trained):.0f}" if step else "-",
        }


def parse():
    """The command line."""
    parser = timing.parser(__doc__, "ours", "ours:bfloat16")
    parser.add_argument("--text", help="one sentence a line; default: the demo's stories")
    parser.add_argument("--spm_model_file", type=os.path.abspath, help="default: trained on --text")
    parser.add_argument("--output_dir", type=pathlib.Path, default="speedrun")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--steps", type=int, help="updates: 8000, of stories 3000")
    parser.add_argument("--until_step", type=int, help="stop here, with the rates of --steps")
    parser.add_argument("--accuracy", type=float, help="to reach: 0.248, of stories 0.6")
    arguments = parser.parse_args()
    steps, accuracy = (8000, 0.248) if arguments.text else (3000, 0.6)
    arguments.steps = arguments.steps or steps
    arguments.until_step = arguments.until_step or arguments.steps
    arguments.accuracy = arguments.accuracy or accuracy
    arguments.output_dir = arguments.output_dir.resolve()
    return arguments


if __name__ == "__main__":
    timing.print_table(rows_of(parse()))
