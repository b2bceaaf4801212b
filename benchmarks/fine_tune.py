# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Time of a whole fine-tuning on MRPC, against a plain program; and speed of the Predictor.

    python benchmarks/fine_tune.py --data_dir=glue --spm_model_file=albert_base/30k-clean.model
    python benchmarks/fine_tune.py --data_dir=glue --spm_model_file=30k-clean.model \
        --pythons .venv/tf1/bin/python .venv/tf2/bin/python --lengths 128 512 --plain_steps 4

A run is one process: text to records, --steps updates of albert-base from random weights, and
evaluation of the first and last checkpoint. Ours is `python -m albert.run_classifier`. The plain
program works like the public google-research/albert script: examples are converted one after
another, every sequence is padded to max_seq_length, and the graph (plain_model.py) is float32.

The plain program makes --plain_steps updates and evaluates --plain_examples; the time of its whole
run is extrapolated from their median, as is that of a batch which does not fit in memory and runs
in parts of --plain_batch. Extrapolated numbers are marked by *. The programs alternate --repeats
times; the medians of time are compared.
"""

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import plain_model

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EVALUATIONS = 2  # the first weights and the last
EVALUATION_BATCH = 8  # as the public script has it
HEAD_DROPOUT = 0.1
SINGLE_CALLS = 100


# ---- the plain program ---------------------------------------------------------------------------


def plain_features(tf, example, *, tokenizer, length):
    """One example as a tf.Example, made in the public script's way."""
    texts = [tokenizer.tokenize(tokenizer.preprocess(t)) for t in (example.text_a, example.text_b)]
    while len(texts[0]) + len(texts[1]) > length - 3:
        texts[len(texts[0]) <= len(texts[1])].pop()
    tokens, segments = ["[CLS]"], [0]
    for number, pieces in enumerate(texts):
        for piece in pieces + ["[SEP]"]:
            tokens.append(piece)
            segments.append(number)
    ids = tokenizer.convert_tokens_to_ids(tokens)
    mask = [1] * len(ids)
    padding = [0] * (length - len(ids))
    values = {
        "input_ids": ids + padding,
        "input_mask": mask + padding,
        "segment_ids": segments + padding,
        "label_ids": [int(example.label)],
    }
    features = {
        name: tf.train.Feature(int64_list=tf.train.Int64List(value=content))
        for name, content in values.items()
    }
    return tf.train.Example(features=tf.train.Features(feature=features))


def plain_records(tf, arguments, split):
    """Writes the records of a split, one example after another; gives the path."""
    from albert import tokenization
    from albert.classification import tasks

    tokenizer = tokenization.FullTokenizer(None, True, arguments.spm_model_file)
    task = tasks.get_task("mrpc")
    examples = tasks.read_examples(task, arguments.data_dir, split).examples
    path = os.path.join(arguments.folder, f"{split}.tf_record")
    with tf.python_io.TFRecordWriter(path) as writer:
        for example in examples:
            features = plain_features(tf, example, tokenizer=tokenizer, length=arguments.length)
            writer.write(features.SerializeToString())
    return path


def plain_batches(tf, path, *, length, batch, training):
    """Tensors of the next batch, every sequence padded to the full length."""
    shapes = {"input_ids": [length], "input_mask": [length], "segment_ids": [length]}
    spec = {name: tf.FixedLenFeature(shape, tf.int64) for name, shape in shapes.items()}
    spec["label_ids"] = tf.FixedLenFeature([], tf.int64)
    dataset = tf.data.TFRecordDataset(path)
    dataset = dataset.repeat().shuffle(100) if training else dataset.repeat()
    dataset = dataset.map(lambda record: tf.parse_single_example(record, spec))
    dataset = dataset.batch(batch, drop_remainder=True)
    return tf.data.make_one_shot_iterator(dataset).get_next()


def plain_logits(tf, config, batch, *, training):
    """The classifier in the public script's shape: [B, 2]."""
    ids, mask, segments = (
        tf.cast(batch[name], tf.int32) for name in ("input_ids", "input_mask", "segment_ids")
    )
    pooled = plain_model.pooled_output(tf, config, ids=ids, mask=mask, segments=segments)
    if training:
        pooled = tf.nn.dropout(pooled, rate=HEAD_DROPOUT)
    return tf.matmul(pooled, plain_model.weight(tf, "head", [config.hidden_size, 2]))


