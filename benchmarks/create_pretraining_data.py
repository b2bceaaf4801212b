# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Speed and memory of making pretraining data, against a plain program in one process.

The plain program works like the public create_pretraining_data.py, one instance after another: all
documents and instances in memory, masking word by word, one tf.train.Example at a time. The tests
also compare the statistics of our data with it.

    python benchmarks/create_pretraining_data.py --text=books.txt --spm_model_file=30k-clean.model
    python benchmarks/create_pretraining_data.py ... --memory_megabytes=500

Speed: the programs alternate on the first --megabytes of the text. The time is that of the whole
job, without the import of TensorFlow and the start of Python. Memory: the text is repeated to the
given size. Every tenth of a second the resident set of the parent and the unshared memory of each
worker are added up; the result is the largest sum, TensorFlow included.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import numpy as np

# ---- the plain program ---------------------------------------------------------------------------


class PlainSettings:
    """The flags' defaults but for the length; `mended` leaves the reference's known faults out."""

    def __init__(self, **changes):
        self.max_seq_length = 128
        self.max_predictions_per_seq = 20
        self.masked_lm_prob = 0.15
        self.ngram = 3
        self.favor_shorter_ngram = True
        self.do_whole_word_mask = True
        self.do_permutation = False
        self.random_next_sentence = False
        self.short_seq_prob = 0.1
        self.dupe_factor = 5
        self.random_seed = 12345
        self.mended = False
        unknown = set(changes) - set(vars(self))
        assert not unknown, unknown
        vars(self).update(changes)


