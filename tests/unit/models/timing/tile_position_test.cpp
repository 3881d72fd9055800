// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "models/timing/tile_position.h"

#include <catch2/catch.hpp>

#include <set>

using namespace tessera;
using namespace tessera::timing;

namespace {

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

} // namespace

TEST_CASE("the positions of a 1472-tile chip follow the C600 numbering", "[timing][position]") {
    CHECK(grid_rows(1472) == 23);
    CHECK(tile_position(machine_of(1472).chip, 0).physical_id == 0);
    CHECK(tile_position(machine_of(1472).chip, 1).physical_id == 2);
    CHECK(tile_position(machine_of(1472).chip, 736).physical_id == 32);
    CHECK(tile_position(machine_of(1472).chip, 100).physical_id == 260);
    CHECK(tile_position(machine_of(1472).chip, 1286).physical_id == 53);
    // Block 1 walks its rows backwards: its first pair is in the last row.
    CHECK(tile_position(machine_of(1472).chip, 46).physical_id == 22 * 64 + 1);
    CHECK(tile_position(machine_of(1472).chip, 46).row == 22);
    CHECK(tile_position(machine_of(1472).chip, 46).column == 0);
    CHECK(tile_position(machine_of(1472).chip, 46).sub == 1);
}

TEST_CASE("a four-tile machine is one row of one column", "[timing][position]") {
    CHECK(grid_rows(4) == 1);
    CHECK(tile_position(machine_of(4).chip, 0).physical_id == 0);
    CHECK(tile_position(machine_of(4).chip, 1).physical_id == 2);
    CHECK(tile_position(machine_of(4).chip, 2).physical_id == 1);
    CHECK(tile_position(machine_of(4).chip, 3).physical_id == 3);
}

TEST_CASE("physical ids are distinct and lead back to their tiles", "[timing][position]") {
    for (const std::int64_t tiles : {2, 4, 6, 62, 64, 66, 128, 200, 1216, 1470, 1472, 1536}) {
        const TileGrid grid{machine_of(tiles)};
        std::set<std::uint32_t> ids;
        for (TileId tile = 0; tile < tiles; ++tile) {
            const auto at = grid.position(tile);
            REQUIRE(at.row < grid.rows());
            REQUIRE(at.column < 16);
            REQUIRE(at.physical_id ==
                    static_cast<std::uint32_t>(at.row * 64 + at.column * 4 + at.sub));
            REQUIRE(ids.insert(at.physical_id).second);
            REQUIRE(grid.tile_of(at.physical_id) == tile);
        }
        CHECK_FALSE(grid.tile_of(neutral_source(machine_of(tiles))).has_value());
    }
}

TEST_CASE("partners differ in bit 1 of the physical id", "[timing][position]") {
    const TileGrid grid{machine_of(1472)};
    for (TileId tile = 0; tile < 1472; ++tile) {
        const auto partner = grid.partner(tile);
        REQUIRE(partner.has_value());
        REQUIRE((grid.position(tile).physical_id ^ grid.position(*partner).physical_id) == 2);
    }
    CHECK_FALSE(partner_tile(machine_of(5).chip, 4).has_value());
}

TEST_CASE("GC2's islands of four go down the columns from column 8 on", "[timing][position]") {
    auto machine = machine_of(1216);
    machine.chip.generation = spec::Generation::Ipu1;
    const TileGrid grid{machine};
    const std::int64_t column_tiles = 4 * grid.rows();
    REQUIRE(grid.rows() == 19);
    std::set<std::uint32_t> ids;
    for (TileId tile = 0; tile < 1216; ++tile) {
        const auto& at = grid.position(tile);
        REQUIRE(at.column == (8 + tile / column_tiles) % 16);
        REQUIRE(at.row == tile % column_tiles / 4);
        REQUIRE(at.sub == static_cast<std::int32_t>(tile % 4));
        REQUIRE(ids.insert(at.physical_id).second);
        const auto partner = grid.partner(tile);
        REQUIRE(partner.has_value());
        REQUIRE(*partner == (tile ^ 2U));
        REQUIRE((grid.position(*partner).physical_id ^ at.physical_id) == 2);
    }
}

TEST_CASE("grids larger than a machine's keep the numbering and have a neutral that is no tile",
          "[timing][position]") {
    for (const auto generation : {spec::Generation::Ipu1, spec::Generation::Ipu2}) {
        const std::int64_t machines_own = generation == spec::Generation::Ipu1 ? 1280 : 1536;
        for (const std::int64_t tiles : {std::int64_t{4}, machines_own, machines_own + 2,
                                         std::int64_t{2944}, spec::kMostCompiledTiles}) {
            auto machine = machine_of(tiles);
            machine.chip.generation = generation;
            CAPTURE(tiles);
            const bool own = tiles <= machines_own;
            CHECK(is_machine_grid(machine.chip) == own);
            const auto neutral = neutral_source(machine);
            CHECK(neutral == (!own                                   ? 0x1fffU
                              : generation == spec::Generation::Ipu1 ? 0x500U
                                                                     : 0x640U));
            const TileGrid grid{machine};
            CHECK_FALSE(grid.tile_of(neutral).has_value());
            CHECK_FALSE(grid.tile_of(neutral ^ 2U).has_value());
            std::set<std::uint32_t> ids;
            for (TileId tile = 0; tile < tiles; ++tile) {
                const auto& at = grid.position(tile);
                REQUIRE(at.row < grid_rows(tiles));
                REQUIRE(at.physical_id < (1U << 13U));
                REQUIRE(at.physical_id ==
                        static_cast<std::uint32_t>(at.row * 64 + at.column * 4 + at.sub));
                REQUIRE(ids.insert(at.physical_id).second);
                REQUIRE(grid.tile_of(at.physical_id) == tile);
                if (const auto partner = grid.partner(tile))
                    REQUIRE((grid.position(*partner).physical_id ^ at.physical_id) == 2);
            }
        }
    }
}

TEST_CASE("a grid larger than the mux's field is not modelled", "[timing][position]") {
    CHECK_THROWS_AS(neutral_source(machine_of(spec::kMostCompiledTiles + 2)), NotModelled);
}
