# SPDX-License-Identifier: MIT
tessera_test(test_unit_catalog LABELS unit
  SOURCES kernels/catalog/train_test.cpp kernels/catalog/gradient_test.cpp
          kernels/catalog/pipeline_fuzz_test.cpp kernels/catalog/pipeline_mistakes_test.cpp
          kernels/catalog/pipeline_test.cpp kernels/catalog/load_test.cpp kernels/catalog/micro_mistakes_test.cpp kernels/catalog/resolve_test.cpp kernels/catalog/sparse_weights_test.cpp kernels/modules/expand_test.cpp
  APART kernels/catalog/double_reference.cpp
  LINK tessera_catalog tessera_operands)
