# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Pretraining as a task: its records, losses, metrics and model function.

The model predicts masked words, and whether two segments were swapped (arXiv:1909.11942, section
3.1). Its loss is the sum of the two losses.

Dimensions: B batch, S sequence, P predictions a sequence.
"""

import collections
import functools
import itertools
import logging
import math
import os
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)

import tensorflow.compat.v1 as tf

from albert import modeling
from albert.data import batches, padded_batches, record_index
from albert.ops import plain
from albert.pretrained import model_vocabulary
from albert.pretraining import instances, masking, words
from albert.pretraining.settings import DataSettings, PretrainingFlags
from albert.runtimes import compat
from albert.training import distribution, model_fn
from albert.util import files as file_utils
from albert.util import many_files, wording
from albert.util.errors import UserError

_LOGGER = logging.getLogger("albert")

Tensors = model_fn.Tensors

_RECORDS_TO_CHECK = 10  # of each file
_MASK_KINDS = ("ngram", "favor_shorter_ngram", "do_whole_word_mask")
_EVALUATION_SEED = 0  # no result may depend on the training's seed
# Keeps the mean over weights finite where a batch has none.
_WEIGHT_EPSILON = 1e-5


# ---------------------------------------------------------------------------------------------
# Records.


def feature_spec(max_seq_length: int, max_predictions_per_seq: int) -> batches.FeatureSpec:
    """Returns the declaration of a pretraining record: S tokens, and P slots for masked ones.

    Records made with do_permutation have twice the slots that data creation was told.
    """
    sequence, predictions = (max_seq_length,), (max_predictions_per_seq,)
    feature = batches.Feature
    return batches.FeatureSpec(
        (
            feature("input_ids", sequence, tf.int64),
            feature("input_mask", sequence, tf.int64),
            feature("segment_ids", sequence, tf.int64),
            # Only masking on the fly needs it, and records of other makers may lack it.
            feature("token_boundary", sequence, tf.int64, default=0),
            # Records to be masked on the fly have none of these.
            feature("masked_lm_positions", predictions, tf.int64, default=0),
            feature("masked_lm_ids", predictions, tf.int64, default=0),
            feature("masked_lm_weights", predictions, tf.float32, default=0),
            # The name is historic: it holds the label of the sentence order.
            feature("next_sentence_labels", (1,), tf.int64),
        )
    )


class RecordsVocabulary(NamedTuple):
    """The vocabulary in the metadata of a record file."""

    file: str  # the record file
    name: str  # of the vocabulary's file, as the next
    sha256: str
    do_lower_case: Optional[bool]  # None: not recorded


def check_records(
    files: Sequence[str],
    *,
    max_seq_length: int,
    max_predictions_per_seq: int,
    config: modeling.AlbertConfig,
    masks_on_the_fly: bool = False,
) -> List[RecordsVocabulary]:
    """Looks at the first records of each file, so that a mistake shows before training starts.

    Returns what the metadata tells of vocabularies. Raises ValueError where a file is empty, or
    does not fit the flags or the model.
    """
    lengths = {
        "input_ids": ("max_seq_length", max_seq_length),
        "masked_lm_positions": ("max_predictions_per_seq", max_predictions_per_seq),
    }
    limits = {
        "input_ids": ("vocab_size", config.vocab_size),
        "masked_lm_ids": ("vocab_size", config.vocab_size),
        "segment_ids": ("type_vocab_size", config.type_vocab_size),
    }

    def look_at(file: str) -> Optional[RecordsVocabulary]:
        examples = list(_examples(file))
        if not examples:
            raise UserError(f"{file} holds no records. Create the pretraining data again.")
        for example in examples:
            _check_example(file, example, lengths=lengths, limits=limits)
        if not masks_on_the_fly and not any(map(_has_masks, examples)):
            raise UserError(
                f"{file}: the records hold no masks. Draw them on the fly by "
                "--masked_lm_budget=0.1765 (15% of the tokens), or create the records with a "
                "--masked_lm_prob above 0."
            )
        return _recorded_vocabulary(file, config)

    return list(filter(None, many_files.each(look_at, files, "Looking at the records")))


def _check_example(
    file: str,
    example: tf.train.Example,
    *,
    lengths: Mapping[str, Tuple[str, int]],
    limits: Mapping[str, Tuple[str, int]],
) -> None:
    """Compares one record with the flags (`lengths`) and the model (`limits`)."""
    if not _values(example, "input_ids"):
        raise UserError(f"{file} is no file of pretraining records: input_ids is missing.")
    for name, (flag, length) in lengths.items():
        found = len(_values(example, name))
        if found not in (0, length):
            raise UserError(
                f"{file}: {name} of its records has length {found}, but --{flag}={length}. Give "
                f"--{flag}={found}, or create the records with --{flag}={length}."
            )
    for name, (key, limit) in limits.items():
        largest = max(_values(example, name), default=0)
        if largest >= limit:
            raise UserError(
                f"{file}: {name} holds {largest}, but the model's {key} is {limit}. The records "
                "were made with another vocabulary than the configuration is for."
            )


def _recorded_vocabulary(file: str, config: modeling.AlbertConfig) -> Optional[RecordsVocabulary]:
    """The vocabulary, where the metadata tells; a model may have more tokens, but not fewer."""
    sidecar = batches.read_sidecar(file)
    made_from = sidecar.fingerprint if sidecar else {}
    pieces = made_from.get("vocab_size") or 0
    if pieces > config.vocab_size:
        raise UserError(
            f"{file} was made with a vocabulary of {pieces} tokens, but the model's vocab_size is "
            f"{config.vocab_size}. Set vocab_size to {pieces}, or use the model's vocabulary."
        )
    tokenizer = made_from.get("tokenizer") or {}
    if "sha256" not in tokenizer:
        return None
    return RecordsVocabulary(
        file, tokenizer["name"], tokenizer["sha256"], made_from.get("do_lower_case")
    )


def vocabulary_of_records(
    told: Sequence[RecordsVocabulary], named: Optional[model_vocabulary.Vocabulary] = None
) -> Optional[Tuple[model_vocabulary.Vocabulary, str]]:
    """Returns the vocabulary of records, and the name of its file; None where that is unknown.

    Args:
      told: what `check_records` returned for the records.
      named: the one that the flags name.
    """
    if not told and named:
        return named, os.path.basename(named.path)
    kinds = {(one.sha256, one.do_lower_case) for one in told}
    if len(kinds) == 1:
        name, sha256, do_lower_case = told[0][1:]
        folders = sorted({os.path.dirname(one.file) for one in told})
        found = [model_vocabulary.find_beside_records(folder, sha256) for folder in folders]
        if named and file_utils.sha256(named.path) == sha256:
            found.insert(0, named)
        for vocabulary in filter(None, found):
            return vocabulary._replace(do_lower_case=do_lower_case), name
    _LOGGER.warning(
        "The vocabulary of the records is not beside them, or they have several (%s). So "
        "--output_dir gets none. Give --spm_model_file or --vocab_file to put it there.",
        wording.listed(sorted({one.name for one in told})),
    )
    return None


def _examples(file: str) -> Iterator[tf.train.Example]:
    """The first records."""
    for record in itertools.islice(batches.records(file), _RECORDS_TO_CHECK):
        try:
            example = tf.train.Example.FromString(record)
        except Exception as error:  # protobuf's error class differs between its versions
            raise UserError(f"{file} does not hold tf.train.Example records: {error}") from error
        yield example


def _values(example: tf.train.Example, name: str) -> Sequence[float]:
    """The values of a feature, none if it is not there."""
    if name not in example.features.feature:  # looking it up would add it
        return ()
    feature = example.features.feature[name]
    return feature.int64_list.value or feature.float_list.value


def _has_masks(example: tf.train.Example) -> bool:
    return any(_values(example, "masked_lm_weights"))


# ---------------------------------------------------------------------------------------------
# Input.


class InputSettings(NamedTuple):
    """What an input function reads, and how."""

    files: Sequence[str]
    max_seq_length: int
    max_predictions_per_seq: int
    is_training: bool
    seed: int = 0
    start_step: int = 0  # training goes on with the batch of this step
    max_batches: Optional[int] = None  # of evaluation
    shuffle_window: int = 10000  # records that are shuffled together
    index_folder: Optional[str] = None  # cache folder for the offsets of records
    masked_lm_budget: float = 0.0  # if positive, masks are drawn on the fly
    vocabulary: Optional[words.Vocabulary] = None  # if the metadata of the records has none
    padding: str = "max"  # one of padded_batches.MODES; in evaluation bucket is as longest

    @property
    def cut(self) -> padded_batches.Padding:
        """How sequences are cut."""
        names = ("input_ids", "input_mask", "segment_ids", "token_boundary")
        return padded_batches.Padding(self.padding, features=names)


def build_input_fn(settings: InputSettings) -> Callable:
    """Returns an estimator's input function: params -> tf.data.Dataset of feature dicts.

    In training the batches are endless, and batch n is a function of the seed and n. In evaluation
    each record comes once, and the last batch is filled up with records of weight zero.
    """
    spec = feature_spec(settings.max_seq_length, settings.max_predictions_per_seq)
    transform = None
    if not settings.is_training:
        transform = _evaluation_transform(settings)
    elif settings.masked_lm_budget:
        transform = _masking(settings)

    def input_fn(params: Mapping[str, Any]) -> tf.data.Dataset:
        """Reads batches of params["batch_size"], the part of one core."""
        shard = batches.input_shard(params)
        if not settings.is_training:
            return _evaluation_batches(settings, spec, params, shard=shard, transform=transform)
        return padded_batches.training_batches(
            settings.files,
            spec,
            padding=settings.cut,
            batch_size=params["batch_size"],
            seed=settings.seed,
            start_batch=settings.start_step * shard.batches_per_step,
            shard=shard,
            shuffle_window=settings.shuffle_window,
            transform=transform,
            index_folder=settings.index_folder,
        )

    return input_fn


def _masking(settings: InputSettings) -> Callable:
    """Draws masks of the kind that the records' metadata tells, or by default the paper's."""
    made_with = _made_with(settings.files)
    budget = settings.masked_lm_budget
    masks = DataSettings(
        max_seq_length=settings.max_seq_length,
        max_predictions_per_seq=settings.max_predictions_per_seq,
        masked_lm_prob=budget / (1.0 + budget),  # the budget is masked to unmasked
        **made_with.get("settings", {}),
    )
    if masks.do_whole_word_mask:
        check = _check_boundaries
        collections.deque(many_files.each(check, settings.files, "Looking for words"), maxlen=0)
    unit = "whole words" if masks.do_whole_word_mask else "tokens"
    _LOGGER.info(
        "Masks are drawn on the fly: %.1f%% of the tokens, at most %d, in n-grams of up to %d %s.",
        *(100.0 * masks.masked_lm_prob, masks.max_predictions_per_seq, masks.ngram, unit),
    )
    instances.warn_of_few_slots(masks)
    return masking.masking(
        settings=masks,
        seed=settings.seed if settings.is_training else _EVALUATION_SEED,
        vocabulary=_vocabulary(settings.vocabulary, made_with.get("vocabulary")),
    )


def _check_boundaries(file: str) -> None:
    if not any(any(_values(example, "token_boundary")) for example in _examples(file)):
        raise UserError(
            f"--masked_lm_budget needs records with token_boundary, which says where words begin; "
            f"{file} has none. Create the records anew with create_pretraining_data."
        )


def _made_with(files: Sequence[str]) -> Dict[str, Any]:
    """What the metadata of record files says about masks and vocabulary; {} where none does."""
    known: Dict[str, Any] = {}
    sidecars = many_files.each(batches.read_sidecar, files, "Looking for masks' settings")
    for file, sidecar in zip(files, sidecars):
        made_from = sidecar.fingerprint if sidecar else {}
        if "settings" not in made_from and "vocabulary" not in made_from:
            continue
        settings = made_from.get("settings", {})
        kinds = {name: settings[name] for name in _MASK_KINDS if name in settings}
        found = {"settings": kinds, "vocabulary": made_from.get("vocabulary")}
        if known and known != found:
            raise UserError(
                f"--masked_lm_budget: {file} was created with other masks ({kinds}) or another "
                f"vocabulary than the files before it ({known['settings']}). Create them with the "
                "same flags, or train on one after the other."
            )
        known = found
    return known


def _vocabulary(
    named: Optional[words.Vocabulary], recorded: Optional[Mapping[str, Any]]
) -> words.Vocabulary:
    """The one of the records' metadata, or else that of the flags."""
    if named and recorded and words.describe_vocabulary(named) != recorded:
        raise UserError(
            "--spm_model_file or --vocab_file names another vocabulary than the records were "
            f"made with: [MASK] is the token {named.mask_id} of the one and "
            f"{recorded['mask_id']} of the other. Name theirs, or none."
        )
    if recorded:
        return words.described_vocabulary(recorded)
    if named:
        return named
    raise UserError(
        "--masked_lm_budget cannot tell which token is [MASK]: the hidden file that "
        "create_pretraining_data wrote beside the records (.NAME.meta.json) is missing. Copy it "
        "too, or name the records' vocabulary by --spm_model_file or --vocab_file."
    )


