// SPDX-License-Identifier: MIT
// A tile in timing mode whose memory holds known words, and a program assembled from text.
#pragma once

#include "models/isa/stretch_recipes.h"
#include "models/tile/core/section_classes.h"
#include "models/tile/core/tile_classes.h"
#include "tests/support/assembled_tile.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

/// A tile that runs the same phase over and over.
class KnownTile {
public:
    static constexpr Address kBegin = 0x80000; ///< of the words that it holds
    static constexpr Address kBytes = 0xa00;   ///< that are looked at behind a phase

    /// With sections, unless they are null.
    KnownTile(const std::string& text, tile::SectionClasses* sections,
              spec::MachineSpec machine = {})
        : spec_(std::move(machine)), codelets_{isa::assemble(
                                         "test", {{"test.S", text}}, spec_.memory.region0_begin(),
                                         isa::options_for(isa::target_of(spec_)))},
          cache_(codelets_), known_(1, spec_.memory.region0_begin(), spec_.memory.bytes()) {
        const auto& words = codelets_.front().words;
        auto bytes = std::make_shared<std::vector<std::byte>>(words.size() * 4);
        std::memcpy(bytes->data(), words.data(), bytes->size());
        image_.segments.push_back({codelets_.front().address, static_cast<Bytes>(bytes->size()),
                                   program::SegmentKind::Code, "test", bytes});
        mode_.keeps_contexts = false;
        mode_.recipes = &recipes_;
        mode_.sections = sections;
    }

    struct Left {
        tile::ComputeOutcome outcome;
        std::vector<std::uint32_t> words; ///< from kBegin on; 0 if not known
        std::vector<bool> known;
        friend bool operator==(const Left&, const Left&) = default;
    };
    Left run(const std::vector<std::uint32_t>& words, bool audited = false) {
        auto bytes = std::make_shared<std::vector<std::byte>>(words.size() * 4);
        std::memcpy(bytes->data(), words.data(), bytes->size());
        program::Image image = image_;
        image.segments.push_back({kBegin, static_cast<Bytes>(bytes->size()),
                                  program::SegmentKind::VertexState, "known", bytes});
        std::vector<std::uint64_t> memory(static_cast<std::size_t>(spec_.memory.bytes()) / 8);
        const Address base = spec_.memory.region0_begin();
        known_.forget(0, base, spec_.memory.bytes());
        tile::TileCore core(spec_, 0, reinterpret_cast<std::byte*>(memory.data()));
        core.set_timing(mode_);
        core.load(image, cache_);
        core.set_audited(audited);
        Left left{core.run(codelets_.front().symbols.at("start")), {}, {}};
        for (Address at = kBegin; at < kBegin + kBytes; at += 4) {
            left.known.push_back(known_.is_known(0, at));
            std::uint32_t word = 0;
            std::memcpy(&word, reinterpret_cast<const std::byte*>(memory.data()) + (at - base),
                        left.known.back() ? sizeof word : 0);
            left.words.push_back(word);
        }
        classes_.judge();
        return left;
    }

private:
    spec::MachineSpec spec_;
    std::vector<program::Codelet> codelets_;
    tile::CodeCache cache_;
    program::KnownWords known_;
    tile::TileClasses classes_;
    isa::StretchRecipes recipes_;
    tile::TimingMode mode_{known_, classes_};
    program::Image image_;
};

} // namespace tessera::test
