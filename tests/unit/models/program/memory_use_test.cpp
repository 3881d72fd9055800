// SPDX-License-Identifier: MIT
// How much memory each step keeps, beside a sum over all segments for every single step.
#include "models/program/memory_use.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace tessera;
using program::Segment;
using program::Step;

namespace {

program::BytesByKind kept_in(const program::Image& image, std::uint32_t step) {
    program::BytesByKind kept{};
    for (const Segment& segment : image.segments) {
        if (segment.lifetime.first <= step && step <= segment.lifetime.last) {
            kept.at(static_cast<std::size_t>(segment.kind)) += segment.bytes;
        }
    }
    return kept;
}

program::Program random_program(unsigned seed, std::uint32_t steps) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    program::Program made;
    for (std::uint32_t i = 0; i < steps; ++i) {
        made.compute_sets.emplace_back().name = "set " + std::to_string(i);
        Step leaf;
        leaf.kind = Step::Kind::ComputeSet;
        leaf.index = i;
        made.control.children.push_back(leaf);
    }
    made.images.resize(3);
    for (auto& image : made.images) {
        for (std::uint32_t many = below(6); many > 0; --many) {
            Segment segment;
            segment.bytes = 4 + 4 * below(3);
            segment.kind = static_cast<program::SegmentKind>(below(6));
            const std::uint32_t first = below(std::max(steps, 1U));
            segment.lifetime.first = below(3) == 0 ? 0 : first;
            segment.lifetime.last =
                below(3) == 0
                    ? program::Lifetime{}.last
                    : segment.lifetime.first + below(std::max(steps, 1U) - segment.lifetime.first);
            image.segments.push_back(segment);
        }
    }
    return made;
}

} // namespace

TEST_CASE("every step keeps the segments that live in it", "[unit][program]") {
    for (unsigned seed = 0; seed < 300; ++seed) {
        const std::uint32_t steps = seed % 6;
        CAPTURE(seed, steps);
        const auto made = random_program(seed, steps);
        const auto use = program::memory_use(made);
        const std::uint32_t counted = std::max(steps, 1U);
        REQUIRE(use.steps.size() == counted);
        for (std::uint32_t step = 0; step < steps; ++step) {
            CHECK(use.steps[step] == "set " + std::to_string(step));
        }
        CHECK((steps > 0 || use.steps.front() == "start"));
        CHECK(std::is_sorted(use.spans.begin(), use.spans.end()));
        CHECK(use.spans.front() == 0);
        CHECK(use.spans.back() < counted);
        REQUIRE(use.images.size() == made.images.size());
        std::vector<bool> begins(counted);
        begins[0] = true;
        for (std::size_t i = 0; i < use.images.size(); ++i) {
            const auto& image = use.images[i];
            REQUIRE(image.of_span.size() == use.spans.size());
            program::BytesByKind always = kept_in(made.images[i], 0);
            Bytes most = 0;
            std::uint32_t fullest = 0;
            for (std::uint32_t step = 0; step < counted; ++step) {
                const auto kept = kept_in(made.images[i], step);
                const auto span =
                    std::upper_bound(use.spans.begin(), use.spans.end(), step) - use.spans.begin();
                CHECK(image.of_span[static_cast<std::size_t>(span) - 1] == kept);
                if (program::sum_of(kept) > most) {
                    most = program::sum_of(kept);
                    fullest = step;
                }
                for (const Segment& segment : made.images[i].segments) {
                    begins[step] = begins[step] || segment.lifetime.first == step ||
                                   (step > 0 && segment.lifetime.last == step - 1);
                }
            }
            CHECK(image.peak_bytes() == most);
            CHECK(use.peak_step(image) == fullest);
            for (std::size_t kind = 0; kind < always.size(); ++kind) {
                always.at(kind) = 0;
                for (const Segment& segment : made.images[i].segments) {
                    const bool all =
                        segment.lifetime.first == 0 && segment.lifetime.last >= use.spans.back();
                    const bool is_kind = static_cast<std::size_t>(segment.kind) == kind;
                    always.at(kind) += all && is_kind ? segment.bytes : 0;
                }
            }
            CHECK(image.always == always);
        }
        // A span begins only where a buffer of some tile comes or goes.
        CHECK(use.spans.size() ==
              static_cast<std::size_t>(std::count(begins.begin(), begins.end(), true)));
        for (const auto span : use.spans) {
            CHECK(begins[span]);
        }
    }
}
