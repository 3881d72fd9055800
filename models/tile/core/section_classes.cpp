// SPDX-License-Identifier: MIT
#include "models/tile/core/section_classes.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace tessera::tile {
namespace {

/// Sections of a site before it is judged, and which part of them has to be alike.
constexpr std::int64_t kSectionsJudged = 1024;
constexpr std::int64_t kOneSectionIn = 4;

std::uint64_t next_sections_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

template <class T> std::size_t bytes_of_list(const std::vector<T>& list) {
    return list.size() * sizeof(T);
}

} // namespace

SectionRegisters SectionRegisters::of(const isa::Context& context) {
    SectionRegisters registers{context.unknown, {}};
    for (unsigned number = 0; number < registers.main.size(); ++number) {
        registers.main[number] = ((context.unknown >> number) & 1U) != 0 ? 0 : context.main[number];
    }
    return registers;
}

void SectionRegisters::give(isa::Context& context, std::uint16_t which) const {
    for (unsigned left = which; left != 0; left &= left - 1U) {
        const auto number = static_cast<std::size_t>(std::countr_zero(left));
        context.main[number] = main[number];
    }
    context.unknown = (context.unknown & ~std::uint32_t{which}) | (unknown & which);
}

bool SectionRegisters::are_in(const isa::Context& context, std::uint16_t which) const {
    if (((context.unknown ^ unknown) & which) != 0) {
        return false;
    }
    for (unsigned left = which & ~unknown; left != 0; left &= left - 1U) {
        const auto number = static_cast<std::size_t>(std::countr_zero(left));
        if (context.main[number] != main[number]) {
            return false;
        }
    }
    return true;
}

std::size_t Section::bytes() const {
    return sizeof(Section) + bytes_of_list(needed) + bytes_of_list(written) +
           bytes_of_list(registers) + bytes_of_list(registers_after) + bytes_of_list(reads.ranges) +
           bytes_of_list(reads.values) + bytes_of_list(reads.unknown) + bytes_of_list(lost) +
           bytes_of_list(stored) + bytes_of_list(stored_values) + bytes_of_list(jumps.gone) +
           bytes_of_list(jumps.entries) + bytes_of_list(worker_jumps.gone) +
           bytes_of_list(worker_jumps.entries) + bytes_of_list(steps) + bytes_of_list(issues) +
           bytes_of_list(rests);
}

SectionClasses::SectionClasses() : number_(next_sections_number()) {}

bool SectionClasses::Site::is_worth_it() const {
    const std::int64_t all = begun.load(std::memory_order_relaxed);
    return all < kSectionsJudged || alike.load(std::memory_order_relaxed) * kOneSectionIn >= all;
}

SectionClasses::Site& SectionClasses::site_of(const isa::MicroOperation* first, Address stub) {
    // The map is shared.
    struct Lately {
        std::uint64_t of = 0; ///< number of the classes
        const isa::MicroOperation* first = nullptr;
        Address stub = 0;
        Site* site = nullptr;
    };
    constexpr std::size_t kPlaces = 64;
    thread_local std::array<Lately, kPlaces> all;
    Lately& lately =
        all[(reinterpret_cast<std::uintptr_t>(first) / sizeof(isa::MicroOperation) + stub / 4) %
            kPlaces];
    if (lately.of != number_ || lately.first != first || lately.stub != stub) {
        const std::unique_lock lock(mutex_);
        auto& site = sites_[{first, stub}];
        if (site == nullptr) {
            site = std::make_unique<Site>();
        }
        lately = {number_, first, stub, site.get()};
    }
    return *lately.site;
}

isa::EntryRegisters SectionClasses::registers_of(const isa::DecodedProgram& program,
                                                 std::size_t index) {
    struct Lately {
        std::uint64_t of = 0; ///< number of the classes
        const isa::MicroOperation* entry = nullptr;
        isa::EntryRegisters registers;
    };
    constexpr std::size_t kPlaces = 64;
    thread_local std::array<Lately, kPlaces> all;
    const isa::MicroOperation* const entry = &program.operations[index];
    Lately& lately = all[index % kPlaces];
    if (lately.of != number_ || lately.entry != entry) {
        const std::unique_lock lock(mutex_);
        const auto [found, is_new] = registers_.try_emplace(entry);
        if (is_new) {
            found->second = isa::entry_registers(program, index);
        }
        lately = {number_, entry, found->second};
    }
    return lately.registers;
}

void SectionClasses::add(std::uint64_t hash, std::unique_ptr<const Section> section) {
    bytes_ += section->bytes();
    Shard& shard = shards_[hash % kShards];
    const std::unique_lock lock(shard.mutex);
    shard.sections.emplace(hash, std::move(section));
}

void SectionClasses::between_steps(std::size_t most_bytes, const ForEach& for_each) {
    if (bytes_ > most_bytes) {
        for_each(kShards, [&](std::size_t shard) { shards_[shard].sections.clear(); });
        bytes_ = 0;
    }
}

std::int64_t SectionClasses::alike() const {
    const std::unique_lock lock(mutex_);
    std::int64_t all = 0;
    for (const auto& [first, site] : sites_) {
        all += site->alike;
    }
    return all;
}

} // namespace tessera::tile
