# SPDX-License-Identifier: MIT
tessera_test(test_unit_matrix LABELS unit
  SOURCES unit/models/isa/matrix/accumulate_test.cpp unit/models/isa/matrix/amp_test.cpp unit/models/isa/matrix/fp8_test.cpp
    unit/models/isa/matrix/recipe_test.cpp unit/models/isa/matrix/rounding_test.cpp unit/models/isa/matrix/slic_test.cpp
    unit/models/isa/matrix/transpose_test.cpp
  LINK tessera_tile_core fmt::fmt)
