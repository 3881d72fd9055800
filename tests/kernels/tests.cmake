# SPDX-License-Identifier: MIT
tessera_test(test_kernels_codelets LABELS kernels
  SOURCES kernels/codelets/codelet_cost_test.cpp kernels/codelets/codelet_source_test.cpp kernels/codelets/matmul_codelet_test.cpp kernels/codelets/sparse_codelet_test.cpp kernels/codelets/reduce_codelet_test.cpp
          kernels/codelets/gather_test.cpp kernels/codelets/turn_test.cpp kernels/codelets/row_codelets_test.cpp
  LINK tessera_lower tessera_tile_core)
add_library(tessera_test_run_program STATIC support/run_program.cpp)
target_link_libraries(tessera_test_run_program PUBLIC tessera_tile_core tessera_exchange_core tessera_program
                      PRIVATE tessera_warnings)
add_library(tessera_test_declared_twins STATIC support/declared_twins.cpp)
target_link_libraries(tessera_test_declared_twins PUBLIC tessera_test_run_program tessera_lower
                      PRIVATE tessera_warnings fmt::fmt)
tessera_test(test_kernels_matmul LABELS kernels
  SOURCES kernels/matmul/matmul_plan_test.cpp kernels/matmul/matmul_estimate_test.cpp kernels/matmul/matmul_graph_test.cpp kernels/matmul/matmul_search_test.cpp
          kernels/matmul/matmul_by_estimate_test.cpp kernels/matmul/matmul_epilogue_test.cpp kernels/matmul/matmul_groups_test.cpp
          kernels/matmul/matmul_published_test.cpp kernels/matmul/matmul_work_test.cpp
          kernels/matmul/matmul_squares_test.cpp kernels/matmul/matmul_turns_test.cpp
  LINK tessera_matmul tessera_operands tessera_test_run_program)
tessera_test(test_kernels_spmm LABELS kernels
  SOURCES kernels/sparse/spmm_plan_test.cpp kernels/sparse/spmm_split_test.cpp kernels/sparse/spmm_estimate_test.cpp kernels/sparse/spmm_graph_test.cpp
          kernels/sparse/spmm_by_estimate_test.cpp kernels/sparse/spmm_published_test.cpp
          kernels/sparse/spmm_published_rules_test.cpp kernels/sparse/spmm_published_sums_test.cpp
          kernels/sparse/spmm_published_work_test.cpp kernels/sparse/spmm_work_test.cpp
  LINK tessera_sparse tessera_operands tessera_test_run_program)
tessera_test(test_kernels_spmm_passes LABELS kernels
  SOURCES kernels/sparse/spmm_passes_test.cpp
  APART kernels/sparse/spmm_passes_cost_test.cpp kernels/family/sampled_test.cpp
  LINK tessera_job tessera_sparse tessera_test_run_program)
tessera_test(test_kernels_plan LABELS kernels
  SOURCES kernels/plan/lowest_fit_test.cpp kernels/plan/exchange_cost_test.cpp kernels/plan/repeat_limit_test.cpp kernels/lower/memory_plan_test.cpp kernels/lower/memory_orders_test.cpp kernels/lower/plan_test.cpp
  LINK tessera_lower)
tessera_test(test_kernels_lower LABELS kernels
  SOURCES kernels/lower/lower_errors_test.cpp kernels/lower/lower_lifetimes_test.cpp kernels/lower/lower_placing_test.cpp kernels/lower/lower_binding_test.cpp kernels/lower/check_test.cpp kernels/lower/lower_room_test.cpp kernels/lower/state_test.cpp kernels/lower/uses_test.cpp kernels/lower/control_code_test.cpp
          kernels/graph/graph_example_test.cpp kernels/graph/copy_test.cpp kernels/graph/turned_test.cpp kernels/graph/append_test.cpp kernels/graph/replicate_test.cpp kernels/graph/blocks_test.cpp kernels/graph/cells_test.cpp kernels/graph/places_test.cpp kernels/graph/row_stack_test.cpp
          kernels/graph/unit_rows_test.cpp kernels/graph/copy_model_test.cpp kernels/graph/graph_test.cpp
  LINK tessera_lower tessera_test_run_program)
tessera_test(test_kernels_published_matrix LABELS kernels
  SOURCES kernels/codelets/published_matrix_test.cpp
  LINK tessera_vertex)
tessera_test(test_kernels_published_vector LABELS kernels
  SOURCES kernels/codelets/published_vector_test.cpp
  LINK tessera_vertex)
tessera_test(test_kernels_micro LABELS kernels
  SOURCES kernels/micro/exchange_pattern_test.cpp kernels/micro/memory_stream_test.cpp kernels/micro/micro_useful_test.cpp kernels/rearrange/rearrange_test.cpp
          kernels/micro/micro_places_test.cpp kernels/micro/micro_sentences_test.cpp kernels/micro/micro_values_test.cpp kernels/micro/rearrange_workload_test.cpp kernels/micro/reduction_test.cpp kernels/micro/stencil_test.cpp kernels/micro/stream_plan_test.cpp
  LINK tessera_micro tessera_test_run_program)
tessera_test(test_kernels_own_codelet LABELS kernels
  SOURCES kernels/own_codelet/own_codelet_test.cpp
  LINK tessera_own_codelet)
