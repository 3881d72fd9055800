// SPDX-License-Identifier: MIT
#include "sim/process/work_progress.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace tessera;

TEST_CASE("how far work is, how fast, and what went wrong", "[unit][sim]") {
    CHECK(process::progress_text({95, 0, {}, 61}) == "0 of 95 points in 61 s");
    CHECK(process::progress_text({95, 19, {}, 10}) == "19 of 95 points, 1.9 a second, 40 s left");
    CHECK(process::progress_text({4000, 1000, {{"fault", 2}, {"does_not_fit", 30}}, 1000}) ==
          "1,000 of 4,000 points, 1 a second, 50 min left, 32 not ok: 30 does_not_fit, 2 fault");
    CHECK(process::progress_text({1, 0, {}, 5, "workload"}) == "0 of 1 workload in 5 s");
    CHECK(process::duration_text(0.1) == "1 s");
    CHECK(process::duration_text(119) == "119 s");
    CHECK(process::duration_text(120) == "2 min");
    CHECK(process::duration_text(7200) == "2.0 h");
}

TEST_CASE("a log has a line at each tenth of the points and in each half minute", "[unit][sim]") {
    // a point each `period` seconds, seconds by seconds
    const auto lines = [](std::size_t points, double period) {
        process::LogPace pace;
        std::vector<double> told;
        const double all = period * static_cast<double>(points);
        for (double now = 0; now <= all; now += 0.25) {
            if (pace.is_due({points, static_cast<std::size_t>(now / period), {}, now})) {
                told.push_back(now);
            }
        }
        return told;
    };
    CHECK(lines(100, 0.125) == std::vector<double>{1.25, 2.5, 3.75, 5, 6.25, 7.5, 8.75, 10, 11.25});
    CHECK(lines(20, 0.125) == std::vector<double>{1, 2}); // none within a second, none at the end
    CHECK(lines(4, 0.25).empty());
    CHECK_FALSE(process::LogPace().is_due({0, 0, {}, 100})); // of no points there is no tenth
    CHECK(lines(1, 100) == std::vector<double>{30, 60, 90});
    CHECK(lines(20, 20).size() == 10 + 9); // a tenth each 40 s, and half a minute after it
}