class PlainCreator:
    """Documents of pieces to instances, one by one."""

    def __init__(self, vocab, is_start_piece, settings):
        """`vocab`: pieces to draw replacements from; `is_start_piece(piece)` -> bool."""
        self.vocab = vocab
        self.is_start_piece = is_start_piece
        self.settings = settings
        self.rng = random.Random(settings.random_seed)
        self.numpy_rng = np.random.RandomState(settings.random_seed)

    def instances(self, documents):
        """Returns all instances of `documents`, a list of lists of lists of pieces."""
        documents = [document for document in documents if document]
        self.rng.shuffle(documents)
        instances = []
        for _ in range(self.settings.dupe_factor):
            for number in range(len(documents)):
                instances.extend(self.document_instances(documents, number))
        self.rng.shuffle(instances)
        return instances

    def document_instances(self, documents, number):
        """Returns the instances of one pass over one document."""
        document, rng = documents[number], self.rng
        longest = self.settings.max_seq_length - 3
        target = longest
        if rng.random() < self.settings.short_seq_prob:
            target = rng.randint(2, longest)
        instances, chunk, position = [], [], 0
        while position < len(document):
            chunk.append(document[position])
            if position == len(document) - 1 or sum(map(len, chunk)) >= target:
                pair = self.make_pair(chunk, target, others=(documents, number))
                if pair is not None:
                    tokens_a, tokens_b, label, unused = pair
                    position -= unused
                    self.truncate(tokens_a, tokens_b)
                    instances.append(self.mask(tokens_a, tokens_b, label=label))
                chunk = []
            position += 1
        return instances

    def make_pair(self, chunk, target, *, others):
        """Returns A, B, label and how many sentences were put back; None if there is no pair."""
        rng, settings = self.rng, self.settings
        alone = len(chunk) == 1
        cut = 1 if alone else rng.randint(1, len(chunk) - 1)
        tokens_a = sum(chunk[:cut], [])
        tokens_b = sum(chunk[cut:], [])
        if alone and settings.mended:
            if len(tokens_a) == 1:
                return None
            if not (settings.random_next_sentence and rng.random() < 0.5):
                inside = self.cut_inside(tokens_a)
                tokens_a, tokens_b = tokens_a[:inside], tokens_a[inside:]
                if not settings.random_next_sentence and rng.random() < 0.5:
                    return tokens_b, tokens_a, 1, 0
                return tokens_a, tokens_b, 0, 0
            return tokens_a, self.elsewhere(others, target - len(tokens_a)), 1, 0
        if alone or (settings.random_next_sentence and rng.random() < 0.5):
            tokens_b = self.elsewhere(others, target - len(tokens_a))
            return tokens_a, tokens_b, 1, len(chunk) - cut
        if not settings.random_next_sentence and rng.random() < 0.5:
            return tokens_b, tokens_a, 1, 0
        return tokens_a, tokens_b, 0, 0

    def cut_inside(self, tokens):
        """Returns where to cut a sentence: at a word start if there is one inside."""
        starts = [n for n in range(1, len(tokens)) if self.is_start_piece(tokens[n])]
        return self.rng.choice(starts or range(1, len(tokens)))

    def elsewhere(self, others, wanted):
        """Returns sentences of another document until there are `wanted` pieces."""
        documents, number = others
        for _ in range(10):
            other = self.rng.randint(0, len(documents) - 1)
            if other != number:
                break
        document = documents[other]
        tokens = []
        for sentence in document[self.rng.randint(0, len(document) - 1) :]:
            tokens.extend(sentence)
            if len(tokens) >= wanted:
                break
        return tokens

    def truncate(self, tokens_a, tokens_b):
        """Takes pieces off the longer segment, front or back, until both fit."""
        while len(tokens_a) + len(tokens_b) > self.settings.max_seq_length - 3:
            longer = tokens_a if len(tokens_a) > len(tokens_b) else tokens_b
            if self.rng.random() < 0.5:
                del longer[0]
            else:
                longer.pop()

    def mask(self, tokens_a, tokens_b, *, label):
        """Returns an instance: a dict of pieces, segments, boundaries, positions, labels."""
        tokens = ["[CLS]"] + tokens_a + ["[SEP]"] + tokens_b + ["[SEP]"]
        words, boundary = self.find_words(tokens, len(tokens_a) + 2)
        settings = self.settings
        wanted = int(round(len(tokens) * settings.masked_lm_prob))
        wanted = min(settings.max_predictions_per_seq, max(1, wanted))
        output, masked = list(tokens), {}
        for index in self.choose(words, wanted, set()):
            output[index] = self.replacement(tokens[index])
            masked[index] = tokens[index]
        if settings.do_permutation:
            moved = sorted(self.choose(words, wanted, set(masked)))
            shuffled = list(moved)
            self.rng.shuffle(shuffled)
            before = list(output)
            for source, target in zip(moved, shuffled):
                output[source] = before[target]
                masked[source] = before[source]
        return {
            "tokens": output,
            "segment_ids": [0] * (len(tokens_a) + 2) + [1] * (len(tokens_b) + 1),
            "token_boundary": boundary,
            "masked_lm_positions": sorted(masked),
            "masked_lm_labels": [masked[index] for index in sorted(masked)],
            "label": label,
        }

    def find_words(self, tokens, start_of_b):
        """Returns the words as lists of positions, and the boundary flags."""
        words, boundary = [], []
        for index, token in enumerate(tokens):
            if token in ("[CLS]", "[SEP]"):
                boundary.append(1)
                continue
            starts = self.is_start_piece(token)
            boundary.append(int(starts))
            opens = starts or (self.settings.mended and index == start_of_b)
            if self.settings.do_whole_word_mask and words and not opens:
                words[-1].append(index)
            else:
                words.append([index])
        return words, boundary

    def choose(self, words, wanted, taken):
        """Returns positions of n-grams, `wanted` at most, none of them in `taken`."""
        lengths = np.arange(1, self.settings.ngram + 1)
        weights = 1.0 / lengths
        weights /= weights.sum()
        if not self.settings.favor_shorter_ngram:
            weights = weights[::-1]
        starts = list(range(len(words)))
        self.rng.shuffle(starts)
        chosen = []
        for start in starts:
            if len(chosen) >= wanted:
                break
            length = self.numpy_rng.choice(lengths, p=weights)
            pieces = sum(words[start : start + length], [])
            while len(chosen) + len(pieces) > wanted and length > 1:
                length -= 1
                pieces = sum(words[start : start + length], [])
            if len(chosen) + len(pieces) > wanted or not taken.isdisjoint(pieces):
                continue
            chosen.extend(pieces)
            taken.update(pieces)
        return chosen

    def replacement(self, token):
        """80% [MASK], 10% the piece itself, 10% a random one."""
        if self.rng.random() < 0.8:
            return "[MASK]"
        if self.rng.random() < 0.5:
            return token
        return self.rng.choice(self.vocab)


