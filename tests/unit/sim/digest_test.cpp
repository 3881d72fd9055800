// SPDX-License-Identifier: MIT
#include "sim/result/digest.h"
#include "tests/unit/models/listeners/told.h"

#include <catch2/catch.hpp>

#include <array>

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
        return result::tile_cycles_digest(account);
    };
    const auto one = digest_of(0, 7, true);
    CHECK(digest_of(0, 7, true) == one);
    CHECK(digest_of(0, 8, true) != one);
    CHECK(digest_of(1, 7, true) != one);
    CHECK(digest_of(0, 7, false) != one);
}
