# SPDX-License-Identifier: MIT
tessera_test(test_unit_ipu CORE chip LABELS unit
  SOURCES unit/models/ipu/core_test.cpp unit/models/ipu/counted_repeats_test.cpp unit/models/listeners/account_test.cpp
          unit/models/listeners/laws_test.cpp unit/models/listeners/recorder_test.cpp unit/models/listeners/rounds_test.cpp
          unit/models/listeners/link_trace_test.cpp
          unit/models/listeners/trace_test.cpp unit/models/memory/stream_test.cpp
          unit/models/tile/control_model_test.cpp unit/models/tile/control_test.cpp
  LINK tessera_ipu_core tessera_listeners tessera_memory_core tessera_tile_core tessera_timing
       tessera_exchange_core)