def plain_documents(path, tokenizer):
    """Returns the documents of a text file as lists of lists of pieces."""
    documents = [[]]
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            if not line.strip():
                documents.append([])
                continue
            pieces = tokenizer.tokenize_text(line)
            if pieces:
                documents[-1].append(pieces)
    return documents


def plain_example(tf, instance, *, tokenizer, settings):
    """Returns one serialised tf.train.Example."""
    length, slots = settings.max_seq_length, settings.max_predictions_per_seq
    ids = tokenizer.convert_tokens_to_ids(instance["tokens"])
    label_ids = tokenizer.convert_tokens_to_ids(instance["masked_lm_labels"])

    def integers(values, size):
        padded = list(values) + [0] * (size - len(values))
        return tf.train.Feature(int64_list=tf.train.Int64List(value=padded))

    weights = [1.0] * len(label_ids) + [0.0] * (slots - len(label_ids))
    features = {
        "input_ids": integers(ids, length),
        "input_mask": integers([1] * len(ids), length),
        "segment_ids": integers(instance["segment_ids"], length),
        "token_boundary": integers(instance["token_boundary"], length),
        "masked_lm_positions": integers(instance["masked_lm_positions"], slots),
        "masked_lm_ids": integers(label_ids, slots),
        "masked_lm_weights": tf.train.Feature(float_list=tf.train.FloatList(value=weights)),
        "next_sentence_labels": integers([instance["label"]], 1),
    }
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def run_plain(text, model, output, *, dupe_factor):
    """Runs the plain program. Returns the number of instances."""
    import tensorflow.compat.v1 as tf

    from albert import tokenization
    from albert.pretraining import words as words_of

    settings = PlainSettings(dupe_factor=dupe_factor)
    tokenizer = tokenization.FullTokenizer(None, spm_model_file=model)
    creator = PlainCreator(list(tokenizer.vocab), words_of.starts_word, settings)
    instances = creator.instances(plain_documents(text, tokenizer))
    with tf.io.TFRecordWriter(output) as writer:
        for instance in instances:
            writer.write(plain_example(tf, instance, tokenizer=tokenizer, settings=settings))
    return len(instances)


# ---- measuring -----------------------------------------------------------------------------------


def run_ours(text, model, output, *, dupe_factor):
    """Runs our program on all processors. Returns the number of instances."""
    from albert import tokenization
    from albert.pretraining import instances, job

    counts = job.create_pretraining_data(
        [text],
        [output],
        tokenizer=tokenization.FullTokenizer(None, spm_model_file=model),
        tokenizer_file=model,
        settings=instances.DataSettings(max_seq_length=128, dupe_factor=dupe_factor),
    )
    return counts.instances


PROGRAMS = {"plain": run_plain, "ours": run_ours}


def measure_here(program, options):
    """Runs one program in this process and prints what it took as JSON."""
    import tensorflow.compat.v1 as tf

    from albert.data import records  # noqa: F401, imports do not count
    from albert.pretraining import job  # noqa: F401, imports do not count

    assert tf.io is not None
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        started = time.time(), os.times()
        count = PROGRAMS[program](
            options.text,
            options.spm_model_file,
            os.path.join(folder, "out.tf_record"),
            dupe_factor=options.dupe_factor,
        )
        seconds = time.time() - started[0]
    cpu = sum(os.times()[:4]) - sum(started[1][:4])  # of this process and its ended children
    print(json.dumps({"instances": count, "seconds": seconds, "cpu": cpu}))


