# SPDX-License-Identifier: MIT
tessera_test(test_unit_isa CORE files LABELS unit
  SOURCES
    unit/models/isa/assembler_errors_test.cpp
    unit/models/isa/assembler_test.cpp
    unit/models/isa/alternate_test.cpp
    unit/models/isa/boundary_test.cpp
    unit/models/isa/conditional_test.cpp
    unit/models/isa/constant_test.cpp
    unit/models/isa/decoded_program_test.cpp
    unit/models/isa/directive_test.cpp
    unit/models/isa/forms_test.cpp
    unit/models/isa/link_test.cpp
    unit/models/isa/macro_test.cpp
    unit/models/isa/published_test.cpp
    unit/models/isa/shadow_test.cpp
    unit/models/isa/table_test.cpp
    unit/models/isa/text_stack_test.cpp
    unit/models/isa/operators_test.cpp
  LINK tessera_isa fmt::fmt)
tessera_test(test_unit_preprocess CORE files LABELS unit
  SOURCES
    unit/models/isa/preprocess_errors_test.cpp
    unit/models/isa/preprocess_include_test.cpp
    unit/models/isa/preprocess_test.cpp
  LINK tessera_isa fmt::fmt)
