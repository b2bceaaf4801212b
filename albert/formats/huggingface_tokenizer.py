# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Converts tokenizers from and to Hugging Face.

to_huggingface describes our tokenizer in tokenizer.json. For SentencePiece, it names a class of
transformers that uses tokenizer.json unchanged. The classes for ALBERT and BERT would give other
tokens. They remove more marks than ALBERT's own code, for example the vowels of Hindi and Thai.
They also split the text at the user-defined symbols of ALBERT's vocabularies, such as ( ) " - . and
start a new word after each. No ALBERT was trained on such tokens.

ALBERT splits "3," into two tokens, although the vocabulary has it as one. transformers has no such
rule. Therefore the tokens that the rule excludes get a score so low that ordinary text never
contains them.
"""

import json
import os
import re
from typing import Any, Dict, List, Mapping, Optional, Tuple

from google.protobuf import json_format
from sentencepiece.sentencepiece_model_pb2 import ModelProto

from albert import tokenization
from albert.formats import huggingface_files
from albert.formats.flags import ConversionFlags
from albert.formats.model_vocabulary import Vocabulary
from albert.util import UserError, files, json_files

_NAMES = {"spm_model_file": "spiece.model", "vocab_file": "vocab.txt"}
_CONFIG_NAME = "tokenizer_config.json"
_JSON_NAME = "tokenizer.json"
_TABLE = huggingface_files.TABLES[_JSON_NAME]
_STEPS = _TABLE["steps"]
_SPECIAL = _TABLE["special tokens"]
_WORDPIECE_SPECIAL = dict(_SPECIAL, pad_token="[PAD]", unk_token="[UNK]")
_FORBIDDEN_SCORE = -1e4
_DIGIT_COMMA = re.compile(r".*[0-9],")


def _read(vocabulary: Vocabulary) -> Dict[str, Any]:
    """Reads `vocab`, with [token, score] by ID, and SentencePiece's settings by name."""
    if vocabulary.key == "vocab_file":
        return {"vocab": [[token, None] for token in tokenization.load_vocab(vocabulary.path)]}
    tokenizer = tokenization.FullTokenizer(None, True, vocabulary.path)
    model = ModelProto.FromString(tokenizer.sp_model.serialized_model_proto())
    content: Dict[str, Any] = {"keep_accents": tokenizer.keep_accents}
    for part in (model.trainer_spec, model.normalizer_spec):
        content.update(json_format.MessageToDict(part, preserving_proto_field_name=True))
    return {**content, "vocab": [[item.piece, item.score] for item in model.pieces]}


# ---- to Hugging Face ----


def _wordpiece(ids: Mapping[str, int], do_lower_case: bool) -> Dict[str, Any]:
    """Describes BasicTokenizer and WordpieceTokenizer as parts of tokenizer.json."""
    steps = [_STEPS["control"]]  # clean_text would also remove private characters
    if do_lower_case:
        steps.append(_STEPS["final sigma"])
    steps.append(dict(_STEPS["BertNormalizer"], lowercase=do_lower_case, strip_accents=None))
    return {
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "pre_tokenizer": _STEPS["BertPreTokenizer"],
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": dict(_STEPS["WordPiece"], vocab=ids),
    }


def _unigram(content: Mapping[str, Any], do_lower_case: bool) -> Dict[str, Any]:
    """Describes preprocess_text and SentencePiece as parts of tokenizer.json."""
    steps = [] if content["keep_accents"] else [_STEPS["NFKD"], _STEPS["marks"]]
    if do_lower_case:
        steps += [_STEPS["final sigma"], _STEPS["Lowercase"]]
    charsmap = content.get("precompiled_charsmap")
    if charsmap:
        # Precompiled maps a letter together with its marks, but composes no other letters.
        table = dict(_STEPS["Precompiled"], precompiled_charsmap=charsmap)
        steps += [_STEPS["NFC"], table, _STEPS["NFC"]]
    return {
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "model": {
            "type": "Unigram",
            "unk_id": content.get("unk_id", 0),
            "vocab": [
                [token, _FORBIDDEN_SCORE if _DIGIT_COMMA.fullmatch(token) else score]
                for token, score in content["vocab"]
            ],
            "byte_fallback": content.get("byte_fallback", False),
        },
    }


