# SPDX-License-Identifier: MIT
find_package(Python3 COMPONENTS Interpreter REQUIRED)
find_program(TESSERA_PROTOC protoc REQUIRED)

tessera_test(test_unit_traces CORE files LABELS unit
  SOURCES unit/traces/event_test.cpp unit/traces/selection_test.cpp unit/traces/coverage_test.cpp unit/traces/critical_tile_test.cpp
          unit/traces/output_file_test.cpp unit/traces/perfetto_test.cpp unit/traces/konata_test.cpp
          unit/traces/clock_test.cpp unit/traces/exporter_test.cpp unit/traces/chrome_test.cpp
          unit/traces/vcd_test.cpp
  LINK tessera_traces nlohmann_json::nlohmann_json ZLIB::ZLIB)
target_include_directories(test_unit_traces SYSTEM PRIVATE "${TESSERA_PROTOZERO_INCLUDE_DIR}")

add_executable(trace_writer unit/traces/trace_writer.cpp)
target_link_libraries(trace_writer PRIVATE tessera_traces tessera_warnings)
target_include_directories(trace_writer SYSTEM PRIVATE "${TESSERA_PROTOZERO_INCLUDE_DIR}")

add_test(NAME "trace golden: protoc decodes the three-event scene"
  COMMAND "${CMAKE_COMMAND}" "-DWRITER=$<TARGET_FILE:trace_writer>" -DSCENE=three_events
    "-DTRACE=${CMAKE_CURRENT_BINARY_DIR}/three_events.pftrace" "-DPROTOC=${TESSERA_PROTOC}"
    "-DSCHEMA=${CMAKE_CURRENT_SOURCE_DIR}/support/perfetto_subset.proto"
    "-DGOLDEN=${CMAKE_CURRENT_SOURCE_DIR}/golden/trace/scene.txt"
    -P "${CMAKE_CURRENT_SOURCE_DIR}/support/compare_decoded.cmake")
set_tests_properties("trace golden: protoc decodes the three-event scene"
  PROPERTIES LABELS unit TIMEOUT 60)

foreach(ending json vcd)
  add_test(NAME "trace golden: the three-event scene as ${ending}"
    COMMAND "${CMAKE_COMMAND}" "-DWRITER=$<TARGET_FILE:trace_writer>" -DSCENE=three_events
      "-DTRACE=${CMAKE_CURRENT_BINARY_DIR}/three_events.${ending}"
      "-DGOLDEN=${CMAKE_CURRENT_SOURCE_DIR}/golden/trace/scene.${ending}"
      -P "${CMAKE_CURRENT_SOURCE_DIR}/support/compare_decoded.cmake")
  set_tests_properties("trace golden: the three-event scene as ${ending}"
    PROPERTIES LABELS unit TIMEOUT 60)
endforeach()
add_test(NAME "check_trace: what is wrong in any format"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/unit/traces/check_trace_test.py"
          $<TARGET_FILE:trace_writer> "${PROJECT_SOURCE_DIR}")
set_tests_properties("check_trace: what is wrong in any format" PROPERTIES LABELS unit TIMEOUT 120)

# tessera_trace_check(NAME SCENE EXIT TEXT [FILE name] [more -D arguments of
# check_trace_case.cmake]).
function(tessera_trace_check name scene exit_code text)
  cmake_parse_arguments(ARG "" "FILE" "" ${ARGN})
  if(NOT ARG_FILE)
    string(REPLACE " " "_" ARG_FILE "check_${name}.pftrace")
  endif()
  add_test(NAME "check_trace: ${name}"
    COMMAND "${CMAKE_COMMAND}" "-DWRITER=$<TARGET_FILE:trace_writer>" "-DSCENE=${scene}"
      "-DTRACE=${CMAKE_CURRENT_BINARY_DIR}/${ARG_FILE}" "-DPYTHON=${Python3_EXECUTABLE}"
      "-DCHECKER=${PROJECT_SOURCE_DIR}/tools/check_trace.py" "-DEXPECT_EXIT=${exit_code}"
      "-DEXPECT_TEXT=${text}" ${ARG_UNPARSED_ARGUMENTS}
      -P "${CMAKE_CURRENT_SOURCE_DIR}/support/check_trace_case.cmake")
  set_tests_properties("check_trace: ${name}" PROPERTIES LABELS unit TIMEOUT 60)
endfunction()

