# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What one update of a training run takes: memory and time, from arithmetic alone.

The memory is that of the graph `modeling` and `ops.fused` build (with --use_xla, the default): what
each operation keeps for the backward pass is listed below, as are the temporaries of the widest
moment. What the runtime needs besides (libraries, graph, compiled clusters) and what its allocator
loses between tensors were measured; docs/planning.md says how well the sums agree with processes.

Dimensions: b sequences of a micro-batch, S sequence, T = b * S tokens, E embedding, H hidden,
I intermediate, N heads, V vocabulary, P predictions a sequence, L blocks, W parameters.
"""

from typing import Dict, Mapping, NamedTuple, Optional

from albert import model_size, modeling

# Bytes of an activation in each --precision.
ACTIVATION_BYTES = {"float32": 4, "bfloat16": 2}
_FLOAT32 = model_size.FLOAT32_BYTES
_SLOTS = 2  # AdamW and LAMB keep two numbers for each parameter

# The share of a large matrix product's rate at which a whole step runs: of use where nothing else
# is known of the machine (docs/results.md).
UTILISATION = {"float32": 0.80, "bfloat16": 0.75}


class Job(NamedTuple):
    """A training run whose memory and time are asked for.

    Attributes:
      config: the model.
      task: a key of model_size.TASKS.
      batch: examples in one update.
      length: pieces in a sequence.
      precision: a key of ACTIVATION_BYTES.
      recompute: whether only the inputs of blocks are kept.
      accumulation: micro-batches of one update.
      predictions: masked words a sequence, of pretraining.
      num_labels: of a classification.
    """

    config: modeling.AlbertConfig
    task: str
    batch: int
    length: int
    precision: str = "float32"
    recompute: bool = False
    accumulation: int = 1
    predictions: int = 20
    num_labels: int = 2

    @property
    def sequences(self) -> int:
        """Returns the sequences of one micro-batch."""
        return self.batch // self.accumulation * model_size.find_task(self.task).sequences

    @property
    def blocks(self) -> int:
        """Returns how many blocks the encoder runs."""
        return self.config.num_hidden_layers * self.config.inner_group_num


def check(job: Job) -> None:
    """Makes sure that such a run can be started.

    Raises:
      ValueError: an unknown task, a sequence longer than the model's positions, or a batch that
        does not split into the micro-batches.
    """
    model_size.find_task(job.task)
    if job.length > job.config.max_position_embeddings:
        raise ValueError(
            f"--max_seq_length={job.length} is longer than the model's max_position_embeddings, "
            f"{job.config.max_position_embeddings}."
        )
    if job.batch % job.accumulation:
        raise ValueError(
            f"--batch={job.batch} is not a multiple of --gradient_accumulation_steps="
            f"{job.accumulation}: the micro-batches of an update have the same size."
        )


# ---------------------------------------------------------------------------------------------
# Memory.


class Runtime(NamedTuple):
    """What a process takes beside what is worked out here; measured.

    Attributes:
      standing: bytes before model and data: libraries, graph and compiled clusters.
      each_block: bytes of graph and compiled clusters for each block of the encoder.
      activations_factor: how many times the activations count, for pieces of memory that nothing
        fits into any more.
      temporaries_factor: the same for the temporaries.
      handlings: how often each of `touched_elements` is read, computed with and written in an
        update, by precision; a simple function on one number is one.
    """

    standing: float
    each_block: float
    activations_factor: float
    temporaries_factor: float
    handlings: Mapping[str, float]


def runtime_of(*, is_tf2: bool) -> Runtime:
    """Returns what was measured on a CPU, on TensorFlow 2.15 or 1.15."""
    if is_tf2:
        return Runtime(
            standing=800e6,
            each_block=0.0,
            activations_factor=1.08,
            temporaries_factor=1.08,
            handlings={"float32": 12.0, "bfloat16": 7.5},
        )
    return Runtime(
        standing=250e6,
        each_block=35e6,
        activations_factor=1.42,
        temporaries_factor=0.81,
        handlings={"float32": 11.5, "bfloat16": 11.5},
    )


class Memory(NamedTuple):
    """Bytes of one process at its widest moment.

    Attributes:
      runtime: libraries, graph and compiled clusters.
      weights: float32 variables.
      slots: the optimiser's state.
      copies: weights as the products take them: query, key and value joined; bfloat16.
      activations: what the forward pass keeps for the backward pass.
      temporaries: what the backward pass needs besides at its widest moment.
      gradients: all gradients, and with accumulation their sums.
      update: new weights and slots while they are computed.
    """

    runtime: float
    weights: float
    slots: float
    copies: float
    activations: float
    temporaries: float
    gradients: float
    update: float

    @property
    def peak(self) -> float:
        """Returns the sum.

        Activations are gone when the update runs, but the places they leave are not of the size
        that gradients and new slots need; processes were seen to grow by both.
        """
        return sum(self)


def memory(job: Job, runtime: Runtime) -> Memory:
    """Returns the memory of a run.

    Args:
      job: the run.
      runtime: what the process takes besides; see `runtime_of`.

    Raises:
      ValueError: see `check`.
    """
    check(job)
    sizes = _Sizes(job)
    gradients = _FLOAT32 * sizes.trained
    kept = kept_activations(job)
    return Memory(
        runtime=runtime.standing + runtime.each_block * job.blocks,
        weights=_FLOAT32 * sizes.parameters,
        slots=_SLOTS * _FLOAT32 * sizes.trained,
        copies=_copies(job, sizes),
        activations=runtime.activations_factor * sum(kept.values()),
        temporaries=runtime.temporaries_factor * _temporaries(job, sizes),
        # With accumulation the sums stand beside them, before and after a micro-batch is added.
        gradients=gradients * (3 if job.accumulation > 1 else 1),
        # Variables are updated a few at a time; fitted as a third of all new weights and slots.
        update=gradients,
    )


class CheckpointBytes(NamedTuple):
    """Sizes of a checkpoint's data."""

    weights: int  # as exported and released
    with_slots: int  # as training writes it


