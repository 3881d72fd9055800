# SPDX-License-Identifier: MIT
tessera_test(test_unit_exchange CORE chip LABELS unit
  SOURCES
    unit/models/exchange/arrival_test.cpp
    unit/models/exchange/attempts_test.cpp
    unit/models/exchange/bound_test.cpp
    unit/models/exchange/boundaries_test.cpp
    unit/models/exchange/broken_programs_test.cpp
    unit/models/exchange/broken_elements_test.cpp
    unit/models/exchange/broken_rows_test.cpp
    unit/models/exchange/broken_wide_test.cpp
    unit/models/exchange/check_test.cpp
    unit/models/exchange/exchange_word_test.cpp
    unit/models/exchange/fabrics_test.cpp
    unit/models/exchange/known_schedules_test.cpp
    unit/models/exchange/landing_model_test.cpp
    unit/models/exchange/lanes_test.cpp
    unit/models/exchange/orders_test.cpp
    unit/models/exchange/planner_test.cpp
    unit/models/exchange/random_exchange_test.cpp
    unit/models/exchange/row_walk_model_test.cpp
    unit/models/exchange/row_writer_test.cpp
    unit/models/exchange/schedule_model_test.cpp
    unit/models/exchange/schedule_test.cpp
    unit/models/exchange/worked_examples_test.cpp
    unit/models/exchange/network_model_test.cpp
  LINK tessera_exchange_core tessera_exchange_plan TBB::tbb)

tessera_test(test_exchange_whole_chip LABELS slow
  SOURCES unit/models/exchange/whole_chip_test.cpp
  LINK tessera_exchange_core tessera_exchange_plan)
