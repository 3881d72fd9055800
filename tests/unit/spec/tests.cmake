# SPDX-License-Identifier: MIT
tessera_test(test_unit_spec LABELS unit
  SOURCES unit/spec/evidence_test.cpp unit/spec/load_test.cpp unit/spec/rules_test.cpp
  LINK tessera_spec_config)
