# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Tests of commands.train_vocab."""

import os
import pathlib

import pytest

from albert import tokenization
from albert.pretraining_data import vocabulary
from albert.pretraining_data.flags import VocabularyFlags
from albert.util import flags
from tests.support import FIXTURES, processes

CORPUS = f"{FIXTURES}/corpus.txt"
TEXT = pathlib.Path(CORPUS).read_text(encoding="utf-8")
VOCAB_SIZE = 300
SPECIAL = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", "(", ")", '"', "-", ".", "–", "£", "€"]


def train(input_file, model_prefix, vocab_size=VOCAB_SIZE, **options):
    options.update(input_file=input_file, model_prefix=model_prefix, vocab_size=vocab_size)
    return vocabulary.train_vocabulary(flags.make(VocabularyFlags, **options))


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return train(CORPUS, str(tmp_path_factory.mktemp("vocabulary") / "small"))


@pytest.fixture(scope="module")
def tokenizer(trained):
    return tokenization.FullTokenizer(None, spm_model_file=trained.model_file)


def content(path):
    return pathlib.Path(path).read_bytes()


def files_in(folder):
    return sorted(os.listdir(folder))


# ----------------------------------------------------------------------------------- the recipe


def test_special_pieces_come_first(trained, tokenizer):
    assert list(tokenization.load_vocab(trained.vocab_file)) == list(tokenizer.vocab)
    assert tokenizer.convert_ids_to_tokens(range(len(SPECIAL))) == SPECIAL
    # Control symbols never come from text, and signs stand alone.
    assert not set(tokenizer.encode_ids_batch(["the [mask] and [cls]"])[0]) & {2, 3, 4}
    pieces = tokenizer.tokenize_text('the (old-bridge) "fell".')
    assert [piece for piece in pieces if piece in SPECIAL] == ["(", "-", ")", '"', '"', "."]


def test_train_normalizes_text(trained, tmp_path):
    upper = tmp_path / "upper.txt"
    upper.write_text(TEXT.upper().replace(" ", " \u3000 "), encoding="utf-8")
    again = train(str(upper), f"{tmp_path}/upper")
    assert content(again.model_file) == content(trained.model_file)
    cased = train(CORPUS, f"{tmp_path}/cased", do_lower_case=False)
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


def test_train_keeps_accents(tmp_path):
    (tmp_path / "vi.txt").write_text(VIETNAMESE, encoding="utf-8")
    words = ["ma", "má", "mà", "mả", "mã", "mạ"]
    for keeps, size, different in ((True, 90, 6), (False, 60, 1)):
        trained = train(f"{tmp_path}/vi.txt", f"{tmp_path}/{size}", size, keep_accents=keeps)
        assert trained.unknown_share == 0
        full = tokenization.FullTokenizer(None, True, trained.model_file)
        assert len(set(map(tuple, full.encode_ids_batch(words)))) == different


THAI = "ข่าวข้าวขาวข่าวข้าวขาวข่าวข้าว\n"  # news, rice, white: one run, as Thai is written
CAFES = "The café by the old bridge opens late, and naïve guests wait for the café.\n"


@pytest.mark.parametrize(
    "text, keeps, warns",
    [(VIETNAMESE, False, 1), (THAI, False, 1), (CAFES + TEXT, False, 0), (THAI, True, 0)],
)
def test_train_warns_of_many_accents(text, keeps, warns, tmp_path, caplog):
    (tmp_path / "text.txt").write_text(text + CAFES, encoding="utf-8")
    # The warning comes before the training, and its error.
    with caplog.at_level("WARNING", "albert"), pytest.raises(ValueError):
        train(f"{tmp_path}/text.txt", f"{tmp_path}/x", 9000, keep_accents=keeps)
    assert caplog.text.count("--keep_accents") == warns


# ------------------------------------------------------------------------------- same input, same


def test_train_draws_sentences_by_seed(tmp_path):
    def model_of(seed):
        result = train(
            CORPUS, f"{tmp_path}/x", 150, input_sentence_size=50, seed=seed, overwrite=True
        )
        assert (result.sentences, result.used_sentences) == (84, 50)
        return content(result.model_file)

    assert model_of(1) == model_of(1) != model_of(2)


def test_train_cuts_long_lines(tmp_path):
    text = " ".join(TEXT.split())
    long_line = tmp_path / "long.txt"
    long_line.write_text(text * 3 + "\n" + "中文" * 4000, encoding="utf-8")
    result = train(str(long_line), f"{tmp_path}/long", 200)
    vocab = tokenization.FullTokenizer(None, True, result.model_file).vocab
    assert "中" in "".join(vocab) and "▁the" in vocab


# ------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize("suffix", ["model", "vocab"])
def test_train_overwrites_only_when_asked(suffix, tmp_path):
    old = tmp_path / f"old.{suffix}"
    old.write_text("precious")
    with pytest.raises(ValueError, match=f"old.{suffix}' exists.*--overwrite"):
        train(CORPUS, f"{tmp_path}/old")
    assert old.read_text() == "precious" and files_in(tmp_path) == [old.name]
    train(CORPUS, f"{tmp_path}/old", overwrite=True)
    assert files_in(tmp_path) == ["old.model", "old.vocab"] and content(old) != b"precious"


SMALLEST, LARGEST = 55, 435  # for TEXT


@pytest.mark.parametrize("size", [SMALLEST, LARGEST])
def test_sizes_that_errors_name_can_be_trained(size, tmp_path):
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    train(f"{tmp_path}/text.txt", f"{tmp_path}/x", size)


# ------------------------------------------------------------------------------------- the command


@pytest.mark.parametrize(
    "text, options, named",
    [
        (TEXT.encode("utf-8"), {"vocab_size": 9000}, f"--vocab_size=9000.* {LARGEST}\\b"),
        (TEXT.encode("utf-8"), {"vocab_size": 14}, f"--vocab_size=14 .* {SMALLEST}\\b"),
        (TEXT.encode("utf-8"), {"character_coverage": 1.5}, "character_coverage"),
        (b"\n \n\t\n", {}, "--input_file"),
        ("déjà vu\n".encode("latin-1") * 50, {}, "50 of 50"),
    ],
)
def test_train_names_wrong_flag(text, options, named, tmp_path):
    (tmp_path / "text.txt").write_bytes(text)
    with pytest.raises(ValueError, match=named):
        train(f"{tmp_path}/text.txt", f"{tmp_path}/x", **options)
    assert files_in(tmp_path) == ["text.txt"]


@pytest.mark.slow
def test_train_vocab_after_tensorflow(tmp_path):
    arguments = f"--input_file={CORPUS} --model_prefix={tmp_path}/new/command --vocab_size=300"
    # SentencePiece cannot train where TensorFlow 1.15 was loaded first.
    done = processes.run_script("train_vocab", *arguments.split(), prelude="import tensorflow")
    assert done.returncode == 0, done.stderr
    made = [".command.model.run.toml", "command.model", "command.vocab"]
    assert files_in(tmp_path / "new") == made
