# SPDX-License-Identifier: MIT
tessera_test(test_unit_exchange LABELS unit
  SOURCES
    unit/exchange/broken_rows_test.cpp
    unit/exchange/exchange_word_test.cpp
    unit/exchange/fabrics_test.cpp
    unit/exchange/planner_test.cpp
    unit/exchange/random_exchange_test.cpp
    unit/exchange/row_writer_test.cpp
    unit/exchange/worked_examples_test.cpp
  LINK tessera_exchange_core tessera_exchange_plan)

add_executable(bench_exchange_plan unit/exchange/bench_exchange_plan.cpp)
target_link_libraries(bench_exchange_plan
  PRIVATE tessera_warnings tessera_exchange_core tessera_exchange_plan)
set_target_properties(bench_exchange_plan PROPERTIES EXCLUDE_FROM_ALL ON)
