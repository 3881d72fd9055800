# SPDX-License-Identifier: MIT
tessera_test(test_unit_base CORE files LABELS unit
  SOURCES unit/base/element_type_test.cpp unit/base/float8_test.cpp unit/base/host_memory_test.cpp
          unit/base/input_file_test.cpp unit/base/output_place_test.cpp
          unit/base/sort_keys_test.cpp unit/base/text_lines_test.cpp unit/base/text_test.cpp unit/base/utf8_test.cpp
          unit/base/zero_pages_test.cpp
  APART unit/base/temporary_file_test.cpp
  LINK tessera_base)
tessera_test(test_unit_expression CORE files LABELS unit
  SOURCES unit/base/expression/expression_test.cpp
  LINK tessera_expression)
