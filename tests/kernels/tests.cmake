# SPDX-License-Identifier: MIT
tessera_test(test_kernels_codelets LABELS kernels
  SOURCES kernels/codelet_cost_test.cpp kernels/codelet_source_test.cpp kernels/matmul_codelet_test.cpp kernels/sparse_codelet_test.cpp kernels/reduce_codelet_test.cpp
          kernels/gather_test.cpp kernels/row_codelets_test.cpp
  LINK tessera_lower tessera_tile_core)
add_library(tessera_test_run_program STATIC support/run_program.cpp)
target_link_libraries(tessera_test_run_program PUBLIC tessera_tile_core tessera_exchange_core tessera_program
                      PRIVATE tessera_warnings)
tessera_test(test_kernels_matmul LABELS kernels
  SOURCES kernels/matmul_plan_test.cpp kernels/matmul_graph_test.cpp kernels/matmul_search_test.cpp
  LINK tessera_matmul tessera_test_run_program)
tessera_test(test_kernels_spmm LABELS kernels
  SOURCES kernels/spmm_plan_test.cpp kernels/spmm_split_test.cpp
  LINK tessera_spmm tessera_operands tessera_test_run_program)
tessera_test(test_kernels_plan LABELS kernels
  SOURCES kernels/lowest_fit_test.cpp kernels/memory_plan_test.cpp kernels/plan_test.cpp
  LINK tessera_lower)
tessera_test(test_kernels_lower LABELS kernels
  SOURCES kernels/lower_errors_test.cpp kernels/lower_lifetimes_test.cpp kernels/lower_placing_test.cpp kernels/lower_binding_test.cpp
          kernels/graph_example_test.cpp kernels/copy_test.cpp kernels/blocks_test.cpp kernels/places_test.cpp
  LINK tessera_lower tessera_test_run_program)
tessera_test(test_kernels_published_matrix LABELS kernels
  SOURCES kernels/published_matrix_test.cpp
  LINK tessera_vertex)
tessera_test(test_kernels_published_vector LABELS kernels
  SOURCES kernels/published_vector_test.cpp
  LINK tessera_vertex)
tessera_test(test_kernels_micro LABELS kernels
  SOURCES kernels/exchange_pattern_test.cpp kernels/memory_stream_test.cpp kernels/micro_useful_test.cpp kernels/rearrange_test.cpp
          kernels/rearrange_workload_test.cpp kernels/reduction_test.cpp kernels/stencil_test.cpp kernels/stream_plan_test.cpp
  LINK tessera_micro tessera_test_run_program)
tessera_test(test_kernels_pipeline LABELS kernels
  SOURCES kernels/pipeline_test.cpp
  LINK tessera_pipeline tessera_elementwise tessera_matmul tessera_spmm tessera_test_run_program)
tessera_test(test_kernels_rows LABELS kernels
  SOURCES kernels/rows_test.cpp kernels/softmax_test.cpp kernels/reduce_test.cpp kernels/transpose_test.cpp
          kernels/rows_pipeline_test.cpp
  LINK tessera_softmax tessera_reduce tessera_transpose tessera_matmul tessera_pipeline tessera_test_run_program)
tessera_test(test_kernels_job LABELS kernels SOURCES kernels/job_test.cpp LINK tessera_job)
tessera_test(test_kernels_elementwise LABELS kernels
  SOURCES kernels/elementwise_test.cpp
  LINK tessera_elementwise tessera_lower tessera_test_run_program)