def timed(session, operation, count):
    """Seconds of each of `count` calls, after one that is not counted; and of that one."""
    seconds = []
    for _ in range(count + 1):
        start = time.perf_counter()
        session.run(operation)
        seconds.append(time.perf_counter() - start)
    return seconds[1:], seconds[0]


def work_plain(arguments):
    """Runs the plain program; prints its times as JSON."""
    import tensorflow.compat.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    from albert import modeling

    began = time.perf_counter()
    paths = {split: plain_records(tf, arguments, split) for split in ("train", "dev")}
    data_seconds = time.perf_counter() - began
    config = modeling.AlbertConfig.from_json_file(config_path(arguments.config))
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    began = time.perf_counter()
    with tf.Graph().as_default(), tf.Session() as session:
        sizes = {"length": arguments.length, "batch": arguments.plain_batch}
        batch = plain_batches(tf, paths["train"], training=True, **sizes)
        logits = plain_logits(tf, config, batch, training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=batch["label_ids"], logits=logits
        )
        update = plain_model.update(tf, tf.reduce_mean(losses))
        sizes["batch"] = EVALUATION_BATCH
        batch = plain_batches(tf, paths["dev"], training=False, **sizes)
        predictions = tf.argmax(plain_logits(tf, config, batch, training=False), axis=-1).op
        session.run(tf.global_variables_initializer())
        graph_seconds = time.perf_counter() - began
        steps, first_step = timed(session, update, arguments.plain_steps)
        calls = max(1, arguments.plain_examples // EVALUATION_BATCH)
        batches, first_batch = timed(session, predictions, calls)
    about = {
        "tensorflow": tf.__version__,
        "data_seconds": data_seconds,
        "first_seconds": graph_seconds + first_step + first_batch,
        "step_seconds": float(np.median(steps)),
        "evaluation_seconds": float(np.median(batches)),
    }
    print(json.dumps(about), flush=True)


def config_path(name):
    """The file of a preset, or the file itself."""
    return name if os.path.exists(name) else os.path.join(ROOT, "albert", "configs", name + ".json")


# ---- our programs --------------------------------------------------------------------------------


def our_command(python, arguments, *, precision, padding, folder):
    """The command line of our run."""
    return [
        python,
        "-m",
        "albert.run_classifier",
        "--task_name=mrpc",
        f"--data_dir={arguments.data_dir}",
        f"--spm_model_file={arguments.spm_model_file}",
        f"--albert_config_file={config_path(arguments.config)}",
        f"--output_dir={folder}",
        f"--max_seq_length={arguments.length}",
        f"--train_batch_size={arguments.batch}",
        f"--train_step={arguments.steps}",
        f"--warmup_step={arguments.steps // 10}",
        f"--save_checkpoints_steps={arguments.steps}",
        f"--precision={precision}",
        f"--padding={padding}",
        "--do_train",
        "--do_eval",
    ]


def work_predictor(arguments):
    """Measures the Predictor on a trained model; prints its times as JSON."""
    import tensorflow.compat.v1 as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    from albert import predictor
    from albert.classification import tasks

    task = tasks.get_task("mrpc")
    examples = tasks.read_examples(task, arguments.data_dir, "test").examples
    pairs = [(example.text_a, example.text_b) for example in examples][: arguments.pairs]
    began = time.perf_counter()
    with predictor.Predictor(arguments.folder, precision_name=arguments.precision) as model:
        load_seconds = time.perf_counter() - began
        model.predict(pairs[:SINGLE_CALLS])
        seconds = []
        for pair in pairs[:SINGLE_CALLS]:
            model.predict([pair])
        for pair in pairs[:SINGLE_CALLS]:
            start = time.perf_counter()
            model.predict([pair])
            seconds.append(time.perf_counter() - start)
        start = time.perf_counter()
        model.predict(pairs)
        rate = len(pairs) / (time.perf_counter() - start)
    about = {
        "tensorflow": tf.__version__,
        "load_seconds": load_seconds,
        "p50": float(np.percentile(seconds, 50)),
        "p95": float(np.percentile(seconds, 95)),
        "pairs_per_second": rate,
    }
    print(json.dumps(about), flush=True)


# ---- the parent ----------------------------------------------------------------------------------


def run_process(command, verbose):
    """Runs a command to its end; gives its output, its seconds and its peak memory in bytes."""
    environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
    environment["PYTHONPATH"] = ROOT + os.pathsep + environment.get("PYTHONPATH", "")
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=None if verbose else said
        )
        output = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status
        seconds = time.perf_counter() - start
        if status:
            said.seek(0)
            print(said.read().decode()[-3000:], file=sys.stderr)
            raise SystemExit(f"{' '.join(command)} failed.")
    return output, seconds, usage.ru_maxrss * 1024


