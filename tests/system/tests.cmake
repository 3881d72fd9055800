# SPDX-License-Identifier: MIT
find_package(Python3 COMPONENTS Interpreter REQUIRED)
foreach(class ErrorsTest InquiriesTest RunsTest)
  add_test(NAME "tessera on the command line: ${class}"
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/cli_test.py" $<TARGET_FILE:tessera>
            "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("tessera on the command line: ${class}" PROPERTIES LABELS system TIMEOUT 120)
endforeach()
