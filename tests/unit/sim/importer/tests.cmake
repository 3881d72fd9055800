# SPDX-License-Identifier: MIT
tessera_test(test_unit_importer LABELS unit
  SOURCES unit/sim/importer/elements_test.cpp unit/sim/importer/mistakes_test.cpp unit/sim/importer/steps_test.cpp
  LINK tessera_importer tessera_config)
