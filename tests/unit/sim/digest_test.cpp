// SPDX-License-Identifier: MIT
#include "sim/result/digest.h"
#include "tests/unit/models/listeners/told.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

using namespace tessera;

TEST_CASE("a digest is the CRC-32 of what was added, however it was cut", "[unit][sim]") {
    const auto digest_of = [](const std::vector<std::string>& parts) {
        result::Digest digest;
        for (const auto& part : parts) {
            digest.add(part);
        }
        return digest.text();
    };
    CHECK(digest_of({}) == "00000000");
    // the check value in the catalogue of CRC algorithms
    CHECK(digest_of({"123456789"}) == "cbf43926");
    CHECK(digest_of({"1234", "", "56789"}) == "cbf43926");
    CHECK(digest_of({"123456798"}) != "cbf43926");
    // a million letters, whose CRC Python's zlib tells, too, in parts shorter and longer than zlib likes
    const std::string letters(1'000'000, 'a');
    for (const std::size_t part : {1UL, 7UL, 4095UL, 4096UL, 4097UL, 10'000UL, 1'000'000UL}) {
        std::vector<std::string> parts;
        for (std::size_t first = 0; first < letters.size(); first += part) {
            parts.push_back(letters.substr(first, part));
        }
        CHECK(digest_of(parts) == "dc25bfbc");
        std::vector<std::string> mixed{letters.substr(0, 3)};
        for (std::size_t first = 3; first < letters.size(); first += part) {
            mixed.push_back(letters.substr(first, std::min(part, letters.size() - first)));
        }
        CHECK(digest_of(mixed) == "dc25bfbc");
    }
}

TEST_CASE("no bytes change no digest", "[unit][sim]") {
    result::Digest digest;
    digest.add("123456789");
    digest.add(std::span<const std::byte>{});
    CHECK(digest.text() == "cbf43926");
}

TEST_CASE("each kind of each tile's cycles is in the digest", "[unit][sim]") {
    program::Program program;
    program.compute_sets.push_back({"work", {}});
    program.exchanges.push_back({"bring", {}, {}});
    const auto digest_of = [&](TileId tile, Cycles cycles, bool computes) {
        listeners::Account account(program, 2);
        test::Told run(2, {&account});
        run.phase(computes ? events::Doing::ComputeSet : events::Doing::Exchange, 0,
                  {{tile, cycles}});
        const std::array<const listeners::Account*, 1> alone{&account};
        return result::tile_cycles_digest(alone);
    };
    const auto one = digest_of(0, 7, true);
    CHECK(digest_of(0, 7, true) == one);
    CHECK(digest_of(0, 8, true) != one);
    CHECK(digest_of(1, 7, true) != one);
    CHECK(digest_of(0, 7, false) != one);
}

namespace {

/// One tile with four bytes of data, a tensor and a repeat of a step.
program::Program small_program() {
    program::Program made;
    made.name = "small";
    made.images.resize(1);
    made.images[0].segments.push_back(
        {.address = 0x4c000,
         .bytes = 4,
         .name = "x",
         .data = std::make_shared<const std::vector<std::byte>>(4, std::byte{1})});
    made.image_of_tile = {0};
    made.compute_sets.resize(1);
    made.compute_sets[0].tiles = {{0x4c100, {{.entry = 0x4c200}}}};
    made.control.kind = program::Step::Kind::Repeat;
    made.control.count = 2;
    made.control.children.resize(1);
    made.control.children[0].kind = program::Step::Kind::ComputeSet;
    made.tensors.push_back({"x", ElementType::F16, {2}, {{0, 0x4c000, 0, {{2, 1, 2}}}}});
    return made;
}

} // namespace

TEST_CASE("the digest of a program is of what is done, not of what it is called", "[unit][sim]") {
    const std::string digest = result::program_digest(small_program());
    auto renamed = small_program();
    renamed.name = renamed.tensors[0].name = renamed.images[0].segments[0].name = "other";
    renamed.images[0].segments[0].data =
        std::make_shared<const std::vector<std::byte>>(4, std::byte{1});
    CHECK(result::program_digest(renamed) == digest);

    const std::vector<std::function<void(program::Program&)>> changes{
        [](auto& made) { made.images[0].segments[0].address += 4; },
        [](auto& made) {
            made.images[0].segments[0].data =
                std::make_shared<const std::vector<std::byte>>(4, std::byte{2});
        },
        [](auto& made) { made.images[0].segments[0].data = nullptr; },
        [](auto& made) { made.image_of_tile.push_back(0); },
        [](auto& made) { made.compute_sets[0].tiles[0].vertices[0].entry += 4; },
        [](auto& made) { made.control.count = 3; },
        [](auto& made) { made.control.children.push_back(made.control.children.front()); },
        [](auto& made) { made.tensors[0].pieces[0].address += 4; },
        [](auto& made) { made.remote_buffers.resize(1); },
        [](auto& made) { made.stream_copies.resize(1); },
        [](auto& made) {
            made.scattered.push_back({{0x4c000, 4}});
        }};
    for (std::size_t i = 0; i < changes.size(); ++i) {
        CAPTURE(i);
        auto changed = small_program();
        changes[i](changed);
        CHECK(result::program_digest(changed) != digest);
    }
}
