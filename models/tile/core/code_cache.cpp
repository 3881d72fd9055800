// SPDX-License-Identifier: MIT
#include "models/isa/decoded_program.h"
#include "models/program/source_place.h"
#include "models/tile/core/tile_core.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace tessera::tile {

struct CodeCache::Implementation {
    const std::vector<program::Codelet>* codelets = nullptr;
    /// By bytes (which images share), address, length, generation, and what steps take.
    std::map<std::tuple<const void*, Address, Bytes, int, std::int64_t, std::int32_t>,
             std::unique_ptr<isa::DecodedProgram>>
        by_segment;
};

CodeCache::CodeCache(const std::vector<program::Codelet>& codelets)
    : implementation_(std::make_unique<Implementation>()) {
    implementation_->codelets = &codelets;
}

CodeCache::~CodeCache() = default;

const isa::DecodedProgram* CodeCache::decoded(const program::Segment& segment,
                                              const isa::Target& target) {
    auto& entry = implementation_
                      ->by_segment[{segment.data.get(), segment.address, segment.bytes,
                                    target.architecture, target.steps_sharing, target.step_issues}];
    if (entry == nullptr) {
        std::vector<std::uint32_t> words(static_cast<std::size_t>(segment.bytes) / 4);
        if (segment.data != nullptr) {
            std::memcpy(words.data(), segment.data->data(), words.size() * 4);
        }
        entry = std::make_unique<isa::DecodedProgram>(
            isa::decode_program(words, segment.address, target));
    }
    return entry.get();
}

std::string CodeCache::source_line(Address address) const {
    for (const program::Codelet& codelet : *implementation_->codelets) {
        if (std::string place = program::source_place(codelet, address); !place.empty()) {
            return place;
        }
    }
    return {};
}

} // namespace tessera::tile