def write_vocabulary(
    folder: str, vocabulary: Vocabulary, max_seq_length: int, *, tokenizer_class: str = ""
) -> None:
    """Writes the vocabulary, tokenizer_config.json and tokenizer.json.

    `tokenizer_class` replaces the usual class of transformers.

    Raises:
      UserError: transformers has no such tokenizer.
    """
    content, lower = _read(vocabulary), bool(vocabulary.do_lower_case)
    ids = {token: number for number, (token, _) in enumerate(content["vocab"])}
    if not {"[CLS]", "[SEP]"} <= ids.keys():
        raise UserError(
            f"{vocabulary.path} has no tokens [CLS] and [SEP], which transformers needs."
        )
    is_pieces = vocabulary.key == "spm_model_file"
    special = {
        name: token
        for name, token in (_SPECIAL if is_pieces else _WORDPIECE_SPECIAL).items()
        if token in ids
    }
    flags = {
        **special,
        "do_lower_case": lower,
        "model_max_length": max_seq_length,
        # PreTrainedTokenizerFast uses tokenizer.json unchanged.
        "tokenizer_class": tokenizer_class
        or ("PreTrainedTokenizerFast" if is_pieces else "BertTokenizer"),
        # By default, transformers 5 omits the segments of pairs.
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
    }
    if is_pieces:
        huggingface_files.check_supported(content, "spiece.model", vocabulary.path)
        flags["keep_accents"] = content["keep_accents"]
    tokenizer = {
        **_TABLE["template"],
        "added_tokens": [
            dict(_TABLE["added token"], id=ids[token], content=token) for token in special.values()
        ],
        "post_processor": {  # [CLS] a [SEP] b [SEP], and the segments
            "type": "BertProcessing",
            "cls": ["[CLS]", ids["[CLS]"]],
            "sep": ["[SEP]", ids["[SEP]"]],
        },
        **(_unigram(content, lower) if is_pieces else _wordpiece(ids, lower)),
    }
    files.atomic_write_json(os.path.join(folder, _JSON_NAME), tokenizer)
    path = os.path.join(folder, _NAMES[vocabulary.key])
    files.atomic_write_bytes(path, files.read_bytes(vocabulary.path))
    files.atomic_write_json(os.path.join(folder, _CONFIG_NAME), flags)


# ---- from Hugging Face ----

_TOKEN = {"content": str, "special": bool}
_CONFIG = {
    "model_max_length": (range(1, 1 << 200), None),
    "added_tokens_decoder": ({str: _TOKEN}, None),
}
_PARTS = ("normalizer", "pre_tokenizer", "post_processor", "model")
_PART = {"normalizers": ([dict], None), "pretokenizers": ([dict], None)}
_JSON = {
    **dict.fromkeys(_PARTS, (_PART, None)),
    "model": {"vocab": ({str: int}, [[object, object]])},
    "added_tokens": ([_TOKEN], None),
}


def read_tokenizer_config(folder: str) -> Dict[str, Any]:
    """Returns the content of tokenizer_config.json; {} if there is none."""
    return json_files.read(os.path.join(folder, _CONFIG_NAME), _CONFIG, missing={})


