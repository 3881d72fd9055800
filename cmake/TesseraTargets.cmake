# SPDX-License-Identifier: MIT
# Warnings, sanitizers and the two helpers with which every folder declares its library and its tests.

add_library(tessera_warnings INTERFACE)
target_compile_options(tessera_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<BOOL:${TESSERA_WERROR}>:-Werror>
  # GCC 12 warns of string + string at -O3 without cause (gcc.gnu.org bug 105651, mended in 13).
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)

# Multiply and add round separately on the machine, so the compiler must not fuse them.
add_library(tessera_options INTERFACE)
target_compile_options(tessera_options INTERFACE -ffp-contract=off)
if(TESSERA_SANITIZE)
  target_compile_options(tessera_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tessera_options INTERFACE -fsanitize=address,undefined)
endif()

# tessera_library(NAME SOURCES ... LINK ...): a static library whose headers are included from the project root.
function(tessera_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;PRIVATE_LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC tessera_options ${ARG_LINK}
                        PRIVATE tessera_warnings ${ARG_PRIVATE_LINK})
endfunction()

# tessera_interface(NAME LINK ...): headers only.
function(tessera_interface name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} INTERFACE)
  target_include_directories(${name} INTERFACE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} INTERFACE tessera_options ${ARG_LINK})
endfunction()

# tessera_test(NAME LABELS unit ... [SYSTEMC] SOURCES ... LINK ...): one Catch2 program, one ctest entry a TEST_CASE.
function(tessera_test name)
  cmake_parse_arguments(ARG "SYSTEMC" "TIMEOUT" "LABELS;SOURCES;LINK" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  if(ARG_SYSTEMC)
    target_link_libraries(${name} PRIVATE tessera_test_main_systemc)
  else()
    target_link_libraries(${name} PRIVATE tessera_test_main_plain)
  endif()
  target_link_libraries(${name} PRIVATE tessera_warnings ${ARG_LINK})
  if(TESSERA_SANITIZE)
    # The checks are of the libraries; a test's own macros would take most of the build.
    target_compile_options(${name} PRIVATE -O0 -fno-sanitize=undefined)
  endif()
  catch_discover_tests(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
