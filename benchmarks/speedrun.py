# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Processor time from text to a stated accuracy on masked words of held-out text.

    make speedrun                                          # on stories that the demo makes
    python benchmarks/speedrun.py --text books.txt --spm_model_file 30k-clean.model --seeds 1 2 3
    python benchmarks/speedrun.py --text books.txt --runs base grow:2,4 budget --steps 4000

Each run makes records, pretrains a small model (4 layers of width 256) by the project's commands,
as a user would, and evaluates all checkpoints on text that it has not seen. Counted is the
processor time, user and system, of making records and of training to the first checkpoint with the
accuracy; evaluation is not. A run is `base` or levers joined by +, each alone or with others:

    budget      masks drawn on the fly, over one copy of the text in place of ten
    bfloat16    products in bfloat16
    bucket      records of like length share a batch, which is as long as the longest
    grow:2,4    layers in equal parts of the updates
    length:32,64  pieces of a record, in equal parts of the updates
    masks:0.4   another share of the tokens that are masked
    rate:0.005  another learning rate
    batch:64    another batch
    steps:5000  another number of updates in place of --steps; the learning rate ends with them
"""

import argparse
import functools
import json
import pathlib
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MASKED, HELD_OUT_MASKED = 0.3, 0.15  # shares of the tokens
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


def call(module, *arguments):
    """Runs a command of the project; returns its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", f"albert.{module}", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout.decode()[-3000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def prepare(options):
    """Splits the text and names or makes a vocabulary: (train.txt, held-out.txt, model file)."""
    folder = options.output_dir
    folder.mkdir(parents=True, exist_ok=True)
    parts = folder / "train.txt", folder / "eval.txt"
    if options.text:
        lines = pathlib.Path(options.text).read_text(encoding="utf-8").splitlines(keepends=True)
        cut = len(lines) * 95 // 100
        texts = lines[:cut], lines[cut:]
    else:
        sys.path.insert(0, str(ROOT))
        from albert.demo import corpus

        texts = [
            [f"{line}\n" for document in documents for line in [*document, ""]]
            for documents in corpus.make_stories("en", 20000)
        ]
    for path, text in zip(parts, texts):
        path.write_text("".join(text), encoding="utf-8")
    spm_model = options.spm_model_file
    if not spm_model:
        prefix = folder / "vocabulary"
        call(
            "train_vocab",
            f"--input_file={parts[0]}",
            f"--model_prefix={prefix}",
            "--vocab_size=700",
        )
        spm_model = f"{prefix}.model"
    return (*parts, spm_model)


@functools.lru_cache(maxsize=None)
def make_records(text, file, spm_model, *, length, share, copies=1, budget=False):
    """Makes records once, without masks for a budget; returns the processor time."""
    return call(
        "create_pretraining_data",
        f"--input_file={text}",
        f"--output_file={file}",
        f"--spm_model_file={spm_model}",
        f"--max_seq_length={length}",
        f"--max_predictions_per_seq={slots(length, share)}",
        f"--masked_lm_prob={0 if budget else share}",
        "--ngram=1",
        f"--dupe_factor={copies}",
    )


def slots(length, share):
    """Room for the masked words of a record."""
    return int(length * share) + 1


def levers_of(run):
    """The levers of a run by name, with their values."""
    return dict((part.split(":") + [""])[:2] for part in run.split("+") if part != "base")


