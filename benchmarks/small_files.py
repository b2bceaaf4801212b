# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Size and speed of export_model's files beside the model that they were made from.

    python benchmarks/small_files.py --spm_model_file=30k-clean.model --text=sentences.txt
    python benchmarks/small_files.py --text=pairs.txt --folders output/mrpc export/mrpc-int8

Writes an encoder of a published size with random weights (speed does not depend on them; the mean
cosine is that of such weights), exports it in every format and prints export_model's tables. Then
each answers one text at a time alone: median and 95th percentile by the clock, and the time of all
processors, which other programs disturb less. With --folders models and exports that are there are
only timed so, in turns; a TAB parts the texts of a pair.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONFIGS = os.path.join(ROOT, "albert", "configs")


def write_model(folder, config_file, spm_model_file):
    """Writes a model's folder with random weights."""
    import tensorflow.compat.v1 as tf

    from albert import modeling

    os.makedirs(folder)
    config = modeling.AlbertConfig.from_json_file(config_file)
    with tf.Graph().as_default(), tf.Session() as session:
        modeling.AlbertModel(config, False, tf.placeholder(tf.int32, [None, None]), scope="bert")
        session.run(tf.global_variables_initializer())
        prefix = os.path.join(folder, "model.ckpt-best")
        tf.train.Saver().save(session, prefix, write_meta_graph=False)
    shutil.copy(config_file, os.path.join(folder, "albert_config.json"))
    shutil.copy(spm_model_file, os.path.join(folder, "30k-clean.model"))


def show_times(folder, texts):
    """Prints the milliseconds of one text, by the clock and of all threads together."""
    import numpy as np

    from albert import predictor

    with predictor.load(folder) as model:
        for text in texts:
            model.predict([text])
        clock, processor = [], time.process_time()
        for text in texts:
            start = time.perf_counter()
            model.predict([text])
            clock.append(1000 * (time.perf_counter() - start))
        processor = 1000 * (time.process_time() - processor) / len(texts)
    p50, p95 = np.percentile(clock, [50, 95])
    print(
        f"{folder}: p50 {p50:.1f} ms, p95 {p95:.1f} ms, processors {processor:.1f} ms", flush=True
    )


def main():
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--name", default="base_v2", help="a published size")
    parser.add_argument("--spm_model_file", help="needed without --folders")
    parser.add_argument("--folders", nargs="+", default=[])
    parser.add_argument("--turns", type=int, default=1, help="with --folders")
    parser.add_argument("--text", required=True, help="texts, one a line")
    parser.add_argument("--examples", type=int, default=50, help="how many of them")
    parser.add_argument("--max_seq_length", type=int, default=128)
    options = parser.parse_args()
    if not (options.folders or options.spm_model_file):
        parser.error("--spm_model_file is needed")
    sys.path.insert(0, ROOT)
    from albert import export_model
    from albert.util import flags as flags_lib

    with open(options.text, encoding="utf-8") as stream:
        texts = [tuple(line.strip().split("\t")) for line in stream if line.strip()]
    texts = texts[: options.examples]
    for folder in options.folders * options.turns:
        show_times(folder, texts)
    if options.folders:
        return
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "model")
        config_file = os.path.join(CONFIGS, f"albert_{options.name}.json")
        write_model(model, config_file, options.spm_model_file)
        show_times(model, texts)
        for format_name in export_model.FORMATS:
            for quantize in ("none", "int8"):
                new = os.path.join(folder, f"{format_name}-{quantize}")
                print(f"\n{format_name}, {quantize}")
                arguments = [f"--model_dir={model}", f"--output_dir={new}", "--max_loss=100"]
                arguments += [f"--format={format_name}", f"--quantize={quantize}"]
                arguments += [f"--eval_file={options.text}", f"--eval_examples={len(texts)}"]
                arguments += [f"--max_seq_length={options.max_seq_length}"]
                settings = flags_lib.parse(export_model.Flags, arguments)
                export_model.exports.export(settings)
                show_times(new, texts)


if __name__ == "__main__":
    main()
