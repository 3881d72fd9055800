# SPDX-License-Identifier: MIT
# Warnings, sanitizers and the two helpers with which every folder declares its library and its
# tests.

add_library(tessera_warnings INTERFACE)
target_compile_options(tessera_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion
  $<$<BOOL:${TESSERA_WERROR}>:-Werror>
  # GCC 12 warns of string + string without cause (gcc.gnu.org bug 105651, mended in 13). The other
  # two were seen inside std::string and std::filesystem::path, for some lengths of the folder that
  # base/config/paths.cpp is compiled with.
  "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict;-Wno-stringop-overflow;-Wno-array-bounds>")

# Multiply and add round separately on the machine, so the compiler must not fuse them.
add_library(tessera_options INTERFACE)
target_compile_options(tessera_options INTERFACE -ffp-contract=off)
# Without it ccache keeps nothing that uses precompiled headers.
target_compile_options(tessera_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
option(TESSERA_FUZZ "Build the libFuzzer programs (tests/fuzz); needs clang++" OFF)
if(TESSERA_SANITIZE OR TESSERA_FUZZ)
  target_compile_options(tessera_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(tessera_options INTERFACE -fsanitize=address,undefined)
  # an element behind a vector or a text, also where its memory is there
  target_compile_definitions(tessera_options INTERFACE _GLIBCXX_ASSERTIONS)
endif()
if(TESSERA_FUZZ)
  target_compile_options(tessera_options INTERFACE -g -O1 -fsanitize=fuzzer-no-link)
endif()

# The standard library and fmt, parsed once for all libraries and once more for the tests, which
# compile with other options. JSON and SystemC are not in it: few files use them. A source still
# includes what it uses: -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON builds without.
set(TESSERA_COMMON_HEADERS
  <algorithm> <array> <atomic> <bit> <cmath> <cstddef> <cstdint> <cstdio> <cstring> <exception>
  <filesystem> <fstream>
  <functional> <iterator> <limits> <map> <memory> <numeric> <optional> <set> <span> <sstream>
  <stdexcept> <string>
  <string_view> <tuple> <type_traits> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

# tessera_common_headers(NAME [HEADER ...]): a target that others reuse the parsed headers of.
function(tessera_common_headers name)
  add_library(${name} OBJECT "${PROJECT_SOURCE_DIR}/cmake/common_headers.cpp")
  target_link_libraries(${name} PRIVATE tessera_options tessera_warnings fmt::fmt)
  target_precompile_headers(${name} PRIVATE ${TESSERA_COMMON_HEADERS} ${ARGN})
endfunction()

# Sources of a library are compiled six at a time: what they include is parsed once for all of them. It halves the
# time of a whole build; a rebuild after a change of one file takes the other five along. What a source keeps to itself (an
# anonymous namespace) has other names than its neighbours' then; those that cannot are APART.
option(TESSERA_UNITY "Compile the sources of libraries several at a time" ON)

# tessera_library(NAME SOURCES ... [APART ...] LINK ...): a static library whose headers are included from the project
# root.
function(tessera_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;APART;LINK;PRIVATE_LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES} ${ARG_APART})
  set_target_properties(${name} PROPERTIES UNITY_BUILD ${TESSERA_UNITY} UNITY_BUILD_BATCH_SIZE 6)
  set_source_files_properties(${ARG_APART} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC tessera_options ${ARG_LINK}
                        PRIVATE tessera_warnings fmt::fmt ${ARG_PRIVATE_LINK})
  target_precompile_headers(${name} REUSE_FROM tessera_headers)
endfunction()

# tessera_interface(NAME LINK ...): headers only.
function(tessera_interface name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} INTERFACE)
  target_include_directories(${name} INTERFACE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} INTERFACE tessera_options ${ARG_LINK})
endfunction()

# A test's own code is macros and expected values: optimising it costs more than it gains.
add_library(tessera_test_options INTERFACE)
target_compile_options(tessera_test_options INTERFACE -O1)
if(TESSERA_SANITIZE)
  # The checks are of the libraries; a test's own macros would take most of the build.
  target_compile_options(tessera_test_options INTERFACE -O0 -fno-sanitize=undefined)
