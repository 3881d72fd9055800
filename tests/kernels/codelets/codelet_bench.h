// SPDX-License-Identifier: MIT
// One tile with the codelets under test: places data, calls one vertex, reads results. Every call
// also runs clock by clock on a copy of the tile, which must find no race and agree.
#pragma once

#include "base/float16.h"
#include "kernels/codelets/product_types.h"
#include "kernels/lower/codelet_library.h"
#include "kernels/lower/stub.h"
#include "models/isa/wait_loops.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/tile/core/lockstep.h"
#include "models/tile/core/tile_core.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tessera::test {

/// What products come in.
inline constexpr std::array<codelets::ProductTypes, 3> kProductTypes{
    {{ElementType::F16, ElementType::F16},
     {ElementType::F16, ElementType::F32},
     {ElementType::F32, ElementType::F32}}};

class CodeletBench {
public:
    explicit CodeletBench(const std::vector<std::string>& sources, std::int64_t workers = 6,
                          double steps_per_issue = 1) {
        machine_.tile.workers = workers;
        machine_.amp.steps_per_issue = steps_per_issue;
        machine_.chip.tiles = 1;
        graph::Graph graph("codelets");
        graph.codelets = sources;
        library_ = std::make_unique<lower::CodeletLibrary>(machine_, graph);
        codelets_.push_back(library_->codelet());
        // or each phase of a tile with this code would copy its memory
        CHECK(isa::wait_loops(library_->codelet().words, library_->codelet().address).empty());
        memory_.resize(static_cast<std::size_t>(machine_.memory.bytes()) / 8);
        tile_ = std::make_unique<tile::TileCore>(machine_, 0,
                                                 reinterpret_cast<std::byte*>(memory_.data()));
        lockstep_memory_.resize(memory_.size());
        lockstep_ = std::make_unique<tile::LockstepTile>(
            machine_, 0, reinterpret_cast<std::byte*>(lockstep_memory_.data()));
    }

    [[nodiscard]] const spec::MachineSpec& machine() const { return machine_; }
    [[nodiscard]] Address entry(const std::string& symbol) const { return library_->entry(symbol); }
    /// First byte behind the code's element.
    [[nodiscard]] Address region0_data() const {
        return machine_.memory.region0_begin() +
               static_cast<Address>(machine_.memory.element_bytes);
    }
    /// First byte of the n-th pair of elements of region 1.
    [[nodiscard]] Address pair(int n) const {
        return machine_.memory.region1_begin() + static_cast<Address>(n) * 0x8000U;
    }

    template <typename T> void put(Address at, const std::vector<T>& values) {
        auto bytes = tile_->memory(at, static_cast<Bytes>(values.size() * sizeof(T)));
        std::copy_n(reinterpret_cast<const std::byte*>(values.data()), bytes.size(), bytes.data());
    }
    template <typename T> [[nodiscard]] std::vector<T> get(Address at, std::size_t elements) {
        std::vector<T> values(elements);
        auto bytes = tile_->memory(at, static_cast<Bytes>(elements * sizeof(T)));
        std::copy_n(bytes.data(), bytes.size(), reinterpret_cast<std::byte*>(values.data()));
        return values;
    }

    /// Calls one vertex through a stub; cycles from the stub's first instruction to its return.
    tile::ComputeOutcome call(const std::string& symbol, program::VertexKind kind, Address state) {
        const program::Vertex vertex{entry(symbol), kind, state, 0};
        const auto stub = lower::make_stub({vertex}, machine_.memory.region0_begin());
        const Address stub_at =
            machine_.memory.region0_begin() + static_cast<Address>((library_->bytes() + 7) / 8 * 8);
        program::Image image;
        image.segments.push_back(
            code_segment(machine_.memory.region0_begin(), library_->codelet().words, "codelets"));
        image.segments.push_back(code_segment(stub_at, stub, "stub"));
        codes_.push_back(std::make_unique<tile::CodeCache>(codelets_));
        tile_->load(image, *codes_.back());
        lockstep_memory_ = memory_;
        lockstep_->load(image, *codes_.back());
        const tile::ComputeOutcome outcome = tile_->run(stub_at);
        check_lockstep(stub_at, outcome);
        return outcome;
    }

private:
    void check_lockstep(Address stub_at, const tile::ComputeOutcome& expected) {
        const tile::ComputeOutcome outcome = lockstep_->run(stub_at);
        CHECK(outcome.cycles == expected.cycles);
        CHECK((outcome.counts == expected.counts));
        CHECK(outcome.counts.worker_issues() == expected.counts.worker_issues());
        CHECK(outcome.counts.worker_bundles() == expected.counts.worker_bundles());
        CHECK(outcome.counts.supervisor_instructions() ==
              expected.counts.supervisor_instructions());
        CHECK((lockstep_memory_ == memory_)); // not printed
        CHECK(lockstep_->racing_accesses() == 0);
    }

    static program::Segment code_segment(Address at, const std::vector<std::uint32_t>& words,
                                         const std::string& name) {
        std::vector<std::byte> bytes(words.size() * 4);
        std::memcpy(bytes.data(), words.data(), bytes.size());
        program::Segment segment;
        segment.address = at;
        segment.bytes = static_cast<Bytes>(bytes.size());
        segment.kind = program::SegmentKind::Code;
        segment.name = name;
        segment.data = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
        return segment;
    }

    spec::MachineSpec machine_;
    std::unique_ptr<lower::CodeletLibrary> library_;
    std::vector<std::uint64_t> memory_;
    std::unique_ptr<tile::TileCore> tile_;
    std::vector<std::uint64_t> lockstep_memory_;
    std::unique_ptr<tile::LockstepTile> lockstep_;
    std::vector<program::Codelet> codelets_;
    std::vector<std::unique_ptr<tile::CodeCache>> codes_;
};

/// Small whole numbers, different for every index.
inline float small_integer(std::size_t index, int range) {
    const std::size_t mixed = (index * 2654435761U) >> 7U;
    return static_cast<float>(static_cast<int>(mixed % static_cast<std::size_t>(2 * range + 1)) -
                              range);
}

/// Numbers as elements of a type, FP16 or FP32.
inline void put_as(CodeletBench& bench, ElementType type, Address at,
                   const std::vector<float>& values) {
    if (type == ElementType::F32) {
        bench.put(at, values);
        return;
    }
    std::vector<std::uint16_t> halves;
    for (const float value : values) {
        halves.push_back(f32_to_f16(value));
    }
    bench.put(at, halves);
}

/// Element `index` of an array of the type.
inline float get_as(CodeletBench& bench, ElementType type, Address array, std::size_t index) {
    const Address at = array + static_cast<Address>(bytes_of(type)) * static_cast<Address>(index);
    return type == ElementType::F32 ? bench.get<float>(at, 1)[0]
                                    : f16_to_f32(bench.get<std::uint16_t>(at, 1)[0]);
}

} // namespace tessera::test
