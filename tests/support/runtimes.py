# Copyright 2026 The albert Authors.
# SPDX-License-Identifier: Apache-2.0
"""A mark for tests of what tf.estimator alone has: TPUs and the settings of its RunConfig."""

import pytest

from albert.runtimes import estimator

needs_tf_estimator = pytest.mark.skipif(
    not estimator.HAS_TF_ESTIMATOR, reason="This TensorFlow has no tf.estimator."
)
