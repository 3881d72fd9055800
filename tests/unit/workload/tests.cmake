# SPDX-License-Identifier: MIT
tessera_test(test_unit_operands LABELS unit
  SOURCES
    unit/workload/half_test.cpp
    unit/workload/matrix_market_test.cpp
    unit/workload/npy_test.cpp
    unit/workload/pattern_test.cpp
    unit/workload/reference_test.cpp
    unit/workload/sparse_test.cpp
    unit/workload/values_test.cpp
  LINK tessera_operands)
