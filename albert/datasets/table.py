# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The public data sets as data: addresses, sizes, hashes, licences, and the files that are kept.

Addresses, sizes and SHA-256 are those that two public lists of downloads record: dataset_infos.json
of huggingface/datasets and url_checksums of tensorflow/datasets. A size of 0 is not known, nor a
hash of None: then the first download's is recorded. None of them was fetched to write this table.
"""

import os
import shlex
from typing import Container, Dict, List, NamedTuple, Optional, Tuple

from albert.command_line import commands
from albert.util import wording
from albert.util.errors import UserError


class Published(NamedTuple):
    """A file on a server."""

    url: str
    size: int = 0  # bytes
    sha256: Optional[str] = None


class DataSet(NamedTuple):
    """A data set, which becomes a folder below --data_dir."""

    name: str
    folder: str
    sources: Tuple[Published, ...]
    # What is kept: of archives the ends of paths, in which * stands for a part of a name; of a
    # single file its new name.
    files: Tuple[str, ...]
    licence: str
    flags: str  # that take it, of `script`
    script: str = "run_classifier"
    group: str = ""  # a name for several
    form: str = "files"  # the way from sources to files, a key of fetch.FORMS
    by_hand: str = ""  # where to ask for it, if it is not to be had by an address

    @property
    def size(self) -> int:
        """Returns the bytes to fetch; 0 if that is not known."""
        sizes = [source.size for source in self.sources]
        return sum(sizes) if all(sizes) else 0


_FACEBOOK = "https://dl.fbaipublicfiles.com"
_CLUE_URL = "https://storage.googleapis.com/cluebenchmark/tasks"
_SQUAD_URL = "https://rajpurkar.github.io/SQuAD-explorer/dataset"
_TSV = ("train.tsv", "dev.tsv", "test.tsv")
_JSON = ("train*.json", "dev.json", "test*.json")


def _task_flags(name: str) -> str:
    return f"--task_name={name} --data_dir={{data_dir}}"


def _glue(
    name: str, folder: str, source: Published, *, licence: str, files: Tuple[str, ...] = _TSV
) -> DataSet:
    return DataSet(name, folder, (source,), files, licence, _task_flags(name), group="glue")


def _clue(name: str, size: int, sha256: Optional[str], *, file: str = "") -> DataSet:
    source = Published(f"{_CLUE_URL}/{file or name}_public.zip", size, sha256)
    licence = "not stated; research"
    return DataSet(name, file or name, (source,), _JSON, licence, _task_flags(name), group="clue")


def _squad(version: str, dev: Published, train: Published) -> DataSet:
    names = (f"dev-{version}.json", f"train-{version}.json")
    flags = f"--train_file={{folder}}/{names[1]} --predict_file={{folder}}/{names[0]}"
    short = version[:2]
    return DataSet(
        f"squad_{short}",
        f"squad_{short}",
        (dev, train),
        names,
        "CC BY-SA 4.0",
        flags,
        script=f"run_squad_{short}",
        group="squad",
    )


_GLUE_SETS = (
    _glue(
        "cola",
        "CoLA",
        Published(
            f"{_FACEBOOK}/glue/data/CoLA.zip",
            376971,
            "f212fcd832b8f7b435fb991f101abf89f96b933ab400603bf198960dfc32cbff",
        ),
        licence="not stated; from published linguistics",
    ),
    _glue(
        "sst-2",
        "SST-2",
        Published(
            f"{_FACEBOOK}/glue/data/SST-2.zip",
            7439277,
            "d67e16fb55739c1b32cdce9877596db1c127dc322d93c082281f64057c16deaa",
        ),
        licence="not stated",
    ),
    DataSet(
        "mrpc",
        "MRPC",
        (
            Published(
                f"{_FACEBOOK}/senteval/senteval_data/msr_paraphrase_train.txt",
                1047044,
                "60a9b09084528f0673eedee2b69cb941920f0b8cd0eeccefc464a98768457f89",
            ),
            Published(
                f"{_FACEBOOK}/senteval/senteval_data/msr_paraphrase_test.txt",
                441275,
                "a04e271090879aaba6423d65b94950c089298587d9c084bf9cd7439bd785f784",
            ),
            Published(
                f"{_FACEBOOK}/glue/data/mrpc_dev_ids.tsv",
                6222,
                "971d7767d81b997fd9060ade0ec23c4fc31cbb226a55d1bd4a1bac474eb81dc7",
            ),
        ),
        _TSV,
        "Microsoft's, for research",
        _task_flags("mrpc"),
        group="glue",
        form="mrpc",
    ),
    _glue(
        "sts-b",
        "STS-B",
        Published(
            f"{_FACEBOOK}/glue/data/STS-B.zip",
            802872,
            "e60a6393de5a8b5b9bac5020a1554b54e3691f9d600b775bd131e613ac179c85",
        ),
        licence="mixed, mostly CC BY-SA",
    ),
    _glue(
        "qqp",
        "QQP",
        Published(
            f"{_FACEBOOK}/glue/data/QQP-clean.zip",
            41696084,
            "40e7c862c04eb26ee04b67fd900e76c45c6ba8e6d8fab4f8f1f8072a1a3fbae0",
        ),
        licence="Quora's, non-commercial",
    ),
    _glue(
        "mnli",
        "MNLI",
        Published(
            f"{_FACEBOOK}/glue/data/MNLI.zip",
            312783507,
            "e7c1d896d26ed6caf700110645df426cc2d8ebf02a5ab743d5a5c68ac1c83633",
        ),
        licence="OANC's, parts with others",
        files=(
            "train.tsv",
            "dev_matched.tsv",
            "dev_mismatched.tsv",
            "test_matched.tsv",
            "test_mismatched.tsv",
        ),
    ),
    _glue(
        "qnli",
        "QNLI",
        Published(
            f"{_FACEBOOK}/glue/data/QNLIv2.zip",
            10627589,
            "e634e78627a29adaecd4f955359b22bf5e70f2cbd93b493f2d624138a0c0e5f5",
        ),
        licence="CC BY-SA 4.0",
    ),
    _glue(
        "rte",
        "RTE",
        Published(
            f"{_FACEBOOK}/glue/data/RTE.zip",
            697150,
            "6bf86de103ecd335f3441bd43574d23fef87ecc695977a63b82d5efb206556ee",
        ),
        licence="not stated",
    ),
    _glue(
        "wnli",
        "WNLI",
        Published(
            f"{_FACEBOOK}/glue/data/WNLI.zip",
            28999,
            "ae0e8e4d16f4d46d4a0a566ec7ecceccfd3fbfaa4a7a4b4e02848c0f2561ac46",
        ),
        licence="not stated",
    ),
    _glue(
        "ax",
        "diagnostic",
        Published(
            f"{_FACEBOOK}/glue/data/AX.tsv",
            222257,
            "0e13510b1bb14436ff7e2ee82338f0efb0133ecf2e73507a697dc210db3f05fd",
        ),
        licence="not stated",
        files=("diagnostic.tsv",),
    ),
)

_SQUAD_SETS = (
    _squad(
        "v1.1",
        Published(
            f"{_SQUAD_URL}/dev-v1.1.json",
            4854279,
            "95aa6a52d5d6a735563366753ca50492a658031da74f301ac5238b03966972c9",
        ),
        Published(
            f"{_SQUAD_URL}/train-v1.1.json",
            30288272,
            "3527663986b8295af4f7fcdff1ba1ff3f72d07d61a20f487cb238a6ef92fd955",
        ),
    ),
    _squad(
        "v2.0",
        Published(
            f"{_SQUAD_URL}/dev-v2.0.json",
            4370528,
            "80a5225e94905956a6446d296ca1093975c4d3b3260f1d6c8f68bc2ab77182d8",
        ),
        Published(
            f"{_SQUAD_URL}/train-v2.0.json",
            42123633,
            "68dcfbb971bd3e96d5b46c7177b16c1a4e7d4bdef19fb204502738552dede002",
        ),
    ),
)

_CLUE_SETS = (
    _clue("afqmc", 1195044, "5a4cb1556b833010c329fa2ad2207d9e98fc94071b7e474015e9dd7c385db4dc"),
    _clue("tnews", 5123575, "77c476e70cfe0b014a81b84c6e1db2142a8a2f52f4ae0a8216aa75e673933462"),
    _clue("iflytek", 6505938, "c59b961b29f1d0bad0c5e01aa62e4a61a80e9cfb980ce89b06c000851fbb3b06"),
    _clue("cmnli", 31404066, "3a3f3b1d3d27134cf11e585156f07fa050bd0a0836821c02696af0dbaa14513b"),
    _clue("ocnli", 0, None),
    _clue("csl", 3234594, "795d1a2e475d59acad8236f6c5baba7a0b43d3e0508cb60f15ffbc76d5f437c4"),
    _clue(
        "wsc",
        281384,
        "ebe5f357b19392d601be401b2fd4246983f534809a078eab7bda1de418fb3ffe",
        file="cluewsc2020",
    ),
    _clue("copa", 0, None),
)

DATA_SETS: Dict[str, DataSet] = {
    data_set.name: data_set
    for data_set in (
        *_GLUE_SETS,
        *_SQUAD_SETS,
        DataSet(
            "race",
            "RACE",
            (
                Published(
                    # The lists have the same hash by http; https is where that leads.
                    "https://www.cs.cmu.edu/~glai1/data/race/RACE.tar.gz",
                    25443609,
                    "b2769cc9fdc5c546a693300eb9a966cec6870bd349fbc44ed5225f8ad33006e5",
                ),
            ),
            tuple(f"{part}/*/*.txt" for part in ("train", "dev", "test")),
            "non-commercial research",
            "--data_dir={data_dir}",
            script="run_race",
        ),
        DataSet(
            "xnli",
            "xnli",
            (
                Published(
                    f"{_FACEBOOK}/XNLI/XNLI-1.0.zip",
                    17865352,
                    "4ba1d5e1afdb7161f0f23c66dc787802ccfa8a25a3ddd3b165a35e50df346ab1",
                ),
                Published(
                    f"{_FACEBOOK}/XNLI/XNLI-MT-1.0.zip",
                    466098360,
                    "f732517ba2fb1d550e9f3c2aabaef6017c91ee2dcec90e878f138764d224db05",
                ),
            ),
            ("xnli.dev.tsv", "xnli.test.tsv", "multinli.train.zh.tsv"),
            "CC BY-NC 4.0",
            _task_flags("xnli"),
        ),
        *_CLUE_SETS,
        DataSet(
            "lcqmc",
            "LCQMC",
            (),
            ("train.txt", "dev.txt", "test.txt"),
            "research, on request",
            _task_flags("lcqmc"),
            by_hand="http://icrc.hitsz.edu.cn/Article/show/171.html",
        ),
    )
}
GROUPS = tuple(dict.fromkeys(item.group for item in DATA_SETS.values() if item.group))


def find(name: str) -> List[DataSet]:
    """Returns the data sets that names, of them or of groups, with commas between them stand for.

    Raises:
      ValueError: one is unknown; the message has the nearest, and all.
    """
    found = {}
    for part in filter(None, (part.strip().lower() for part in name.split(","))):
        several = [item for item in DATA_SETS.values() if part in (item.name, item.group)]
        if not several:
            known = [*GROUPS, *DATA_SETS]
            hint = wording.did_you_mean(part, known)
            raise UserError(f"There is no data set {part!r}.{hint} Names: {', '.join(known)}.")
        found.update({item.name: item for item in several})
    return list(found.values())


def how_to_get(folders: Container[str], data_dir: str) -> str:
    """Returns the end of a message that data are missing: how to get them; "" if that is not known.

    Args:
      folders: the names that the folder of the data set may have, of which the table knows one.
      data_dir: where that folder is missed, or itself.
    """
    for item in DATA_SETS.values():
        if item.folder not in folders or "://" in data_dir:
            continue
        parent, name = os.path.split(os.path.normpath(data_dir))
        place = (parent or ".") if name == item.folder else os.path.join(parent, name)
        if os.path.isfile(place) or os.path.lexists(os.path.join(place, item.folder)):
            continue  # a download leaves it as it is
        if item.by_hand:
            return f" {item.name} is given on request: {item.by_hand}."
        command = commands.as_started("python -m albert.download_data")
        return f" To fetch it: {command} {item.name} --data_dir={shlex.quote(place)}"
    return ""