def read_vocabulary(flags: ConversionFlags) -> Tuple[Optional[Vocabulary], Optional[bool]]:
    """Returns (vocabulary, keep_accents) of the model that the flags name.

    The vocabulary comes from a flag or from --input_dir; None if there is none. keep_accents is
    None if the SentencePiece model stores it.

    Raises:
      UserError: a setting that changes ids has no counterpart here, or two files contradict each
        other.
    """
    folder, vocabulary = flags.input_dir, _find_vocabulary(flags)
    if not vocabulary:
        return None, None
    content, config = _read(vocabulary), read_tokenizer_config(folder)
    huggingface_files.check_supported(config, _CONFIG_NAME, os.path.join(folder, _CONFIG_NAME))
    tokenizer = json_files.read(os.path.join(folder, _JSON_NAME), _JSON, missing={})
    added = config.get("added_tokens_decoder") or {}
    tokens = {token for token, _ in content["vocab"]}
    for token in [*added.values(), *(tokenizer.get("added_tokens") or ())]:
        if token["content"] not in tokens or not token["special"]:
            raise UserError(
                f"{folder} adds the token {token['content']!r}. Only transformers cuts words there."
                f" To use {vocabulary.path} alone, remove {_JSON_NAME}, and added_tokens_decoder "
                f"from {_CONFIG_NAME}."
            )
    rules = _rules(tokenizer, content, vocabulary, folder=folder) if tokenizer else {}
    for name, value in rules.items():
        if config.get(name) not in (value, None) and name not in flags.explicit:
            raise UserError(
                f"{folder}: {name} is {config[name]} in {_CONFIG_NAME}, and {value} in "
                f"{_JSON_NAME}. Correct the wrong one."
            )
    rules = {**config, **rules}
    lower, strips = rules.get("do_lower_case"), rules.get("strip_accents")
    if lower is None or "do_lower_case" in flags.explicit:
        lower = flags.do_lower_case
    if vocabulary.key == "vocab_file" and strips not in (None, lower):
        raise UserError(
            f"{folder}: strip_accents is {strips}, do_lower_case is {lower}. albert drops accents "
            "if it lower-cases the text, and only then. To convert the model all the same, with "
            f"other ids for some texts, add --do_lower_case={str(strips).lower()}."
        )
    return vocabulary._replace(do_lower_case=lower), rules.get("keep_accents")


def _find_vocabulary(flags: ConversionFlags) -> Optional[Vocabulary]:
    for key in _NAMES:
        if getattr(flags, key):
            return Vocabulary(key, getattr(flags, key))
    for key, name in _NAMES.items():
        path = os.path.join(flags.input_dir, name)
        if files.exists(path):
            return Vocabulary(key, path)
    return None


def _rules(
    tokenizer: Mapping[str, Any], ours: Dict[str, Any], vocabulary: Vocabulary, *, folder: str
) -> Dict[str, Optional[bool]]:
    """Reads the lower-case and accent settings; refuses other settings that change ids."""
    path, model = os.path.join(folder, _JSON_NAME), tokenizer["model"]
    is_wordpiece = vocabulary.key == "vocab_file"
    huggingface_files.check_supported(ours, "spiece.model", vocabulary.path)
    model.setdefault("type", "WordPiece" if is_wordpiece else "Unigram")
    steps: List[Dict[str, Any]] = []
    for name in _PARTS:
        part = tokenizer.get(name) or {}
        inner = part.get("normalizers", part.get("pretokenizers"))
        steps += [part] if inner is None else inner
    for step in steps:
        setting = {key: step[key] for key in step.keys() - set(_TABLE["converted"])}
        if setting not in _STEPS.values():
            raise UserError(f"{path}: albert has no counterpart of {json.dumps(setting)[:200]}.")
    by_type = {step["type"]: step for step in steps}
    theirs = {**by_type.get("Precompiled", {}), **model}
    if isinstance(model["vocab"], dict):
        theirs["vocab"] = sorted(model["vocab"].items(), key=lambda item: item[1])
    for side in (theirs, ours):  # compare only a token's first word
        side["vocab"] = [str(token).split()[:1] for token, _ in side["vocab"]]
    for name in ("vocab", "byte_fallback", "precompiled_charsmap"):
        if (theirs.get(name) or None) != (ours.get(name) or None):
            raise UserError(f"{path} has another {name} than {vocabulary.path}.")
    if is_wordpiece:
        basic = by_type.get("BertNormalizer", {})
        return {
            "do_lower_case": basic.get("lowercase"),
            "strip_accents": basic.get("strip_accents"),
        }
    return {"do_lower_case": "Lowercase" in by_type, "keep_accents": "NFKD" not in by_type}
