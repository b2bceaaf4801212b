# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures prediction time of models, exports and Hugging Face, and the start time of scripts.

    python benchmarks/inference.py --text pairs.txt --spm_model_file 30k-clean.model
    python benchmarks/inference.py --text pairs.txt --spm_model_file 30k-clean.model \
        --programs ours ours:format=tflite:quantize=int8 ours:format=onnx:quantize=int8
    python benchmarks/inference.py --text pairs.txt --spm_model_file 30k-clean.model \
        --pythons .venv/latest/bin/python .venv/huggingface/bin/python \
        --programs ours@1 ours:bfloat16@1 huggingface@2 huggingface:compile:bfloat16@2
    python benchmarks/inference.py --text texts.txt --model_dir output/sst-early \
        --programs ours ours:exit_patience=1 ours:exit_patience=2
    python benchmarks/inference.py --text pairs.txt --spm_model_file 30k-clean.model --starts

The file has one text per line, or a pair of texts separated by a TAB. Without --model_dir, the
model is a classifier of --config's size with random weights: the speed does not depend on weights.

Programs, with options; the others are compared with the first:

    ours         albert.load: bfloat16, exit_patience=N; format=onnx or tflite and quantize=int8
                 load the file that export_model makes first, whose own table is printed too
    huggingface  huggingface_model.py: compile, bfloat16

Each program predicts single texts (the table has the median and the 95th percentile in
milliseconds, and the processor time), 32 texts per call, and --count texts per call. Tokenization
is included.

--starts instead measures the time from Enter to a script's first step, prediction or line of help,
and the time to import TensorFlow. Files are already in the system's cache.
"""

import itertools
import json
import os
import shutil
import tempfile

import numpy as np
import timing

BATCH = 32
EXPORTED = ("format", "quantize")


# ---- models ----


def write_model(arguments, folder):
    """Trains a classifier of --config's size for one update; returns its folder and its flags."""
    import sentencepiece

    from albert import configs
    from albert.util import files

    vocabulary = sentencepiece.SentencePieceProcessor(arguments.spm_model_file)
    preset = json.loads(files.read_text(configs.preset_path(arguments.config)))
    config_file = f"{folder}/config.json"
    files.atomic_write_json(config_file, dict(preset, vocab_size=vocabulary.GetPieceSize()))
    with open(f"{folder}/train.tsv", "w", encoding="utf-8") as stream:
        for number, text in enumerate(texts_of(arguments)[:32]):
            print(*text, number % 2, sep="\t", file=stream)
    columns = len(text)
    flags = {
        "task_name": "custom",
        "data_dir": folder,
        "train_file": "train.tsv",
        "text_a_column": 0,
        "label_column": columns,
        "labels": "0,1",
        "header": False,
        "albert_config_file": config_file,
        "spm_model_file": arguments.spm_model_file,
        "output_dir": f"{folder}/model",
        "max_seq_length": 128,
        "train_step": 1,
        "do_train": True,
    }
    if columns > 1:
        flags["text_b_column"] = 1
    timing.albert("run_classifier", **flags)
    return flags


def export(arguments, options, folder):
    """Exports the model in the format of a program, and prints what it costs."""
    named = {name: options[name] for name in EXPORTED if name in options}
    target = os.path.join(folder, "-".join(named.values()))
    if named and not os.path.exists(target):
        named.update(model_dir=arguments.model_dir, output_dir=target, max_loss=100)
        named.update(eval_file=arguments.eval_file, eval_examples=50)
        print(*timing.albert("export_model", **named), sep="")


def texts_of(arguments):
    """The texts: tuples of the parts of each."""
    with open(arguments.text, encoding="utf-8") as stream:
        return [tuple(line.strip().split("\t")) for line in stream if line.strip()]


# ---- answers ----


def start(arguments):
    """Loads a program's model; returns the function that times calls."""
    name, options = timing.options_of(arguments.program)
    precision = "bfloat16" if "bfloat16" in options else "float32"
    if name == "huggingface":
        import huggingface_model

        answer = huggingface_model.build_answers(arguments.model_dir, options, BATCH)
    else:
        import albert

        file = "-".join(options.pop(key) for key in EXPORTED if key in options)
        options.pop("bfloat16", None)
        place = os.path.join(arguments.folder, file) if file else arguments.model_dir
        more = {key: int(value) for key, value in options.items()}
        model = albert.load(place, precision_name=precision, batch_size=BATCH, **more)
        answer = model.predict
    texts = texts_of(arguments)
    singles = [[text] for text in texts[: arguments.calls]]
    answer(texts[: 4 * BATCH])
    for text in singles[:BATCH]:
        answer(text)
    found = answer(texts[: arguments.count])
    layers = [one.layers for one in found if getattr(one, "layers", None)]

    def times(_):
        return [
            [timing.timed(answer, text) for text in singles],
            timing.timed(answer, texts[:BATCH]),
            timing.timed(answer, texts[: arguments.count]),
        ]

    about = {"count": len(found), "layers": np.mean(layers) if layers else ""}
    return about, times