def worker_command(python, arguments, *, kind, **changes):
    """This file as a worker, with the same arguments."""
    values = dict(vars(arguments), worker=kind, **changes)
    names = "data_dir spm_model_file config length batch steps plain_steps plain_examples"
    names += " plain_batch pairs worker folder precision"
    flags = [f"--{name}={values[name]}" for name in names.split() if values[name] is not None]
    return [python, os.path.abspath(__file__), *flags]


def run_plain(python, arguments, folder):
    """A run of the plain program; what was worked out is marked in its name."""
    os.makedirs(folder)
    command = worker_command(python, arguments, kind="plain", folder=folder)
    output, seconds, memory = run_process(command, arguments.verbose)
    about = json.loads(output.splitlines()[-1])
    parts = arguments.batch / arguments.plain_batch
    train = arguments.steps * parts * about["step_seconds"]
    batches = -(-arguments.dev_examples // EVALUATION_BATCH)
    evaluation = EVALUATIONS * batches * about["evaluation_seconds"]
    measured = (arguments.plain_steps + 1) * about["step_seconds"]
    measured += (arguments.plain_examples // EVALUATION_BATCH + 1) * about["evaluation_seconds"]
    return {
        "tensorflow": about["tensorflow"],
        "train": train,
        "evaluation": evaluation,
        "whole": seconds - measured + train + evaluation,
        "memory": memory,
    }


def run_ours(python, arguments, folder, *, precision, padding):
    """A run of run_classifier."""
    command = our_command(python, arguments, precision=precision, padding=padding, folder=folder)
    _, seconds, memory = run_process(command, arguments.verbose)
    with open(os.path.join(folder, "run_summary.json")) as stream:
        summary = json.load(stream)
    output, _, _ = run_process(
        [python, "-c", "import tensorflow as t; print(t.__version__)"], False
    )
    return {
        "tensorflow": output.strip(),
        "train": summary["train_seconds"],
        "evaluation": summary["eval_seconds"],
        "whole": seconds,
        "memory": memory,
    }


def programs(arguments):
    """Yields (python, name, precision, padding) of each program."""
    listed = arguments.programs.split(",")
    for (place, python), program in itertools.product(enumerate(arguments.pythons, 1), listed):
        program, _, only_place = program.partition("@")
        name, precision, padding = (program.split(":") + ["", ""])[:3]
        if not only_place or int(only_place) == place:
            yield python, name, precision or "float32", padding or "longest"


def measure_length(arguments, folder):
    """Runs all programs at one length; prints a row for each."""
    print(
        f"\nMRPC, {arguments.config}, length {arguments.length}, batch {arguments.batch},"
        f" {arguments.steps} steps\n{'program':38s} {'train s':>8s} {'ex/s':>7s} {'eval s':>7s}"
        f" {'ex/s':>7s} {'whole s':>9s} {'ratio':>7s} {'memory':>8s}"
    )
    results = {}
    for turn in range(arguments.repeats):
        for number, program in enumerate(programs(arguments)):
            python, name, precision, padding = program
            target = os.path.join(folder, f"{arguments.length}-{number}-{turn}")
            print(f"running {python} {name} {precision} {padding}", file=sys.stderr)
            if name == "plain":
                result = run_plain(python, arguments, target)
            else:
                result = run_ours(python, arguments, target, precision=precision, padding=padding)
            results.setdefault(program, []).append(dict(result, folder=target))
    base = None
    for program, several in results.items():
        median = {key: float(np.median([r[key] for r in several])) for key in NUMBERS}
        base = base or median
        print_row(program, several[0], median, base=base, arguments=arguments)
    return {program: several[-1]["folder"] for program, several in results.items()}


NUMBERS = ("train", "evaluation", "whole", "memory")


def print_row(program, result, median, *, base, arguments):
    """One program's row; ratios are against the first program."""
    _, name, precision, padding = program
    label = f"TF {result['tensorflow']} " + (
        "plain" if name == "plain" else f"{precision} {padding}"
    )
    star = "*" if name == "plain" else " "
    trained = arguments.steps * arguments.batch
    evaluated = EVALUATIONS * arguments.dev_examples
    print(
        f"{label:38s} {median['train']:7.1f}{star} {trained / median['train']:7.2f}"
        f" {median['evaluation']:6.1f}{star} {evaluated / median['evaluation']:7.2f}"
        f" {median['whole']:8.1f}{star} {base['whole'] / median['whole']:6.2f}x"
        f" {median['memory'] / 1e9:6.2f}GB",
        flush=True,
    )


def measure_predictor(arguments, folders):
    """Latency and rate of the Predictor on the models that were just trained."""
    print(
        f"\nPredictor, MRPC test pairs, {arguments.config}, length {arguments.length}\n"
        f"{'program':38s} {'load s':>7s} {'p50 ms':>8s} {'p95 ms':>8s} {'pairs/s':>8s}"
    )
    for (python, name, precision, _), folder in folders.items():
        if name == "plain":
            continue
        command = worker_command(
            python, arguments, kind="predictor", folder=folder, precision=precision
        )
        output, _, _ = run_process(command, arguments.verbose)
        about = json.loads(output.splitlines()[-1])
        print(
            f"{'TF ' + about['tensorflow'] + ' ' + precision:38s} {about['load_seconds']:7.2f}"
            f" {1000 * about['p50']:8.1f} {1000 * about['p95']:8.1f}"
            f" {about['pairs_per_second']:8.1f}",
            flush=True,
        )


def measure(arguments):
    """Runs everything and prints the tables."""
    with open(os.path.join(arguments.data_dir, "MRPC", "dev.tsv"), encoding="utf-8") as stream:
        arguments.dev_examples = sum(1 for _ in stream) - 1
    batches = list(arguments.plain_batches)
    with tempfile.TemporaryDirectory(prefix="fine_tune") as folder:
        for place, length in enumerate(arguments.lengths):
            arguments.length = length
            arguments.plain_batch = batches[min(place, len(batches) - 1)]
            folders = measure_length(arguments, folder)
            if arguments.pairs:
                measure_predictor(arguments, folders)


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data_dir", required=True, help="folder with MRPC in it")
    parser.add_argument("--spm_model_file", required=True)
    parser.add_argument("--pythons", nargs="+", default=[sys.executable])
    parser.add_argument(
        "--programs",
        default="plain@1,ours:float32:longest,ours:bfloat16:bucket",
        help="plain or ours, then :precision:padding, then @N for the N-th Python only; the first "
        "is what the others are compared with",
    )
    parser.add_argument("--lengths", nargs="+", type=int, default=[128, 512])
    parser.add_argument("--config", default="albert_base_v2", help="preset or JSON file")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--plain_steps", type=int, default=5)
    parser.add_argument("--plain_examples", type=int, default=80)
    parser.add_argument(
        "--plain_batches",
        nargs="+",
        type=int,
        default=[32, 8],
        help="examples that the plain program runs at once, for each length",
    )
    parser.add_argument("--pairs", type=int, default=500, help="0 leaves the Predictor out")
    parser.add_argument("--verbose", action="store_true", help="show what programs write to stderr")
    for name in ("worker", "folder", "precision"):
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    for name in ("length", "plain_batch"):
        parser.add_argument(f"--{name}", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    """Runs the parent, or a worker."""
    arguments = parse_arguments()
    workers = {"plain": work_plain, "predictor": work_predictor}
    if not arguments.worker:
        measure(arguments)
        return
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    workers[arguments.worker](arguments)


if __name__ == "__main__":
    main()
