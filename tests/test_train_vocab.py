# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of albert.train_vocab."""

import inspect
import json
import os
import pathlib
import unicodedata

import pytest
import sentencepiece as spm

from albert import tokenization, train_vocab
from albert.pretraining import vocabulary
from albert.util import flags as flags_lib
from tests.support import script_process

ROOT = pathlib.Path(__file__).resolve().parents[1]
CORPUS = str(ROOT / "tests" / "fixtures" / "corpus.txt")
VOCAB_SIZE = 300
SPECIAL = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", "(", ")", '"', "-", ".", "–", "£", "€"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("vocabulary") / "small"
    return vocabulary.train(CORPUS, str(prefix), VOCAB_SIZE)


@pytest.fixture(scope="module")
def tokenizer(trained):
    return tokenization.FullTokenizer(None, spm_model_file=trained.model_file)


def content(path):
    return pathlib.Path(path).read_bytes()


def files_in(folder):
    return sorted(os.listdir(str(folder)))


# ----------------------------------------------------------------------------------- the recipe


def test_special_pieces_come_first_in_the_published_order(tokenizer):
    assert tokenizer.convert_ids_to_tokens(range(len(SPECIAL))) == SPECIAL
    assert tokenizer.sp_model.bos_id() == tokenizer.sp_model.eos_id() == -1
    assert (tokenizer.sp_model.pad_id(), tokenizer.sp_model.unk_id()) == (0, 1)


def test_control_symbols_never_come_from_text_and_signs_stand_alone(tokenizer):
    ids = tokenizer.encode_ids_batch(["the [mask] and [cls]"])[0]
    assert not set(ids) & {2, 3, 4}
    pieces = tokenizer.tokenize_text('the (old-bridge) "fell".')
    assert [piece for piece in pieces if piece in SPECIAL] == ["(", "-", ")", '"', '"', "."]


def test_vocab_file_is_the_list_that_sentencepiece_itself_writes(trained, tmp_path):
    with open(CORPUS, encoding="utf-8") as stream:
        lines = [tokenization.preprocess_text(line, lower=True) for line in stream]
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_prefix=str(tmp_path / "peer"),
        vocab_size=VOCAB_SIZE,
        character_coverage=0.99995,
        minloglevel=2,
        **vocabulary._RECIPE,
    )
    assert content(trained.vocab_file) == content(tmp_path / "peer.vocab")
    assert list(tokenization.load_vocab(trained.vocab_file))[:13] == SPECIAL


def test_text_is_prepared_by_the_rule_of_the_tokenizer(trained, tmp_path):
    upper = tmp_path / "upper.txt"
    with open(CORPUS, encoding="utf-8") as stream:
        upper.write_text(stream.read().upper().replace(" ", " \u3000 "), encoding="utf-8")
    again = vocabulary.train(str(upper), str(tmp_path / "upper"), VOCAB_SIZE)
    assert content(again.model_file) == content(trained.model_file)
    cased = vocabulary.train(CORPUS, str(tmp_path / "cased"), VOCAB_SIZE, do_lower_case=False)
    pieces = tokenization.FullTokenizer(None, False, cased.model_file).vocab
    assert any(piece.lower() != piece for piece in pieces if piece not in SPECIAL)


VIETNAMESE = """
Má tôi trồng mạ ngoài ruộng, còn ba tôi sửa mã lực cho máy cày.
Con ma trong truyện cổ chỉ sợ ánh sáng, mà người kể lại sợ bóng tối.
Ngôi mả cũ nằm cạnh con đường dẫn ra chợ.
Bà bán bánh, bạn bán bàn, còn cô giáo mua bản đồ.
Trời mưa to nên chúng tôi ở nhà nấu cơm và kể chuyện.
Sáng mai tàu sẽ chạy lúc bảy giờ, đừng đến trễ.
"""


def test_accents_are_kept_on_demand(tmp_path, caplog):
    text = tmp_path / "vi.txt"
    text.write_text(VIETNAMESE, encoding="utf-8")
    with caplog.at_level("WARNING", "albert"):
        kept = vocabulary.train(str(text), f"{tmp_path}/kept", 90, keep_accents=True)
        assert not caplog.records
        plain = vocabulary.train(str(text), f"{tmp_path}/plain", 60)
    assert len(caplog.records) == 1 and "--keep_accents" in caplog.text
    assert kept.unknown_share == plain.unknown_share == 0
    full = tokenization.FullTokenizer(None, True, kept.model_file)
    words = ["ma", "má", "mà", "mả", "mã", "mạ"]
    ids = full.encode_ids_batch(words)
    assert len(set(map(tuple, ids))) == 6 and full.sp_model.unk_id() not in sum(ids, [])
    decomposed = [unicodedata.normalize("NFD", word.upper()) for word in words]
    assert full.encode_ids_batch(decomposed) == ids
    full = tokenization.FullTokenizer(None, True, plain.model_file)
    assert len(set(map(tuple, full.encode_ids_batch(words)))) == 1


FRENCH = """
Le marché ouvre à huit heures, et le marche-pied du camion est déjà baissé.
Elle a parlé de la pêche, mais il parle du péché et des arbres où rien ne pousse.
Où vas-tu, au lac ou à la mer? Il a mangé là, la porte ouverte, du pain sale et salé.
"""
THAI = "ข่าวข้าวขาวข่าวข้าวขาวข่าวข้าว\n"  # news, rice, white: one run, as Thai is written
CAFES = "The café by the old bridge opens late, and naïve guests wait for the café.\n"


