# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Small files in the shape of those that the publishers of data sets have on their servers."""

import hashlib
import io
import json
import tarfile
import zipfile
from typing import Any, Dict

from albert.datasets import table

PAIR = "index\tsentence1\tsentence2"
NLI = [f"{number}" for number in range(8)]


def zipped(files: Dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return stream.getvalue()


def tarred(files: Dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode("utf-8"))
            archive.addfile(info, io.BytesIO(text.encode("utf-8")))
    return stream.getvalue()


def _tsv(*rows: str) -> str:
    return "".join(f"{row}\n" for row in rows)


def _glue(folder: str, train: str, test: str, *, more: str = "train dev test") -> Dict[str, str]:
    """Files as in GLUE's archives: the task's folder, and earlier versions in one of their own."""
    files = {f"{folder}/": "", f"{folder}/original/train.tsv": "raw\n"}
    for name in more.split():
        files[f"{folder}/{name}.tsv"] = test if name.startswith("test") else train
    return files


_MNLI = "\t".join([*NLI, "sentence1", "sentence2"])
_MNLI_ROW = "\t".join([*NLI, "a b", "c"])
_PAIRS = (_tsv(f"{PAIR}\tlabel", "0\ta b\tc\tentailment"), _tsv(PAIR, "0\ta b\tc"))
_MSR = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n"
_SQUAD = {"id": "q", "question": "who ?", "answers": [{"text": "king", "answer_start": 4}]}
_PASSAGE = {"article": "x", "questions": ["y"], "options": [["a", "b", "c", "d"]], "answers": ["B"]}
_XNLI = "language\tgold_label\tsentence1\tsentence2\nzh\tneutral\ta\tb\nfr\tneutral\tc\td\n"


def _json(**values: Any) -> str:
    return json.dumps(values) + "\n"


def _clue(train: str, name: str = "train.json") -> bytes:
    return zipped(
        {
            name: train,
            "dev.json": train,
            "test.json": train,
            "README.txt": "",
            "__MACOSX/._dev.json": "x",
        }
    )


def _squad(version: str) -> bytes:
    paragraph = {"context": "The king left.", "qas": [_SQUAD]}
    return json.dumps({"version": version, "data": [{"paragraphs": [paragraph]}]}).encode()


def files() -> Dict[str, bytes]:
    """The files by their names on the servers."""
    return {**_glue_files(), **_other_files()}


def _glue_files() -> Dict[str, bytes]:
    single = _tsv("sentence\tlabel", "a b\t1"), _tsv("index\tsentence", "0\ta b")
    qqp = _tsv("id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", "0\t1\t2\ta\tb\t1")
    sts = "\t".join(["index", *NLI[:6], "sentence1", "sentence2"])
    sts_row = "\t".join(["0", *NLI[:6], "a b", "c"])
    return {
        "CoLA.zip": zipped(_glue("CoLA", _tsv("gj04\t1\t\ta b"), single[1])),
        "SST-2.zip": zipped(_glue("SST-2", *single)),
        "msr_paraphrase_train.txt": (
            f'{_MSR}1\t11\t12\ta "b\tc\r\n0\t21\t22\td\te\r\n1\t31\t32\tf\tg\r\n'
        ).encode(),
        "msr_paraphrase_test.txt": f"{_MSR}1\t41\t42\th\ti\r\n".encode(),
        "mrpc_dev_ids.tsv": b"21\t22\n",
        "STS-B.zip": zipped(
            _glue("STS-B", _tsv(f"{sts}\tscore", f"{sts_row}\t3.800"), _tsv(sts, sts_row))
        ),
        "QQP-clean.zip": zipped(_glue("QQP", qqp, _tsv("id\tquestion1\tquestion2", "0\ta\tb"))),
        "MNLI.zip": zipped(
            _glue(
                "MNLI",
                _tsv(f"{_MNLI}\tgold_label", f"{_MNLI_ROW}\tneutral"),
                _tsv(_MNLI, _MNLI_ROW),
                more="train dev_matched dev_mismatched test_matched test_mismatched",
            )
        ),
        "QNLIv2.zip": zipped(_glue("QNLI", *_PAIRS)),
        "RTE.zip": zipped(_glue("RTE", *_PAIRS)),
        "WNLI.zip": zipped(_glue("WNLI", _PAIRS[0].replace("entailment", "1"), _PAIRS[1])),
        "AX.tsv": _PAIRS[1].encode("utf-8"),
    }


def _other_files() -> Dict[str, bytes]:
    nli = _json(sentence1="a", sentence2="b", label="neutral")
    spans = {"span1_text": "a", "span1_index": 0, "span2_text": "b", "span2_index": 2}
    race = {"RACE/._x": "", "RACE/train/high/._1.txt": "junk"}
    for split in ("train", "dev", "test"):
        for level in ("middle", "high"):
            race[f"RACE/{split}/{level}/1.txt"] = _json(id=f"{level}1.txt", **_PASSAGE)
    return {
        **{f"{part}-{v}.json": _squad(v) for part in ("train", "dev") for v in ("v1.1", "v2.0")},
        "RACE.tar.gz": tarred(race),
        "XNLI-1.0.zip": zipped(
            {
                "XNLI-1.0/xnli.dev.tsv": _XNLI,
                "XNLI-1.0/xnli.test.tsv": _XNLI,
                "XNLI-1.0/xnli.dev.jsonl": "{}",
                "__MACOSX/XNLI-1.0/._xnli.dev.tsv": "x",
            }
        ),
        "XNLI-MT-1.0.zip": zipped(
            {
                "XNLI-MT-1.0/multinli/multinli.train.zh.tsv": _tsv(
                    "premise\thypo\tlabel", "a\tb\tcontradictory"
                ),
                "XNLI-MT-1.0/multinli/multinli.train.fr.tsv": "x",
            }
        ),
        "afqmc_public.zip": _clue(_json(sentence1="a", sentence2="b", label="1")),
        "tnews_public.zip": _clue(_json(sentence="a", label="100")),
        "iflytek_public.zip": _clue(_json(sentence="a", label="7")),
        "cmnli_public.zip": _clue(nli),
        "ocnli_public.zip": _clue(nli, "train.50k.json"),
        "csl_public.zip": _clue(_json(keyword=["a"], abst="b", label="1")),
        "cluewsc2020_public.zip": _clue(_json(text="a b", target=spans, label="true")),
        "copa_public.zip": _clue(
            _json(premise="a", choice0="b", choice1="c", question="cause", label=0)
        ),
    }


def table_of(content: Dict[str, bytes]) -> Dict[str, table.DataSet]:
    """The table of data sets with the sizes and hashes of these files."""
    return {
        name: data_set._replace(
            sources=tuple(
                source._replace(size=len(found), sha256=hashlib.sha256(found).hexdigest())
                for source in data_set.sources
                for found in [content[source.url.rpartition("/")[2]]]
            )
        )
        for name, data_set in table.DATA_SETS.items()
    }