def lack_masks(files: Sequence[str]) -> bool:
    """Returns whether any of the record files holds no masks."""

    def has_some(file: str) -> bool:
        return any(map(_has_masks, _examples(file)))

    return not all(many_files.each(has_some, files, "Looking for masks"))


def _evaluation_transform(settings: InputSettings) -> Optional[Callable]:
    """Evaluation keeps the records' masks, and draws the same ones each time if there are none."""
    if not settings.masked_lm_budget or not lack_masks(settings.files):
        return None
    draw = _masking(settings)

    def transform(features: Tensors, numbers: tf.Tensor) -> Dict[str, tf.Tensor]:
        drawn = draw(features, numbers)
        has_own = tf.reduce_any(features["masked_lm_weights"] > 0, axis=1)  # [B]
        return {name: tf.where(has_own, features[name], drawn[name]) for name in features}

    return transform


def _evaluation_batches(
    settings: InputSettings,
    spec: batches.FeatureSpec,
    params: Mapping[str, Any],
    *,
    shard: batches.InputShard,
    transform: Optional[Callable],
) -> tf.data.Dataset:
    """The records, or on a TPU this host's share of them and then batches without weight.

    All cores of a TPU want a batch in each step, also when there is none any more.
    """

    read = functools.partial(
        batches.evaluation_batches,
        settings.files,
        spec,
        batch_size=params["batch_size"],
        transform=transform,
        index_folder=settings.index_folder,
    )
    # A TPU's host serves a batch to each of its cores in one step of evaluation.
    most = settings.max_batches and settings.max_batches * shard.batches_per_step
    served = read(max_batches=most, shard_index=shard.index, shard_count=shard.count)
    if not params.get("use_tpu"):
        return served if settings.padding == "max" else padded_batches.cut(served, settings.cut)
    filler = read(max_batches=1).map(
        batches.as_written(
            lambda batch: dict(batch, is_real_example=tf.zeros_like(batch["is_real_example"]))
        )
    )
    return served.concatenate(filler.repeat())