endif()

# What ./dev sanitize builds and runs: all tests but the slow ones and those that say UNSANITIZED; with --core those
# that say CORE, and with --part those of one part of them. Parts take about the same time.
add_custom_target(sanitized)
add_custom_target(sanitized_core)
foreach(part tile chip files)
  add_custom_target(sanitized_${part})
endforeach()

# tessera_together(OUT NAME SOURCE ...): every eight of the sources become one, in OUT. Helpers of test files have the same
# names, so each file is a namespace of its own here, and what they include stands in front of all.
function(tessera_together out name)
  set(made "")
  set(number 0)
  while(ARGN)
    list(SUBLIST ARGN 0 8 some)
    list(REMOVE_ITEM ARGN ${some})
    set(headers "")
    set(files "")
    foreach(source IN LISTS some)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
      file(STRINGS "${source}" included REGEX "^#include ")
      list(APPEND headers ${included})
      string(MAKE_C_IDENTIFIER "${source}" namespace)
      get_filename_component(path "${source}" ABSOLUTE)
      string(APPEND files "namespace ${namespace} {\n#include \"${path}\"\n}\n")
    endforeach()
    list(REMOVE_DUPLICATES headers)
    list(JOIN headers "\n" headers)
    set(file "${CMAKE_CURRENT_BINARY_DIR}/together/${name}_${number}.cpp")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${headers}\n${files}" @ONLY)
    list(APPEND made "${file}")
    math(EXPR number "${number} + 1")
  endwhile()
  set(${out} ${made} PARENT_SCOPE)
endfunction()

# tessera_test(NAME LABELS unit ... [SYSTEMC] [UNSANITIZED | CORE PART] SOURCES ... [APART ...] LINK ...): one Catch2 program, one
# ctest entry a TEST_CASE; with sanitizers one for all but those of SystemC. APART are sources that bear no namespace
# around them. CORE is for programs of what reads people's files and of the machine, of which CI builds and runs a PART
# with sanitizers. UNSANITIZED is for programs of tessera_commands, which is glue around what other programs test and slow to compile; a
# TEST_CASE with the tag [large] does at size what others do, and is not run with sanitizers either.
function(tessera_test name)
  cmake_parse_arguments(ARG "SYSTEMC;UNSANITIZED" "CORE;TIMEOUT" "LABELS;SOURCES;APART;LINK" ${ARGN})
  if(TESSERA_SANITIZE AND NOT ARG_UNSANITIZED AND NOT "slow" IN_LIST ARG_LABELS)
    set(ARG_LABELS sanitized)
    add_dependencies(sanitized ${name})
    if(ARG_CORE)
      list(APPEND ARG_LABELS core ${ARG_CORE})
      add_dependencies(sanitized_core ${name})
      add_dependencies(sanitized_${ARG_CORE} ${name})
    endif()
  endif()
  if(TESSERA_UNITY)
    tessera_together(ARG_SOURCES ${name} ${ARG_SOURCES})
  endif()
  add_executable(${name} ${ARG_SOURCES} ${ARG_APART})
  if(ARG_SYSTEMC)
    target_link_libraries(${name} PRIVATE tessera_test_main_systemc)
  else()
    target_link_libraries(${name} PRIVATE tessera_test_main_plain)
  endif()
  target_link_libraries(${name} PRIVATE tessera_warnings tessera_test_options fmt::fmt ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM tessera_test_headers)
  if(TESSERA_SANITIZE AND NOT ARG_SYSTEMC) # starting a process takes long here; SystemC elaborates once in each
    add_test(NAME ${name} COMMAND ${name} "~[large]")
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT 900)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  set(chosen "")
  if(TESSERA_SANITIZE)
    math(EXPR ARG_TIMEOUT "3 * ${ARG_TIMEOUT}")
    set(chosen TEST_SPEC "~[large]")
  endif()
  catch_discover_tests(${name} ${chosen} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()
