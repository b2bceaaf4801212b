# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Every flag has an effect: it changes a result, a file or the log, or is refused by name.

The probes are made from the fields: a script runs with another value of the flag and without it,
see flag_probes, in one of its modes after another until a difference shows. PROBES_OF has what a
field does not say: a better value, or `mode:name=value` where the first modes cannot hear it.
ELSEWHERE names tests that fail if a flag has no effect. {work} is the folder that is looked at.
"""

import functools
import importlib
import json
import pathlib

import pytest

from albert.classification.settings import CustomTaskFlags
from albert.command_line import commands
from albert.configs import flags as shared
from albert.pretrained.settings import TextFlags
from albert.pretraining.settings import DataSettings
from albert.squad.settings import SquadFlags
from albert.util import flags as flags_lib
from tests.support import (
    albert_zh_models,
    classification_data,
    fine_tuned_models,
    flag_probes,
    one_weight,
    pretrained_models,
    released_archives,
    training_scripts,
)

ROOT = pathlib.Path(__file__).resolve().parents[1]
FIXTURES = ROOT / "tests" / "fixtures"


def probes(text):
    """{flag: (mode or None, value)} of the words of a text."""
    found = {}
    for word in text.split():
        name, value = word.split("=", 1)
        mode, _, name = name.rpartition(":")
        found[name] = (mode or None, value)
    return found


# What holds for every script.
COMMON = probes("""
    output_dir={work}/elsewhere output_file={work}/elsewhere cached_dir={work}/cache
    max_seq_length=31 no_vocabulary:vocab_file=/nowhere optimizer=lamb padding=longest
    waiting:wait_for_checkpoints_minutes=1e-9 distribution_strategy=multi_worker
    worker_patience_seconds=7 num_devices=2 master=grpc://nowhere:1 predict:do_predict=false
    predict:predict_batch_size=3 predict:checkpoint=/nowhere eval:do_eval=false
    eval:eval_batch_size=3 foreign:overwrite=true json:text_field=other
    train_batch_size=4
""")
DATA = probes("""
    language=zh Chinese:user_dictionary=/nowhere max_predictions_per_seq=2 ngram=1
    max_seq_length=24 short_seq_prob=0.9 dupe_factor=2 bad:input_file_mode=rb num_processes=0
    shuffle_window_mb=0 work_dir=/dev/null/work num_shards=2
""")
SQUAD = probes("""
    predict:predict_file=/nowhere train_feature_file={work}/features
    predict:predict_feature_file={work}/features predict:predict_feature_left_file={work}/left
    moved:max_misaligned_answers=1 idle:export_dir={work}/export predict:start_n_top=3
    predict:end_n_top=3
