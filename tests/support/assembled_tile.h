// SPDX-License-Identifier: MIT
// One tile with a program assembled from text: code at the start of region 0, entry `start`.
#pragma once

#include "models/isa/assembler.h"
#include "models/isa/machine_target.h"
#include "models/tile/core/lockstep.h"
#include "models/tile/core/tile_core.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tessera::test {

/// `Tile` is TileCore, or LockstepTile with the options that follow.
template <class Tile> class BasicAssembledTile {
public:
    template <class... Options>
    explicit BasicAssembledTile(const std::string& text, spec::MachineSpec machine = {},
                                Options... options)
        : spec_(std::move(machine)), memory_(static_cast<std::size_t>(spec_.memory.bytes())) {
        codelets_.push_back(isa::assemble("test", {{"test.S", text}}, spec_.memory.region0_begin(),
                                          assembly_options()));
        cache_ = std::make_unique<tile::CodeCache>(codelets_);
        core_ = std::make_unique<Tile>(spec_, 0, memory_.data(), options...);
        const auto& words = codelets_.front().words;
        auto bytes = std::make_shared<std::vector<std::byte>>(words.size() * 4);
        std::memcpy(bytes->data(), words.data(), bytes->size());
        program::Image image;
        image.segments.push_back({codelets_.front().address, static_cast<Bytes>(bytes->size()),
                                  program::SegmentKind::Code, "test", bytes});
        core_->load(image, *cache_);
    }

    tile::ComputeOutcome run(const std::string& entry = "start",
                             std::vector<tile::ContextSpan>* spans = nullptr) {
        return core_->run(symbol(entry), spans);
    }

    [[nodiscard]] Address symbol(const std::string& name) const {
        return codelets_.front().symbols.at(name);
    }
    [[nodiscard]] const spec::MachineSpec& spec() const { return spec_; }
    [[nodiscard]] const std::vector<program::Codelet>& codelets() const { return codelets_; }
    [[nodiscard]] Tile& core() { return *core_; }

    template <typename T> void write(Address address, const std::vector<T>& values) {
        const auto to = core_->memory(address, static_cast<Bytes>(values.size() * sizeof(T)));
        std::copy_n(reinterpret_cast<const std::byte*>(values.data()), to.size(), to.data());
    }
    template <typename T> std::vector<T> read(Address address, std::size_t count) {
        std::vector<T> values(count);
        const auto from = core_->memory(address, static_cast<Bytes>(count * sizeof(T)));
        std::memcpy(values.data(), from.data(), from.size());
        return values;
    }

private:
    [[nodiscard]] isa::AssemblyOptions assembly_options() const {
        return isa::options_for(isa::target_of(spec_));
    }

    spec::MachineSpec spec_;
    std::vector<std::byte> memory_;
    std::vector<program::Codelet> codelets_;
    std::unique_ptr<tile::CodeCache> cache_;
    std::unique_ptr<Tile> core_;
};

using AssembledTile = BasicAssembledTile<tile::TileCore>;
using AssembledLockstepTile = BasicAssembledTile<tile::LockstepTile>;

} // namespace tessera::test
