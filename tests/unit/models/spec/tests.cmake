# SPDX-License-Identifier: MIT
tessera_test(test_unit_spec CORE files LABELS unit
  SOURCES unit/models/spec/evidence_test.cpp unit/models/spec/load_test.cpp unit/models/spec/rules_test.cpp
  LINK tessera_spec_config)
