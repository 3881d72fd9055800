// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/micro/message_pattern.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/rearrange/rearrange.h"
#include "tests/kernels/micro/micro_bench.h"

namespace {

using namespace tessera;
using workload::ExchangePattern;
using workload::ExchangePatternWorkload;

ExchangePatternWorkload pattern(ExchangePattern kind, std::int64_t bytes, bool self = false) {
    ExchangePatternWorkload workload;
    workload.pattern = kind;
    workload.bytes = bytes;
    workload.include_self = self;
    return workload;
}

constexpr ExchangePattern kAll[] = {
    ExchangePattern::PointToPoint, ExchangePattern::Pairs,     ExchangePattern::Broadcast,
    ExchangePattern::Gather,       ExchangePattern::Scatter,   ExchangePattern::AllToAll,
    ExchangePattern::Random,       ExchangePattern::Transpose, ExchangePattern::Shift};

} // namespace

TEST_CASE("every pattern delivers every byte", "[kernels][micro]") {
    for (const ExchangePattern kind : kAll) {
        for (const std::int64_t tiles : {4, 6, 64}) {
            for (const std::int64_t bytes : {4, 12, 64, 520}) {
                for (const bool self : {false, true}) {
                    CAPTURE(static_cast<int>(kind), tiles, bytes, self);
                    static_cast<void>(
                        test::run_micro(test::chip_of(tiles), pattern(kind, bytes, self)));
                }
            }
        }
    }
}

TEST_CASE("an exchange pattern delivers as many bytes as its formula says", "[kernels][micro]") {
    constexpr std::int64_t kTiles = 16;
    constexpr Bytes kBytes = 32;
    const auto useful = [&](ExchangePattern kind, bool self) {
        return test::plan_micro(test::chip_of(kTiles), pattern(kind, kBytes, self)).useful_bytes;
    };
    CHECK(useful(ExchangePattern::PointToPoint, false) == kBytes);
    CHECK(useful(ExchangePattern::Pairs, false) == kTiles * kBytes);
    CHECK(useful(ExchangePattern::Random, false) == kTiles * kBytes);
    CHECK(useful(ExchangePattern::Shift, false) == kTiles * kBytes);
    for (const bool self : {false, true}) {
        const std::int64_t others = kTiles - (self ? 0 : 1);
        CHECK(useful(ExchangePattern::Broadcast, self) == others * kBytes);
        CHECK(useful(ExchangePattern::Gather, self) == others * kBytes);
        CHECK(useful(ExchangePattern::Scatter, self) == others * kBytes);
        CHECK(useful(ExchangePattern::AllToAll, self) == kTiles * others * kBytes);
    }
    // The diagonal of the 4 x 4 grid stays where it is.
    CHECK(useful(ExchangePattern::Transpose, true) == kTiles * kBytes);
    CHECK(useful(ExchangePattern::Transpose, false) == (kTiles - 4) * kBytes);
}

TEST_CASE("a broadcast to complete pairs asks for double width", "[kernels][micro]") {
    auto workload = pattern(ExchangePattern::Broadcast, 1024);
    const auto paired = [&](std::int64_t tiles) {
        workload.tiles = tiles;
        const auto plan = test::plan_micro(test::chip_of(64), workload);
        return plan.program.exchanges.at(0).transfers.at(0).paired;
    };
    CHECK(paired(2));
    CHECK(paired(62));
    CHECK_FALSE(paired(1));
    CHECK_FALSE(paired(63)); // the root's partner is among them
}

TEST_CASE("a pattern without own parts has no compute set", "[kernels][micro]") {
    const auto machine = test::chip_of(16);
    CHECK(test::plan_micro(machine, pattern(ExchangePattern::AllToAll, 64))
              .program.compute_sets.empty());
    const auto self = test::plan_micro(machine, pattern(ExchangePattern::AllToAll, 64, true));
    CHECK(self.program.compute_sets.size() == 1);
    CHECK(self.choices.at("copies_in_tile") == 16);
}

