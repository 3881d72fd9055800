# SPDX-License-Identifier: MIT
find_package(Python3 COMPONENTS Interpreter REQUIRED)
foreach(class ErrorsTest InquiriesTest VertexTest)
  add_test(NAME "tessera on the command line: ${class}"
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/cli_test.py"
            $<TARGET_FILE:tessera>
            "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("tessera on the command line: ${class}" PROPERTIES LABELS system TIMEOUT 120)
endforeach()
add_test(NAME "tessera on the command line: RunsTest"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/runs_test.py"
          $<TARGET_FILE:tessera>
          "${PROJECT_SOURCE_DIR}" RunsTest)
set_tests_properties("tessera on the command line: RunsTest" PROPERTIES LABELS system TIMEOUT 120)

foreach(class MatrixTest OutputsTest ProcessesTest AutoModeTest HostTest OperandsTest)
  add_test(NAME "files and processes on the command line: ${class}"
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/files_test.py"
            $<TARGET_FILE:tessera>
            "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("files and processes on the command line: ${class}" PROPERTIES LABELS system
    TIMEOUT 120)
endforeach()

# SciPy is Debian's python3-scipy, a package of Debian's own Python.
foreach(class FormatsTest ShowTest MakeTest MistakesTest WorkloadsTest CheckpointTest EvolveTest
        EncodeTest)
  add_test(NAME "patterns on the command line: ${class}"
    COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/pattern_test.py"
            $<TARGET_FILE:tessera>
            "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("patterns on the command line: ${class}" PROPERTIES LABELS system TIMEOUT 240)
endforeach()

tessera_test(test_system_four_tiles UNSANITIZED LABELS cli
  SOURCES system/four_tiles_test.cpp system/four_tiles_page_test.cpp
  APART system/four_tiles_paper.cpp system/by_hand.cpp
  LINK tessera_matmul tessera_catalog tessera_spec_config tessera_timing tessera_isa
       nlohmann_json::nlohmann_json fmt::fmt)
target_compile_definitions(test_system_four_tiles PRIVATE TESSERA_BINARY="$<TARGET_FILE:tessera>")
add_dependencies(test_system_four_tiles tessera)

foreach(class MatrixTest PageTest)
  add_test(NAME "published kernels on the command line: ${class}"
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/published_test.py"
            $<TARGET_FILE:tessera>
            "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("published kernels on the command line: ${class}" PROPERTIES
    LABELS "system;cli" TIMEOUT 300)
endforeach()

add_test(NAME "published vector kernels on the command line"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/published_vector_test.py"
          $<TARGET_FILE:tessera>
          "${PROJECT_SOURCE_DIR}")
set_tests_properties("published vector kernels on the command line" PROPERTIES LABELS "system;cli"
  TIMEOUT 300)

add_test(NAME "products against their references: some of all"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/products_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" QuickTest)
set_tests_properties("products against their references: some of all" PROPERTIES
  LABELS "system;cli" TIMEOUT 120)
foreach(class DenseTest SparseTest ChipsTest LimitsTest)
  add_test(NAME "products against their references: ${class}"
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/products_test.py"
            $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("products against their references: ${class}" PROPERTIES LABELS "slow"
    TIMEOUT 3600)
endforeach()

add_test(NAME "fastest is the least of all that there is: a few products"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/fastest_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" 5)
set_tests_properties("fastest is the least of all that there is: a few products" PROPERTIES
  LABELS "system;cli" TIMEOUT 300)
add_test(NAME "fastest is the least of all that there is: 300 products"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/fastest_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" 300)
set_tests_properties("fastest is the least of all that there is: 300 products" PROPERTIES
  LABELS "slow" TIMEOUT 3600)

tessera_test(test_system_streamed_triad SYSTEMC LABELS system
  SOURCES system/streamed_triad_test.cpp
  LINK tessera_micro tessera_machine)
tessera_test(test_system_arrivals SYSTEMC UNSANITIZED LABELS system
  SOURCES system/arrivals_test.cpp system/rows_test.cpp system/sequence_test.cpp
  LINK tessera_commands)

add_test(NAME "sequences of patterns on the command line"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/sequence_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}")
set_tests_properties("sequences of patterns on the command line" PROPERTIES LABELS "system;cli" TIMEOUT 300)

add_test(NAME "pipelines on the command line"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/pipelines_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" --quick)
set_tests_properties("pipelines on the command line" PROPERTIES LABELS "system;cli" TIMEOUT 300)

# Pages in a browser need chromium, node, and `npm ci` in report/; without them the tests are skipped and say so.
foreach(class FileTest OnePageTest)
  add_test(NAME "pages of results: ${class}"
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/report_test.py"
            $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("pages of results: ${class}" PROPERTIES LABELS "system;cli" TIMEOUT 300)
endforeach()

# What pages compute needs node and `npm ci` alone.
find_program(TESSERA_NODE node)
if(TESSERA_NODE)
  add_test(NAME "modules of pages" COMMAND "${TESSERA_NODE}" "${PROJECT_SOURCE_DIR}/report/test.mjs")
  set_tests_properties("modules of pages" PROPERTIES LABELS unit TIMEOUT 60 SKIP_RETURN_CODE 77)
endif()

foreach(class ComparisonTest StorePagesTest DegenerateTest DamagedRecordingTest TimelineTest SizeTest PicturesTest)
  add_test(NAME "pages of results: ${class}"
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/report_test.py"
            $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("pages of results: ${class}" PROPERTIES LABELS "slow" TIMEOUT 1800)
endforeach()

add_test(NAME "traces in every format"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/traces_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" QuickTest)
set_tests_properties("traces in every format" PROPERTIES LABELS "system;cli" TIMEOUT 300)
add_test(NAME "traces of every workload in every format"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/traces_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" WholeTest)
set_tests_properties("traces of every workload in every format" PROPERTIES LABELS "slow"
  TIMEOUT 3600)

add_test(NAME "measured rows on the command line"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/calibrate_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}")
set_tests_properties("measured rows on the command line" PROPERTIES LABELS "system;cli" TIMEOUT 300)

# Short exchanges: what a step's order or its share of the run change shows here first.
foreach(group scatter gather "long scatter" "long gather")
  add_test(NAME "measured rows keep their target: exchange: ${group}"
    COMMAND tessera calibrate --check --group "exchange: ${group}" -q)
  set_tests_properties("measured rows keep their target: exchange: ${group}" PROPERTIES
    LABELS "system;cli" TIMEOUT 120)
endforeach()
add_test(NAME "all measured rows run"
  COMMAND tessera calibrate)
set_tests_properties("all measured rows run" PROPERTIES LABELS "slow;calibration" TIMEOUT 3600)

tessera_test(test_system_parameters SYSTEMC UNSANITIZED LABELS system
  SOURCES system/parameters_test.cpp
  LINK tessera_commands tessera_machine tessera_exchange_plan tessera_isa)

tessera_test(test_system_chips SYSTEMC UNSANITIZED LABELS system
  SOURCES system/chips_test.cpp system/collectives_test.cpp
  APART system/random_chips_test.cpp
  LINK tessera_commands tessera_machine tessera_exchange_plan tessera_isa tessera_link_core)
# They take 8 and 28 s of processor time.
foreach(all "random systems of chips end and are alike: 200 of them"
        "a collective of a MiB on chips of all tiles")
  add_test(NAME "${all}" COMMAND test_system_chips "${all}")
  set_tests_properties("${all}" PROPERTIES LABELS "slow" TIMEOUT 3600)
endforeach()

add_test(NAME "every test has a time limit"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/time_limits_test.py"
          "${CMAKE_CTEST_COMMAND}"
          "${CMAKE_BINARY_DIR}")
set_tests_properties("every test has a time limit" PROPERTIES LABELS unit TIMEOUT 60)
add_test(NAME "what-ifs of every workload, reduced"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/what_if_test.py"
          $<TARGET_FILE:tessera>
          "${PROJECT_SOURCE_DIR}" ReducedTest)
set_tests_properties("what-ifs of every workload, reduced" PROPERTIES LABELS "system;cli"
  TIMEOUT 300)
add_test(NAME "vertices declare the memory that they use, reduced workloads"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/declared_test.py"
          $<TARGET_FILE:declared_check>
          "${PROJECT_SOURCE_DIR}" QuickTest)
set_tests_properties("vertices declare the memory that they use, reduced workloads" PROPERTIES LABELS "kernels"
  TIMEOUT 120)
add_test(NAME "vertices declare the memory that they use, long workloads"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/declared_test.py"
          $<TARGET_FILE:declared_check>
          "${PROJECT_SOURCE_DIR}" LongTest)
set_tests_properties("vertices declare the memory that they use, long workloads" PROPERTIES LABELS "slow"
  TIMEOUT 600)
add_test(NAME "what-ifs of every workload, whole chips"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/what_if_test.py"
          $<TARGET_FILE:tessera>
          "${PROJECT_SOURCE_DIR}" WholeTest)
set_tests_properties("what-ifs of every workload, whole chips" PROPERTIES LABELS "slow"
  TIMEOUT 3600)
add_test(NAME "machine parameters at their ends: some of all"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/machine_walk_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" QuickTest)
set_tests_properties("machine parameters at their ends: some of all" PROPERTIES
  LABELS "system;cli" TIMEOUT 120)
foreach(class EndsTest PairsTest MemoriesTest)
  add_test(NAME "machine parameters at their ends: ${class}"
    COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/machine_walk_test.py"
            $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("machine parameters at their ends: ${class}" PROPERTIES LABELS "slow"
    TIMEOUT 3600)
endforeach()
# Whole chips and minutes are the slow one's; `tools/check_docs.py TESSERA --update [--slow]`
# rewrites the pages.
add_test(NAME "the pages show what the program prints"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_docs.py" $<TARGET_FILE:tessera>)
set_tests_properties("the pages show what the program prints" PROPERTIES LABELS "system;cli"
  TIMEOUT 300)
add_test(NAME "build bench_exchange for the pages"
  COMMAND "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}" --target bench_exchange)
set_tests_properties("build bench_exchange for the pages" PROPERTIES LABELS "slow" TIMEOUT 3600
  FIXTURES_SETUP docs_programs)
add_test(NAME "the pages show what the program prints, also where that takes long"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/check_docs.py" $<TARGET_FILE:tessera>
          --slow)
set_tests_properties("the pages show what the program prints, also where that takes long"
  PROPERTIES LABELS "slow" TIMEOUT 3600 FIXTURES_REQUIRED docs_programs)
add_test(NAME "shells complete the command line"
  COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/system/completion_test.sh" $<TARGET_FILE:tessera>
          "${PROJECT_SOURCE_DIR}")
set_tests_properties("shells complete the command line" PROPERTIES LABELS "system;cli" TIMEOUT 60)
add_test(NAME "an installed program finds what it needs"
  COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/system/install_test.sh" "${CMAKE_BINARY_DIR}")
set_tests_properties("an installed program finds what it needs" PROPERTIES LABELS "system;cli"
  TIMEOUT 60 RESOURCE_LOCK installing)
add_test(NAME "a package runs on a bare Debian"
  COMMAND bash "${CMAKE_CURRENT_SOURCE_DIR}/system/package_test.sh" "${CMAKE_BINARY_DIR}"
          "${PROJECT_SOURCE_DIR}")
set_tests_properties("a package runs on a bare Debian" PROPERTIES LABELS "slow;package"
  TIMEOUT 1800 SKIP_RETURN_CODE 77 RESOURCE_LOCK installing)
add_test(NAME "five hundred points, killed twenty times"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/sweep_test.py"
          $<TARGET_FILE:tessera> ManyKills)
set_tests_properties("five hundred points, killed twenty times" PROPERTIES LABELS "slow"
  TIMEOUT 600)
add_test(NAME "a sweep on Slurm, a node of which is killed"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/slurm_test.py"
          $<TARGET_FILE:tessera>)
set_tests_properties("a sweep on Slurm, a node of which is killed" PROPERTIES LABELS "slow;slurm"
  TIMEOUT 600 SKIP_RETURN_CODE 77)
add_test(NAME "an optimiser drives a worker"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/optuna_test.py"
          $<TARGET_FILE:tessera>)
set_tests_properties("an optimiser drives a worker" PROPERTIES LABELS "slow" TIMEOUT 600
  SKIP_RETURN_CODE 77)
add_test(NAME "build bench_synthetic_store"
  COMMAND "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}" --target bench_synthetic_store)
set_tests_properties("build bench_synthetic_store" PROPERTIES LABELS "slow" TIMEOUT 3600
  FIXTURES_SETUP synthetic_store)
add_test(NAME "a sweep of a million points"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/sweep_scale_test.py"
          $<TARGET_FILE:tessera> "${CMAKE_BINARY_DIR}/tests/bench/bench_synthetic_store")
set_tests_properties("a sweep of a million points" PROPERTIES LABELS "slow" TIMEOUT 3600
  FIXTURES_REQUIRED synthetic_store)
# `tools/record.py --update TESSERA` writes what a change of results came to.
foreach(share 1 2 3)
  add_test(NAME "workloads come to what the record says (${share} of 3)"
    COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/record.py" --share ${share}/3
            $<TARGET_FILE:tessera>)
  set_tests_properties("workloads come to what the record says (${share} of 3)" PROPERTIES
    LABELS "system;cli" TIMEOUT 300)
endforeach()
add_test(NAME "workloads come to the same in any order and with any number of threads"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/record.py" --orders
          $<TARGET_FILE:tessera> four_tiles tiny_matmul tiny_spmm_b1 streamed_triad stencil
          two_side_by_side)
set_tests_properties("workloads come to the same in any order and with any number of threads"
  PROPERTIES LABELS "system;cli" TIMEOUT 300)
add_test(NAME "all workloads come to the same in any order and with any number of threads"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/record.py" --orders --all
          $<TARGET_FILE:tessera>)
set_tests_properties("all workloads come to the same in any order and with any number of threads"
  PROPERTIES LABELS "slow" TIMEOUT 3600)
add_test(NAME "workloads that take long come to what the record says"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/record.py" --slow
          $<TARGET_FILE:tessera>)
set_tests_properties("workloads that take long come to what the record says" PROPERTIES
  LABELS "slow" TIMEOUT 3600)
add_test(NAME "timing mode has the cycles of the functional mode"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/timing_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" 150)
set_tests_properties("timing mode has the cycles of the functional mode" PROPERTIES
  LABELS "system;cli" TIMEOUT 300)
add_test(NAME "timing mode has the record's cycles"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/record.py" --timing
          $<TARGET_FILE:tessera> four_tiles tiny_spmm_b16 streamed_triad stencil two_side_by_side)
set_tests_properties("timing mode has the record's cycles" PROPERTIES LABELS "system;cli"
  TIMEOUT 300)
add_test(NAME "timing mode has the record's cycles of all workloads"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/record.py" --timing --all
          $<TARGET_FILE:tessera>)
set_tests_properties("timing mode has the record's cycles of all workloads" PROPERTIES
  LABELS "slow" TIMEOUT 3600)

# `tools/estimate_gap.py TESSERA --update` writes the figures that estimates tell.
add_test(NAME "estimates are as near to timing mode as they tell"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/estimate_gap.py" $<TARGET_FILE:tessera>
          --quick)
set_tests_properties("estimates are as near to timing mode as they tell" PROPERTIES
  LABELS "system;cli" TIMEOUT 120)
add_test(NAME "estimates tell the gap that all measured products have"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/estimate_gap.py" $<TARGET_FILE:tessera>)
set_tests_properties("estimates tell the gap that all measured products have" PROPERTIES
  LABELS "slow" TIMEOUT 3600)

add_test(NAME "tables of stores on the command line"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/sweep_tables_test.py"
          $<TARGET_FILE:tessera>)
set_tests_properties("tables of stores on the command line" PROPERTIES LABELS "system;cli"
  TIMEOUT 120)
add_test(NAME "sweeps run every point once, whatever is killed"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/sweep_test.py"
          $<TARGET_FILE:tessera> Sweeps)
set_tests_properties("sweeps run every point once, whatever is killed" PROPERTIES
  LABELS "system;cli" TIMEOUT 300)

# Programs of the benchmarks that tests use too.
add_custom_target(bench_programs_of_tests ALL)
add_dependencies(bench_programs_of_tests bench_warm_worker bench_instructions)
add_test(NAME "runs of a warm worker come to what single runs come to"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/warm_worker_test.py"
          $<TARGET_FILE:tessera> $<TARGET_FILE:bench_warm_worker> "${PROJECT_SOURCE_DIR}")
set_tests_properties("runs of a warm worker come to what single runs come to" PROPERTIES
  LABELS "system;cli" TIMEOUT 120)

# `tools/instructions.py --update` records what a change of speed is worth.
string(REGEX MATCH "^[0-9]+" compiler_version "${CMAKE_CXX_COMPILER_VERSION}")
add_test(NAME "fixed work takes the instructions that are recorded"
  COMMAND Python3::Interpreter "${PROJECT_SOURCE_DIR}/tools/instructions.py"
          $<TARGET_FILE:bench_instructions>
          "${CMAKE_CXX_COMPILER_ID}-${compiler_version}-${CMAKE_BUILD_TYPE}")
set_tests_properties("fixed work takes the instructions that are recorded" PROPERTIES
  LABELS "system;cli" TIMEOUT 240 SKIP_RETURN_CODE 77)

add_test(NAME "situations that users met"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/cases_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}" --quick)
set_tests_properties("situations that users met" PROPERTIES LABELS "system;cli" TIMEOUT 300)

add_test(NAME "pipelines that train on the command line"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/training_test.py"
          $<TARGET_FILE:tessera>
          "${PROJECT_SOURCE_DIR}" --quick)
set_tests_properties("pipelines that train on the command line" PROPERTIES LABELS system TIMEOUT 300)

# With what the tests above leave out.
foreach(program pipelines cases training)
  add_test(NAME "all of ${program}_test.py"
    COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/${program}_test.py"
            $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}")
  set_tests_properties("all of ${program}_test.py" PROPERTIES LABELS "slow" TIMEOUT 3600)
endforeach()

foreach(class RemoteRowsTest AttentionTest)
  add_test(NAME "rows of streaming memory on the command line: ${class}"
    COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/remote_rows_test.py"
            $<TARGET_FILE:tessera>
            "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("rows of streaming memory on the command line: ${class}" PROPERTIES
    LABELS system TIMEOUT 300)
endforeach()

add_test(NAME "sparse weights of models on the command line"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/sparsity_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}")
set_tests_properties("sparse weights of models on the command line" PROPERTIES LABELS system
  TIMEOUT 300)

add_test(NAME "layers in phases on the command line"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/phased_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}")
set_tests_properties("layers in phases on the command line" PROPERTIES LABELS system TIMEOUT 300)

foreach(class TopKTest RecallTest)
  add_test(NAME "largest elements on the command line: ${class}"
    COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/top_k_test.py"
            $<TARGET_FILE:tessera>
            "${PROJECT_SOURCE_DIR}" ${class})
  set_tests_properties("largest elements on the command line: ${class}" PROPERTIES LABELS system
    TIMEOUT 240)
endforeach()

add_test(NAME "codelets of one's own in pipelines"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/own_codelet_test.py"
          $<TARGET_FILE:tessera>
          "${PROJECT_SOURCE_DIR}")
set_tests_properties("codelets of one's own in pipelines" PROPERTIES LABELS system TIMEOUT 240)

# numpy is Debian's, a package of Debian's own Python.
add_test(NAME "models of ONNX on the command line"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/import_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}")
set_tests_properties("models of ONNX on the command line" PROPERTIES LABELS "system;cli" TIMEOUT 120
  SKIP_RETURN_CODE 77)
add_test(NAME "operators of ONNX with attributes drawn at random"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/import_operators_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}")
set_tests_properties("operators of ONNX with attributes drawn at random" PROPERTIES LABELS "system;cli" TIMEOUT 120
  SKIP_RETURN_CODE 77)
add_test(NAME "operators of ONNX come to its reference outputs: some of all"
  COMMAND /usr/bin/python3 "${PROJECT_SOURCE_DIR}/tools/onnx_nodes.py" $<TARGET_FILE:tessera>
          --every 9)
set_tests_properties("operators of ONNX come to its reference outputs: some of all" PROPERTIES
  LABELS "system;cli" TIMEOUT 120 SKIP_RETURN_CODE 77)
add_test(NAME "operators of ONNX come to its reference outputs"
  COMMAND /usr/bin/python3 "${PROJECT_SOURCE_DIR}/tools/onnx_nodes.py" $<TARGET_FILE:tessera> --why)
set_tests_properties("operators of ONNX come to its reference outputs" PROPERTIES LABELS "slow"
  TIMEOUT 1800 SKIP_RETURN_CODE 77)

# pandas and mypy are Debian's, packages of Debian's own Python.
add_test(NAME "the Python module returns what the command line prints"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/python_test.py"
          $<TARGET_FILE:tessera> "${PROJECT_SOURCE_DIR}")
set_tests_properties("the Python module returns what the command line prints" PROPERTIES LABELS "system;cli" TIMEOUT 300)

# They take minutes. A run that begins with them does not end with one of them on a single core; later runs know their times.
set_tests_properties(
  "situations that users met" "pipelines on the command line" "pipelines that train on the command line"
  "what-ifs of every workload, reduced" "timing mode has the cycles of the functional mode"
  "workloads come to what the record says (1 of 3)" "workloads come to what the record says (2 of 3)"
  "workloads come to what the record says (3 of 3)" "the pages show what the program prints"
  PROPERTIES COST 100)

add_test(NAME "recordings have the sums of results"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/recording_test.py" $<TARGET_FILE:tessera>)
set_tests_properties("recordings have the sums of results" PROPERTIES LABELS "system;cli" TIMEOUT 300)
add_test(NAME "recordings of all workloads have the sums of results"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/recording_test.py" $<TARGET_FILE:tessera> --all)
set_tests_properties("recordings of all workloads have the sums of results" PROPERTIES LABELS "slow" TIMEOUT 3600)
add_test(NAME "energy on the command line"
  COMMAND Python3::Interpreter "${CMAKE_CURRENT_SOURCE_DIR}/system/energy_test.py" $<TARGET_FILE:tessera>)
set_tests_properties("energy on the command line" PROPERTIES LABELS "system;cli" TIMEOUT 120)
add_test(NAME "differences name their cause"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/diff_test.py" $<TARGET_FILE:tessera>
          "${PROJECT_SOURCE_DIR}")
set_tests_properties("differences name their cause" PROPERTIES LABELS "system;cli" TIMEOUT 300)
add_test(NAME "charts as pictures"
  COMMAND /usr/bin/python3 "${CMAKE_CURRENT_SOURCE_DIR}/system/plot_test.py" $<TARGET_FILE:tessera>
          "${PROJECT_SOURCE_DIR}")
set_tests_properties("charts as pictures" PROPERTIES LABELS "system;cli" TIMEOUT 300)
