# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""Build and metadata of the package; what it needs is read from the requirements files."""

import pathlib
import re
from typing import Dict, List

import setuptools

HERE = pathlib.Path(__file__).resolve().parent


def read_requirements(name: str) -> Dict[str, List[str]]:
    """Returns the requirements in the file `name` by extra; "" holds those that are always needed.

    A line `# extra: NAME` opens the extra that the lines after it belong to.
    """
    requirements: Dict[str, List[str]] = {"": []}
    extra = ""
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        opened = re.match(r"# extra: (\w+)$", line)
        if opened:
            extra = opened.group(1)
            requirements[extra] = []
        elif line.strip() and not line.startswith("#"):
            requirements[extra].append(line.strip())
    return requirements


def with_cuda(requirements: List[str]) -> List[str]:
    """Returns TensorFlow's requirements with NVIDIA's CUDA and cuDNN; 1.15 has no such extra.

    They are not in requirements.txt, because `pip install -r` takes all that stands there.
    """
    tensorflow = [line for line in requirements if re.match(r"tensorflow[=>]", line)]
    return [
        re.sub("^tensorflow", "tensorflow[and-cuda]", line)
        for line in tensorflow
        if "==1." not in line
    ]


def read_version() -> str:
    """Returns the version that albert/__init__.py states, without importing the package."""
    text = (HERE / "albert" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE).group(1)


def main() -> None:
    """Runs setuptools."""
    extras = read_requirements("requirements.txt")
    always = extras.pop("")
    extras["dev"] = read_requirements("requirements-dev.txt")[""]
    extras["gpu"] = with_cuda(always)
    setuptools.setup(
        name="albert-tf",
        version=read_version(),
        description="ALBERT for TensorFlow 1.15, 2.15 and later: pretraining and fine-tuning",
        long_description=(HERE / "README.md").read_text(encoding="utf-8"),
        long_description_content_type="text/markdown",
        license="Apache-2.0",
        license_files=["LICENSE"],
        author="The albert Authors",
        url="https://arxiv.org/abs/1909.11942",
        project_urls={
            "Paper": "https://arxiv.org/abs/1909.11942",
            "Reference implementation": "https://github.com/google-research/albert",
        },
        keywords="ALBERT BERT TensorFlow NLP pretraining fine-tuning",
        packages=setuptools.find_packages(include=["albert", "albert.*"]),
        package_data={
            "albert": ["py.typed"],
            "albert.configs": ["*.json"],
            "albert.formats": ["*.json"],
            "albert.downloads": ["*.json"],
            "albert.commands.demo": ["page.*", "stories_*.txt"],
        },
        entry_points={
            "console_scripts": [
                "albert=albert.__main__:main",
                "demo_albert=albert.commands.demo.__main__:main",
            ]
        },
        python_requires=">=3.7,<3.14,!=3.8.*",
        install_requires=always,
        extras_require=extras,
        zip_safe=False,
        classifiers=[
            "Development Status :: 4 - Beta",
            "Environment :: Console",
            "Environment :: GPU :: NVIDIA CUDA",
            "Intended Audience :: Developers",
            "Intended Audience :: Science/Research",
            "Natural Language :: Chinese (Simplified)",
            "Natural Language :: English",
            "Operating System :: MacOS",
            "Operating System :: POSIX :: Linux",
            "Programming Language :: Python :: 3",
            "Programming Language :: Python :: 3 :: Only",
            "Programming Language :: Python :: 3.7",
            "Programming Language :: Python :: 3.9",
            "Programming Language :: Python :: 3.10",
            "Programming Language :: Python :: 3.11",
            "Programming Language :: Python :: 3.12",
            "Programming Language :: Python :: 3.13",
            "Topic :: Scientific/Engineering :: Artificial Intelligence",
            "Topic :: Text Processing :: Linguistic",
            "Typing :: Typed",
        ],
    )


if __name__ == "__main__":
    main()
