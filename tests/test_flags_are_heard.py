# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Every flag of every script is heard: it changes a result, a file or the log, or is refused.

HEARD has an entry for each flag of each script. Most are probes, written as words:

    name=value         the script is run with the flag and without it, see flag_probes
    mode:name=value    the same with the arguments of another mode of the script
    name~0.0123        the number is found in the graph or its hooks; one probe for a script

and the others say who else probes the flag: "tests/x.py::test_y", a test that fails if the flag has
no effect, or "run_squad_v1", a script that has the flag too, where the same function reads it.
In values and modes {work} is the folder that is looked at.
"""

import importlib
import json
import pathlib
from typing import NamedTuple

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from absl import flags

from albert.runtimes import estimator
from tests.support import (
    albert_zh_models,
    classification_data,
    fine_tuned_models,
    flag_probes,
    pretrained_models,
    pretraining_records,
    race_data,
    released_archives,
    squad_data,
)

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures"


class Number(NamedTuple):
    value: str


def probes(text):
    """Flag -> (mode or None, "=value") or Number, of the words of a text."""
    found = {}
    for word in text.split():
        if "~" in word:
            name, value = word.split("~")
            found[name] = Number(value)
        else:
            name, value = word.split("=", 1)
            mode, _, name = name.rpartition(":")
            found[name] = (mode or None, f"={value}")
    return found


MODEL = probes("albert_dir=/nowhere albert_config_file=/nowhere init_checkpoint=/nowhere")
MODULE = probes("albert_hub_module_handle=/nowhere")
TEXT = probes("spm_model_file=/nowhere no_vocabulary:vocab_file=/nowhere do_lower_case=false")
TRAINING = {
    **MODEL,
    **probes("""
        do_train=false max_seq_length=31 train_batch_size=4 optimizer=lamb learning_rate~0.0123
        weight_decay_rate~0.0231 adam_beta_1~0.813 adam_beta_2~0.917 adam_epsilon~1.7e-5
        max_grad_norm~0.71
        precision=bfloat16 recompute=true use_xla=true gradient_accumulation_steps=2 seed~4711
        log_steps~73 save_checkpoints_steps~59 save_checkpoints_minutes=7
        waiting:wait_for_checkpoints_minutes=1e-9 distribution_strategy=multi_worker
        worker_patience_seconds=7 num_devices=2 output_dir={work}/elsewhere named_TPU:use_tpu=false
        TPU:tpu_name=cloud named_TPU:tpu_zone=here named_TPU:gcp_project=mine
        named_TPU:num_tpu_cores=3 TPU:iterations_per_loop=77 master=grpc://nowhere:1
    """),
}
# One road of all fine-tuning reads these.
FINE_TUNING = {
    **TRAINING,
    **MODULE,
    **TEXT,
    **probes("""
        predict:do_predict=false predict:predict_batch_size=3 num_train_epochs=2
        warmup_proportion=0.2 layerwise_lr_decay~0.87 padding=max cached_dir={work}/cache
        predict:checkpoint=/nowhere
    """),
}
STEPS = probes("train_step~7321 warmup_step~137 eval:do_eval=false eval:eval_batch_size=3")
SQUAD = probes("""
    train_file=/nowhere predict:predict_file=/nowhere train_feature_file={work}/features
    predict:predict_feature_file={work}/features predict:predict_feature_left_file={work}/left
    doc_stride=3 max_query_length=3 moved:max_misaligned_answers=1 idle:export_dir={work}/export
""")
SQUAD_RUNS = ["n_best_size", "max_answer_length", "keep_checkpoint_max"]
DATA = {
    **TEXT,
    **probes("""
        json:text_field=other split_sentences=true language=zh Chinese:user_dictionary=/nowhere
        masked_lm_prob=0.3 max_predictions_per_seq=2 ngram=1 favor_shorter_ngram=false
        do_whole_word_mask=false word_start=underline do_permutation=true max_seq_length=24
        short_seq_prob=0.9 dupe_factor=2 random_next_sentence=true random_seed=5
    """),
}
DATA_FILES = probes("""
    input_file=/nowhere bad:input_file_mode=rb output_file={work}/elsewhere foreign:overwrite=true
