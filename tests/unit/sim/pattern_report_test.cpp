// SPDX-License-Identifier: MIT
// The whole text about a small matrix, which is known by hand.
#include "sim/pattern/report.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera;
using workload::CoordinateMatrix;
using workload::ValueType;

TEST_CASE("the whole text about a pattern", "[unit][sim]") {
    // x x . . .
    // . . . . .
    // x x . . x    blocks of 2: the one at the left and the corner of one element
    CoordinateMatrix matrix{
        3,
        5,
        ValueType::F16,
        {{0, 0, 0, 1.0}, {0, 1, 0, 0.0}, {2, 0, 0, 1.0}, {2, 1, 0, 1.0}, {2, 4, 0, 1.0}}};
    const auto text = [&](std::int64_t block) {
        return pattern::summary_text(pattern::summary_of(matrix, block), "a.mtx", "f16",
                                     {.columns = 200, .color = false});
    };
    CHECK(text(2) == R"(a.mtx
  size               3 x 5, f16
  entries            5, 33.33 % of all elements; 1 have the value 0
  rows               row 2 has 3, 1.8 times the mean of 1.667; 1 of 3 rows have none
  columns            column 0 has 2, 2 times the mean of 1; 2 of 5 columns have none
  blocks of 2 x 2    3 of 2 x 3 are kept, 50 %
  fill of blocks     71.43 % of their elements are entries, 1 the least; 2 are whole
  rows of blocks     row 1 has 2, 1.33 times the mean of 1.5; 0 of 2 rows have none
  columns of blocks  column 0 has 2, 2 times the mean of 1; 1 of 3 columns have none
  bytes as COO       50
  bytes as CSR       46
  bytes as CSC       54
  bytes as BSR       48
  bytes dense        30
)");
    matrix.entries[1].value = 2.0;
    CHECK(text(1) == R"(a.mtx
  size          3 x 5, f16
  entries       5, 33.33 % of all elements
  rows          row 2 has 3, 1.8 times the mean of 1.667; 1 of 3 rows have none
  columns       column 0 has 2, 2 times the mean of 1; 2 of 5 columns have none
  bytes as COO  50
  bytes as CSR  46
  bytes as CSC  54
  bytes as BSR  46
  bytes dense   30
)");
}
