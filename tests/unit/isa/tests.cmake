# SPDX-License-Identifier: MIT
tessera_test(test_unit_isa LABELS unit
  SOURCES
    unit/isa/assembler_errors_test.cpp
    unit/isa/assembler_test.cpp
    unit/isa/boundary_test.cpp
    unit/isa/conditional_test.cpp
    unit/isa/directive_test.cpp
    unit/isa/link_test.cpp
    unit/isa/macro_test.cpp
    unit/isa/published_test.cpp
    unit/isa/table_test.cpp
  LINK tessera_isa fmt::fmt)
tessera_test(test_unit_preprocess LABELS unit
  SOURCES
    unit/isa/preprocess_errors_test.cpp
    unit/isa/preprocess_include_test.cpp
    unit/isa/preprocess_test.cpp
  LINK tessera_isa fmt::fmt)