""")
PROBES_OF = {
    "convert_checkpoint": probes(
        "output_dir={work}/other vocab_file=/nowhere head=encoder direction=to_google_layout"
    ),
    "create_pretraining_data": DATA,
    "create_pretraining_data_beam": DATA,
    "embed": probes("max_seq_length=5 columns=3 predict_batch_size=1 tokens:layer=1"),
    "export_checkpoints": probes("export_path={work}/other/ vocab_file=/nowhere"),
    "export_to_tfhub": probes("export_path={work}/other vocab_file=nothere"),
    "fill_mask": probes("text=a[MASK] count=2"),
    "plan": probes("name=large_v2 task=race labels:num_labels=7000 max_seq_length=12"),
    "predict": probes("""
        one:text_a=bird one:text_b=bird columns=1 output_format=tsv predict_batch_size=1
        exit_patience=1 checkpoint=/nowhere
    """),
    "run_classifier": {
        **probes("""
            task_name=tnews predict:predict_file=/nowhere idle:export_dir={work}/export
            export:threshold_to_export=0.3 own:header=false own_eval:dev_file=nothere
            own_predict:test_file=nothere predict:exit_patience=1 padding=max
        """),
        **dict.fromkeys(
            set(flags_lib.describe(CustomTaskFlags)) - {"header", "dev_file", "test_file"},
            ("own", "nothere"),
        ),
    },
    "run_pretraining": probes("""
        optimizer=adamw eval:eval_file=/nowhere vocab_file=/nowhere max_predictions_per_seq=2
        share_type=none until_step=1 train_layers=1
    """),
    "run_race": probes("""
        max_qa_length=9 train_file={work}/features predict:predict_file={work}/features
        eval:eval_file={work}/features
    """),
    "run_squad_v1": SQUAD,
    "run_squad_v2": SQUAD,
    "run_tagger": probes("token_column=1 idle:export_dir={work}/export"),
    "show_changes": probes("name=large_v2 pair:text_a=other pair:text_b=other"),
    "sweep": probes("""
        vocab_file=/nowhere output_dir={work}/other suite=clue tasks=cola seeds=3 do_predict=false
        precision=bfloat16 padding=max run_flags=--recompute own:text_a_column=1
        own:text_b_column=2 own:label_column=5 own:guid_column=2 own:task_file=nothere
        own:train_file=dev.tsv own:dev_file=train.tsv own:test_file=dev.tsv own:labels=0,1,2
        own:metric=eval_loss own:metrics=f1 own:header=true
    """),
    "train_vocab": probes("""
        model_prefix={work}/other vocab_size=201 input_sentence_size=40 character_coverage=0.98
        seed=1
    """),
}
TRANSFER = ["base_url", "sha256", "size_limit_gb", "time_limit_minutes"]
KEPT = {"keep_checkpoint_max": "tests/support/training_scripts.py"}  # test_training_scripts.py
ELSEWHERE = {
    "download_data": dict.fromkeys([*TRANSFER, "data_dir"], "tests/test_download_data.py"),
    "download_model": dict.fromkeys([*TRANSFER, "cache_dir"], "tests/test_download_model.py"),
    "predict": {"exit_threshold": "tests/test_predict.py"},
    "run_classifier": {"exit_threshold": "tests/test_run_classifier.py", **KEPT},
    "run_pretraining": {
        **dict.fromkeys(["eval_untrained", "max_eval_steps"], "tests/test_run_pretraining.py"),
        "output_dir": "tests/support/training_scripts.py",
    },
    "run_race": {"num_keep_checkpoint": "tests/support/training_scripts.py"},
    "run_squad_v1": {
        **dict.fromkeys(["n_best_size", "max_answer_length"], "tests/squad/test_reader.py"),
        **KEPT,
    },
    "run_tagger": KEPT,
    "run_squad_v2": {"null_score_diff_threshold": "tests/test_run_squad.py"},
    "sweep": {"dry_run": "tests/classification/test_sweep.py"},
}
# Flags of every script that tests/test_tpu.py probes.
OF_TPU = {"tpu_name", "tpu_zone", "gcp_project", "num_tpu_cores", "iterations_per_loop"}
# Scripts with their own tests of every flag.
WITHOUT_PROBES = {"doctor", "export_model", "plot"}
# Flags that another script probes, and the same function reads.
PROBED_ELSEWHERE = {
    "create_pretraining_data_beam": (DataSettings, shared.TokenizerFlags),
    "fill_mask": (shared.EncoderFlags, TextFlags),
    "run_race": (shared.TaskFlags,),
    "run_squad_v1": (shared.FineTuningFlags,),
    "run_tagger": (shared.TaskFlags,),
    "run_squad_v2": (SquadFlags,),
}


def another_value(options):
    """A value of a flag that is not its default."""
    kind, default = options["kind"], options["default"]
    if options.get("choices"):
        return next(word for word in options["choices"] if word != default)
    if options.get("path"):
        return "/nowhere"
    values = {bool: [str(not default).lower()], int: ["3", "5"], float: ["0.3", "0.7"]}
    return next(value for value in values.get(kind, ["nothere"]) if value != str(default))


def probes_of(script):
    """{flag: (mode or None, value)} of a script's flags that are probed here."""
    described = flags_lib.describe(module_of(script).Flags)
    known = {**COMMON, **PROBES_OF.get(script, {})}
    left_out = OF_TPU | set(ELSEWHERE.get(script, {}))
    for kind in PROBED_ELSEWHERE.get(script, ()):
        left_out |= set(flags_lib.describe(kind))
    return {
        name: known.get(name) or (None, another_value(options))
        for name, options in described.items()
        if name not in left_out and not options.get("help", "Ignored").startswith("Ignored")
    }


# ---------------------------------------------------------------------------------------------
# How each script is probed: what it reads, and the flags of its modes. The first mode is that of
# the flags without one.


def with_checkpoint(work):
    """Leaves a checkpoint in work/done."""
    (work / "done").mkdir(parents=True)
    one_weight.save(work / "done", 1)


def with_foreign_files(work):
    work.mkdir(parents=True)
    for name in ("foreign", "foreign-00000-of-00001", "foreign.model"):
        (work / name).write_text("mine", encoding="utf-8")


