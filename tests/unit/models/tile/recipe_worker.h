// SPDX-License-Identifier: MIT
// One worker in timing mode that may go by recipes of stretches, on tiles that hold other words each.
#pragma once

#include "models/isa/assembler.h"
#include "models/isa/machine_target.h"
#include "models/isa/stretch_recipes.h"
#include "models/program/known_words.h"
#include "models/tile/core/tile_classes.h"
#include "models/tile/core/tile_core.h"
#include "models/tile/core/worker_classes.h"
#include "tests/support/random_code.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test::recipes {

inline constexpr Address kElement = 1024;
inline constexpr Address kRegion = 8192;
inline constexpr Address kBase = 0x4c000;
inline constexpr Address kData = kBase + 4096;   ///< words that the worker loads
inline constexpr Address kResult = kData + 1024; ///< words that it stores
inline constexpr TileId kTile = 1;

struct Left {
    std::string fault; ///< without registers; empty if there was none
    Cycles cycles = 0;
    std::vector<std::uint32_t> memory; ///< 0 where it is not known
    std::vector<bool> known;

    bool operator==(const Left&) const = default;
};

/// One worker in timing mode, all of whose memory is known.
class Worker {
public:
    explicit Worker(const std::string& body, spec::MachineSpec machine = random_machine(true))
        : spec_(std::move(machine)),
          codelets_{isa::assemble("test",
                                  {{"test.S", ".supervisor\n.globl start\nstart: setzi $m0, "
                                              "worker\nrun $m0, $mzero, 0\n"
                                              "sync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n" +
                                                  body}},
                                  kBase, isa::options_for(isa::target_of(spec_)))},
          cache_(codelets_), known_(kTile + 1, kBase, spec_.memory.bytes()) {
        const auto& words = codelets_.front().words;
        auto bytes = std::make_shared<std::vector<std::byte>>(words.size() * 4);
        std::memcpy(bytes->data(), words.data(), bytes->size());
        image_.segments.push_back({codelets_.front().address, static_cast<Bytes>(bytes->size()),
                                   program::SegmentKind::Code, "test", bytes});
    }

    [[nodiscard]] Address code_end() const {
        return kBase + static_cast<Address>(codelets_.front().words.size()) * 4;
    }

    /// A phase with these words at kData. `unknown`: how many words behind them are not known.
    Left run(const std::vector<std::uint32_t>& data, isa::StretchRecipes* recipes,
             std::uint32_t unknown = 0, tile::WorkerClasses* workers = nullptr) {
        std::vector<std::uint64_t> memory(static_cast<std::size_t>(spec_.memory.bytes()) / 8);
        auto* const words = reinterpret_cast<std::uint32_t*>(memory.data());
        for (std::uint32_t word = 0; word < 2 * memory.size(); ++word) {
            words[word] = word * 0x01030507U;
        }
        std::copy(data.begin(), data.end(), words + (kData - kBase) / 4);
        known_.forget(kTile, kBase, spec_.memory.bytes());
        known_.learn(kTile, kBase, spec_.memory.bytes());
        known_.forget(kTile, kData + static_cast<Address>(data.size()) * 4, Bytes{4} * unknown);
        tile::TileClasses classes;
        tile::TileCore core(spec_, kTile, reinterpret_cast<std::byte*>(memory.data()));
        tile::TimingMode mode{known_, classes, nullptr, true, recipes, workers};
        core.set_timing(mode);
        core.load(image_, cache_);
        Left left;
        try {
            left.cycles = core.run(codelets_.front().symbols.at("start")).cycles;
        } catch (const tile::TileFault& fault) {
            left.fault = fault.what();
            left.fault.resize(std::min(left.fault.size(), left.fault.find("; $m0")));
            left.cycles = fault.fault().cycle;
            return left;
        }
        for (std::uint32_t word = 0; word < known_.words_of_tile(); ++word) {
            left.known.push_back(known_.of_tile(kTile).get(word));
            left.memory.push_back(left.known.back() ? words[word] : 0);
        }
        return left;
    }

private:
    spec::MachineSpec spec_;
    std::vector<program::Codelet> codelets_;
    tile::CodeCache cache_;
    program::KnownWords known_;
    program::Image image_;
};

/// A way that is recorded with some words and then meets others.
struct Again {
    bool met = false;
    bool faults = false;
    bool is_same = false; ///< as it is instruction by instruction
};
inline Again again(Worker& worker, const std::vector<std::uint32_t>& recorded,
                   const std::vector<std::uint32_t>& then) {
    isa::StretchRecipes recipes{isa::StretchRecipes::All{}};
    REQUIRE(worker.run(recorded, &recipes).fault.empty());
    const std::int64_t before = recipes.met();
    const Left by_recipe = worker.run(then, &recipes);
    const Left plain = worker.run(then, nullptr);
    return {recipes.met() > before, !plain.fault.empty(), by_recipe == plain};
}

} // namespace tessera::test::recipes
