# SPDX-License-Identifier: MIT
tessera_test(test_unit_config LABELS unit
  SOURCES unit/base/config/containers_test.cpp unit/base/config/document_test.cpp unit/base/config/json_text_test.cpp unit/base/config/paths_test.cpp
          unit/base/config/read_test.cpp unit/base/config/report_test.cpp unit/base/config/schema_test.cpp
          unit/base/config/set_test.cpp unit/base/config/suggest_test.cpp unit/base/config/workload_test.cpp
  LINK tessera_config tessera_spec_config tessera_catalog)

# With sanitizers on, g++ 12 takes std::regex, which valijson uses, for uninitialised.
if(TESSERA_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set_source_files_properties(unit/base/config/schema_test.cpp
    PROPERTIES COMPILE_OPTIONS -Wno-maybe-uninitialized)
endif()
