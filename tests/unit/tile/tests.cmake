# SPDX-License-Identifier: MIT
tessera_test(test_unit_tile LABELS unit
  SOURCES unit/tile/instructions_test.cpp unit/tile/matrix_loop_test.cpp unit/tile/faults_test.cpp
    unit/tile/control_registers_test.cpp unit/tile/data_flow_test.cpp unit/tile/generation_test.cpp
    unit/tile/main_lane_test.cpp
    unit/tile/race_detector_test.cpp unit/tile/races_test.cpp unit/tile/random_code_test.cpp
    unit/tile/rules_test.cpp unit/tile/lockstep_test.cpp
    unit/tile/observation_test.cpp unit/tile/pipeline_trace_test.cpp
    unit/tile/steps_test.cpp unit/tile/boundaries_test.cpp
  LINK tessera_tile_core)
tessera_test(test_timing_tile LABELS timing
  SOURCES timing/tile/issue_test.cpp timing/tile/main_lane_test.cpp
  LINK tessera_tile_core)