""")
TEXTS = {
    **MODEL,
    **MODULE,
    **TEXT,
    **probes("""
        max_seq_length=5 input_file=/nowhere columns=3 predict_batch_size=1 precision=bfloat16
        output_file={work}/elsewhere
    """),
}
RACE, PRETRAINING = "tests/test_run_race.py::", "tests/test_run_pretraining.py::"
DOWNLOAD_DATA = "tests/test_download_data.py::"
DOWNLOAD, SQUAD_TESTS = "tests/test_download_model.py::", "tests/test_run_squad.py::"

HEARD = {
    "convert_checkpoint": {
        **TEXT,
        **probes("""
            direction=nothere input_dir=/nowhere output_dir={work}/other vocab_file=/nowhere
            albert_config_file=/nowhere init_checkpoint=/nowhere layout=google head=encoder
            approximate_gelu=true
        """),
    },
    "create_pretraining_data": {
        **DATA,
        **DATA_FILES,
        **probes("num_processes=0 shuffle_window_mb=0 work_dir=/dev/null/work"),
    },
    "create_pretraining_data_beam": {
        **dict.fromkeys(DATA, "create_pretraining_data"),
        **DATA_FILES,
        **probes("num_shards=2"),
    },
    "download_data": {
        **probes("name=nothere list=true"),
        **dict.fromkeys(
            ["base_url", "data_dir"],
            DOWNLOAD_DATA + "test_without_a_network_the_message_says_what_to_put_where",
        ),
        "sha256": DOWNLOAD_DATA + "test_a_file_with_another_hash_is_refused_with_both",
        **dict.fromkeys(
            ["size_limit_gb", "time_limit_minutes"],
            DOWNLOAD_DATA + "test_limits_are_those_of_the_flags",
        ),
    },
    "download_model": {
        **probes("name=nothere list=true"),
        **dict.fromkeys(
            ["base_url", "cache_dir"],
            DOWNLOAD + "test_the_command_prints_the_folder_and_the_flag_that_takes_it",
        ),
        **dict.fromkeys(
            ["sha256", "size_limit_gb", "time_limit_minutes"],
            DOWNLOAD + "test_limits_and_the_hash_are_those_of_the_flags",
        ),
    },
    "embed": {**TEXTS, **probes("pooling=mean tokens:layer=1")},
    "export_checkpoints": {
        **TEXT,
        **probes("""
            albert_directory=/nowhere checkpoint_name=nothere export_path={work}/other/
            vocab_file=/nowhere
        """),
    },
    "export_model": {
        **dict.fromkeys(
            ("model_dir", "max_seq_length", "eval_file"),
            "tests/conversion/test_exports.py::test_mistakes_are_named",
        ),
        "checkpoint": "tests/conversion/test_exports.py::test_other_weights_can_be_named",
        "output_dir": "tests/conversion/test_exports.py::test_a_folder_that_is_there_stays",
        "format": "tests/conversion/test_exports.py::test_a_float_export_gives_the_models_outputs",
        "quantize": "tests/conversion/test_exports.py::"
        "test_an_int8_export_gives_nearly_the_models_outputs",
        "eval_examples": "tests/conversion/test_exports.py::test_the_record_says_what_was_measured",
        "max_loss": "tests/conversion/test_exports.py::"
        "test_an_export_that_loses_too_much_is_refused_and_nothing_is_left",
    },
    "export_to_tfhub": probes("""
        albert_directory=/nowhere export_path={work}/other checkpoint_name=nothere
        config_name=nothere spm_model_name=nothere spm_vocab_name=nothere vocab_file=nothere
        do_lower_case=false use_einsum=false format=tf2
    """),
    "fill_mask": {**dict.fromkeys(TEXTS, "embed"), **probes("one:text=a[MASK] count=2")},
    "plan": probes("""
        name=large_v2 albert_config_file=/nowhere albert_dir=/nowhere list=true json=true task=race
        table=true max_seq_length=12 batch=2 max_predictions_per_seq=2 labels:num_labels=7000
        precision=bfloat16 recompute=true gradient_accumulation_steps=2 memory_gb=3 runtime_gb=1
    """),
    "plot": {"output_file": "tests/test_plot.py::test_plot_draws_and_prints_a_row_for_each_run"},
    "predict": {
        **probes("""
            model_dir=/nowhere checkpoint=/nowhere input_file=/nowhere one:text_a=bird
            one:text_b=bird
            columns=1 output_file={work}/elsewhere output_format=tsv predict_batch_size=1
            precision=bfloat16 exit_patience=1
        """),
        "exit_threshold": "tests/test_predict.py::test_the_mean_of_the_layers_is_logged",
    },
    "run_classifier": {
        **FINE_TUNING,
        **STEPS,
        **probes("""
            data_dir=/nowhere task_name=tnews predict:predict_file=/nowhere
            idle:export_dir={work}/export export:threshold_to_export=0.3 own:text_a_column=nothere
            own:text_b_column=nothere own:label_column=nothere own:task_file=nothere
            own:guid_column=nothere own:train_file=nothere own:labels=nothere own:metric=nothere
            own:metrics=nothere own:header=false own_eval:dev_file=nothere
            own_predict:test_file=nothere early_exit=true predict:exit_patience=1
        """),
        "exit_threshold": "tests/test_run_classifier.py::"
        "test_scores_that_differ_by_less_than_the_threshold_are_the_same",
        "keep_checkpoint_max": "tests/test_run_classifier.py::"
        "test_pruning_waits_for_evaluation_and_spares_what_another_process_trained",
    },
    "run_pretraining": {
        **TRAINING,
        **probes("""
            optimizer=adamw input_file=/nowhere eval:eval_file=/nowhere eval:do_eval=false
            eval:eval_batch_size=3 max_predictions_per_seq=2 num_train_steps~7321
            num_warmup_steps~137 start_warmup_step~11 poly_power~1.7 masked_lm_budget=0.3
            spm_model_file=/nowhere vocab_file=/nowhere keep_checkpoint_max=9 share_type=none
            padding=longest until_step=1 train_layers=1
        """),
        "output_dir": PRETRAINING + "test_a_run_in_two_parts_is_the_run_in_one",
        "eval_untrained": PRETRAINING + "test_damage_stops_neither_training_nor_evaluation",
        "max_eval_steps": PRETRAINING + "test_without_an_evaluation_file_the_input_is_evaluated",
        "init_from_group0": PRETRAINING + "test_every_group_can_start_from_the_one_group",
    },
    "run_race": {
        **dict.fromkeys([*FINE_TUNING, *STEPS], "run_classifier"),
        **probes("""
            data_dir=/nowhere task_name=other max_qa_length=9 dropout_prob~0.37 high_only=true
            middle_only=true train_file={work}/features predict:predict_file={work}/features
            eval:eval_file={work}/features
        """),
        "num_keep_checkpoint": RACE
        + "test_checkpoints_beyond_the_newest_go_once_they_are_evaluated",
    },
    "run_squad_v1": {
        **dict.fromkeys(FINE_TUNING, "run_classifier"),
        **SQUAD,
        **probes("use_einsum=false"),
        **dict.fromkeys(
            SQUAD_RUNS,
            SQUAD_TESTS + "test_answers_and_checkpoints_are_as_many_as_the_flags_say",
        ),
    },
    "run_squad_v2": {
        **dict.fromkeys([*FINE_TUNING, *SQUAD, *SQUAD_RUNS], "run_squad_v1"),
        **probes("dropout_prob~0.37 predict:start_n_top=3 predict:end_n_top=3"),
        "null_score_diff_threshold": SQUAD_TESTS
        + "test_a_named_threshold_decides_and_empty_answers_are_noticed",
    },
    "show_changes": probes("""
        name=large_v2 albert_dir=/nowhere language=zh pair:text_a=other pair:text_b=other
    """),
    "sweep": {
        **MODEL,
        **MODULE,
        **TEXT,
        **probes("""
            vocab_file=/nowhere model_dir=/nowhere data_dir=/nowhere output_dir={work}/other
            suite=clue tasks=cola seeds=3 do_predict=false max_seq_length=31 train_batch_size=4
            train_step=9 warmup_step=2 warmup_proportion=0.5 num_train_epochs=2 learning_rate=0.1
            save_checkpoints_steps=7 precision=bfloat16 padding=max run_flags=--recompute
            own:text_a_column=1 own:text_b_column=2 own:label_column=5 own:guid_column=2
            own:task_file=nothere own:train_file=dev.tsv own:dev_file=train.tsv
            own:test_file=dev.tsv own:labels=0,1,2 own:metric=eval_loss own:metrics=f1
            own:header=true
        """),
        "dry_run": "tests/test_sweep.py::test_a_dry_run_shows_the_commands_and_starts_none",
    },
    "train_vocab": probes("""
        input_file=/nowhere model_prefix={work}/other vocab_size=201 do_lower_case=false
        input_sentence_size=40 character_coverage=0.98 seed=1 foreign:overwrite=true
        keep_accents=true
        json:text_field=other
    """),
}

# ---------------------------------------------------------------------------------------------
# How each script is probed: where it reads, and the arguments of its modes.


def training_modes(base, train, **modes):
    """The modes of a script that trains, of which the first is that of entries without one."""
    train = [*base, *train, "--nouse_xla"]
    named = [*train, "--use_tpu", "--tpu_name=t"]
    return {
        "train": train,
        "no_vocabulary": [*train, "--spm_model_file="],
        "TPU": [*train, "--use_tpu"],
        "named_TPU": named,
        **modes,
    }


def with_checkpoint(work):
    """Leaves a checkpoint in work/done."""
    (work / "done").mkdir(parents=True)
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.Variable(1, name="global_step")
        session.run(step.initializer)
        tf.train.Saver([step]).save(
            session, str(work / "done" / "model.ckpt-1"), write_meta_graph=False
        )


def encoder_flags(folder):
    return [
        f"--albert_config_file={classification_data.write_config(folder)}",
        f"--spm_model_file={classification_data.VOCABULARY}",
        "--output_dir={work}/out",
        "--train_batch_size=8",
    ]


def classifier(folder):
    classification_data.write_mrpc(folder)
    classification_data.write_own(folder)
    base = [*encoder_flags(folder), f"--data_dir={folder}", "--max_seq_length=32"]
    mrpc = [*base, "--task_name=mrpc"]
    done = [*mrpc, "--output_dir={work}/done"]
    own = [
        "--task_name=custom",
        "--text_a_column=words",
        "--label_column=answer",
        "--labels=bird,king",
    ]
    return training_modes(
        mrpc,
        ["--do_train", "--train_step=40"],
        eval=[*done, "--do_eval"],
        predict=[*done, "--do_predict"],
        waiting=[*mrpc, "--do_eval"],
        idle=done,
        export=[*done, "--export_dir={work}/export"],
        own=[*base, *own, "--do_train", "--nouse_xla"],
        own_eval=[*base, *own, "--do_eval", "--output_dir={work}/done"],
        own_predict=[*base, *own, "--do_predict", "--output_dir={work}/done"],
    )


def race(folder):
    race_data.write_race(folder, passages=1)
    base = [*encoder_flags(folder), f"--data_dir={folder}", "--max_seq_length=32"]
    base += ["--max_qa_length=16"]
    done = [*base, "--output_dir={work}/done", "--nodo_train"]
    return {
        "train": [*base, "--train_step=40", "--warmup_step=3", "--nodo_eval", "--nouse_xla"],
        "eval": done,
        "predict": [*done, "--do_predict", "--nodo_eval"],
    }


def squad(folder):
    context = "the king saw a small bird over the old town and the river . the bird sang ."
    answers = [
        squad_data.answered(word, context, word) for word in ("king", "bird", "town", "river")
    ]
    squad_data.write_squad(folder, [squad_data.paragraph(context, *answers)])
    base = [*encoder_flags(folder), "--max_seq_length=32", "--max_query_length=8"]
    base += [f"--train_file={folder}/squad.json", f"--predict_file={folder}/squad.json"]
    moved = json.loads((folder / "squad.json").read_text(encoding="utf-8"))
    moved["data"][0]["paragraphs"][0]["qas"][0]["answers"][0]["answer_start"] = 5
    (folder / "moved.json").write_text(json.dumps(moved), encoding="utf-8")
    train = [*base, "--do_train", "--num_train_epochs=20", "--doc_stride=8", "--nouse_xla"]
    done = [*base, "--output_dir={work}/done"]
    return {
        "train": train,
        "predict": [*done, "--do_predict"],
        "idle": done,
        "moved": [*train, f"--train_file={folder}/moved.json"],
    }


def pretraining(folder):
    records = pretraining_records.write_records(folder / "records", 24)
    base = [
        f"--albert_config_file={pretraining_records.write_config(folder / 'config.json')}",
        f"--input_file={records}",
        "--output_dir={work}/out",
        f"--max_seq_length={pretraining_records.LENGTH}",
        f"--max_predictions_per_seq={pretraining_records.PREDICTIONS}",
        "--train_batch_size=8",
    ]
    done = [*base, "--output_dir={work}/done", "--nodo_train", "--do_eval"]
    return training_modes(
        base,
        ["--num_train_steps=40", "--num_warmup_steps=3"],
        eval=done,
        waiting=[*base, "--nodo_train", "--do_eval"],
    )


def answers(folder):
    model = fine_tuned_models.write_classifier(folder / "model")
    (folder / "texts.tsv").write_text("the king\tan old bird\n" * 2, encoding="utf-8")
    texts = [f"--model_dir={model}", f"--input_file={folder}/texts.tsv"]
    return {
        "texts": [*texts, "--output_file={work}/answers"],
        "one": [f"--model_dir={model}", "--output_file={work}/answers", "--text_a=the king"],
    }


def texts(folder):
    model = pretrained_models.write_archive(folder / "model")
    (folder / "texts.tsv").write_text(
        "The old [MASK] went home\nA [MASK] Bird sang\n", encoding="utf-8"
    )
    place = [f"--input_file={folder}/texts.tsv", "--output_file={work}/out"]
    named = [f"--albert_config_file={model}/albert_config.json", "--max_seq_length=32"]
    named += [f"--init_checkpoint={model}/model.ckpt-best"]
    files = [*place, *named, f"--spm_model_file={model}/30k-clean.model"]
    return {
        "texts": files,
        "no_vocabulary": [*place, *named],
        "tokens": [*files, "--pooling=first"],
        "one": [*named, f"--spm_model_file={model}/30k-clean.model", "--output_file={work}/out"],
    }


def sweeping(folder):
    classification_data.write_mrpc(folder)
    model = pretrained_models.write_archive(folder / "model")
    base = ["--dry_run", f"--data_dir={folder}", "--output_dir={work}/out", "--max_seq_length=32"]
    plan = [*base, f"--model_dir={model}"]
    own = ["--tasks=custom", f"--data_dir={folder}/MRPC", "--text_a_column=3", "--labels=0,1"]
    return {"plan": plan, "no model": base, "own": [*plan, *own, "--label_column=0"]}


def planning(folder):
    return {
        "plan": ["--name=base_v2"],
        "labels": ["--name=base_v2", "--json", "--task=classification"],
    }


def showing(folder):
    return {"show": [], "pair": ["--text_a=one", "--text_b=two"]}


def downloading(folder):
    return {"download": []}


def corpus(folder):
    (folder / "a.txt").write_bytes((FIXTURES / "corpus.txt").read_bytes())
    lines = [json.dumps({"text": f"one {n} two", "other": f"three {n} four"}) for n in range(40)]
    (folder / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")


def vocabulary(folder):
    corpus(folder)
    base = ["--vocab_size=200", f"--input_file={folder}/a.txt", "--input_sentence_size=50"]
    return {
        "text": [*base, "--model_prefix={work}/out"],
        "foreign": [*base, "--model_prefix={work}/foreign"],
        "json": ["--model_prefix={work}/out", f"--input_file={folder}/a.jsonl"],
    }


def records(folder):
    corpus(folder)
    lines = [f"The caf\u00e9 number {n}. \u6a21\u578b! So Mr. Brown the Second." for n in range(40)]
    (folder / "b.txt").write_text("\n".join(lines[:20] + [""] + lines[20:]), encoding="utf-8")
    (folder / "bad.txt").write_bytes(b"a \xff b\n" + "\n".join(lines).encode())
    base = ["--max_seq_length=32", "--max_predictions_per_seq=5", "--dupe_factor=1"]
    base += ["--output_file={work}/out", f"--input_file={folder}/b.txt"]
    spm = [*base, f"--spm_model_file={classification_data.VOCABULARY}"]
    return {
        "text": spm,
        "no_vocabulary": base,
        "json": [*spm, f"--input_file={folder}/a.jsonl"],
        "bad": [*spm, f"--input_file={folder}/bad.txt"],
        "Chinese": [*spm, "--language=zh"],
        "foreign": [*spm, "--output_file={work}/foreign"],
    }


def with_foreign_files(work):
    work.mkdir(parents=True)
    for name in ("foreign", "foreign-00000-of-00001", "foreign.model"):
        (work / name).write_text("mine", encoding="utf-8")


def exporting(folder):
    model = released_archives.write_model(folder / "model")
    base = [f"--albert_directory={model}", "--export_path={work}/new/"]
    return {"export": base}


def converting(folder):
    zh = albert_zh_models.write(folder / "zh")
    new = "--output_dir={work}/new"
    return {"from_albert_zh": ["--direction=from_albert_zh", f"--input_dir={zh}", new]}


# ---------------------------------------------------------------------------------------------
# The tests.

# How a script's probes are laid out, what lies there before each, and whether it runs to its end.
PROBES = {
    "convert_checkpoint": (converting, with_foreign_files, True),
    "create_pretraining_data": (records, with_foreign_files, True),
    "create_pretraining_data_beam": (records, with_foreign_files, True),
    "download_data": (downloading, with_foreign_files, True),
    "download_model": (downloading, with_foreign_files, True),
    "embed": (texts, with_foreign_files, True),
    "export_checkpoints": (exporting, with_foreign_files, True),
    "export_to_tfhub": (exporting, with_foreign_files, True),
    "fill_mask": (texts, with_foreign_files, True),
    "plan": (planning, with_foreign_files, True),
    "predict": (answers, with_foreign_files, True),
    "run_classifier": (classifier, with_checkpoint, False),
    "run_pretraining": (pretraining, with_checkpoint, False),
    "run_race": (race, with_checkpoint, False),
    "run_squad_v1": (squad, with_checkpoint, False),
    "run_squad_v2": (squad, with_checkpoint, False),
    "show_changes": (showing, with_foreign_files, True),
    "sweep": (sweeping, with_foreign_files, True),
    "train_vocab": (vocabulary, with_foreign_files, True),
}


def scripts():
    """The modules that are started by flags, by name."""
    sources = sorted((ROOT / "albert").glob("*.py"))
    return [path.stem for path in sources if "    script.run(main" in path.read_text("utf-8")]


def module_of(script):
    return importlib.import_module(f"albert.{script}")


@pytest.mark.parametrize("script", scripts())
def test_every_flag_has_its_entry(script):
    defined = flags.FlagValues()
    module_of(script).Flags(defined)
    assert sorted(HEARD[script]) == sorted(defined)
    has_probes = not all(isinstance(entry, str) for entry in HEARD[script].values())
    assert has_probes == (script in PROBES)


def test_the_tests_that_entries_name_are_there():
    entries = {item for table in HEARD.values() for item in table.items()}
    for flag, entry in entries:
        if not isinstance(entry, str):
            continue
        file, _, name = entry.partition("::")
        if name:
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), entry
        else:
            assert flag in HEARD[entry]


class Probed:
    """A script, and what is seen of it in each mode."""

    def __init__(self, script, folder):
        lay_out, prepare, runs_through = PROBES[script]
        self._work = folder / "work"
        modes = lay_out(folder)
        others = "pipeline_options" if script == "create_pretraining_data_beam" else None
        self._script = flag_probes.Script(
            module_of(script), self._work, prepare, runs_through=runs_through, others=others
        )
        self._modes = {name: [self._filled(a) for a in given] for name, given in modes.items()}
        self._first = next(iter(modes))
        self._seen = {}

    def _filled(self, argument):
        return argument.replace("{work}", str(self._work))

    def without(self, mode=None):
        """What is seen in a mode, which is the same twice: nothing but flags makes a difference."""
        mode = mode or self._first
        if mode not in self._seen:
            self._seen[mode] = self._script.outcome(self._modes[mode])
            if mode == self._first:
                assert self._script.outcome(self._modes[mode]) == self._seen[mode]
        return self._seen[mode]

    def hears(self, name, mode, value):
        if mode in ("TPU", "named_TPU") and not estimator.HAS_TF_ESTIMATOR:
            return True  # refused there, whatever the flag says
        flag = f"--{name}{self._filled(value)}"
        without = self.without(mode)
        with_it = self._script.outcome([*self._modes[mode or self._first], flag])
        return flag_probes.is_heard(flag, without, with_it)

    def found(self, values):
        """Those of the numbers, by flag, that show when all flags are given at once."""
        given = [f"--{name}={value}" for name, value in values.items()]
        seen = self._script.outcome([*self._modes[self._first], *given])
        numbers = flag_probes.numbers(seen)
        assert not np.isin(
            np.float32(list(values.values())), flag_probes.numbers(self.without())
        ).any()
        return [name for name, value in values.items() if np.float32(value) in numbers]


@pytest.mark.slow
@pytest.mark.parametrize("script", [script for script in scripts() if script in PROBES])
def test_every_flag_is_heard(script, tmp_path):
    if script == "create_pretraining_data_beam":
        pytest.importorskip("apache_beam")
    probed = Probed(script, tmp_path)
    table = {name: entry for name, entry in HEARD[script].items() if not isinstance(entry, str)}
    values = {name: entry.value for name, entry in table.items() if isinstance(entry, Number)}
    if values:
        assert probed.found(values) == list(values)
    unheard = [
        name
        for name, entry in table.items()
        if name not in values and not probed.hears(name, *entry)
    ]
    assert unheard == []
