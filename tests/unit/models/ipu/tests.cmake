# SPDX-License-Identifier: MIT
tessera_test(test_unit_ipu LABELS unit
  SOURCES unit/models/ipu/core_test.cpp unit/models/ipu/control_test.cpp unit/models/ipu/trace_test.cpp
          unit/models/ipu/stream_test.cpp
  LINK tessera_ipu_core)
