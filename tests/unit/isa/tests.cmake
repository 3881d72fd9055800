# SPDX-License-Identifier: MIT
tessera_test(test_unit_isa LABELS unit
  SOURCES
    unit/isa/assembler_test.cpp
  LINK tessera_isa fmt::fmt)
