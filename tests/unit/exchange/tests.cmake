# SPDX-License-Identifier: MIT
tessera_test(test_unit_exchange LABELS unit
  SOURCES
    unit/exchange/bound_test.cpp
    unit/exchange/boundaries_test.cpp
    unit/exchange/broken_programs_test.cpp
    unit/exchange/broken_rows_test.cpp
    unit/exchange/exchange_word_test.cpp
    unit/exchange/fabrics_test.cpp
    unit/exchange/lanes_test.cpp
    unit/exchange/planner_test.cpp
    unit/exchange/random_exchange_test.cpp
    unit/exchange/row_writer_test.cpp
    unit/exchange/schedule_test.cpp
    unit/exchange/worked_examples_test.cpp
  LINK tessera_exchange_core tessera_exchange_plan)

tessera_test(test_exchange_whole_chip LABELS slow
  SOURCES unit/exchange/whole_chip_test.cpp
  LINK tessera_exchange_core tessera_exchange_plan)