def evaluation_part(
    files: Sequence[str], batch_size: int, max_steps: int, *, index_folder: Optional[str] = None
) -> Tuple[List[str], int]:
    """Returns the files that an evaluation of at most `max_steps` batches reads, and its steps."""
    chosen, before, records = [], 0, batch_size * max_steps
    for one in record_index.load(files, folder=index_folder, enough=records):
        if before < records:
            chosen.append(one.path)
        before += one.count
    return chosen, min(max_steps, int(math.ceil(before / batch_size)))


def evaluation_steps(files: Sequence[str], batch_size: int, max_steps: int) -> int:
    """Returns how many batches hold all records of `files`, at most `max_steps`."""
    return evaluation_part(files, batch_size, max_steps)[1]


# ---------------------------------------------------------------------------------------------
# Model.


# What each head predicts.
_LABELS = {"masked_lm": "masked_lm_ids", "sentence_order": "next_sentence_labels"}

Heads = Mapping[str, modeling.HeadOutput]  # of B * P masked words and of B sentence orders


def build_model_fn(
    settings: PretrainingFlags,
    config: modeling.AlbertConfig,
    init_checkpoint: Optional[str] = None,
    *,
    use_one_hot_embeddings: bool = False,
) -> Callable:
    """Returns a TPUEstimator's model function for training and evaluation; see training.model_fn.

    Training starts from `init_checkpoint`, not from that of the settings.

    Features are those of `feature_spec`, int32 and float32, with a leading dimension B, and
    optionally is_real_example [B], 0 for records that only fill up a batch.
    """

    settings = settings.replace(init_checkpoint=init_checkpoint)
    heads_of = functools.partial(
        _heads, settings, config, use_one_hot_embeddings=use_one_hot_embeddings
    )
    schedule = model_fn.Schedule(
        settings.num_train_steps,
        settings.num_warmup_steps,
        settings.poly_power,
        settings.start_warmup_step,
    )

    def loss_of(micro_batch: Tensors, dropout_seed: tf.Tensor) -> Tuple[tf.Tensor, Dict]:
        heads = heads_of(micro_batch, is_training=True, dropout_seed=dropout_seed)
        return _training_loss(heads, micro_batch)

    def train(features: Tensors, model_dir: Optional[str]) -> Any:

        batch = _shares(features, use_tpu=settings.use_tpu)
        return model_fn.training_spec(
            settings, loss_of, batch, schedule=schedule, model_dir=model_dir
        )

    def evaluate(features: Tensors) -> Tuple[tf.Tensor, Callable, Dict]:
        heads = heads_of(features, is_training=False)
        loss = heads["masked_lm"].loss + heads["sentence_order"].loss
        return loss, evaluation_metrics, _evaluation_tensors(heads, features)

    return model_fn.make_model_fn(settings, train=train, evaluate=evaluate)


