# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Measures speed and memory of making pretraining data and features, and of reading records.

    python benchmarks/data.py --text books.txt --spm_model_file 30k-clean.model
    python benchmarks/data.py --text books.txt --spm_model_file 30k-clean.model \
        --programs ours --megabytes 500 --dupe_factor 1 --turns 1
    python benchmarks/data.py --squad_file xquad.en.json --spm_model_file 30k-clean.model \
        --length 384 --programs features:squad:train features:squad:predict
    python benchmarks/data.py --data_dir glue --spm_model_file 30k-clean.model \
        --pythons .venv/latest/bin/python .venv/huggingface/bin/python \
        --programs features:MRPC:train@1 huggingface:MRPC:train@2
    python benchmarks/data.py --text books.txt --spm_model_file 30k-clean.model \
        --programs read read:on_the_fly --length 512 --masked 77
    python benchmarks/data.py --hosts 64

Programs:

    plain        one process, one instance after another, like google-research/albert's
    ours         create_pretraining_data
    features     those of a GLUE task, or of 10,000 questions (squad), for :train or :predict
    huggingface  the same by the fast tokenizer of transformers
    read         batches of records as run_pretraining reads them; :on_the_fly draws the masks

The text is cut or repeated to --megabytes, and the SQuAD file is repeated with changes. Each turn
is a new process, and the fastest one counts. The time does not include the start of Python and the
imports. Memory is the maximum over all processes together, with TensorFlow where a program loads
it: `ours` does not.