TEST_CASE("repeated patterns take their cycles as often", "[kernels][micro]") {
    auto workload = pattern(ExchangePattern::AllToAll, 64, true);
    const auto machine = test::chip_of(8);
    const auto once = test::run_micro(machine, workload).outcome.cycles;
    workload.repeats = 5;
    const auto often = test::run_micro(machine, workload);
    CHECK(often.outcome.cycles.total() == 5 * once.total());
    CHECK(often.plan.useful_bytes == 5 * 8 * 8 * workload.bytes);
}

TEST_CASE("copies inside tiles take the predicted cycles", "[kernels][micro]") {
    for (const std::int64_t bytes : {4, 8, 60, 64, 4096}) {
        for (const std::int64_t workers : {1, 6, 8}) {
            CAPTURE(bytes, workers);
            auto machine = test::chip_of(4);
            machine.tile.workers = workers;
            workload::SelfCopyWorkload workload;
            workload.bytes = bytes;
            const auto run = test::run_micro(machine, workload);
            const auto calls = rearrange::copy(machine, {}, {}, bytes);
            CHECK(run.outcome.step_cycles.at(0) == rearrange::cycles(machine, calls));
        }
    }
}

TEST_CASE("every way to copy is right, and as long as its issues say", "[kernels][micro]") {
    using workload::CopyLoop;
    const auto machine = test::chip_of(4);
    for (const std::int64_t bytes : {8, 64, 4096}) {
        const rearrange::Calls one{rearrange::strided({{}, 8}, {{}, 8}, bytes / 8, 8)};
        const auto paced = rearrange::paced_copy(machine, {}, {}, bytes);
        for (const auto& [loop, calls] :
             {std::pair{CopyLoop::OneWorker, one}, std::pair{CopyLoop::Paced, paced}}) {
            CAPTURE(bytes, calls.front().symbol);
            workload::SelfCopyWorkload copy;
            copy.bytes = bytes;
            copy.copies = loop;
            CHECK(test::run_micro(machine, copy).outcome.step_cycles.at(0) ==
                  rearrange::cycles(machine, calls));
            auto gather = pattern(ExchangePattern::Gather, bytes, true);
            gather.copies = loop;
            static_cast<void>(test::run_micro(machine, gather));
        }
    }
}

TEST_CASE("a paced copy takes an issue for 8 bytes", "[kernels][micro]") {
    const auto machine = test::chip_of(4);
    const auto cycles = [&](std::int64_t words) {
        workload::SelfCopyWorkload copy;
        copy.bytes = 8 * words * machine.tile.workers;
        copy.copies = workload::CopyLoop::Paced;
        return test::run_micro(machine, copy).outcome.step_cycles.at(0);
    };
    CHECK(cycles(60) - cycles(10) == 50 * machine.tile.workers);
}

TEST_CASE("loops of 8 bytes copy whole words", "[kernels][micro]") {
    using workload::CopyLoop;
    const auto message = [](auto workload, CopyLoop copies, std::int64_t bytes) {
        workload.bytes = bytes;
        workload.copies = copies;
        const auto mistakes = workload.mistakes();
        return mistakes.empty() ? std::string()
                                : mistakes.front().key + ": " + mistakes.front().message;
    };
    const auto gather = pattern(ExchangePattern::Gather, 0, true);
    const workload::SelfCopyWorkload copy;
    CHECK(message(gather, CopyLoop::Workers, 60).empty());
    CHECK(message(copy, CopyLoop::Workers, 60).empty());
    CHECK(message(copy, CopyLoop::Workers, 62) == "bytes: got 62 B, expected a multiple of 4 B");
    for (const CopyLoop loop : {CopyLoop::OneWorker, CopyLoop::Paced}) {
        const std::string refused =
            "bytes: got 60 B, expected a multiple of 8 B (a word of the loop that copies)";
        CHECK(message(gather, loop, 64).empty());
        CHECK(message(gather, loop, 60) == refused);
        CHECK(message(copy, loop, 60) == refused);
    }
}