def _heads(
    settings: PretrainingFlags,
    config: modeling.AlbertConfig,
    features: Tensors,
    *,
    is_training: bool,
    use_one_hot_embeddings: bool,
    dropout_seed: Optional[tf.Tensor] = None,
) -> Heads:
    dtype = compat.compute_dtype(settings.precision)
    use_xla = settings.use_xla and not settings.use_tpu
    model = modeling.AlbertModel(
        config,
        is_training,
        features["input_ids"],
        input_mask=features["input_mask"],
        token_type_ids=features["segment_ids"],
        use_one_hot_embeddings=use_one_hot_embeddings,
        scope="bert",
        compute_dtype=dtype,
        recompute=settings.recompute and is_training,
        use_xla=use_xla,
        dropout_seed=dropout_seed,
    )
    masked_lm = modeling.get_masked_lm_output(
        config,
        model.get_sequence_output(),
        model.get_embedding_table(),
        features["masked_lm_positions"],
        features["masked_lm_ids"],
        features["masked_lm_weights"],
        projection=model.get_embedding_projection(),
        compute_dtype=dtype,
        use_xla=use_xla and is_training,
    )
    sentence_order = modeling.get_sentence_order_output(
        config, model.get_pooled_output(), features["next_sentence_labels"]
    )
    return {"masked_lm": masked_lm, "sentence_order": sentence_order}