With --hosts, the table shows instead the share of the bytes of 256 record files that each of so
many hosts reads: at its start, and for an epoch (with the records that it reads ahead).
"""

import itertools
import json
import os
import pathlib
import platform
import random
import shutil
import tempfile

import numpy as np
import timing

QUESTIONS, BATCHES, BATCH = 10000, 156, 128
MASKED, NGRAMS = 0.15, 3
STRIDE, GROUP = 128, 1000  # of SQuAD; questions that transformers gets together
FILES, FILE_RECORDS = 256, 800


class PlainCreator:
    """Documents of pieces to instances, one by one, with the defaults of the public script."""

    def __init__(self, tokenizer, arguments):
        from albert.pretraining_data import words

        self.starts_word = words.starts_word
        self.tokenizer, self.arguments = tokenizer, arguments
        self.pieces = list(tokenizer.vocab)
        self.random, self.numpy_random = random.Random(1), np.random.RandomState(1)

    def instances(self, documents):
        """All instances of documents, each a list of sentences, which are lists of pieces."""
        self.random.shuffle(documents)
        found = [
            instance
            for _ in range(self.arguments.dupe_factor)
            for document in documents
            for instance in self.document_instances(document, documents)
        ]
        self.random.shuffle(found)
        return found

    def document_instances(self, document, documents):
        """The instances of one pass over a document."""
        longest = target = self.arguments.length - 3
        if self.random.random() < 0.1:
            target = self.random.randint(2, longest)
        chunk, position = [], 0
        while position < len(document):
            chunk.append(document[position])
            if position == len(document) - 1 or sum(map(len, chunk)) >= target:
                first, second, label, unused = self.pair(chunk, target, documents)
                position -= unused
                self.truncate(first, second, longest)
                yield self.mask(first, second, label)
                chunk = []
            position += 1

    def pair(self, chunk, target, documents):
        """Two segments, whether they are swapped, and how many sentences were put back."""
        cut = self.random.randint(1, max(1, len(chunk) - 1))
        first, second = sum(chunk[:cut], []), sum(chunk[cut:], [])
        if not second:
            other = self.random.choice(documents)
            for sentence in other[self.random.randrange(len(other)) :]:
                second += sentence
                if len(second) >= target - len(first):
                    break
            return first, second, 1, len(chunk) - cut
        if self.random.random() < 0.5:
            return second, first, 1, 0
        return first, second, 0, 0

    def truncate(self, first, second, longest):
        """Takes pieces off the longer segment, front or back, until both fit."""
        while len(first) + len(second) > longest:
            longer = first if len(first) > len(second) else second
            longer.pop(0 if self.random.random() < 0.5 else -1)

    def mask(self, first, second, label):
        """An instance: lists by the names of its features."""
        tokens = ["[CLS]", *first, "[SEP]", *second, "[SEP]"]
        words, boundary = [], []
        for index, token in enumerate(tokens):
            is_special = token in ("[CLS]", "[SEP]")
            boundary.append(int(is_special or self.starts_word(token)))
            if words and not boundary[-1]:
                words[-1].append(index)
            elif not is_special:
                words.append([index])
        wanted = min(self.arguments.masked, max(1, round(len(tokens) * MASKED)))
        positions = sorted(self.choose(words, wanted))
        labels = [tokens[index] for index in positions]
        for index in positions:
            tokens[index] = self.replacement(tokens[index])
        ids = self.tokenizer.convert_tokens_to_ids
        return {
            "input_ids": ids(tokens),
            "input_mask": [1] * len(tokens),
            "segment_ids": [0] * (len(first) + 2) + [1] * (len(second) + 1),
            "token_boundary": boundary,
            "masked_lm_positions": positions,
            "masked_lm_ids": ids(labels),
            "masked_lm_weights": [1.0] * len(labels),
            "next_sentence_labels": [label],
        }

    def choose(self, words, wanted):
        """The positions of n-grams of words, `wanted` at most."""
        lengths = np.arange(1, NGRAMS + 1)
        weights = 1.0 / lengths / np.sum(1.0 / lengths)
        chosen = set()
        for start in self.random.sample(range(len(words)), len(words)):
            if len(chosen) >= wanted:
                break
            for length in range(self.numpy_random.choice(lengths, p=weights), 0, -1):
                pieces = sum(words[start : start + length], [])
                if len(chosen) + len(pieces) <= wanted:
                    chosen.update(pieces)
                    break
        return chosen

    def replacement(self, token):
        """80% [MASK], 10% the piece itself, 10% a random one."""
        if self.random.random() < 0.8:
            return "[MASK]"
        return token if self.random.random() < 0.5 else self.random.choice(self.pieces)


def plain_example(instance, arguments):
    """One serialised tf.train.Example."""
    import tensorflow.compat.v1 as tf

    features = {}
    for name, values in instance.items():
        size = arguments.masked if name.startswith("masked") else arguments.length
        size = 1 if name == "next_sentence_labels" else size
        values = values + [0] * (size - len(values))
        if name == "masked_lm_weights":
            features[name] = tf.train.Feature(float_list=tf.train.FloatList(value=values))
        else:
            features[name] = tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def tokenizer_of(arguments):
    """The tokenizer of the vocabulary."""
    from albert import tokenization

    return tokenization.FullTokenizer(arguments.vocab_file, True, arguments.spm_model_file)


def plain(arguments, options, folder):
    """Makes pretraining data as the public script does."""
    import tensorflow.compat.v1 as tf

    def run():
        tokenizer, documents = tokenizer_of(arguments), [[]]
        with open(arguments.text, encoding="utf-8") as lines:
            for line in lines:
                pieces = tokenizer.tokenize_text(line)
                if pieces:
                    documents[-1].append(pieces)
                else:
                    documents.append([])
        instances = PlainCreator(tokenizer, arguments).instances(list(filter(None, documents)))
        with tf.io.TFRecordWriter(f"{folder}/plain.tf_record") as writer:
            for instance in instances:
                writer.write(plain_example(instance, arguments))
        return len(instances)

    return run


def ours(arguments, options, folder):
    """Makes pretraining data by create_pretraining_data."""
    from albert.data import record_files
    from albert.pretraining_data import job
    from albert.pretraining_data.flags import JobFlags
    from albert.util import flags

    path = f"{folder}/ours.tf_record"
    job_flags = flags.make(
        JobFlags,
        input_file=arguments.text,
        output_file=path,
        max_seq_length=arguments.length,
        max_predictions_per_seq=arguments.masked,
        masked_lm_prob=0 if "on_the_fly" in options else MASKED,
        dupe_factor=arguments.dupe_factor,
        vocab_file=arguments.vocab_file,
        spm_model_file=arguments.spm_model_file,
    )

    def run():
        job.create_pretraining_data(job_flags)
        return record_files.count_records(path)

    return run


def read(arguments, options, folder):
    """Reads records in the batches of a training."""
    ours(arguments, options, folder)()
    budget = MASKED / (1 - MASKED) if "on_the_fly" in options else 0.0
    following = reader(arguments, [f"{folder}/ours.tf_record"], budget)
    following()

    def run():
        for _ in range(BATCHES):
            following()
        return BATCHES * BATCH

    return run


def reader(arguments, paths, budget=0.0, **params):
    """The function that reads the next batch of files."""
    import tensorflow.compat.v1 as tf

    from albert import modeling, run_pretraining
    from albert.tasks.pretraining import features as pretraining_features
    from albert.tasks.pretraining.flags import PretrainingFlags

    flags = PretrainingFlags(
        max_seq_length=arguments.length,
        max_predictions_per_seq=arguments.masked,
        masked_lm_budget=budget,
    )
    files = pretraining_features.read_files(paths, flags, modeling.AlbertConfig(30000))
    input_fn = run_pretraining.input_fn_builder(
        *(paths, arguments.length, arguments.masked, True),
        transform=pretraining_features.masks_on_the_fly(flags, files, is_training=True),
    )
    session = tf.Session(graph=tf.Graph())
    with session.graph.as_default():
        batches = input_fn(dict(params, batch_size=BATCH))
        iterator = tf.data.make_initializable_iterator(batches)
        batch = iterator.get_next()
    session.run(iterator.initializer)
    return lambda: session.run(batch)


def features(arguments, options, folder):
    """Makes the features of a split by the code of its script; to predict SQuAD, in memory too."""
    from albert.tasks.classification.task import ClassifierTask
    from albert.tasks.squad.task import SquadV2
    from albert.training import fine_tuning
    from albert.util import flags

    name, split = options
    kind, values = ClassifierTask, {"task_name": name, "data_dir": arguments.data_dir}
    if name == "squad":
        file = repeat_questions(arguments.squad_file, f"{folder}/squad.json")
        kind, values = SquadV2, {f"{split}_file": file, "doc_stride": STRIDE}
        values[f"{split}_feature_file"] = f"{folder}/features.tf_record"
    values.update(output_dir=folder, max_seq_length=arguments.length)
    task = kind(flags.make(kind.flags_class, **values), tokenizer_of(arguments), {})

    def run():
        examples = fine_tuning.read_split(task, split).examples
        if split == "predict":
            task.items(examples, False)
        return len(examples)

    return run


def huggingface(arguments, options, folder):
    """Tokenizes a split by the fast tokenizer of transformers, into lists in memory."""
    import huggingface_trainer
    import transformers

    name, split = options
    shutil.copy(arguments.spm_model_file, f"{folder}/spiece.model")  # the name that it wants
    tokenizer = transformers.AlbertTokenizer.from_pretrained(folder)
    if name == "squad":
        file = repeat_questions(arguments.squad_file, f"{folder}/squad.json")
        return lambda: squad_windows(file, tokenizer, arguments.length)
    arguments.task_name, arguments.max_seq_length = name, arguments.length
    return lambda: len(huggingface_trainer.read(arguments, tokenizer, split))


def squad_windows(file, tokenizer, length):
    """Tokenizes questions with windows of their paragraphs; returns the number of questions."""
    rows = [
        (question["question"], paragraph["context"])
        for article in json.loads(pathlib.Path(file).read_text(encoding="utf-8"))["data"]
        for paragraph in article["paragraphs"]
        for question in paragraph["qas"]
    ]
    for first in range(0, len(rows), GROUP):
        tokenizer(
            *map(list, zip(*rows[first : first + GROUP])),
            truncation="only_second",
            max_length=length,
            stride=STRIDE,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )
    return len(rows)


def repeat_questions(source, target):
    """Repeats the articles; each copy of a paragraph has its number, so that none is reused."""
    text = pathlib.Path(source).read_text(encoding="utf-8")
    written, count, number = [], 0, 0
    while count < QUESTIONS:
        articles = json.loads(text)["data"]
        for paragraph in itertools.chain(*(article["paragraphs"] for article in articles)):
            paragraph["context"] += f" {number}"
            for question in paragraph["qas"]:
                question["id"] = f"{question['id']}-{number}"
            count += len(paragraph["qas"])
        written += articles
        number += 1
    with open(target, "w", encoding="utf-8") as stream:
        json.dump({"version": "1", "data": written}, stream)
    return target


PROGRAMS = {one.__name__: one for one in (plain, ours, features, huggingface, read)}


def start(arguments):
    """Prepares a program; returns the function that runs it."""
    name, options = timing.options_of(arguments.program)
    run = PROGRAMS[name](arguments, options, tempfile.mkdtemp(dir=arguments.folder))

    def answer(_):
        counts = []
        times = timing.timed(lambda: counts.append(run()))
        return counts + times

    return {"python": platform.python_version()}, answer


def write_text(source, target, size):
    """Writes `size` bytes of text, cut at a line; the source is repeated if it is too short."""
    with open(source, "rb") as stream:
        lines = stream.read(size).rpartition(b"\n")[0]
    with open(target, "wb") as stream:
        while stream.tell() < size - len(lines) // 2:
            stream.write(lines + b"\n\n")


def measure(arguments):
    """Runs the programs by turns, and prints the best of each."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        arguments.folder = folder
        if arguments.hosts:
            read_as_hosts(arguments, folder)
            return
        if arguments.text:
            text = f"{folder}/text.txt"
            write_text(arguments.text, text, int(arguments.megabytes * 1e6))
            arguments.text = text
        for _ in range(arguments.turns):
            for number, worker in enumerate(timing.workers(arguments)):
                (count, seconds, used), memory = worker.ask_watched()
                worker.close()
                found.setdefault(number, []).append((seconds, count, used, memory, worker))
    rows, first = [], None
    for several in found.values():
        seconds, count, used, _, worker = min(several)
        first = first or count / seconds
        rows.append(
            {
                "program": worker.program,
                "Python": worker.about["python"],
                "items": f"{count:,}",
                "seconds": f"{seconds:.2f}",
                "items/s": f"{count / seconds:,.0f}",
                "ratio": f"{count / seconds / first:.1f}",
                "items/processor s": f"{count / used:,.0f}",
                "memory, MB": f"{max(one[3] for one in several) / 1e6:.0f}",
            }
        )
    timing.print_table(rows)


