# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Fine-tunes ALBERT by transformers' Trainer, to measure against: what its users would write.

Random weights, the fast tokenizer of transformers, and batches that are padded to their longest
text. Trains, evaluates the development data, and predicts the test data.
"""

import dataclasses
import json
import pathlib

import huggingface_model
import transformers

COLUMNS = {"MRPC": (2, 0), "CoLA": (1, 1)}  # number of texts, at a line's end; the label's column


@dataclasses.dataclass
class Arguments(transformers.TrainingArguments):
    """The Trainer's, the data and the model."""

    task_name: str = ""
    data_dir: str = ""
    albert_config_file: str = ""
    spm_model_file: str = ""
    max_seq_length: int = 128


def read(arguments, tokenizer, split):
    """The examples of a split: dicts of lists of numbers."""
    path = pathlib.Path(arguments.data_dir, arguments.task_name, f"{split}.tsv")
    rows = [line.split("\t") for line in path.read_text().rstrip("\n").split("\n")]
    if arguments.task_name == "MRPC" or split == "test":
        del rows[0]  # the header
    texts, label = COLUMNS[arguments.task_name]
    encoded = tokenizer(
        *map(list, zip(*(row[-texts:] for row in rows))),
        truncation=True,
        max_length=arguments.max_seq_length,
        return_token_type_ids=True,
    )
    if split != "test":
        encoded["labels"] = [int(row[label]) for row in rows]
    return [dict(zip(encoded, values)) for values in zip(*encoded.values())]


def main():
    """Runs the script."""
    (arguments,) = transformers.HfArgumentParser(Arguments).parse_args_into_dataclasses()
    transformers.set_seed(arguments.seed)
    folder = pathlib.Path(arguments.spm_model_file).parent
    tokenizer = transformers.AlbertTokenizer.from_pretrained(folder)
    train, dev, test = (read(arguments, tokenizer, split) for split in ("train", "dev", "test"))
    trainer = transformers.Trainer(
        model=huggingface_model.build_model(
            arguments.albert_config_file, "classification", classifier_dropout_prob=0.1
        ),
        args=arguments,
        train_dataset=train,
        eval_dataset=dev,
        processing_class=tokenizer,
        data_collator=transformers.DataCollatorWithPadding(tokenizer),
        compute_metrics=lambda found: {
            "accuracy": (found.predictions.argmax(-1) == found.label_ids).mean()
        },
    )
    trainer.train()
    trainer.save_model()
    output = pathlib.Path(arguments.output_dir)
    (output / "run_summary.json").write_text(json.dumps({"metrics": trainer.evaluate()}))
    labels = trainer.predict(test).predictions.argmax(-1)
    (output / "predictions.txt").write_text("".join(f"{label}\n" for label in labels))


if __name__ == "__main__":
    main()
