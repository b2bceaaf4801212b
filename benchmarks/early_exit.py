# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What early exit saves and costs: the metric, layers and speed of a classifier for each patience.

    python benchmarks/early_exit.py --model_dir=output/sst --task_name=sst-2 --data_dir=glue
    python benchmarks/early_exit.py --model_dir=output/own --ordinary_dir=output/ordinary \\
        --task_file=own/task.json --data_dir=own --patience 2 4 6 --clock processor

--model_dir was trained by run_classifier with --early_exit; --ordinary_dir, if given, without. The
first row of the table is the model with all of its layers, of which the others are differences and
ratios. Times are from text to answer, as medians of --repeats turns that the models take: of all
development data in batches of --batch_size, and of --singles texts in calls of their own.
"""

import argparse
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
COLUMNS = ("patience", "metric", "points", "layers", "batches/s", "ratio", "singles/s", "ratio")


def read_data(arguments):
    """The task's metric, and its development texts and labels."""
    from albert.classification import tasks

    own = arguments.task_file
    task = tasks.custom_task(own) if own else tasks.get_task(arguments.task_name)
    examples = tasks.read_examples(task, arguments.data_dir, "dev").examples
    texts = [(one.text_a,) if one.text_b is None else (one.text_a, one.text_b) for one in examples]
    return task.best_metric, texts, [one.label for one in examples]


def score(metric, predictions, labels):
    """The metric of predictions, in per cent."""
    import numpy as np

    from albert.training import metrics

    if predictions[0].score is not None:
        found, wanted = [one.score for one in predictions], labels
    else:
        names = list(predictions[0].probabilities)
        found = [names.index(one.label) for one in predictions]
        wanted = [names.index(label) for label in labels]
    outcome = metrics.Outcome(np.array(wanted), np.array(found), np.zeros(len(found)))
    return 100 * metrics.compute([metric], outcome)[metric]


def measure(models, texts, arguments):
    """For each model its seconds per text, in batches and alone."""
    singles, clock = texts[: arguments.singles], CLOCKS[arguments.clock]
    times = {name: ([], []) for name in models}
    for _ in range(arguments.repeats):
        for name, model in models.items():
            began = clock()
            model.predict_array(texts)
            between = clock()
            for text in singles:
                model.predict_array([text])
            times[name][0].append((between - began) / len(texts))
            times[name][1].append((clock() - between) / len(singles))
    return {name: [statistics.median(each) for each in both] for name, both in times.items()}


def main(arguments):
    """Prints the table."""
    from albert import predictor

    metric, texts, labels = read_data(arguments)
    options = {"batch_size": arguments.batch_size}
    models = {"all layers": predictor.Predictor(arguments.model_dir, **options)}
    for patience in arguments.patience:
        models[str(patience)] = predictor.Predictor(
            arguments.model_dir,
            exit_patience=patience,
            exit_threshold=arguments.threshold,
            **options,
        )
    if arguments.ordinary_dir:
        models["ordinary"] = predictor.Predictor(arguments.ordinary_dir, **options)
    depth = models["all layers"].setup.config.num_hidden_layers
    answers = {name: model.predict(texts) for name, model in models.items()}
    seconds = measure(models, texts, arguments)
    print(f"{metric} of {len(texts)} texts; {arguments.clock} time, batches of", end=" ")
    print(f"{arguments.batch_size}\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}")
    first, full = None, seconds["all layers"]
    for name, predictions in answers.items():
        found = score(metric, predictions, labels)
        first = found if first is None else first
        layers = statistics.mean(one.layers or depth for one in predictions)
        row = [name, f"{found:.2f}", f"{found - first:+.2f}", f"{layers:.2f}"]
        for own, whole in zip(seconds[name], full):
            row += [f"{1 / own:.0f}", f"{whole / own:.2f}"]
        print(f"| {' | '.join(row)} |", flush=True)


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model_dir", required=True)
    parser.add_argument("--ordinary_dir")
    parser.add_argument("--task_name", help="of run_classifier")
    parser.add_argument("--task_file", help="description of a task of your own, in place of a name")
    parser.add_argument("--data_dir", required=True)
    parser.add_argument("--patience", type=int, nargs="+", default=[1, 2, 3, 4, 6, 8])
    parser.add_argument("--threshold", type=float, default=0.1, help="of scores")
    parser.add_argument("--batch_size", type=int, default=32)
    parser.add_argument("--singles", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--clock", choices=CLOCKS, default="wall")
    return parser.parse_args()


if __name__ == "__main__":
    main(parse())
