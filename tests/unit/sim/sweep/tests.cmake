# SPDX-License-Identifier: MIT
tessera_test(test_unit_sweep LABELS unit
  SOURCES unit/sim/sweep/collect_test.cpp unit/sim/sweep/condition_test.cpp unit/sim/sweep/at_hand_test.cpp unit/sim/sweep/frozen_test.cpp unit/sim/sweep/judge_test.cpp unit/sim/sweep/labels_test.cpp unit/sim/sweep/listing_test.cpp unit/sim/sweep/outcome_test.cpp unit/sim/sweep/places_test.cpp unit/sim/sweep/planner_test.cpp unit/sim/sweep/point_key_test.cpp unit/sim/sweep/point_table_test.cpp unit/sim/sweep/reasons_test.cpp unit/sim/sweep/source_test.cpp unit/sim/sweep/space_test.cpp unit/sim/sweep/store_test.cpp unit/sim/sweep/sweep_file_test.cpp
  LINK tessera_sweep)
