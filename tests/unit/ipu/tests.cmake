# SPDX-License-Identifier: MIT
tessera_test(test_unit_ipu LABELS unit
  SOURCES unit/ipu/core_test.cpp unit/ipu/control_test.cpp unit/ipu/trace_test.cpp
          unit/ipu/stream_test.cpp
  LINK tessera_ipu_core)
