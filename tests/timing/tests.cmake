# SPDX-License-Identifier: MIT
tessera_test(test_timing_exchange LABELS timing
  SOURCES timing/tile_position_test.cpp timing/exchange_latency_test.cpp
  LINK tessera_timing)
