# SPDX-License-Identifier: MIT
tessera_test(test_kernels_codelets LABELS kernels
  SOURCES kernels/matmul_codelet_test.cpp kernels/sparse_codelet_test.cpp kernels/reduce_codelet_test.cpp
  LINK tessera_plan tessera_tile_core)