set(trace_run_result "-DRESULT=${CMAKE_CURRENT_SOURCE_DIR}/unit/traces/run_result.json")
tessera_trace_check("accepts the three-event scene" three_events 0
  "3 slices on 3 tracks, 40 cycles")
tessera_trace_check("accepts a run and its result" run 0 "21 slices on 8 tracks, 75 cycles"
  ${trace_run_result})
tessera_trace_check("accepts a compressed run" run 0 "21 slices" FILE run.pftrace.gz
  ${trace_run_result})
tessera_trace_check("accepts a truncated run" truncated_run 0
  "12 slices on 5 tracks, 75 cycles, truncated"
  ${trace_run_result} "-DFROM=\"slices\": 21" "-DTO=\"slices\": 12")
tessera_trace_check("accepts packets made by hand" raw 0 "3 slices on 2 tracks, 60 cycles")

tessera_trace_check("rejects a state never cleared" never_cleared 1 "does not clear")
tessera_trace_check("rejects a use of names that is not said" needs_not_said 1 "without saying so")
tessera_trace_check("rejects an undefined name id" undefined_iid 1
  "name id 99 is used before it is defined")
tessera_trace_check("rejects a redefined name id" redefined_iid 1 "already another text")
tessera_trace_check("rejects an unknown track" unknown_track 1
  "is on track 77, which is not described")
tessera_trace_check("rejects a missing parent" missing_parent 1 "its parent 55 is not described")
tessera_trace_check("rejects a repeated uuid" repeated_uuid 1 "its uuid 256 is 0 or taken")
tessera_trace_check("rejects a begin without an end" unbalanced 1 "the slice at 40 never ends")
tessera_trace_check("rejects an end without a begin" end_without_begin 1
  "an end at 60 without a begin")
tessera_trace_check("rejects overlapping slices" overlapping 1 "they overlap")
tessera_trace_check("rejects time that goes back" time_goes_back 1 "time goes back from 40 to 20")
tessera_trace_check("rejects an empty slice" empty_slice 1 "the slice at 40 is empty")
tessera_trace_check("rejects a wrong cycles argument" wrong_cycles 1 "says 41 cycles and lasts 40")
tessera_trace_check("rejects a gap" gap 1 "machine: nothing from 40 to 50")
tessera_trace_check("rejects a tile that ends early" short_tile 1 "tile_0: ends at 50, before")
tessera_trace_check("rejects a run without its cycles" no_cycles 1 "the metadata lacks 'cycles'")
tessera_trace_check("rejects a file that is cut off" cut_off 1 "the last packet is cut off")

# Each changes one figure of the result; the checker must name it.
function(tessera_trace_result_check what from to text)
  tessera_trace_check("rejects a result with wrong ${what}" run 1 "${text}" ${trace_run_result}
    "-DFROM=${from}" "-DTO=${to}")
endfunction()
tessera_trace_result_check("cycles" "\"cycles\": 75" "\"cycles\": 76" "cycles says 76")
tessera_trace_result_check("phases" "\"exchange\": 20" "\"exchange\": 21" "phases.exchange says 21")
tessera_trace_result_check("tile bounds" "\"max\": 25" "\"max\": 24"
  "outside tiles.idle_cycles 0..24")
tessera_trace_result_check("tile means" "\"mean\": 32.5" "\"mean\": 33"
  "tiles.compute_cycles.mean says 33")
tessera_trace_result_check("roles" "\"role\": \"work\"" "\"role\": \"bring\""
  "a slice 'matmul' has the role 'work', which no step of that name has")
tessera_trace_result_check("names" "\"name\": \"gather rows\"" "\"name\": \"gathering\""
  "the step 'gathering' of role 'bring' has no slice that says so")
tessera_trace_result_check("slices" "\"slices\": 21" "\"slices\": 17" "trace.slices says 17")
tessera_trace_result_check("tiles" "[0, 1]" "[0]" "trace.tiles says [0]")
tessera_trace_result_check("workload" "\"scene\"" "\"scenes\"" "workload.name says scenes")
tessera_trace_result_check("machine" "\"tiny\"" "\"bow\"" "machine.name says bow")
tessera_trace_result_check("clock" "1850000000.0" "1e9" "machine.chip.clock_hz says 1000000000.0")
tessera_trace_result_check("format" "\"perfetto\"" "\"vcd\"" "trace.format says vcd")
tessera_trace_result_check("clock of the trace" "\"cycles\", \"format" "\"machine\", \"format"
  "trace.clock says machine")
tessera_trace_result_check("keys" "\"phases\"" "\"phasen\"" "the key 'phases' is missing")