# ---------------------------------------------------------------------------------------------
# Training.


def _shares(features: Tensors, *, use_tpu: bool = False) -> Dict[str, tf.Tensor]:
    """Adds to a batch what each prediction contributes to the means over the whole batch.

    The sum of the micro-batches' losses is then the loss of the batch, however it is split. Where
    replicas have parts of the batch, the mean of their losses is: their parts hold different
    numbers of masked words, so each divides by the mean of these numbers.
    """
    weights = features["masked_lm_weights"]  # [B, P]
    labels = features["next_sentence_labels"]  # [B, 1]
    examples = tf.cast(tf.size(labels), tf.float32)
    total = distribution.mean_over_replicas(tf.reduce_sum(weights), use_tpu=use_tpu)
    return dict(
        features,
        masked_lm_shares=weights / (total + _WEIGHT_EPSILON),
        sentence_order_shares=tf.ones_like(labels, dtype=tf.float32) / examples,
    )


def _outcomes(heads: Heads, features: Tensors) -> Dict[str, tf.Tensor]:
    """Returns the loss of each prediction, and 1 if it is right or 0, float32 [B * P] or [B].

    A label that shares the first place is right, which takes a third of the time of argmax.
    """
    found = {}
    for name, head in heads.items():
        logits = head.log_probs.op.inputs[0]  # log_probs of 30,000 words would take far longer
        of_labels = plain.gather_columns(logits, tf.reshape(features[_LABELS[name]], [-1]))
        is_right = tf.equal(of_labels, tf.reduce_max(logits, axis=-1))
        found[f"{name}_loss"] = head.per_example_loss
        found[f"{name}_accuracy"] = tf.cast(is_right, tf.float32)
    return found


