# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures speed and memory of a step, also of a plain model and of torch.compile.

    python benchmarks/steps.py
    python benchmarks/steps.py --pythons .venv/tf1/bin/python .venv/tf2/bin/python \
        --programs plain@1 ours ours:bfloat16@2
    python benchmarks/steps.py --pythons .venv/latest/bin/python .venv/huggingface/bin/python \
        --task pretraining --programs ours:bfloat16@1 huggingface:compile:bfloat16@2
    python benchmarks/steps.py --programs ours:8x128 ours:8x512 ours:8x512:recompute

Programs, with options; the others are compared with the first:

    ours         the graph of the scripts: bfloat16, recompute, accumulation=4
    plain        plain_model.py, a classifier like that of google-research/albert, float32
    huggingface  huggingface_model.py, in the Python that `sh tools/environments.sh huggingface`
                 makes: compile, bfloat16
    all          8x512, a batch of 8 sequences of 512 tokens; @2, in the second Python only

The table has the memory of the process, the operations of matrix products per second, and for ours
the memory that `python -m albert plan` computes. Sequences have full length and random tokens.
"""

import resource

import numpy as np
import timing

MASKED_WORDS = 20  # of a sequence in pretraining


def size_of(options, default):
    """The (batch, length) among a program's options."""
    sizes = [word for word in options if word[0].isdigit()] or [default]
    return tuple(map(int, sizes[0].split("x")))


def config_of(arguments):
    """The model's configuration."""
    from albert import modeling

    return modeling.AlbertConfig.from_json_file(arguments.config)


def flags_of(options):
    """The flags that a program's options stand for."""
    return {
        "precision": "bfloat16" if "bfloat16" in options else "float32",
        "recompute": "recompute" in options,
        "gradient_accumulation_steps": int(options.get("accumulation", 1)),
    }


def features_of(arguments, shape):
    """A batch as numpy arrays, by name, with the features of every task."""
    batch, length = shape
    random = np.random.RandomState(0)
    ids = random.randint(5, arguments.vocab_size, shape).astype(np.int32)
    masked = [batch, MASKED_WORDS]
    numbers = np.arange(batch, dtype=np.int32)
    return {
        "input_ids": ids,
        "input_mask": np.ones_like(ids),
        "segment_ids": np.zeros_like(ids),
        "masked_lm_positions": random.randint(0, length, masked).astype(np.int32),
        "masked_lm_ids": random.randint(5, arguments.vocab_size, masked).astype(np.int32),
        "masked_lm_weights": np.ones(masked, np.float32),
        "next_sentence_labels": numbers[:, np.newaxis] % 2,
        "label_ids": numbers % 2,
        "start_positions": numbers % length,
        "end_positions": numbers % length,
    }


def plain_operation(arguments, features):
    """The operation of a step of the plain model."""
    import plain_model
    import tensorflow.compat.v1 as tf

    logits = plain_model.logits(config_of(arguments), features["input_ids"], features["input_mask"])
    if arguments.mode == "predict":
        return logits
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=features["label_ids"], logits=logits
    )
    return plain_model.update(tf.reduce_mean(losses))


def our_operation(arguments, options, features):
    """The operations of a training step of the task's script, or a prediction of the encoder."""
    from albert import classifier_utils, modeling, run_pretraining, squad_utils
    from albert.data.packing import SEQUENCES

    config, flags = config_of(arguments), flags_of(options)
    if arguments.mode == "predict":
        sequences = [features[name] for name in SEQUENCES]
        dtype = flags["precision"]
        model = modeling.AlbertModel(
            config, False, *sequences, compute_dtype=dtype, use_onednn=True
        )
        return model.pooled_output
    builder, more = {
        "pretraining": (run_pretraining.model_fn_builder, {}),
        "classification": (
            classifier_utils.model_fn_builder,
            {"num_labels": 2, "task_name": "mrpc"},
        ),
        "squad_v1": (squad_utils.v1_model_fn_builder, {"use_einsum": False}),
    }[arguments.task]
    model_fn = builder(
        albert_config=config,
        init_checkpoint=None,
        learning_rate=1e-5,
        num_train_steps=1000,
        num_warmup_steps=10,
        use_tpu=False,
        use_one_hot_embeddings=False,
        use_xla=True,
        **flags,
        **more,
    )
    spec = model_fn(features, None, "train", {})
    return [spec.train_op, spec.loss]