def measure(program, options, text):
    """Runs one program in a process of its own."""
    command = [sys.executable, __file__, f"--text={text}", f"--run={program}"]
    command += [f"--spm_model_file={options.spm_model_file}", f"--folder={options.folder}"]
    command += [f"--dupe_factor={options.dupe_factor}"]
    output = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ).stdout
    return json.loads(output.decode().splitlines()[-1])


def compare_speed(options):
    """Prints a table of both programs, in turns; the fastest of each counts."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        text = os.path.join(folder, "text.txt")
        write_text(options.text, text, int(options.megabytes * 1e6))
        runs = {"plain": [], "ours": []}
        for turn in range(options.turns):
            for program, results in runs.items():
                results.append(measure(program, options, text))
                print(f"turn {turn + 1}, {program}: {json.dumps(results[-1])}", flush=True)
    best = {
        program: min(results, key=lambda result: result["seconds"])
        for program, results in runs.items()
    }
    print(
        f"\nPython {sys.version.split()[0]}, {os.cpu_count()} processors, length 128, "
        f"{options.megabytes} MB, dupe_factor {options.dupe_factor}, best of {options.turns}"
    )
    print(f"{'program':8} {'instances':>10} {'seconds':>9} {'instances/s':>12} {'CPU s':>8}")
    for program, result in best.items():
        rate = result["instances"] / result["seconds"]
        print(
            f"{program:8} {result['instances']:10,} {result['seconds']:9.2f} {rate:12,.0f} "
            f"{result['cpu']:8.2f}"
        )
    rates = {name: result["instances"] / result["seconds"] for name, result in best.items()}
    print(f"ours / plain: {rates['ours'] / rates['plain']:.1f}")


def write_text(source, target, size):
    """Writes `size` bytes of text, cut at a line; the source is repeated if it is too short."""
    with open(source, "rb") as stream:
        content = stream.read(size)
    if not content.endswith(b"\n"):
        content = content[: content.rindex(b"\n") + 1]
    with open(target, "wb") as stream:
        while stream.tell() < size - len(content) // 2:
            stream.write(content + b"\n")


def measure_memory(options):
    """Runs the script on a long text and adds up the memory of its processes."""
    from squad_features import memory_in_use

    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        text = os.path.join(folder, "text.txt")
        write_text(options.text, text, options.memory_megabytes * 10**6)
        command = [sys.executable, "-m", "albert.create_pretraining_data", f"--input_file={text}"]
        command += [f"--output_file={folder}/out.tf_record", "--max_seq_length=128"]
        command += [f"--spm_model_file={options.spm_model_file}"]
        command += [f"--dupe_factor={options.dupe_factor}"]
        started = time.time()
        process = subprocess.Popen(command, cwd=os.path.dirname(os.path.dirname(__file__)) or ".")
        peak = 0
        while process.poll() is None:
            peak = max(peak, memory_in_use(process.pid))
            time.sleep(0.1)
        print(
            f"{os.path.getsize(text) / 1e6:.0f} MB of text, dupe_factor {options.dupe_factor}: "
            f"exit code {process.returncode}, {time.time() - started:.0f} s, output "
            f"{os.path.getsize(folder + '/out.tf_record') / 1e9:.2f} GB; all processes together "
            f"{peak / 1e6:.0f} MB at most"
        )


def main():
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--text", required=True, help="text file, one sentence a line")
    parser.add_argument("--spm_model_file", required=True)
    parser.add_argument("--megabytes", type=float, default=2.5)
    parser.add_argument("--dupe_factor", type=int, default=5)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--memory_megabytes", type=int, help="measure memory on that much text")
    parser.add_argument("--folder", default=tempfile.gettempdir(), help="for temporary files")
    parser.add_argument("--run", choices=sorted(PROGRAMS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        measure_here(options.run, options)
    elif options.memory_megabytes:
        measure_memory(options)
    else:
        compare_speed(options)


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    main()
