# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Weights from and to pytorch_model.bin, run as a program by an interpreter that has PyTorch.

It imports nothing of this package, and TensorFlow need not be installed beside PyTorch:

  python -I huggingface_process.py to_safetensors pytorch_model.bin model.safetensors
  python -I huggingface_process.py to_pytorch model.safetensors pytorch_model.bin
"""

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


if __name__ == "__main__":
    {"to_safetensors": to_safetensors, "to_pytorch": to_pytorch}[sys.argv[1]](*sys.argv[2:])
