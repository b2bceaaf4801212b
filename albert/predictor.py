# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""The classes of models in memory; `load` chooses the one for a folder.

with Predictor("output/mrpc") as predictor:
    predictor.predict([("He left.", "He went away."), ("He left.", "It rains.")])
"""

from albert import load
from albert.classification.run import Prediction, Predictor
from albert.race.run import Answerer
from albert.squad.run import Reader
from albert.tagging.run import Tagger

__all__ = ["Answerer", "Prediction", "Predictor", "Reader", "Tagger", "load"]