TEST_CASE("patterns name the tiles that a machine has not", "[kernels][micro]") {
    const auto machine = test::chip_of(4);
    const auto message = [&](const ExchangePatternWorkload& workload) {
        try {
            static_cast<void>(test::plan_micro(machine, workload));
        } catch (const ConfigError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    auto workload = pattern(ExchangePattern::Shift, 64);
    workload.tiles = 5;
    CHECK(message(workload) ==
          "workload: /tiles: got 5 tiles, expected 1..4 on machine 'bow' (chip.tiles)");
    workload = pattern(ExchangePattern::Broadcast, 64);
    workload.tiles = 4;
    CHECK(message(workload) ==
          "workload: /tiles: got 4 tiles, expected 1..3 on machine 'bow' (chip.tiles)");
    workload = pattern(ExchangePattern::PointToPoint, 64);
    workload.destination = 7;
    CHECK(message(workload) ==
          "workload: /destination: got tile 7, expected 0..3 on machine 'bow' (chip.tiles)");
}

TEST_CASE("a pattern that memory cannot hold does not fit", "[kernels][micro]") {
    const auto machine = test::chip_of(4);
    CHECK_THROWS_AS(test::plan_micro(machine, pattern(ExchangePattern::AllToAll, 1 << 17)),
                    DoesNotFit);
}

TEST_CASE("who only sends and who only receives may each fill their memory", "[kernels][micro]") {
    const auto machine = test::chip_of(4);
    const Bytes most = machine.memory.region0_bytes + machine.memory.region1_bytes -
                       3 * machine.memory.element_bytes;
    static_cast<void>(test::run_micro(machine, pattern(ExchangePattern::PointToPoint, most)));
}

TEST_CASE("a pattern in which nobody sends is refused", "[kernels][micro]") {
    for (const ExchangePattern kind : {ExchangePattern::Transpose, ExchangePattern::AllToAll}) {
        auto workload = pattern(kind, 64);
        workload.tiles = 1;
        CHECK_THROWS_AS(test::plan_micro(test::chip_of(4), workload), ConfigError);
        CHECK_THROWS_WITH(test::plan_micro(test::chip_of(4), workload),
                          Catch::Contains("/tiles: got 1 tiles, of which none has a message for "
                                          "another in this pattern, expected more tiles"));
        workload.tiles = 2;
        if (kind == ExchangePattern::AllToAll) {
            CHECK_NOTHROW(test::plan_micro(test::chip_of(4), workload));
        }
    }
}

TEST_CASE("a copy with more rounds than a repeat counts is cut", "[kernels][micro]") {
    auto machine = test::chip_of(4);
    machine.tile.workers = 1;
    machine.chip.generation = spec::Generation::Ipu1;
    const Bytes most = plan::most_rounds(machine) * 8;
    for (const auto& [bytes, vertices] : {std::pair{most, 1}, {most + 8, 2}, {3 * most + 4, 7}}) {
        CAPTURE(bytes, vertices);
        workload::SelfCopyWorkload workload;
        workload.bytes = bytes;
        const auto run = test::run_micro(machine, workload);
        const auto& copies = run.plan.program.compute_sets.at(0).tiles.at(3).vertices;
        CHECK(copies.size() == static_cast<std::size_t>(vertices));
        CHECK(run.outcome.step_cycles.at(0) ==
              rearrange::cycles(machine, rearrange::copy(machine, {}, {}, bytes)));
    }
}

TEST_CASE("of a random pattern only the last tile may be left to itself", "[kernels][micro]") {
    const auto machine = test::chip_of(4);
    const auto last = static_cast<TileId>(machine.chip.tiles - 1);
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        CAPTURE(seed);
        auto workload = pattern(ExchangePattern::Random, 64, true);
        workload.seed = seed;
        const auto messages = micro::message_pattern(machine, workload);
        for (const auto& copy : messages.copies) {
            CHECK(copy.tile == last);
        }
        CHECK(messages.transfers.size() + messages.copies.size() ==
              static_cast<std::size_t>(machine.chip.tiles));
    }
}
