# SPDX-License-Identifier: MIT
tessera_test(test_unit_config LABELS unit
  SOURCES unit/config/containers_test.cpp unit/config/document_test.cpp unit/config/paths_test.cpp
          unit/config/read_test.cpp unit/config/report_test.cpp unit/config/schema_test.cpp
          unit/config/set_test.cpp unit/config/suggest_test.cpp unit/config/workload_test.cpp
  LINK tessera_config tessera_spec_config tessera_catalog)

# With sanitizers on, g++ 12 takes std::regex, which valijson uses, for uninitialised.
if(TESSERA_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set_source_files_properties(unit/config/schema_test.cpp
    PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
endif()
