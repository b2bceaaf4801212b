# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""What needs PyTorch, run as a program by an interpreter that has it.

It imports nothing of this package, and TensorFlow need not be installed beside PyTorch:

  python -I huggingface_process.py to_safetensors pytorch_model.bin model.safetensors
  python -I huggingface_process.py to_pytorch model.safetensors pytorch_model.bin
  python -I huggingface_process.py run FOLDER ARCHITECTURE inputs.npz outputs.npz

`run` prints, as JSON on its last line, what transformers says about the loading of the weights.
"""

import json
import sys


def to_safetensors(source: str, target: str) -> None:
    """Writes PyTorch's weights as safetensors; objects other than tensors are not unpickled."""
    import torch
    from safetensors.torch import save_file

    weights = torch.load(source, map_location="cpu", weights_only=True)
    # Tied weights share memory, which safetensors refuses.
    separate = {name: value.clone().contiguous() for name, value in weights.items()}
    save_file(separate, target, metadata={"format": "pt"})


def to_pytorch(source: str, target: str) -> None:
    """Writes safetensors as PyTorch's weights."""
    import torch
    from safetensors.torch import load_file

    torch.save(load_file(source), target)


def run(folder: str, architecture: str, inputs: str, *rest: str) -> None:
    """Writes what a model of transformers makes of a batch.

    Args:
      folder: with config.json and the weights.
      architecture: name of the class, such as AlbertForPreTraining.
      inputs: .npz with input_ids, attention_mask and token_type_ids, int64 [B, S].
      *rest: the path of the .npz to write: each output by its name, float32.
    """
    import numpy as np
    import torch
    import transformers

    (outputs,) = rest
    # Also for the model's parts: the tests compare to the last digits.
    model, info = getattr(transformers, architecture).from_pretrained(
        folder, output_loading_info=True, local_files_only=True
    )
    model = model.float().eval()
    with np.load(inputs) as batch:
        tensors = {name: torch.from_numpy(batch[name]) for name in batch.files}
    with torch.no_grad():
        encoded = getattr(model, "albert", model)(**tensors)
        if architecture == "AlbertForMultipleChoice":
            tensors = {name: value[:, None] for name, value in tensors.items()}
        found = dict(model(**tensors).items())
    found["last_hidden_state"] = encoded["last_hidden_state"]
    found["pooler_output"] = encoded.get("pooler_output")
    arrays = {
        name: value.numpy() for name, value in found.items() if isinstance(value, torch.Tensor)
    }
    np.savez(outputs, **arrays)
    print(json.dumps({key: sorted(map(str, value)) for key, value in info.items() if value}))


if __name__ == "__main__":
    {"to_safetensors": to_safetensors, "to_pytorch": to_pytorch, "run": run}[sys.argv[1]](
        *sys.argv[2:]
    )
