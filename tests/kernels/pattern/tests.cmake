# SPDX-License-Identifier: MIT
tessera_test(test_unit_pattern CORE files LABELS unit
  SOURCES
    kernels/pattern/blocks_test.cpp
    kernels/pattern/matrix_file_test.cpp
    kernels/pattern/refusals_test.cpp
    kernels/pattern/safetensors_test.cpp
    kernels/pattern/schedule_test.cpp
    kernels/pattern/sparsify_test.cpp
    kernels/pattern/summary_test.cpp
  LINK tessera_pattern)
