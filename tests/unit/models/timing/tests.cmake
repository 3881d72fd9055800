# SPDX-License-Identifier: MIT
tessera_test(test_timing_exchange LABELS timing
  SOURCES unit/models/timing/tile_position_test.cpp unit/models/timing/exchange_latency_test.cpp
          unit/models/timing/port_timing_test.cpp
  LINK tessera_timing tessera_memory_core)
