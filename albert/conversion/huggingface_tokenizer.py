# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""tokenizer.json: a SentencePiece model in the form that Hugging Face's tokenizers read.

transformers makes one of spiece.model by itself, but cuts the text at the user-defined symbols of
ALBERT's vocabularies ( ( ) " - . and others) and takes what follows for a new word, which no ALBERT
was trained on. Here these symbols are tokens like others. ALBERT's rule on digits ("3," is two
tokens, though the vocabulary has it as one) has no counterpart there; tokens that it forbids get a
score with which they are never chosen in ordinary text.
"""

import base64
import re
from typing import Any, Dict, List

import sentencepiece
from google.protobuf import descriptor_pb2, message_factory, text_format

from albert import tokenization

_FORBIDDEN_SCORE = -1e4
_DIGIT_COMMA = re.compile(r".*[0-9],")
_SPECIAL = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")

# What is read of sentencepiece_model.proto, whose own Python classes need another protobuf.
_SCHEMA = """
name: "albert/sentencepiece.proto"
package: "albert"
message_type {
  name: "NormalizerSpec"
  field { name: "precompiled_charsmap" number: 2 type: TYPE_BYTES label: LABEL_OPTIONAL }
}
message_type {
  name: "ModelProto"
  field {
    name: "normalizer_spec" number: 3 type_name: ".albert.NormalizerSpec"
    type: TYPE_MESSAGE label: LABEL_OPTIONAL
  }
}
"""


def tokenizer_json(content: bytes, do_lower_case: bool) -> Dict[str, Any]:
    """Returns the content of tokenizer.json.

    Args:
      content: of the file of a unigram model with ALBERT's special tokens.
      do_lower_case: whether the text is made lower case.
    """
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(content)
    numbers = {processor.IdToPiece(number): number for number in range(processor.GetPieceSize())}
    vocab = [
        [piece, _FORBIDDEN_SCORE if _DIGIT_COMMA.fullmatch(piece) else processor.GetScore(number)]
        for piece, number in numbers.items()
    ]
    metaspace = {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": "always",
        "split": True,
    }
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            dict(flags, id=numbers[piece], content=piece, special=True)
            for piece in _SPECIAL
            if piece in numbers
        ],
        "normalizer": {"type": "Sequence", "normalizers": _normalizers(content, do_lower_case)},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace],
        },
        "post_processor": {  # [CLS] a [SEP] b [SEP], each with its segment
            "type": "BertProcessing",
            "cls": ["[CLS]", numbers["[CLS]"]],
            "sep": ["[SEP]", numbers["[SEP]"]],
        },
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": processor.unk_id(),
            "vocab": vocab,
            "byte_fallback": False,
        },
    }


def _normalizers(content: bytes, do_lower_case: bool) -> List[Dict[str, Any]]:
    """What tokenization.preprocess_text does, and then SentencePiece's own table."""
    steps: List[Dict[str, Any]] = [{"type": "NFKD"}, {"type": "StripAccents"}]
    if tokenization.keeps_accents(content):
        steps = [{"type": "NFC"}]  # their Precompiled drops the second mark of a decomposed letter
    if do_lower_case:
        steps.append({"type": "Lowercase"})
    schema = text_format.Parse(_SCHEMA, descriptor_pb2.FileDescriptorProto())
    model = message_factory.GetMessages([schema])["albert.ModelProto"].FromString(content)
    charsmap = model.normalizer_spec.precompiled_charsmap
    if charsmap:
        text = base64.b64encode(charsmap).decode("ascii")
        steps.append({"type": "Precompiled", "precompiled_charsmap": text})
    return steps