def parts_of(levers, options):
    """The parts of a training: (last update, layers, length) of each."""
    steps = int(levers.get("steps", options.steps))
    depths = levers.get("grow", str(SMALL["num_hidden_layers"])).split(",")
    lengths = levers.get("length", str(options.length)).split(",")
    count = max(len(depths), len(lengths))
    for number in range(count):
        last = min(steps * (number + 1) // count, options.until_step or steps)
        yield (
            last,
            depths[number * len(depths) // count],
            int(lengths[number * len(lengths) // count]),
        )
        if last == options.until_step:
            return


def train(run, seed, folder, *, options, text, spm_model):
    """Pretrains; returns the processor time of records, and that of each part by its last step."""
    levers = levers_of(run)
    share = float(levers.get("masks", MASKED))
    steps = int(levers.get("steps", options.steps))
    budget = "budget" in levers
    flags = [
        f"--albert_config_file={options.output_dir / 'small.json'}",
        f"--output_dir={folder}",
        f"--train_batch_size={levers.get('batch', 32)}",
        f"--learning_rate={levers.get('rate', 0.0025)}",
        f"--num_train_steps={steps}",
        f"--num_warmup_steps={max(steps // 20, 1)}",
        f"--save_checkpoints_steps={max(steps // 16, 1)}",
        "--keep_checkpoint_max=0",
        f"--seed={seed}",
        *([f"--masked_lm_budget={share / (1 - share)}"] if budget else []),
        *(["--precision=bfloat16"] if "bfloat16" in levers else []),
        *(["--padding=bucket"] if "bucket" in levers else []),
    ]
    made, times = {}, {}
    for last, depth, length in parts_of(levers, options):
        kind = "-on_the_fly" if budget else ""
        file = options.output_dir / f"train-{length}-{share}{kind}.tf_record"
        made[length] = make_records(
            text,
            file,
            spm_model,
            length=length,
            share=share,
            copies=1 if budget else 10,
            budget=budget,
        )
        times[last] = call(
            "run_pretraining",
            *flags,
            f"--input_file={file}",
            f"--max_seq_length={length}",
            f"--max_predictions_per_seq={slots(length, share)}",
            f"--train_layers={depth}",
            f"--until_step={last}",
        )
    return sum(made.values()), times


def evaluate(folder, eval_file, options):
    """Evaluates all checkpoints; returns {step: accuracy on masked words}."""
    call(
        "run_pretraining",
        f"--albert_config_file={options.output_dir / 'small.json'}",
        f"--input_file={eval_file}",
        f"--output_dir={folder}",
        f"--max_seq_length={options.length}",
        f"--max_predictions_per_seq={slots(options.length, HELD_OUT_MASKED)}",
        "--nodo_train",
        "--do_eval",
        "--eval_batch_size=64",
        f"--num_train_steps={options.steps}",
    )
    content = json.loads((folder / "eval_results.json").read_text(encoding="utf-8"))
    return {one["step"]: one["metrics"]["masked_lm_accuracy"] for one in content["results"]}


def seconds_until(step, times):
    """Processor time up to a step, where each part's goes evenly over its steps."""
    total, first = 0.0, 0
    for last, seconds in sorted(times.items()):
        total += seconds * max(0, min(step, last) - first) / (last - first)
        first = last
    return total


def measure(run, seed, options, *, texts, spm_model):
    """One run: a dictionary of what came of it."""
    folder = options.output_dir / f"{run.replace(':', '_')}-{seed}"
    if folder.exists():
        shutil.rmtree(folder)
    start = time.time()
    made, times = train(run, seed, folder, options=options, text=texts[0], spm_model=spm_model)
    elapsed = time.time() - start
    found = evaluate(folder, options.output_dir / "eval.tf_record", options)
    reached = [step for step, value in sorted(found.items()) if value >= options.accuracy]
    return {
        "run": run,
        "seed": seed,
        "records": made,
        "training": sum(times.values()),
        "elapsed": elapsed,
        "best": max(found.values()),
        "step": reached[0] if reached else None,
        "seconds": made + seconds_until(reached[0], times) if reached else None,
        "accuracies": found,
    }


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--text", help="one sentence a line; made stories without it")
    parser.add_argument("--spm_model_file", help="trained on the text without it")
    parser.add_argument("--output_dir", type=pathlib.Path, default=pathlib.Path("speedrun"))
    parser.add_argument("--runs", nargs="+", default=["base", "bfloat16"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[1])
    parser.add_argument("--steps", type=int, help="updates: 8000, of stories 3000")
    parser.add_argument("--until_step", type=int, help="stop here, with the rates of --steps")
    parser.add_argument("--length", type=int, default=64, help="pieces of a record")
    parser.add_argument("--accuracy", type=float, help="to reach: 0.248, with stories 0.6")
    options = parser.parse_args()
    steps, accuracy = (8000, 0.248) if options.text else (3000, 0.6)
    options.steps = options.steps or steps
    options.accuracy = options.accuracy or accuracy
    return options


def main():
    """Makes the runs and prints a row of each; all of it is in speedrun.json too."""
    options = parse_arguments()
    options.output_dir = options.output_dir.resolve()
    *texts, spm_model = prepare(options)
    sys.path.insert(0, str(ROOT))
    import sentencepiece

    size = sentencepiece.SentencePieceProcessor(model_file=str(spm_model)).get_piece_size()
    config = json.dumps(dict(SMALL, vocab_size=size))
    (options.output_dir / "small.json").write_text(config, encoding="utf-8")
    eval_file = options.output_dir / "eval.tf_record"
    make_records(texts[1], eval_file, spm_model, length=options.length, share=HELD_OUT_MASKED)
    rows = []
    print("| run | seed | records, s | training, s | best | step with it | processor s |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for seed in options.seeds:
        for run in options.runs:
            row = measure(run, seed, options, texts=texts, spm_model=spm_model)
            rows.append(row)
            reached = f"{row['step']:,} | {row['seconds']:.0f}" if row["step"] else "- | -"
            print(
                f"| {run} | {seed} | {row['records']:.0f} | {row['training']:.0f} "
                f"| {row['best']:.1%} | {reached} |",
                flush=True,
            )
            path = options.output_dir / "speedrun.json"
            path.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
