# SPDX-License-Identifier: MIT
tessera_test(test_unit_vertex LABELS unit
  SOURCES unit/sim/vertex/bench_test.cpp unit/sim/vertex/boundary_test.cpp unit/sim/vertex/calls_test.cpp
          unit/sim/vertex/keys_test.cpp unit/sim/vertex/report_test.cpp
          unit/sim/vertex/run_test.cpp unit/sim/vertex/spec_test.cpp
  LINK tessera_vertex)

# With sanitizers on, g++ 12 takes std::regex, which valijson uses, for uninitialised.
if(TESSERA_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set_source_files_properties(unit/sim/vertex/spec_test.cpp
    PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
endif()
