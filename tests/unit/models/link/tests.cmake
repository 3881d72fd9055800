# SPDX-License-Identifier: MIT
tessera_test(test_unit_link CORE chip LABELS unit
  SOURCES
    unit/models/link/edge_series_test.cpp
    unit/models/link/link_bound_test.cpp
    unit/models/link/machine_file_test.cpp
    unit/models/link/packet_network_test.cpp
    unit/models/link/route_table_test.cpp
  LINK tessera_link_core tessera_machine_file)
