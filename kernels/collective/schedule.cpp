// SPDX-License-Identifier: MIT
#include "kernels/collective/schedule.h"

#include "base/error.h"

#include <array>

namespace tessera::collective {
namespace {

/// In step s position p sends the fragment of the member `s + behind` positions behind it.
void add_ring_steps(Schedule& schedule, std::span<const std::int32_t> ring, std::size_t behind,
                    bool adds) {
    const auto members = ring.size();
    for (std::size_t s = 0; s + 1 < members; ++s) {
        auto& step = schedule.steps.emplace_back();
        for (std::size_t p = 0; p < members; ++p) {
            const auto of = (p + 2 * members - s - behind) % members;
            step.sends.push_back({ring[p], ring[(p + 1) % members], ring[of], adds});
        }
    }
}

} // namespace

std::string_view text(Kind kind) {
    constexpr std::array<std::string_view, 3> kTexts{"reduce_scatter", "all_gather", "all_reduce"};
    return kTexts.at(static_cast<std::size_t>(kind));
}

Schedule ring_schedule(Kind kind, std::span<const std::int32_t> ring) {
    TESSERA_ASSERT(!ring.empty());
    Schedule schedule{kind, static_cast<std::int32_t>(ring.size()), {}};
    if (kind != Kind::AllGather) {
        add_ring_steps(schedule, ring, 1, true);
    }
    if (kind != Kind::ReduceScatter) {
        add_ring_steps(schedule, ring, 0, false);
    }
    return schedule;
}

std::vector<std::int32_t> outside_ring(std::int32_t chips) {
    TESSERA_ASSERT(chips % 2 == 0);
    std::vector<std::int32_t> ring;
    for (std::int32_t chip = 0; chip < chips; chip += 2) {
        ring.push_back(chip);
    }
    for (std::int32_t chip = chips - 1; chip > 0; chip -= 2) {
        ring.push_back(chip);
    }
    return ring;
}

std::vector<std::int32_t> serpent_ring(std::int32_t chips) {
    TESSERA_ASSERT(chips % 2 == 0);
    std::vector<std::int32_t> ring;
    for (std::int32_t chip = 0; chip < chips; ++chip) {
        const bool is_turned = chip / 2 % 2 == 1;
        ring.push_back(is_turned ? chip ^ 1 : chip);
    }
    return ring;
}

std::vector<std::int32_t> mirrored_serpent_ring(std::int32_t chips) {
    auto ring = serpent_ring(chips);
    for (auto& chip : ring) {
        chip ^= 1;
    }
    return ring;
}

} // namespace tessera::collective
