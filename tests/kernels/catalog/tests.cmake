# SPDX-License-Identifier: MIT
tessera_test(test_unit_catalog LABELS unit
  SOURCES kernels/catalog/pipeline_fuzz_test.cpp kernels/catalog/pipeline_mistakes_test.cpp
          kernels/catalog/pipeline_test.cpp kernels/catalog/load_test.cpp kernels/catalog/resolve_test.cpp
  LINK tessera_catalog tessera_operands)
