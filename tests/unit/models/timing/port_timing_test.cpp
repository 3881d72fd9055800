// SPDX-License-Identifier: MIT
#include "models/memory/core/stream_port.h"
#include "models/timing/port_timing.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tessera;
using memory::StreamPort;
using timing::PortTiming;

namespace {

/// The least whole number of `part`s that hold `all`.
Cycles parts_of(Cycles all, double part) {
    Cycles count = 0;
    while (static_cast<double>(count) * part < static_cast<double>(all)) {
        ++count;
    }
    return count;
}

} // namespace

TEST_CASE("a piece costs the link whole requests", "[timing]") {
    for (const Bytes request : {1, 4, 64}) {
        PortTiming link;
        link.request_bytes = request;
        for (Bytes bytes = 0; bytes <= 2 * request + 1; ++bytes) {
            CHECK(link.requested_bytes(bytes) ==
                  request * parts_of(bytes, static_cast<double>(request)));
        }
    }
}

TEST_CASE("a copy holds the link for its bytes, or for the busiest tile's lane", "[timing]") {
    PortTiming link;
    link.read_bytes_per_cycle = 8;
    link.write_bytes_per_cycle = 2.5;
    link.lane_bytes = 4;
    for (const Bytes requested : {0, 1, 7, 8, 9, 40, 41}) {
        for (const Bytes busiest : {0, 1, 3, 4, 5, 8, 100}) {
            CAPTURE(requested, busiest);
            const Cycles lane = parts_of(busiest, 4);
            CHECK(link.service_cycles(true, requested, busiest) ==
                  std::max(parts_of(requested, 8), lane));
            CHECK(link.service_cycles(false, requested, busiest) ==
                  std::max(parts_of(requested, 2.5), lane));
        }
    }
}

TEST_CASE("links have the rates and latencies of their machine", "[timing]") {
    spec::MachineSpec machine;
    machine.chip.clock_hz = 2e9;
    machine.streaming.read_gbytes_per_s = 8;
    machine.streaming.write_gbytes_per_s = 6;
    machine.streaming.machine_gbytes_per_s = 28;
    machine.streaming.latency_us = 1.0006; // 2001.2 cycles
    machine.streaming.request_bytes = 64;
    machine.host.read_gbytes_per_s = 3;
    machine.host.write_gbytes_per_s = 5;
    machine.host.latency_us = 0.50048; // 1000.96 cycles
    machine.host.request_bytes = 32;
    for (const bool shared : {false, true}) {
        machine.streaming.shared_rate = shared;
        for (const int chips : {1, 4}) {
            machine.streaming.chips_sharing = chips;
            const double share = 28.0 / chips;
            const PortTiming link = timing::streaming_port(machine);
            CHECK(link.read_bytes_per_cycle == Approx(std::min(8.0, share) / 2));
            CHECK(link.write_bytes_per_cycle == Approx(std::min(6.0, share) / 2));
            CHECK(link.latency_cycles == 2001);
            CHECK(link.request_bytes == 64);
            CHECK(link.shared_rate == shared);
            CHECK(link.lane_bytes == 4 * machine.exchange.lane_items());
        }
    }
    const PortTiming host = timing::host_port(machine);
    CHECK(host.read_bytes_per_cycle == Approx(1.5));
    CHECK(host.write_bytes_per_cycle == Approx(2.5));
    CHECK(host.latency_cycles == 1001);
    CHECK(host.request_bytes == 32);
    CHECK_FALSE(host.shared_rate);
    CHECK(host.lane_bytes == 4 * machine.exchange.lane_items());
}

TEST_CASE("copies follow each other on a link, reads and writes apart unless they share it",
          "[timing]") {
    for (const bool shared : {false, true}) {
        CAPTURE(shared);
        PortTiming timing;
        timing.read_bytes_per_cycle = 4;
        timing.write_bytes_per_cycle = 2;
        timing.latency_cycles = 100;
        timing.shared_rate = shared;
        StreamPort link(timing);
        const auto copy = [&](Cycles now, bool read, Bytes bytes) {
            return link.begin(now, {.read = read, .requested_bytes = bytes});
        };
        const auto check = [](const memory::StreamTimes& times, Cycles begin, Cycles cycles) {
            CHECK(times.service_begin == begin);
            CHECK(times.service_end == begin + cycles);
            CHECK(times.end == begin + cycles + 100);
        };
        check(copy(5, true, 40), 5, 10);
        check(copy(6, true, 40), 15, 10);
        check(copy(7, false, 40), shared ? 25 : 7, 20);
        check(copy(44, true, 4), shared ? 45 : 44, 1);
        check(copy(46, false, 4), 46, 2);
        check(copy(500, true, 4), 500, 1);
    }
}