def read_as_hosts(arguments, folder):
    """Prints what the hosts of a training read, one after another."""
    import tensorflow.compat.v1 as tf

    from albert.data import record_files
    from albert.tasks.pretraining import features as pretraining_features

    spec = pretraining_features.feature_spec(arguments.length, arguments.masked)
    example = spec.encode({name: np.ones(shape, int) for name, shape, *_ in spec.features})
    paths = [f"{folder}/{number}" for number in range(FILES)]
    for path in paths:
        with record_files.create(path) as file:
            for _ in range(FILE_RECORDS):
                file.write(example)
    total = sum(map(os.path.getsize, paths))

    def share_read():
        """The bytes that were read until now, as a share of the files'."""
        return int(pathlib.Path("/proc/self/io").read_text().split()[1]) / total

    found = []
    for host in range(arguments.hosts):
        begin = share_read()
        context = tf.distribute.InputContext(arguments.hosts, host, arguments.hosts)
        following = reader(arguments, paths, input_context=context)
        start = share_read()
        for _ in range(FILES * FILE_RECORDS // arguments.hosts // BATCH):
            following()
        found.append([start - begin, share_read() - start])
    rows = []
    for kind in ("mean", "min", "max"):
        shares = getattr(np.array(found), kind)(axis=0)
        values = [kind, *map("{:.2%}".format, shares)]
        rows.append(dict(zip(("share of a host", "start", "epoch"), values)))
    timing.print_table(rows)


def parse():
    """The command line."""
    parser = timing.parser(__doc__, "plain", "ours")
    parser.add_argument("--spm_model_file")
    parser.add_argument("--vocab_file", help="WordPiece vocabulary, in place of SentencePiece")
    parser.add_argument("--text", help="one sentence a line")
    parser.add_argument("--squad_file", help="SQuAD file with answers")
    parser.add_argument("--data_dir", help="folder of GLUE")
    parser.add_argument("--hosts", type=int, help="number of hosts that read")
    parser.add_argument("--megabytes", type=float, default=2.5, help="megabytes of text")
    parser.add_argument("--dupe_factor", type=int, default=5)
    parser.add_argument("--length", type=int, default=128, help="tokens of a record")
    parser.add_argument("--masked", type=int, default=20, help="most masked tokens of a record")
    return parser.parse_args()


if __name__ == "__main__":
    timing.run(measure, start, parse)
