# SPDX-License-Identifier: MIT
tessera_test(test_unit_matrix LABELS unit
  SOURCES unit/matrix/accumulate_test.cpp unit/matrix/amp_test.cpp unit/matrix/fp8_test.cpp
    unit/matrix/recipe_test.cpp unit/matrix/rounding_test.cpp unit/matrix/slic_test.cpp
    unit/matrix/transpose_test.cpp
  LINK tessera_tile_core fmt::fmt)