def answers(arguments):
    """Lets the programs take turns, and prints a row for each."""
    workers = list(timing.workers(arguments))
    found = [[one.ask() for one in workers] for _ in range(arguments.turns)]
    rows, first = [], None
    for worker, turns in zip(workers, zip(*found)):
        worker.close()
        singles, batches, many = zip(*turns)
        seconds, used = np.concatenate(singles).T
        p50, p95 = np.percentile(seconds, [50, 95])
        rates = [BATCH, worker.about["count"]] / np.median([batches, many], axis=1)[:, 0]
        first = first or (p50, rates[1])
        rows.append(
            {
                "program": worker.program,
                "p50 ms": f"{1000 * p50:.1f}",
                "p95 ms": f"{1000 * p95:.1f}",
                "processor ms": f"{1000 * used.mean():.1f}",
                "times as fast": f"{first[0] / p50:.2f}",
                f"{BATCH}: texts/s": f"{rates[0]:.1f}",
                f"{worker.about['count']:,}: texts/s": f"{rates[1]:.1f}",
                "ratio": f"{rates[1] / first[1]:.2f}",
                "mean layers": worker.about["layers"],
            }
        )
    timing.print_table(rows)


# ---- starts ----


def scripts(arguments, flags, folder):
    """The scripts to start: {name: (words of the command, flags, the line to wait for)}."""
    tokenizer = {"spm_model_file": arguments.spm_model_file, "max_seq_length": 64}
    records = f"{folder}/records"
    timing.albert(
        "create_pretraining_data", input_file=arguments.text, output_file=records, **tokenizer
    )
    model = {"albert_config_file": flags["albert_config_file"], "output_dir": f"{folder}/start"}
    steps = {"train_batch_size": 8, "max_seq_length": 64, "do_train": True}
    pretraining = {"input_file": records, "num_train_steps": 1, "num_warmup_steps": 0}
    texts = dict(zip(("text_a", "text_b"), texts_of(arguments)[0]))
    run = ["-m", "albert"]
    return {
        "import of TensorFlow": (["-c", "import tensorflow; print(1)"], {}, "^1$"),
        "run_classifier": ([*run, "run_classifier"], {**flags, **model, **steps}, "1/1 steps"),
        "run_pretraining": (
            [*run, "run_pretraining"],
            {**pretraining, **model, **steps},
            "1/1 steps",
        ),
        "predict": ([*run, "predict"], dict(texts, model_dir=arguments.model_dir), "probabilities"),
        "run_classifier --help": ([*run, "run_classifier", "--help"], {}, ""),
    }


def starts(arguments, flags, folder):
    """Prints the time of each script's start."""
    rows = []
    cases = scripts(arguments, flags, folder)
    for python, name in itertools.product(arguments.pythons, cases):
        words, values, until = cases[name]
        turns = []
        for _ in range(arguments.turns):
            shutil.rmtree(f"{folder}/start", ignore_errors=True)
            turns.append(timing.run_program(words, python, until, **values)[:2])
        seconds, used = (f"{value:.2f}" for value in np.median(turns, axis=0))
        rows.append({"start": name, "Python": python, "seconds": seconds, "processor s": used})
    timing.print_table(rows)


def measure(arguments):
    """Makes the models, and prints the table."""
    with tempfile.TemporaryDirectory() as folder:
        arguments.folder = folder
        arguments.eval_file = arguments.text
        if not arguments.model_dir:
            flags = write_model(arguments, folder)
            arguments.model_dir = flags["output_dir"]
            arguments.eval_file = f"{folder}/train.tsv"
            vocabulary = os.path.join(arguments.model_dir, "spiece.model")
            shutil.copy(arguments.spm_model_file, vocabulary)  # the name that Hugging Face wants
        if arguments.starts:
            starts(arguments, flags, folder)
            return
        for program in arguments.programs:
            export(arguments, timing.options_of(program.partition("@")[0])[1], folder)
        answers(arguments)


def parse():
    """The command line."""
    parser = timing.parser(__doc__, "ours", "ours:bfloat16")
    parser.add_argument(
        "--text", required=True, type=os.path.abspath, help="texts or pairs, one a line"
    )
    parser.add_argument("--spm_model_file", type=os.path.abspath, help="of the random model")
    parser.add_argument("--config", default="albert_base_v2", help="preset of the random model")
    parser.add_argument("--model_dir", help="a classifier in place of the random one")
    parser.add_argument("--calls", type=int, default=100, help="number of calls with one text")
    parser.add_argument("--count", type=int, default=1000, help="texts in the largest call")
    parser.add_argument("--starts", action="store_true", help="time scripts, not answers")
    arguments = parser.parse_args()
    if bool(arguments.model_dir) == bool(arguments.spm_model_file):
        parser.error("Give --model_dir, or the --spm_model_file of a random model.")
    if arguments.model_dir and arguments.starts:
        parser.error("--starts makes its own model: give --spm_model_file.")
    return arguments


if __name__ == "__main__":
    timing.run(measure, start, parse)
