// SPDX-License-Identifier: MIT
#include "models/link/core/edge_series.h"
#include "tests/unit/models/link/traffic.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace tessera;
using link::EdgeSeries;

namespace {

std::vector<EdgeSeries::Part> parts_of(const EdgeSeries& series, std::size_t edge) {
    const auto parts = series.of(edge);
    return {parts.begin(), parts.end()};
}

} // namespace

TEST_CASE("what goes over an edge is kept by interval", "[unit][link]") {
    using Parts = std::vector<EdgeSeries::Part>;
    EdgeSeries series(3);
    CHECK(series.interval() == EdgeSeries::kFirstInterval);
    series.add(1, 0, 4, 14);
    series.add(1, 63, 64, 74);
    series.add(1, 128, 8, 18);
    series.add(2, 64, 1, 2);
    CHECK(parts_of(series, 0).empty());
    CHECK(parts_of(series, 1) == Parts{{68, 88}, {0, 0}, {8, 18}});
    CHECK(parts_of(series, 2) == Parts{{0, 0}, {1, 2}});
}

TEST_CASE("intervals double where a run lasts longer, and lose nothing", "[unit][link]") {
    using Parts = std::vector<EdgeSeries::Part>;
    const auto last = static_cast<Cycles>(EdgeSeries::kMostIntervals) * EdgeSeries::kFirstInterval;
    EdgeSeries series(2);
    series.add(0, 0, 1, 10);
    series.add(0, 64, 2, 20);
    series.add(0, 128, 4, 40);
    series.add(0, last - 1, 8, 80);
    CHECK(series.interval() == 64);
    CHECK(series.of(0).size() == EdgeSeries::kMostIntervals);
    series.add(1, last, 16, 160);
    CHECK(series.interval() == 128);
    CHECK(series.of(0).size() == EdgeSeries::kMostIntervals / 2);
    CHECK(series.of(0)[0] == EdgeSeries::Part{3, 30});
    CHECK(series.of(0)[1] == EdgeSeries::Part{4, 40});
    CHECK(series.of(0).back() == EdgeSeries::Part{8, 80});
    CHECK(series.of(1).back() == EdgeSeries::Part{16, 160});
    series.add(1, 1000 * last, 32, 320);
    CHECK(parts_of(series, 0) == Parts{{15, 150}}); // all of it in the first of the long ones
    CHECK(series.of(1)[1] == EdgeSeries::Part{16, 160});
    CHECK(series.of(1).back() == EdgeSeries::Part{32, 320});
}

TEST_CASE("the intervals of an edge sum to what has passed it", "[unit][link]") {
    for (unsigned seed = 0; seed < 20; ++seed) {
        const auto machine = link_test::random_machine(seed);
        link_test::System system{machine};
        EdgeSeries series(system.network.edges().size());
        system.network.record(series);
        static_cast<void>(system.run(link_test::random_steps(machine, {}, seed)));
        for (std::size_t edge = 0; edge < system.network.edges().size(); ++edge) {
            EdgeSeries::Part sum;
            for (const auto& part : series.of(edge)) {
                sum.payload_bytes += part.payload_bytes;
                sum.bytes += part.bytes;
            }
            const auto& use = system.network.edges()[edge];
            CAPTURE(seed, edge);
            CHECK(sum == EdgeSeries::Part{use.payload_bytes, use.bytes});
        }
    }
}
