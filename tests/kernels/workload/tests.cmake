# SPDX-License-Identifier: MIT
tessera_test(test_unit_operands CORE files LABELS unit
  SOURCES
    kernels/workload/check_model_test.cpp
    kernels/workload/half_test.cpp
    kernels/workload/join_test.cpp
    kernels/workload/matrix_market_test.cpp
    kernels/workload/npy_test.cpp
    kernels/workload/overflow_test.cpp
    kernels/workload/packed_file_test.cpp
    kernels/workload/pattern_file_test.cpp
    kernels/workload/pattern_test.cpp
    kernels/workload/reference_test.cpp
    kernels/workload/smtx_test.cpp
    kernels/workload/sparse_test.cpp
    kernels/workload/element_value_test.cpp
    kernels/workload/value_type_test.cpp
    kernels/workload/values_test.cpp
  LINK tessera_operands ZLIB::ZLIB)
