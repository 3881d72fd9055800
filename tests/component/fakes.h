// SPDX-License-Identifier: MIT
// What a module is bound to where it stands alone.
#pragma once

#include "models/ports/clock.h"
#include "models/ports/ports.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <exception>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// What went wrong, as text; empty where nothing did.
inline std::string text_of(const std::exception_ptr& failure) {
    try {
        if (failure != nullptr) {
            std::rethrow_exception(failure);
        }
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

struct FakeWitness : ports::Witness {
    struct Failure {
        std::int64_t tile = 0;
        Cycles cycle = 0;
        std::string text;
    };
    void segment(const events::Segment& segment) override {
        CHECK(segment.end == ports::Clock::now());
        segments.push_back(segment);
        spans.insert(spans.end(), segment.spans.begin(), segment.spans.end());
    }
    void failed(std::int64_t tile, std::exception_ptr failure) override {
        failures.push_back({tile, ports::Clock::now(), text_of(failure)});
    }
    std::vector<events::Segment> segments; ///< their spans are not to be looked at
    std::vector<events::Span> spans;
    std::vector<Failure> failures;
};

/// Notes who is to be woken and when.
struct FakeAlarm : ports::Alarm {
    void wake_at(TileId tile, Cycles cycle) override {
        CHECK(cycle > ports::Clock::now());
        calls.emplace_back(tile, cycle);
    }
    std::vector<std::pair<TileId, Cycles>> calls;
};

struct FakeBarrier : ports::Barrier {
    void arrive(TileId tile, const events::Meeting& meeting) override {
        arrivals.push_back({tile, ports::Clock::now(), meeting});
    }
    struct Arrival {
        TileId tile = 0;
        Cycles cycle = 0;
        events::Meeting meeting;
    };
    std::vector<Arrival> arrivals;
};

/// Rows of one length each.
struct FakeFabric : ports::Fabric {
    [[nodiscard]] events::Lanes lanes(std::uint32_t /*exchange*/, TileId /*tile*/) const override {
        return {};
    }
    [[nodiscard]] Cycles row_cycles(std::uint32_t exchange, TileId tile) const override {
        const auto row = rows.find({exchange, tile});
        return row == rows.end() ? 0 : row->second;
    }
    [[nodiscard]] Told told() const override { return word; }
    std::map<std::pair<std::uint32_t, TileId>, Cycles> rows;
    Told word;
};

struct FakeStreams : ports::Streams {
    void arrive(TileId tile, const events::Call& call) override {
        calls.push_back({tile, ports::Clock::now(), call});
    }
    void left(TileId tile, std::uint32_t /*copy*/) override {
        leavers.emplace_back(tile, ports::Clock::now());
    }
    [[nodiscard]] std::int64_t times_ended(std::uint32_t /*copy*/) const override { return times; }
    void wait(TileId tile, std::uint32_t /*copy*/) override {
        waiting.emplace_back(tile, ports::Clock::now());
    }
    [[nodiscard]] Begun begun(std::uint32_t /*copy*/) const override { return last; }
    struct Arrival {
        TileId tile = 0;
        Cycles cycle = 0;
        events::Call call;
    };
    std::vector<Arrival> calls;
    std::vector<std::pair<TileId, Cycles>> leavers;
    std::vector<std::pair<TileId, Cycles>> waiting;
    std::int64_t times = 0;
    Begun last;
};

inline void run_for(Cycles cycles) {
    if (!sc_core::sc_start_of_simulation_invoked()) {
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    if (cycles == 0) {
        return; // SystemC warns of a run of no time
    }
    sc_core::sc_start(ports::Clock::until(ports::Clock::now() + cycles));
}

} // namespace tessera::test