def _training_loss(heads: Heads, batch: Tensors) -> Tuple[tf.Tensor, Dict[str, tf.Tensor]]:
    """Returns a (micro-)batch's part of the loss and of each metric."""
    metrics = {}
    for name, values in _outcomes(heads, batch).items():
        shares = batch[f"{name.rpartition('_')[0]}_shares"]
        metrics[name] = tf.reduce_sum(tf.reshape(shares, [-1]) * values)
    return metrics["masked_lm_loss"] + metrics["sentence_order_loss"], metrics


# ---------------------------------------------------------------------------------------------
# Evaluation.


def _evaluation_tensors(heads: Heads, features: Tensors) -> Dict[str, tf.Tensor]:
    """The arguments of `evaluation_metrics`."""
    labels = features["next_sentence_labels"]  # [B, 1]
    real = features.get("is_real_example")
    real = tf.ones_like(labels) if real is None else tf.reshape(real, [-1, 1])
    real = tf.cast(real, tf.float32)  # [B, 1]
    return {
        **_outcomes(heads, features),
        "masked_lm_weights": tf.reshape(features["masked_lm_weights"] * real, [-1]),
        "sentence_order_weights": tf.reshape(real, [-1]),
    }


def evaluation_metrics(**tensors: tf.Tensor) -> Dict[str, Tuple]:
    """Returns tf.metrics over all batches, exact means; `tensors` are of _evaluation_tensors."""
    return {
        f"{head}_{name}": tf.metrics.mean(tensors[f"{head}_{name}"], tensors[f"{head}_weights"])
        for head in _LABELS
        for name in ("accuracy", "loss")
    }


def evaluation_results(results: Mapping[str, Any]) -> Dict[str, Any]:
    """Returns an estimator's results with the exact loss; its own is a mean of batch means."""
    loss = results["masked_lm_loss"] + results["sentence_order_loss"]
    return dict(results, loss=loss, global_step=int(results["global_step"]))
