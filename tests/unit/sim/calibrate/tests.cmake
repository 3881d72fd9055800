# SPDX-License-Identifier: MIT
# libsystemc wants an sc_main, so these link the main that has one.
tessera_test(test_unit_calibrate SYSTEMC UNSANITIZED LABELS unit
  SOURCES
    unit/sim/calibrate/csv_test.cpp
    unit/sim/calibrate/mapping_test.cpp
    unit/sim/calibrate/kept_runs_test.cpp
    unit/sim/calibrate/kernel_report_test.cpp unit/sim/calibrate/link_rules_test.cpp
    unit/sim/calibrate/pairs_test.cpp
    unit/sim/calibrate/product_rules_test.cpp
    unit/sim/calibrate/reading_test.cpp
    unit/sim/calibrate/reference_test.cpp
    unit/sim/calibrate/report_test.cpp
    unit/sim/calibrate/attention_rules_test.cpp unit/sim/calibrate/rules_test.cpp
    unit/sim/calibrate/statistics_test.cpp
    unit/sim/calibrate/unexplained_test.cpp
  APART
    unit/sim/calibrate/child_test.cpp
  LINK tessera_commands)