def checkpoint_bytes(job: Job) -> CheckpointBytes:
    """Returns the sizes of the checkpoints of a run."""
    sizes = _Sizes(job)
    weights = _FLOAT32 * sizes.parameters
    return CheckpointBytes(weights, weights + _SLOTS * _FLOAT32 * sizes.trained)


# How often recomputation handles the activations, where training without it does once: fitted.
_PASSES_WITH_RECOMPUTATION = 1.75


class _Sizes:
    """Numbers of elements that several parts of the sum share."""

    def __init__(self, job: Job):
        config = job.config
        counts = model_size.parameter_counts(config, job.task, num_labels=job.num_labels)
        self.parameters = sum(counts.values())
        unused = 0 if model_size.find_task(job.task).uses_pooler else counts[model_size.POOLER]
        self.trained = self.parameters - unused
        self.encoder = counts[model_size.ENCODER]
        self.tokens = job.sequences * job.length  # T
        self.hidden = self.tokens * config.hidden_size  # T H
        self.inner = self.tokens * config.intermediate_size  # T I
        self.scores = self.tokens * job.length * config.num_attention_heads  # b N S S
        self.logits = 0  # b P V
        if job.task == "pretraining":
            self.logits = job.sequences * job.predictions * config.vocab_size


def kept_activations(job: Job) -> Dict[str, float]:
    """Returns what the forward pass keeps for the backward pass, in bytes by kind.

    Recomputation keeps the inputs of the blocks, and the rest of one block at a time.
    """
    sizes, width = _Sizes(job), ACTIVATION_BYTES[job.precision]
    whole_blocks = 1 if job.recompute else job.blocks
    kept = {name: whole_blocks * size for name, size in _kept_in_block(job, sizes).items()}
    # A block's input; in bfloat16 the heads get the last output in float32 besides.
    kept["inputs of blocks"] = (job.blocks + 1) * sizes.hidden * width
    if width != _FLOAT32:
        kept["last output in float32"] = sizes.hidden * _FLOAT32
    kept["embeddings"] = _kept_embeddings(job, sizes)
    kept["embeddings"] += _dropout_mask(job.config.hidden_dropout_prob, sizes.hidden)
    return kept


def _kept_embeddings(job: Job, sizes: _Sizes) -> float:
    """The input and output of the embeddings' LayerNorm, in float32."""
    embedded = sizes.tokens * job.config.embedding_size
    if job.config.embedding_layout == "google":
        return _FLOAT32 * 2 * embedded
    return _FLOAT32 * (embedded + sizes.hidden)


def _kept_in_block(job: Job, sizes: _Sizes) -> Dict[str, float]:
    """What one block keeps beside its input, in bytes.

    Compiled clusters keep their inputs only: of gelu the value before it, of a softmax its result,
    of a LayerNorm the two summands.
    """
    config, width = job.config, ACTIVATION_BYTES[job.precision]
    attention_dropout = config.attention_probs_dropout_prob
    dropped = sizes.scores * width if attention_dropout else 0
    masks = 2 * _dropout_mask(config.hidden_dropout_prob, sizes.hidden)
    masks += _dropout_mask(attention_dropout, sizes.scores)
    return {
        "query, key, value": 3 * sizes.hidden * width,
        "attention probabilities": sizes.scores * width + dropped,
        "attention's sum": sizes.hidden * width,
        # Both sub-layers' results, and the LayerNorm between them ("preln": one before each).
        "sub-layers": 3 * sizes.hidden * width,
        "feed-forward": sizes.inner * width,
        "dropout masks": masks,
    }


