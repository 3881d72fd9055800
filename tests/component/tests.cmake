# SPDX-License-Identifier: MIT
tessera_test(test_component_shells CORE chip SYSTEMC LABELS component
  SOURCES component/links_test.cpp component/shells_test.cpp
  LINK tessera_tile_shell tessera_exchange_shell tessera_sync tessera_memory_shell tessera_ipu_core
       tessera_exchange_plan tessera_isa tessera_link)
target_include_directories(test_component_shells PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")

tessera_test(test_component_ipu CORE chip SYSTEMC LABELS component
  SOURCES component/ipu_test.cpp component/control_test.cpp component/rounds_test.cpp component/stream_test.cpp component/named_rows_test.cpp
          component/two_chips_test.cpp component/two_tiles_test.cpp
  LINK tessera_machine tessera_exchange_plan tessera_isa tessera_test_support tessera_traces
       nlohmann_json::nlohmann_json)
target_include_directories(test_component_ipu SYSTEM PRIVATE "${TESSERA_PROTOZERO_INCLUDE_DIR}")
target_include_directories(test_component_ipu PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
