# SPDX-License-Identifier: MIT
tessera_test(test_unit_tile CORE tile LABELS unit
  SOURCES unit/models/tile/instructions_test.cpp unit/models/tile/matrix_loop_test.cpp unit/models/tile/matrix_pass_test.cpp unit/models/tile/faults_test.cpp
    unit/models/tile/control_registers_test.cpp unit/models/tile/data_flow_test.cpp unit/models/tile/generation_test.cpp
    unit/models/tile/main_lane_test.cpp
    unit/models/tile/race_detector_test.cpp unit/models/tile/races_test.cpp unit/models/tile/random_code_test.cpp
    unit/models/tile/rules_test.cpp unit/models/tile/lockstep_test.cpp
    unit/models/tile/observation_test.cpp unit/models/tile/pipeline_trace_test.cpp
    unit/models/tile/sparse_loop_test.cpp unit/models/tile/timing_mode_test.cpp unit/models/tile/steps_test.cpp unit/models/tile/stretch_instructions_test.cpp unit/models/tile/stretch_recipe_test.cpp
    unit/models/tile/boundaries_test.cpp unit/models/tile/round_state_test.cpp unit/models/tile/counts_test.cpp unit/models/tile/standstill_test.cpp unit/models/tile/wait_loops_test.cpp unit/models/tile/waits_test.cpp
    unit/models/tile/counted_loop_test.cpp unit/models/tile/entry_registers_test.cpp unit/models/tile/section_classes_test.cpp unit/models/tile/worker_classes_test.cpp
  LINK tessera_tile_core)
tessera_test(test_timing_tile LABELS timing
  SOURCES unit/models/timing/tile/issue_test.cpp unit/models/timing/tile/main_lane_test.cpp
  LINK tessera_tile_core)
