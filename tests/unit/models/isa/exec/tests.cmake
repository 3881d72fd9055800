# SPDX-License-Identifier: MIT
pkg_check_modules(MPFR REQUIRED IMPORTED_TARGET mpfr)
add_library(tessera_test_reference STATIC unit/models/isa/exec/reference.cpp)
target_link_libraries(tessera_test_reference PUBLIC PkgConfig::MPFR tessera_options)
target_include_directories(tessera_test_reference PUBLIC "${PROJECT_SOURCE_DIR}")

tessera_test(test_unit_arithmetic LABELS unit
  SOURCES
    unit/models/isa/exec/arithmetic_test.cpp
    unit/models/isa/exec/compare_test.cpp
    unit/models/isa/exec/convert_test.cpp
    unit/models/isa/exec/flags_test.cpp
    unit/models/isa/exec/issues_test.cpp
    unit/models/isa/exec/random_test.cpp
    unit/models/isa/exec/stochastic_test.cpp
    unit/models/isa/exec/transcendental_test.cpp
  LINK tessera_isa tessera_test_reference fmt::fmt)
tessera_test(test_slow_arithmetic LABELS slow TIMEOUT 3600
  SOURCES unit/models/isa/exec/all_pairs_test.cpp unit/models/isa/exec/all_singles_test.cpp
  LINK tessera_isa tessera_test_reference)