@pytest.mark.parametrize(
    "text, lower, warns",
    [
        (FRENCH, True, True),
        (THAI, True, True),
        (CAFES, True, False),
        ("Cafe cafe CAFE\n", False, False),
        (unicodedata.normalize("NFD", "é ß ﬁ\n") + "é ss fi\n", False, False),
    ],
)
def test_words_that_only_accents_tell_apart_are_warned_of(text, lower, warns, tmp_path, caplog):
    path = tmp_path / "text.txt"
    path.write_text(text + CAFES + content(CORPUS).decode("utf-8") * (not warns), encoding="utf-8")
    # The warning comes before the training, and its error.
    with caplog.at_level("WARNING", "albert"), pytest.raises(ValueError):
        vocabulary.train(str(path), f"{tmp_path}/x", 9000, do_lower_case=lower)
    assert len(caplog.records) == warns


# ------------------------------------------------------------------------------- same input, same


def test_same_text_gives_the_same_bytes_in_any_files_and_formats(trained, tmp_path):
    with open(CORPUS, encoding="utf-8") as stream:
        text = stream.read()
    (tmp_path / "b.txt").write_text(text[: text.index("Bread")], encoding="utf-8")
    (tmp_path / "deep").mkdir()
    line = json.dumps({"body": text[text.index("Bread") :]})
    (tmp_path / "deep" / "a.jsonl").write_text(line, encoding="utf-8")
    again = vocabulary.train(
        f"{tmp_path}/deep,{tmp_path}/[b].txt", f"{tmp_path}/x", VOCAB_SIZE, text_field="body"
    )
    assert content(again.model_file) == content(trained.model_file)
    assert content(again.vocab_file) == content(trained.vocab_file)


def test_sentences_are_drawn_by_the_seed_alone(tmp_path):
    models = []
    for number, seed in enumerate((1, 1, 2)):
        result = vocabulary.train(
            CORPUS, str(tmp_path / str(number)), 150, input_sentence_size=50, seed=seed
        )
        assert (result.sentences, result.used_sentences) == (84, 50)
        models.append(content(result.model_file))
    assert models[0] == models[1] != models[2]


def test_lines_longer_than_sentencepiece_takes_are_cut_and_not_dropped(tmp_path):
    with open(CORPUS, encoding="utf-8") as stream:
        text = " ".join(stream.read().split())
    long_line = tmp_path / "long.txt"
    long_line.write_text(text * 3 + "\n" + "中文" * 4000, encoding="utf-8")
    result = vocabulary.train(str(long_line), str(tmp_path / "long"), 200)
    vocab = tokenization.FullTokenizer(None, True, result.model_file).vocab
    assert "中" in "".join(vocab) and "▁the" in vocab


# ------------------------------------------------------------------------------------- mistakes


def test_existing_vocabulary_is_only_replaced_when_asked(tmp_path):
    for suffix in ("model", "vocab"):
        path = tmp_path / f"old.{suffix}"
        path.write_text("precious")
        with pytest.raises(ValueError, match=f"old.{suffix}' exists.*--overwrite"):
            vocabulary.train(CORPUS, str(tmp_path / "old"), VOCAB_SIZE)
        assert path.read_text() == "precious"
        path.unlink()
    (tmp_path / "old.model").write_text("not precious")
    vocabulary.train(CORPUS, str(tmp_path / "old"), VOCAB_SIZE, overwrite=True)
    assert files_in(tmp_path) == ["old.model", "old.vocab"]
    assert len(content(tmp_path / "old.model")) > 1000


# ------------------------------------------------------------------------------------- the command


def test_flags_have_the_names_and_defaults_of_the_function():
    settings = flags_lib.parse(train_vocab.Flags, ["--input_file=a", "--model_prefix=b"])
    parameters = inspect.signature(vocabulary.train).parameters
    defaults = {name: parameter.default for name, parameter in parameters.items()}
    defaults.update(input_file="a", model_prefix="b")
    assert settings.to_dict() == defaults


@pytest.mark.parametrize(
    "text, size, options, words",
    [
        (None, 9000, {}, "--vocab_size"),
        (None, 300, {"character_coverage": 1.5}, "character_coverage"),
        (b"\n \n\t\n", 300, {}, "--input_file"),
        ("déjà vu\n".encode("latin-1") * 50, 300, {}, "50 of 50"),
    ],
)
def test_train_names_the_flag_at_fault(text, size, options, words, tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(content(CORPUS) if text is None else text)
    with pytest.raises(ValueError, match=words):
        vocabulary.train(str(path), str(tmp_path / "x"), size, **options)
    assert files_in(tmp_path) == ["text.txt"]


@pytest.mark.slow
def test_command_writes_the_files_and_turns_mistakes_into_one_line(tmp_path):
    def run():
        return script_process.run_process(
            "train_vocab",
            f"--input_file={CORPUS}",
            f"--model_prefix={tmp_path}/new/command",
            f"--vocab_size={VOCAB_SIZE}",
            prelude="import tensorflow",  # SentencePiece cannot train where TF 1.15 was loaded
        )

    first, second = run(), run()
    assert first.returncode == 0, first.stderr
    assert b"300 tokens after" in first.stderr
    made = [".command.model.run.toml", "command.model", "command.vocab"]
    assert files_in(tmp_path / "new") == made
    assert second.returncode == 1
    last_line = second.stderr.decode("utf-8").strip().split("\n")[-1]
    assert last_line.startswith("ERROR: ") and "exists" in last_line
