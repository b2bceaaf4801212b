# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Speed and memory of one step of training and of prediction, against other programs.

The plain graph (plain_model.py) works like the public google-research/albert script: einsums on
[B, S, H], separate query, key and value, element-wise operations one by one, autodiff everywhere,
in float32. Hugging Face's model (huggingface_model.py) needs its own Python, made by `sh
tools/environments.sh huggingface`. Programs run in processes of their own that alternate after a
few steps, so that changes of the machine's speed affect all of them alike; compare ratios.

    python benchmarks/train_step.py
    python benchmarks/train_step.py --pythons .venv/latest/bin/python .venv/huggingface/bin/python \
        --programs huggingface@2,huggingface:compile@2,ours@1 --head pretraining
    python benchmarks/train_step.py --pythons .venv/tf1/bin/python .venv/tf2/bin/python
    python benchmarks/train_step.py --head squad_v1 --length 384 --modes train predict --turns 2

Ratios are relative to the first program. GFLOP/s counts the model's matrix
products (two operations per multiply-add, backward twice forward); "of peak" is its share of
the rate at which the same Python multiplies two large matrices of that precision.
"""

import argparse
import itertools
import json
import math
import os
import resource
import subprocess
import sys
import time

import numpy as np

BATCHES_PER_TURN = {"train": 1, "predict": 3}


# ---- a worker: one program in a process of its own -----------------------------------------------


def build_program(tf, arguments):
    """The operation to time, from the worker's arguments."""
    import plain_model

    from albert import modeling, optimization
    from albert.configs.flags import OptimizerFlags

    config = modeling.AlbertConfig.from_json_file(arguments.config)
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    output = HEADS[arguments.head](tf, config, arguments)
    if arguments.mode == "predict":
        return output.op
    loss = tf.reduce_mean(output)
    if arguments.program == "plain":
        return tf.group(plain_model.update(tf, loss), loss)
    tf.train.get_or_create_global_step()
    flags = OptimizerFlags(learning_rate=1e-5)
    length = {"num_train_steps": 1000, "num_warmup_steps": 10}
    step = optimization.build_train_step(loss, flags, use_xla=True, **length)
    return tf.group(step.train_op, loss)


def random_inputs(tf, config, arguments):
    """A batch of full sequences: ids and mask."""
    shape = [arguments.batch, arguments.length]
    ids = np.random.RandomState(0).randint(5, config.vocab_size, shape).astype(np.int32)
    return hidden_constant(tf, ids), hidden_constant(tf, np.ones_like(ids))


def hidden_constant(tf, value):
    """A tensor whose value constant folding does not see, so that it cannot run the graph."""
    return tf.identity(tf.Variable(value, trainable=False))


def model_options(arguments):
    """How ours computes."""
    from albert.runtimes import compat

    return {
        "compute_dtype": compat.compute_dtype(arguments.precision),
        "use_xla": True,
        "recompute": arguments.program == "recompute",
    }


def our_model(config, arguments, *, ids, mask):
    """This project's encoder."""
    from albert import modeling

    training = arguments.mode == "train"
    return modeling.AlbertModel(config, training, ids, mask, **model_options(arguments))


def build_words(tf, config, arguments):
    """Masked words at the first positions and the order of sentences: the sum of both losses."""
    from albert import modeling

    ids, mask = random_inputs(tf, config, arguments)
    model = our_model(config, arguments, ids=ids, mask=mask)
    count = arguments.predictions
    positions = np.arange(count, dtype=np.int32)[None].repeat(arguments.batch, 0)
    positions = hidden_constant(tf, positions)
    words = modeling.get_masked_lm_output(
        config,
        model.get_sequence_output(),
        model.get_embedding_table(),
        positions,
        ids[:, :count],
        tf.ones_like(positions),
        projection=model.get_embedding_projection(),
        **{key: model_options(arguments)[key] for key in ("compute_dtype", "use_xla")},
    )
    labels = tf.constant(np.random.RandomState(1).randint(0, 2, [arguments.batch]))
    order = modeling.get_sentence_order_output(config, model.get_pooled_output(), labels)
    return words.loss + order.loss


def build_classes(tf, config, arguments):
    """A classifier of two classes: losses [B], or probabilities."""
    import plain_model

    ids, mask = random_inputs(tf, config, arguments)
    if arguments.program == "plain":
        pooled = plain_model.pooled_output(tf, config, ids=ids, mask=mask)
    else:
        pooled = our_model(config, arguments, ids=ids, mask=mask).get_pooled_output()
    logits = tf.matmul(pooled, plain_model.weight(tf, "head", [config.hidden_size, 2]))
    if arguments.mode == "predict":
        return tf.nn.softmax(logits)
    labels = tf.constant(np.random.RandomState(1).randint(0, 2, [arguments.batch]))
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


def build_answers(tf, config, arguments):
    """SQuAD v1.1's head: losses [B], or logits."""
    import plain_model

    from albert import fine_tuning_utils
    from albert.squad import heads as squad_heads

    ids, mask = random_inputs(tf, config, arguments)
    positions = tf.constant(np.arange(arguments.batch) % arguments.length, tf.int32)
    if arguments.program == "plain":
        sequence = plain_model.sequence_output(tf, config, ids=ids, mask=mask)
        weights = plain_model.weight(tf, "head", [config.hidden_size, 2])
        both = tf.unstack(tf.einsum("BSH,HC->CBS", sequence, weights))
    else:
        training = arguments.mode == "train"
        encoder = fine_tuning_utils.Encoder(config, training, **model_options(arguments))
        features = {"input_ids": ids, "input_mask": mask, "segment_ids": tf.zeros_like(ids)}
        both = squad_heads.span_logits(encoder, features)
    if arguments.mode == "predict":
        return tf.stack(both)
    entropy = tf.nn.sparse_softmax_cross_entropy_with_logits
    return sum(entropy(labels=positions, logits=logits) for logits in both) / 2


HEADS = {"classifier": build_classes, "squad_v1": build_answers, "pretraining": build_words}


def start(arguments):
    """Builds a program; gives what runs one batch of it, and what is known of it."""
    if arguments.program.startswith("huggingface"):
        import huggingface_model
        import torch

        with open(arguments.config, encoding="utf-8") as file:
            values = json.load(file)
        is_compiled = arguments.program.endswith("compile")
        step = huggingface_model.build_step(values, arguments, is_compiled=is_compiled)
        library, rate = f"PyTorch {torch.__version__}", huggingface_model.matrix_rate
        return step, library, lambda: rate(arguments.precision)
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow.compat.v1 as tf

    from albert.runtimes import compat

    tf.logging.set_verbosity(tf.logging.ERROR)
    session = tf.Session(graph=tf.Graph())
    with session.graph.as_default():
        operation = build_program(tf, arguments)
        session.run(tf.global_variables_initializer())
    dtype = compat.compute_dtype(arguments.precision)
    return (
        lambda: session.run(operation),
        f"TF {tf.__version__}",
        lambda: matrix_rate(tf, session, dtype),
    )


def work(arguments):
    """Answers each line on standard input with the seconds of one turn, as JSON."""
    run, library, rate = start(arguments)
    for _ in range(2):
        run()
    memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    about = {"library": library, "peak_memory": memory, "matrix_rate": rate()}
    print(json.dumps(about), flush=True)
    for _ in sys.stdin:
        print(json.dumps(turn_seconds(run, arguments.mode)), flush=True)


def matrix_rate(tf, session, dtype, *, repeats=20):
    """Floating-point operations a second of a dense layer of albert-base on 32 x 128 tokens."""
    rows, inner, columns = 4096, 768, 3072
    with session.graph.as_default():
        shapes = ([rows, inner], [inner, columns])
        left, right = (tf.Variable(tf.cast(tf.random.normal(shape), dtype)) for shape in shapes)
        product = tf.matmul(left, right).op
    session.run([left.initializer, right.initializer])
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        session.run(product)
        best = min(best, time.perf_counter() - start)
    return 2 * rows * inner * columns / best


def turn_seconds(run, mode):
    """Runs one turn; gives the seconds of a batch, by the clock and of processors.

    An untimed batch goes first: what the system took from a program that waited comes back then.
    """
    run()
    count = BATCHES_PER_TURN[mode]
    start, processor_start = time.perf_counter(), time.process_time()
    for _ in range(count):
        run()
    elapsed, processor = time.perf_counter() - start, time.process_time() - processor_start
    return elapsed / count, processor / count


# ---- the parent: turns and the table -------------------------------------------------------------


class Worker:
    """A running program and the times of its turns."""

    def __init__(self, python, program, *, mode, precision, arguments):
        self.program, self.mode, self.precision = program, mode, precision
        command = [python, os.path.abspath(__file__), "--worker", "--program", program]
        command += ["--mode", mode, "--precision", precision, "--config", arguments.config]
        command += ["--batch", str(arguments.batch), "--length", str(arguments.length)]
        command += ["--head", arguments.head, "--predictions", str(arguments.predictions)]
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="3")
        root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        environment["PYTHONPATH"] = root + os.pathsep + environment.get("PYTHONPATH", "")
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if arguments.verbose else subprocess.DEVNULL,
            env=environment,
            universal_newlines=True,
        )
        self.about = self._read()
        self.seconds, self.processor_seconds = [], []

    def _read(self):
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The {self.program} worker ended; --verbose shows why.")
        return json.loads(line)

    def turn(self):
        """Runs one turn and keeps its times."""
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        elapsed, processor = self._read()
        self.seconds.append(elapsed)
        self.processor_seconds.append(processor)

    def close(self):
        """Ends the process."""
        self._process.stdin.close()
        self._process.wait()

    @property
    def name(self):
        """What the table calls the program."""
        return f"{self.about['library']} {self.program} {self.precision} {self.mode}"


def preset_path(name):
    """The file of a named configuration; other Pythons read it without this project's package."""
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    from albert import configs

    return configs.preset_path(name)


def floating_point_operations(arguments):
    """Operations of the matrix products of one batch, forward."""
    from albert import modeling, plan

    config = modeling.AlbertConfig.from_json_file(arguments.config)
    task = {"classifier": "classification"}.get(arguments.head, arguments.head)
    run = plan.Flags(
        task=task,
        batch=arguments.batch,
        max_seq_length=arguments.length,
        max_predictions_per_seq=arguments.predictions,
    )
    return plan.operations(config, run)["forward"]


def print_table(workers, arguments):
    """Prints a row a program; ratios are against the first worker of the same mode."""
    print(
        f"{'program':44s} {'seq/s':>7s} {'ratio':>6s} {'processor s':>11s} {'ratio':>6s}"
        f" {'GFLOP/s':>8s} {'of peak':>8s} {'memory':>8s} {'ratio':>6s}"
    )
    for worker in workers:
        base = next(w for w in workers if w.mode == worker.mode)
        seconds = float(np.median(worker.seconds))
        # Turn by turn, so that a slow spell of the machine cancels.
        speed_ratio, processor_ratio = (
            float(np.median(np.array(getattr(base, kind)) / np.array(getattr(worker, kind))))
            for kind in ("seconds", "processor_seconds")
        )
        passes = 3 if worker.mode == "train" else 1
        rate = passes * floating_point_operations(arguments) / seconds / 1e9
        memory = worker.about["peak_memory"]
        print(
            f"{worker.name:44s} {arguments.batch / seconds:7.2f} {speed_ratio:5.2f}x"
            f" {float(np.median(worker.processor_seconds)):11.2f} {processor_ratio:5.2f}x"
            f" {rate:8.0f} {1e9 * rate / worker.about['matrix_rate']:7.0%} {memory / 1e9:6.2f}GB"
            f" {memory / base.about['peak_memory']:5.2f}x"
        )


def programs(arguments):
    """Yields (python, mode, program, precision) of each worker to start."""
    listed = arguments.programs.split(",")
    for mode, (place, python), program in itertools.product(
        arguments.modes, enumerate(arguments.pythons, 1), listed
    ):
        program, _, only_place = program.partition("@")
        name, *rest = program.split(":")
        if "compile" in rest:
            rest.remove("compile")
            name += ":compile"
        if not only_place or int(only_place) == place:
            yield python, mode, name, "".join(rest) or "float32"


def measure(arguments):
    """Starts the workers, lets them take turns, and prints the table."""
    workers = []
    for python, mode, program, precision in programs(arguments):
        print(f"starting {python} {mode} {program} {precision}", file=sys.stderr)
        workers.append(Worker(python, program, mode=mode, precision=precision, arguments=arguments))
    for _ in range(arguments.turns):
        for worker in workers:
            worker.turn()
    print_table(workers, arguments)
    for worker in workers:
        worker.close()


def parse_arguments():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pythons", nargs="+", default=[sys.executable])
    parser.add_argument("--modes", nargs="+", default=["train"], choices=["train", "predict"])
    parser.add_argument(
        "--programs",
        default="plain@1,ours,ours:bfloat16",
        help="plain, ours, recompute, huggingface or huggingface:compile, then :bfloat16, then @N "
        "for the N-th Python only",
    )
    parser.add_argument("--head", default="classifier", choices=list(HEADS))
    parser.add_argument("--predictions", type=int, default=20, help="masked words a sequence")
    parser.add_argument("--config", default="albert_base_v2")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--length", type=int, default=128)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--verbose", action="store_true", help="show what workers write to stderr")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--program", help=argparse.SUPPRESS)
    parser.add_argument("--mode", help=argparse.SUPPRESS)
    parser.add_argument("--precision", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    parsed = parse_arguments()
    if not parsed.worker:
        parsed.config = preset_path(parsed.config)
    work(parsed) if parsed.worker else measure(parsed)