tessera_test(test_kernels_pipeline LABELS kernels
  SOURCES kernels/pipeline/pipeline_test.cpp kernels/pipeline/pipeline_places_test.cpp kernels/pipeline/outputs_test.cpp kernels/family/comparison_test.cpp
  APART kernels/family/accumulate_test.cpp kernels/family/family_example_test.cpp kernels/family/refusals_test.cpp kernels/family/taken_test.cpp kernels/family/two_matrices_test.cpp
  LINK tessera_catalog tessera_pipeline tessera_elementwise tessera_matmul tessera_sparse tessera_views tessera_test_run_program)
tessera_test(test_kernels_rows LABELS kernels
  SOURCES kernels/graph/rows_test.cpp kernels/softmax/softmax_test.cpp kernels/reduce/block_norms_test.cpp kernels/reduce/reduce_test.cpp kernels/views/concat_test.cpp kernels/views/heads_test.cpp kernels/views/reshape_test.cpp kernels/views/transpose_test.cpp
          kernels/pipeline/rows_pipeline_test.cpp kernels/rearrange/rows_rules_test.cpp
  LINK tessera_softmax tessera_reduce tessera_views tessera_rearrange tessera_matmul tessera_pipeline tessera_test_run_program)
tessera_test(test_kernels_job LABELS kernels SOURCES kernels/job/job_test.cpp kernels/job/micro_job_test.cpp kernels/job/pipeline_job_test.cpp
          kernels/job/names_test.cpp kernels/job/pattern_sequence_test.cpp kernels/job/one_product_test.cpp kernels/job/random_pipelines_test.cpp kernels/job/views_test.cpp
  APART kernels/job/given_test.cpp
  LINK tessera_job tessera_test_declared_twins)
tessera_test(test_kernels_gcn UNSANITIZED LABELS kernels TIMEOUT 180
  SOURCES kernels/pipeline/gcn_test.cpp
  LINK tessera_job tessera_test_run_program)
tessera_test(test_kernels_gather LABELS kernels
  SOURCES kernels/gather/gather_test.cpp kernels/gather/gather_division_test.cpp
  LINK tessera_gather tessera_lower tessera_test_run_program)
tessera_test(test_kernels_top_k LABELS kernels
  SOURCES kernels/top_k/top_k_test.cpp
  LINK tessera_top_k tessera_lower tessera_test_run_program)
tessera_test(test_kernels_elementwise LABELS kernels
  SOURCES kernels/elementwise/elementwise_test.cpp kernels/elementwise/elementwise_rules_test.cpp kernels/elementwise/gradients_test.cpp kernels/elementwise/near_test.cpp kernels/elementwise/dropout_test.cpp kernels/elementwise/adam_test.cpp kernels/elementwise/sgd_test.cpp kernels/elementwise/sum_of_squares_test.cpp kernels/elementwise/tolerances_test.cpp kernels/gather/one_hot_test.cpp kernels/gather/scatter_add_test.cpp kernels/softmax/cross_entropy_test.cpp kernels/softmax/masked_softmax_test.cpp kernels/softmax/softmax_gradient_test.cpp
  LINK tessera_elementwise tessera_gather tessera_layer_norm tessera_softmax tessera_lower tessera_test_run_program)
tessera_test(test_kernels_layer_norm LABELS kernels
  SOURCES kernels/layer_norm/layer_norm_test.cpp
  APART kernels/reduce/sum_rows_test.cpp
  LINK tessera_layer_norm tessera_reduce tessera_lower tessera_test_run_program)
tessera_test(test_kernels_published_plans LABELS kernels
  SOURCES
    kernels/published/dense_model_test.cpp
    kernels/published/dense_planner_test.cpp
    kernels/published/static_model_test.cpp
    kernels/published/static_planner_test.cpp
  LINK tessera_published fmt::fmt)
tessera_test(test_kernels_dynamic_product LABELS kernels TIMEOUT 180
  SOURCES kernels/dynamic/dynamic_product_test.cpp
  LINK tessera_job tessera_test_run_program)
tessera_test(test_kernels_dynamic LABELS kernels TIMEOUT 180
  SOURCES kernels/dynamic/dynamic_encode_test.cpp kernels/dynamic/dynamic_fuzz_test.cpp kernels/dynamic/dynamic_own_planner_test.cpp kernels/dynamic/dynamic_deal_test.cpp kernels/dynamic/dynamic_division_test.cpp
          kernels/dynamic/dynamic_planner_test.cpp
          kernels/dynamic/dynamic_blocks_test.cpp kernels/dynamic/dynamic_elements_test.cpp
          kernels/dynamic/dynamic_travel_test.cpp kernels/dynamic/dynamic_vertex_test.cpp
  APART kernels/dynamic/dynamic_own_price_test.cpp
  LINK tessera_dynamic tessera_lower tessera_operands tessera_published tessera_tile_core)
tessera_test(test_kernels_collective LABELS kernels
  SOURCES kernels/collective/chips_collective_test.cpp kernels/collective/collective_test.cpp kernels/collective/link_pattern_test.cpp
  LINK tessera_chips tessera_collective tessera_link_core)
add_executable(declared_check kernels/job/declared_check.cpp)
target_link_libraries(declared_check PRIVATE tessera_job tessera_test_declared_twins tessera_warnings)
