# SPDX-License-Identifier: MIT
tessera_test(test_unit_catalog LABELS unit
  SOURCES unit/catalog/pipeline_fuzz_test.cpp unit/catalog/pipeline_mistakes_test.cpp
          unit/catalog/pipeline_test.cpp
  LINK tessera_catalog)
