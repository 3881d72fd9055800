# SPDX-License-Identifier: MIT
tessera_test(test_unit_program CORE chip LABELS unit
  SOURCES unit/models/program/change_log_test.cpp unit/models/program/held_spans_test.cpp unit/models/program/known_words_test.cpp
          unit/models/program/memory_use_test.cpp unit/models/program/pointer_format_test.cpp
          unit/models/program/remote_sizes_test.cpp unit/models/program/system_binding_test.cpp
  LINK tessera_control_check tessera_known_words tessera_memory_use tessera_pointer_format tessera_remote_sizes tessera_system_program)