def tensorflow_step(arguments, options, batch):
    """A function that makes a step of the plain model or of ours."""
    import tensorflow.compat.v1 as tf

    from albert.runtimes import compat

    is_ours = arguments.program.startswith("ours")
    config = compat.base_session_config()
    if is_ours and arguments.mode == "train":
        config.graph_options.rewrite_options.disable_meta_optimizer = True  # as training does
    session = tf.Session(graph=tf.Graph(), config=config)
    with session.graph.as_default():
        features = {name: tf.placeholder(value.dtype, value.shape) for name, value in batch.items()}
        if is_ours:
            operation = our_operation(arguments, options, features)
        else:
            operation = plain_operation(arguments, features)
        session.run(tf.global_variables_initializer())
    feed = {features[name]: value for name, value in batch.items()}
    return lambda: session.run(operation, feed)


def start(arguments):
    """Builds a program; returns its memory and its function that times a step."""
    name, options = timing.options_of(arguments.program)
    batch = features_of(arguments, size_of(options, arguments.size))
    if name == "huggingface":
        import huggingface_model
        import torch

        library = f"PyTorch {torch.__version__}"
        step = huggingface_model.build_step(arguments, options, batch)
    else:
        from albert.util import cli

        cli.import_tensorflow()  # as the scripts do, without Keras
        import tensorflow

        library = f"TensorFlow {tensorflow.__version__}"
        step = tensorflow_step(arguments, options, batch)
    for _ in range(2):
        step()
    memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def answer(_):
        step()  # brings back what the system took from a program that waited
        return timing.timed(step)

    return {"library": library, "memory": memory}, answer


def planned(arguments, options, shape):
    """The operations of a step, and the bytes that training takes by the plan."""
    from albert.commands import plan

    flags = plan.Flags(
        task=arguments.task,
        batch=shape[0],
        max_seq_length=shape[1],
        max_predictions_per_seq=MASKED_WORDS,
        **flags_of(options),
    )
    config = config_of(arguments)
    kind = {"train": "total", "predict": "forward"}[arguments.mode]
    return plan.operations(config, flags)[kind], plan.memory(config, flags)["peak"]


def measure(arguments):
    """Lets the programs take turns, and prints a row for each."""
    workers = list(timing.workers(arguments))
    found = np.array([[one.ask() for one in workers] for _ in range(arguments.turns)])
    rows, first = [], None
    for number, worker in enumerate(workers):
        worker.close()
        name, options = timing.options_of(worker.program)
        shape = size_of(options, arguments.size)
        seconds, used = np.median(found[:, number], axis=0)
        rates = shape[0] / found[:, number, 0]
        first = rates if first is None else first
        operations, memory = planned(arguments, options, shape)
        is_planned = name == "ours" and arguments.mode == "train"
        rows.append(
            {
                "program": worker.program,
                "library": worker.about["library"],
                "sequences/s": f"{shape[0] / seconds:.2f}",
                "ratio": f"{np.median(rates / first):.2f}",
                "processor s": f"{used:.2f}",
                "GFLOP/s": f"{operations / seconds / 1e9:.0f}",
                "memory, GB": f"{worker.about['memory'] / 1e9:.2f}",
                "planned": f"{memory / 1e9:.2f}" if is_planned else "",
            }
        )
    timing.print_table(rows)


def parse():
    """The command line."""
    from albert import configs

    parser = timing.parser(__doc__, "plain", "ours", "ours:bfloat16")
    parser.add_argument("--mode", default="train", choices=("train", "predict"))
    tasks = ("classification", "pretraining", "squad_v1")
    parser.add_argument("--task", default=tasks[0], choices=tasks)
    parser.add_argument("--config", default="albert_base_v2", help="a preset")
    parser.add_argument("--size", default="32x128", help="batch and tokens of a sequence")
    arguments = parser.parse_args()
    arguments.config = configs.preset_path(arguments.config)
    arguments.vocab_size = config_of(arguments).vocab_size
    return arguments


if __name__ == "__main__":
    timing.run(measure, start, parse)