def short_training(script, folder):
    """The flags of a training; of a flag that is given twice the last value counts."""
    training_scripts.write_data(folder)
    arguments = training_scripts.SCRIPTS[script].arguments.format(data=folder)
    return f"{arguments} --output_dir={{work}}/out", " --output_dir={work}/done"


def classifier(folder):
    base, done = short_training("run_classifier", folder)
    classification_data.write_own(folder)
    own = " --task_name=custom --text_a_column=words --label_column=answer --labels=bird,king"
    train = base + " --do_train --train_step=40 --nouse_xla"
    return {
        "train": train,
        "no_vocabulary": train + " --spm_model_file=",
        "eval": base + done + " --do_eval",
        "predict": base + done + " --do_predict",
        "waiting": base + " --do_eval",
        "idle": base + done,
        "export": base + done + " --export_dir={work}/export",
        "own": base + own + " --do_train --nouse_xla",
        "own_eval": base + own + done + " --do_eval",
        "own_predict": base + own + done + " --do_predict",
    }


def race(folder):
    base, done = short_training("run_race", folder)
    done = base + done + " --nodo_train"
    return {
        "train": base + " --nodo_eval --nouse_xla",
        "eval": done,
        "predict": done + " --do_predict --nodo_eval",
    }


def tagger(folder):
    for split in ("train", "dev", "test"):
        text = "the B-DET\nking B-MAN\n\na O\nbird B-BIRD\n"
        (folder / f"{split}.conll").write_text(text, encoding="utf-8")
    classification_data.write_config(folder)
    base = training_scripts.ENCODER.format(data=folder)
    base += f" --data_dir={folder} --max_seq_length=32 --output_dir={{work}}/"
    return {"train": base + "out --do_train --nouse_xla", "idle": base + "done"}


def squad(folder):
    base, done = short_training("run_squad_v1", folder)
    moved = json.loads((folder / "v1.json").read_text(encoding="utf-8"))
    moved["data"][0]["paragraphs"][0]["qas"][0]["answers"][0]["answer_start"] = 5
    (folder / "moved.json").write_text(json.dumps(moved), encoding="utf-8")
    train = base + " --do_train --num_train_epochs=20 --nouse_xla"
    return {
        "train": train,
        "predict": base + done + " --do_predict",
        "idle": base + done,
        "moved": train + f" --train_file={folder}/moved.json",
    }


def pretraining(folder):
    base, done = short_training("run_pretraining", folder)
    train = base + " --num_train_steps=40 --save_checkpoints_steps=7 --nouse_xla"
    evaluation = base + " --nodo_train --do_eval"
    return {
        "train": train,
        "no_vocabulary": train + " --spm_model_file=",
        "eval": evaluation + done,
        "waiting": evaluation,
    }


def answers(folder):
    base = f"--model_dir={fine_tuned_models.write_classifier(folder / 'model')}"
    base += " --output_file={work}/answers"
    (folder / "texts.tsv").write_text("the king\tan old bird\n" * 2, encoding="utf-8")
    return {
        "texts": base + f" --input_file={folder}/texts.tsv",
        "one": base + " --text_a=king",
    }


def texts(folder):
    model = pretrained_models.write_archive(folder / "model")
    lines = "The old [MASK] went home\nA [MASK] Bird sang\n"
    (folder / "texts.tsv").write_text(lines, encoding="utf-8")
    base = f"--albert_config_file={model}/albert_config.json --max_seq_length=32"
    base += f" --init_checkpoint={model}/model.ckpt-best --output_file={{work}}/out"
    place = f" --input_file={folder}/texts.tsv"
    one = base + f" --spm_model_file={model}/30k-clean.model"
    return {
        "texts": one + place,
        "no_vocabulary": base + place,
        "tokens": one + place + " --pooling=first",
        "one": one,
    }


def sweeping(folder):
    classification_data.write_mrpc(folder)
    base = f"--dry_run --data_dir={folder} --output_dir={{work}}/out --max_seq_length=32"
    plan = base + f" --model_dir={pretrained_models.write_archive(folder / 'model')}"
    own = f" --tasks=custom --data_dir={folder}/MRPC --text_a_column=3 --label_column=0"
    return {"plan": plan, "no model": base, "own": plan + own + " --labels=0,1"}


def planning(folder):
    base = "--name=base_v2"
    return {"plan": base, "labels": base + " --json --task=classification"}


