# SPDX-License-Identifier: MIT
# libsystemc wants an sc_main, so these link the main that has one.
tessera_test(test_unit_sim SYSTEMC UNSANITIZED LABELS unit
  SOURCES
    unit/sim/assemble_test.cpp
    unit/sim/batch_test.cpp
    unit/sim/bucket_words_test.cpp
    unit/sim/cli_test.cpp
    unit/sim/completion_test.cpp
    unit/sim/comparison_test.cpp
    unit/sim/cost_test.cpp
    unit/sim/digest_test.cpp
    unit/sim/exit_code_test.cpp
    unit/sim/inquire_test.cpp
    unit/sim/layout_test.cpp
    unit/sim/memory_report_test.cpp
    unit/sim/options_test.cpp
    unit/sim/output_test.cpp
    unit/sim/pattern_report_test.cpp
    unit/sim/progress_test.cpp unit/sim/work_progress_test.cpp
    unit/sim/result_file_test.cpp
    unit/sim/result_test.cpp
    unit/sim/results_csv_test.cpp
    unit/sim/sentences_test.cpp
    unit/sim/several_test.cpp
    unit/sim/summary_test.cpp
    unit/sim/unused_parameters_test.cpp
    unit/sim/warm_order_test.cpp
    unit/sim/what_if_test.cpp
    unit/sim/words_test.cpp
    unit/sim/sweep/check_test.cpp unit/sim/sweep/result_paths_test.cpp unit/sim/sweep/stored_point_test.cpp
  APART
    unit/sim/explain_test.cpp unit/sim/operand_test.cpp unit/sim/plot_test.cpp unit/sim/process_test.cpp unit/sim/recording_file_test.cpp unit/sim/report_test.cpp unit/sim/sweep/reckoned_test.cpp unit/sim/sweep/record_test.cpp unit/sim/sweep/standing_test.cpp
  LINK tessera_commands)
