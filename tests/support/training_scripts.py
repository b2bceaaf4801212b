# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The scripts that train, each on a task of seconds: its data, its flags, and a run."""

from typing import Any, Callable, NamedTuple

from albert import run_classifier, run_pretraining, run_race, run_squad_v1, run_squad_v2
from albert.tasks.pretraining import run as pretraining_run
from albert.util import flags as flags_lib
from tests.support import classification_data, pretraining_records, race_data, squad_data
from tests.support.squad_data import CONTEXT


class Script(NamedTuple):
    """A script, and a training that takes seconds.

    Attributes:
      flags: its flags class.
      run: what its main calls; returns the outcome.
      arguments: of the training; {data} is the folder of its data.
      phases: what is asked for beside the training.
    """

    flags: Any
    run: Callable
    arguments: str
    phases: str = "--do_train --do_eval --do_predict"


ENCODER = f"--albert_config_file={{data}}/config.json --spm_model_file={race_data.VOCABULARY}"
SQUAD = f"""{ENCODER} --train_file={{data}}/VERSION.json --predict_file={{data}}/VERSION.json
    --max_seq_length=32 --doc_stride=8 --max_query_length=8 --train_batch_size=2
    --num_train_epochs=2 --learning_rate=0.003 --save_checkpoints_steps=2 --keep_checkpoint_max=0"""
SCRIPTS = {
    "run_pretraining": Script(
        run_pretraining.Flags,
        lambda flags: pretraining_run.Pretraining(flags).run(),
        f"""--albert_config_file={{data}}/tiny.json --input_file={{data}}/train-*.tf_record
        --eval_file={{data}}/eval.tf_record --max_seq_length={pretraining_records.LENGTH}
        --max_predictions_per_seq={pretraining_records.PREDICTIONS} --train_batch_size=8
        --eval_batch_size=4 --num_train_steps=6 --num_warmup_steps=2 --save_checkpoints_steps=3""",
        "--do_eval",
    ),
    "run_classifier": Script(
        run_classifier.Flags,
        run_classifier.classify,
        f"""{ENCODER} --task_name=MRPC --data_dir={{data}} --max_seq_length=32 --train_batch_size=8
        --learning_rate=0.01 --train_step=6 --warmup_step=2 --save_checkpoints_steps=2
        --keep_checkpoint_max=0""",
    ),
    "run_race": Script(
        run_race.Flags,
        run_race.answer,
        f"""{ENCODER} --data_dir={{data}} --max_seq_length=48 --max_qa_length=20
        --train_batch_size=4 --learning_rate=0.003 --train_step=4 --warmup_step=1
        --save_checkpoints_steps=2 --num_keep_checkpoint=0""",
    ),
    "run_squad_v1": Script(
        run_squad_v1.Flags,
        run_squad_v1.answer,
        SQUAD.replace("VERSION", "v1"),
        "--do_train --do_predict",
    ),
    "run_squad_v2": Script(
        run_squad_v2.Flags,
        run_squad_v2.answer,
        SQUAD.replace("VERSION", "v2"),
        "--do_train --do_predict",
    ),
}


def write_data(folder):
    """Writes the configurations and the data of all scripts; returns the folder."""
    classification_data.write_config(folder)
    classification_data.write_mrpc(folder)
    race_data.write_race(folder)
    answers = ("king", "bird", "old town", "river")
    asked = [
        squad_data.answered(f"q{n}", CONTEXT, text, f"which {text} ?")
        for n, text in enumerate(answers)
    ]
    none = squad_data.question("none", "which ship ?", is_impossible=True)
    bare = {"id": "bare", "question": "what sang ?"}
    for name, questions in (("v1", asked), ("v2", [*asked, none]), ("bare", [bare])):
        squad_data.write_squad(folder, [squad_data.paragraph(CONTEXT, *questions)], f"{name}.json")
    pretraining_records.write_config(folder / "tiny.json")
    for seed, (name, count) in enumerate({"train-0": 24, "train-1": 24, "eval": 10}.items()):
        pretraining_records.write_records(folder / f"{name}.tf_record", count, seed=seed)
    return folder


def settings_for(name, data, output_dir, arguments=""):
    """The settings of a script's training with further arguments, in which {data} may stand."""
    given = f"--nouse_xla {SCRIPTS[name].arguments} {arguments}".format(data=data)
    return flags_lib.parse(SCRIPTS[name].flags, [f"--output_dir={output_dir}", *given.split()])


def run(name, data, output_dir, arguments=""):
    """Runs a script in this process; returns its outcome."""
    return SCRIPTS[name].run(settings_for(name, data, output_dir, arguments))