def showing(folder):
    return {"show": "", "pair": "--text_a=one --text_b=two"}


def downloading(folder):
    return {"download": ""}


def corpus(folder):
    (folder / "a.txt").write_bytes((FIXTURES / "corpus.txt").read_bytes())
    lines = [json.dumps({"text": f"one {n} two", "other": f"three {n} four"}) for n in range(40)]
    (folder / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")


def vocabulary(folder):
    corpus(folder)
    base = f"--vocab_size=200 --input_file={folder}/a.txt --input_sentence_size=50 --model_prefix="
    return {
        "text": base + "{work}/out",
        "foreign": base + "{work}/foreign",
        "json": f"--model_prefix={{work}}/out --input_file={folder}/a.jsonl",
    }


def records(folder):
    corpus(folder)
    lines = [f"The caf\u00e9 number {n}. \u6a21\u578b! So Mr. Brown the Second." for n in range(40)]
    (folder / "b.txt").write_text("\n".join(lines[:20] + [""] + lines[20:]), encoding="utf-8")
    (folder / "bad.txt").write_bytes(b"a \xff b\n" + "\n".join(lines).encode())
    base = "--max_seq_length=32 --max_predictions_per_seq=5 --dupe_factor=1"
    base += f" --output_file={{work}}/out --input_file={folder}/b.txt"
    spm = base + f" --spm_model_file={classification_data.VOCABULARY}"
    return {
        "text": spm,
        "no_vocabulary": base,
        "json": spm + f" --input_file={folder}/a.jsonl",
        "bad": spm + f" --input_file={folder}/bad.txt",
        "Chinese": spm + " --language=zh",
        "foreign": spm + " --output_file={work}/foreign",
    }


def exporting(folder):
    model = released_archives.write_model(folder / "model")
    return {"export": f"--albert_directory={model} --export_path={{work}}/new/"}


def converting(folder):
    source = f" --input_dir={albert_zh_models.write(folder / 'zh')}"
    return {"zh": "--direction=from_albert_zh --output_dir={work}/new" + source}


# ---------------------------------------------------------------------------------------------
# The tests.

# How a script's probes are laid out.
PROBES = {
    "convert_checkpoint": converting,
    "create_pretraining_data": records,
    "create_pretraining_data_beam": records,
    "download_data": downloading,
    "download_model": downloading,
    "embed": texts,
    "export_checkpoints": exporting,
    "export_to_tfhub": exporting,
    "fill_mask": texts,
    "plan": planning,
    "predict": answers,
    "run_classifier": classifier,
    "run_pretraining": pretraining,
    "run_race": race,
    "run_squad_v1": squad,
    "run_squad_v2": squad,
    "run_tagger": tagger,
    "show_changes": showing,
    "sweep": sweeping,
    "train_vocab": vocabulary,
}


def module_of(script):
    return importlib.import_module(f"albert.{script}")


def test_every_script_is_probed():
    scripts = {module.split(".")[1] for module in commands.COMMANDS.values()}
    assert scripts == {"demo", *PROBES, *WITHOUT_PROBES}
    for script, entries in ELSEWHERE.items():
        for name, file in entries.items():
            assert name in (ROOT / file).read_text(encoding="utf-8"), (script, name)


@pytest.mark.slow
@pytest.mark.parametrize("script", PROBES)
def test_every_flag_is_heard(script, tmp_path):
    if script == "create_pretraining_data_beam":
        pytest.importorskip("apache_beam")
    work = tmp_path / "work"

    def filled(text):
        return text.replace("{work}", str(work))

    modes = {name: filled(given).split() for name, given in PROBES[script](tmp_path).items()}
    trains = script.startswith("run_")  # such a script is ended where it would train
    prepare = with_checkpoint if trains else with_foreign_files
    probed = flag_probes.Script(module_of(script), work, prepare, runs_through=not trains)
    without = functools.lru_cache(maxsize=None)(lambda mode: probed.outcome(modes[mode]))

    def is_heard(name, wanted, value):
        flag = f"--{name}={filled(value)}"
        return any(
            flag_probes.is_heard(flag, without(mode), probed.outcome([*modes[mode], flag]))
            for mode in ([wanted] if wanted in modes else modes)
        )

    first = next(iter(modes))
    assert probed.outcome(modes[first]) == without(first)  # nothing but flags makes a difference
    unheard = [name for name, probe in probes_of(script).items() if not is_heard(name, *probe)]
    assert unheard == []