def _dropout_mask(rate: float, count: float) -> float:
    """A byte for each element."""
    return count if rate else 0


def _copies(job: Job, sizes: _Sizes) -> float:
    """Weights in the form the products take."""
    if job.precision != "float32":
        return ACTIVATION_BYTES[job.precision] * sizes.encoder
    hidden = job.config.hidden_size
    groups = len(model_size.attention_groups(job.config)) * job.config.inner_group_num
    return _FLOAT32 * groups * 3 * hidden * hidden


def _temporaries(job: Job, sizes: _Sizes) -> float:
    """The widest of the moments at which (nearly) all activations are there.

    These are the gradient of the masked words' logits, and in the last block's backward pass that
    of the feed-forward part (gradients before and after gelu, gelu again) or of the attention
    (gradients of probabilities and scores, and their product in float32 inside of the cluster),
    when the feed-forward's activations are gone.
    """
    width = ACTIVATION_BYTES[job.precision]
    feed_forward = (3 * sizes.inner + 3 * sizes.hidden) * width
    attention = (2 * sizes.scores + 5 * sizes.hidden - sizes.inner) * width
    attention += sizes.scores * _FLOAT32
    block = max(feed_forward, attention)
    head = _FLOAT32 * (3 * sizes.logits + 2 * sizes.hidden)
    gradients = _weight_gradients(job, sizes)
    return max(head, block + gradients)


def _weight_gradients(job: Job, sizes: _Sizes) -> float:
    """Those of one block, before they are added to the sum over layers."""
    groups = len(model_size.feed_forward_groups(job.config)) * job.config.inner_group_num
    return ACTIVATION_BYTES[job.precision] * sizes.encoder / groups


def largest_batch(job: Job, runtime: Runtime, *, memory_bytes: float) -> int:
    """Returns the largest micro-batch, in examples, whose peak is within `memory_bytes`.

    With accumulation a batch may be any multiple of it. 0 where not even one example fits.

    Args:
      job: the run; its batch does not count.
      runtime: what the process takes besides; see `runtime_of`.
      memory_bytes: the limit.
    """

    def fits(size: int) -> bool:
        tried = job._replace(batch=size * job.accumulation)
        return memory(tried, runtime).peak <= memory_bytes

    if not fits(1):
        return 0
    low, high = 1, 2
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


# ---------------------------------------------------------------------------------------------
# Operations and time.


class Work(NamedTuple):
    """Floating-point operations of one update's matrix products."""

    forward: int
    backward: int
    recomputation: int

    @property
    def total(self) -> int:
        """Returns all of them."""
        return sum(self)


def work(job: Job) -> Work:
    """Returns the operations of one update: recomputation runs the blocks forward once more."""
    check(job)
    once = model_size.operations(
        job.config,
        job.task,
        sequences=job.sequences * job.accumulation,
        length=job.length,
        predictions=job.predictions,
        num_labels=job.num_labels,
    )
    return Work(once.forward, once.backward, once.encoder if job.recompute else 0)


class Rates(NamedTuple):
    """What a machine does in a second.

    Attributes:
      products: floating-point operations of a large matrix product, in the job's precision.
      elements: numbers that a simple function is applied to, between reading and writing them;
        None: not known.
    """

    products: float
    elements: Optional[float] = None


def touched_elements(job: Job) -> float:
    """Returns how many numbers one update handles between its products, each counted once.

    These are the activations that the forward pass keeps (and recomputation makes again), the
    masked words' logits three times (their logarithms and their gradient besides), the gradients
    that accumulation adds up, and the parameters that the update writes.
    """
    sizes, once = _Sizes(job), job._replace(recompute=False)
    forward = sum(kept_activations(once).values()) / ACTIVATION_BYTES[job.precision]
    passes = _PASSES_WITH_RECOMPUTATION if job.recompute else 1
    micro_batch = passes * forward + 3 * sizes.logits
    if job.accumulation > 1:
        micro_batch += sizes.trained
    return job.accumulation * micro_batch + sizes.trained


def step_seconds(
    job: Job, rates: Rates, *, runtime: Runtime, utilisation: Optional[float] = None
) -> float:
    """Returns the time of one update.

    It is that of the products and that of all that happens between them. The second does not
    shrink with the first: on a processor that multiplies fast, or in a model of small matrices, it
    is most of an update.

    Args:
      job: the run.
      rates: of the machine.
      runtime: see `runtime_of`.
      utilisation: share of the products' rate that a whole step reaches, in place of the rest;
        where neither that nor the elements' rate is known, UTILISATION's.
    """
    products = work(job).total / rates.products
    if utilisation is not None or rates.elements is None:
        return products / (utilisation or UTILISATION[job.precision])
    return products + runtime.handlings[job.precision] * touched_elements(job) / rates.elements
