// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_cost.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_elements.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_reduction.h"
#include "kernels/sparse/spmm_search.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

namespace {

using namespace tessera;
using sparse::Candidate;
using sparse::Partition;
using sparse::Problem;
using sparse::Split;

/// Blocks at the given columns of each row.
workload::SparseF16 matrix_of(std::int64_t columns, std::int64_t block,
                              const std::vector<std::vector<std::int32_t>>& rows) {
    workload::SparseF16 a;
    a.rows = static_cast<std::int64_t>(rows.size()) * block;
    a.columns = columns * block;
    a.block = block;
    a.row_start.push_back(0);
    for (const auto& row : rows) {
        a.block_column.insert(a.block_column.end(), row.begin(), row.end());
        a.row_start.push_back(static_cast<std::int64_t>(a.block_column.size()));
    }
    a.values.assign(a.block_column.size() * static_cast<std::size_t>(block * block), 0);
    return a;
}

/// `rows` rows that have a block in each of the columns.
workload::SparseF16 full(std::int64_t rows, std::int64_t columns, std::int64_t block) {
    std::vector<std::int32_t> row;
    for (std::int64_t column = 0; column < columns; ++column) {
        row.push_back(static_cast<std::int32_t>(column));
    }
    return matrix_of(columns, block, {static_cast<std::size_t>(rows), row});
}

workload::SpmmWorkload workload_of(std::int64_t n, std::int64_t block) {
    workload::SpmmWorkload workload;
    workload.n = n;
    workload.block = block;
    return workload;
}

spec::MachineSpec machine_with(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

/// No fewer parts have as small a largest one.
bool is_useful(std::int64_t length, std::int64_t parts) {
    return parts == 1 || ceil_div(length, parts) < ceil_div(length, parts - 1);
}

/// What the parts of a split cost.
Cycles refined_exchange(const spec::MachineSpec& machine, const plan::ExchangeCost& exchange,
                        const Partition& partition) {
    return sparse::refine(machine, exchange, partition, sparse::find_reduction(partition)).exchange;
}

} // namespace

TEST_CASE(
    "the search of sparse splits has every useful cut with the most parts of rows and with one",
    "[kernels]") {
    using Cut = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
    const auto a = full(7, 12, 1);
    const Problem problem(workload_of(40, 1), a);
    for (const std::int64_t tiles : {1, 5, 12, 60}) {
        CAPTURE(tiles);
        std::set<Cut> wanted;
        for (std::int64_t pn = 1; pn <= std::min(problem.column_groups(), tiles); ++pn) {
            for (std::int64_t pk = 1; pk <= std::min(a.block_columns(), tiles / pn); ++pk) {
                if (is_useful(problem.column_groups(), pn) && is_useful(a.block_columns(), pk)) {
                    wanted.insert({std::min(a.block_rows(), tiles / pn / pk), pk, pn});
                    wanted.insert({1, pk, pn});
                }
            }
        }
        std::set<Cut> found;
        for (const Candidate& one : sparse::search(machine_with(tiles), problem)) {
            found.insert({one.split.parts_m, one.split.parts_k, one.split.parts_n});
        }
        CHECK(found == wanted);
    }
}

TEST_CASE("a sparse split fits whose bytes leave one memory element, and none larger",
          "[kernels]") {
    const auto a = full(64, 32, 1);
    const Problem problem(workload_of(64, 1), a);
    spec::MachineSpec machine = machine_with(8);
    const auto all = sparse::search(machine, problem);
    const Candidate& best = all.front();
    const bool has_smaller = std::any_of(
        all.begin(), all.end(), [&](const Candidate& one) { return one.bytes < best.bytes; });
    REQUIRE(has_smaller);
    const auto first_with = [&](Bytes limit) {
        machine.memory.region1_bytes =
            limit + machine.memory.element_bytes - machine.memory.region0_bytes;
        return sparse::search(machine, problem).front();
    };
    CHECK(first_with(best.bytes).bytes == best.bytes);
    const Candidate smaller = first_with(best.bytes - 1);
    CHECK(smaller.bytes < best.bytes);
    CHECK(smaller.over <= 0);
}

TEST_CASE("the least number of a split's messages is known without its homes", "[kernels]") {
    std::mt19937 random(7);
    for (int round = 0; round < 40; ++round) {
        CAPTURE(round);
        const std::int64_t block = round % 2 == 0 ? 1 : 16;
        const std::int32_t columns = 8 + static_cast<std::int32_t>(random() % 24);
        std::vector<std::vector<std::int32_t>> rows(4 + random() % 24);
        for (auto& row : rows) {
            for (std::int32_t column = 0; column < columns; ++column) {
                if (random() % 4 == 0) {
                    row.push_back(column);
                }
            }
        }
        rows.front().push_back(columns); // the matrix has a block
        const auto a = matrix_of(columns + 1, block, rows);
        const Problem problem(workload_of(64, block), a);
        const auto machine = machine_with(64);
        for (const Split split : {Split{4, 1, 1}, Split{2, 2, 4}, Split{4, 4, 2}, Split{1, 1, 8}}) {
            const Partition partition(problem, split);
            const auto reduction = sparse::find_reduction(partition);
            const auto most = sparse::messages(sparse::Homes(machine, partition), reduction);
            const auto least = sparse::least_messages(machine, partition, reduction);
            CAPTURE(split.parts_m, split.parts_k, split.parts_n);
            CHECK(least > 0);
            CHECK(least <= most);
        }
    }
}

TEST_CASE("values that an even number of slices takes come at double width", "[kernels]") {
    const auto a = full(64, 64, 16);
    const Problem problem(workload_of(96, 16), a);
    for (const std::int64_t slices : {2, 3, 4, 5, 6}) {
        CAPTURE(slices);
        spec::MachineSpec machine = machine_with(64);
        const Split split{4, 1, slices};
        const auto exchange_of = [&](bool pairs) {
            machine.exchange.pair_double = pairs;
            const plan::ExchangeCost exchange(machine);
            return std::pair(sparse::estimate(machine, exchange, problem, split).exchange,
                             refined_exchange(machine, exchange, Partition(problem, split)));
        };
        const auto [averaged, refined] = exchange_of(true);
        const auto [averaged_single, refined_single] = exchange_of(false);
        CHECK((averaged < averaged_single) == (slices % 2 == 0));
        CHECK((refined < refined_single) == (slices % 2 == 0));
    }
}

TEST_CASE(
    "lines of X that all parts of a band have cost less than lines of some, and own ones nothing",
    "[kernels]") {
    constexpr double kRegular = 1.1;
    constexpr double kIrregular = 1.3;
    constexpr std::int64_t kParts = 4;
    constexpr std::int32_t kLines = 40; // of a part
    constexpr std::int64_t kColumns = 64;
    const spec::MachineSpec machine = machine_with(kParts);
    const plan::ExchangeCost exchange(machine);
    const double events = 2.0 * kColumns / static_cast<double>(machine.exchange.lane_bytes);
    /// Part i has lines i * step .. i * step + kLines - 1, all together modulo `columns`.
    const auto exchange_of = [&](std::int32_t columns, std::int32_t step) {
        std::vector<std::vector<std::int32_t>> rows(kParts);
        for (std::int32_t part = 0; part < kParts; ++part) {
            auto& row = rows[static_cast<std::size_t>(part)];
            for (std::int32_t line = 0; line < kLines; ++line) {
                row.push_back((part * step + line) % columns);
            }
            std::sort(row.begin(), row.end());
        }
        const auto a = matrix_of(columns, 1, rows);
        const Problem problem(workload_of(kColumns, 1), a);
        return refined_exchange(machine, exchange, Partition(problem, Split{kParts, 1, 1}));
    };
    const auto overhead = static_cast<double>(exchange.to_all_over(kParts));
    CHECK(exchange_of(kParts * kLines, kLines) == 0);
    CHECK(exchange_of(kLines, 0) == static_cast<Cycles>(overhead + kRegular * kLines * events));
    CHECK(exchange_of(2 * kLines, kLines) == // every other part has the same
          static_cast<Cycles>(overhead + kIrregular * kLines * events));
}

TEST_CASE("a line that three quarters of the parts need goes to all of them", "[kernels]") {
    for (const std::int32_t parts : {4, 8, 12}) {
        // Row r has the columns above r, and the last one: column c is in c + 1 rows.
        std::vector<std::vector<std::int32_t>> rows(static_cast<std::size_t>(parts));
        for (std::int32_t row = 0; row < parts; ++row) {
            for (std::int32_t column = 0; column < parts; ++column) {
                // each row keeps as many blocks as the others, so that a part has one row
                rows[static_cast<std::size_t>(row)].push_back(column < row ? parts + column
                                                                           : column);
            }
            auto& columns = rows[static_cast<std::size_t>(row)];
            std::sort(columns.begin(), columns.end());
        }
        const auto a = matrix_of(2 * parts, 1, rows);
        const Problem problem(workload_of(8, 1), a);
        const Partition partition(problem, Split{parts, 1, 1});
        for (std::int32_t column = 0; column < parts; ++column) {
            CAPTURE(parts, column);
            const std::int64_t needing = column + 1;
            const std::int64_t all_from = 3 * parts / 4;
            CHECK(static_cast<std::int64_t>(partition.users_of_line(column).size()) ==
                  (needing >= all_from ? parts : needing));
        }
    }
}

TEST_CASE("a row goes to the part that its middle is in, or that begins there", "[kernels]") {
    for (const std::int64_t parts : {1, 2, 3, 5}) {
        for (std::int64_t rows = parts; rows <= 4 * parts; ++rows) {
            CAPTURE(parts, rows);
            const auto a = full(rows, 6, 1);
            const Problem problem(workload_of(8, 1), a);
            const Partition partition(problem, Split{parts, 1, 1});
            for (std::int64_t row = 0; row < rows; ++row) {
                // middles at r + 1/2 of equal rows, borders at multiples of rows / parts
                const std::int64_t wanted = (2 * row + 1) * parts / (2 * rows);
                const auto& its_rows = partition.part(wanted).rows;
                CHECK(std::count(its_rows.begin(), its_rows.end(),
                                 static_cast<std::int32_t>(row)) == 1);
            }
        }
    }
}

TEST_CASE("a row whose middle is on the border of two shares is the first one's", "[kernels]") {
    for (const std::int64_t teams : {2, 3, 4}) {
        // Teams and a half of equal rows each, so that every second border is in the middle of a
        // row.
        for (const std::int64_t rows : {3 * teams / 2, 3 * teams, 5 * teams / 2}) {
            CAPTURE(teams, rows);
            const auto a = full(rows, 5, 1);
            const Problem problem(workload_of(8, 1), a);
            const Partition partition(problem, Split{1, 1, 1});
            const auto shares = sparse::deal_work(problem, partition.part(0), 1, teams);
            REQUIRE(static_cast<std::int64_t>(shares.size()) == teams);
            std::int64_t begin = 0;
            for (std::int64_t team = 0; team < teams; ++team) {
                const auto& share = shares[static_cast<std::size_t>(team)];
                // row r's middle is at r + 1/2, the border at rows * (team + 1) / teams
                const std::int64_t end = (2 * rows * (team + 1) + teams) / (2 * teams);
                CHECK(share.rows.first == begin);
                CHECK(share.rows.last == end);
                CHECK(share.first_block == 5 * begin);
                CHECK(share.blocks == 5 * (end - begin));
                begin = end;
            }
        }
    }
}

TEST_CASE("the workers part a row that is alone, as many of them as there are column groups",
          "[kernels]") {
    const auto a = full(1, 50, 1);
    for (const std::int64_t workers : {1, 2, 5, 6}) {
        for (std::int64_t groups = 1; groups <= 2 * workers; ++groups) {
            CAPTURE(workers, groups);
            const Problem problem(workload_of(8 * groups, 1), a);
            const Partition partition(problem, Split{1, 1, 1});
            std::vector<int> found(static_cast<std::size_t>(groups), 0);
            std::int64_t most = 0;
            const auto shares = sparse::deal_work(problem, partition.part(0), groups, workers);
            REQUIRE(static_cast<std::int64_t>(shares.size()) == workers);
            for (const auto& share : shares) {
                if (share.rows.size() > 0) {
                    most = std::max(most, share.groups.size());
                    for (auto group = share.groups.first; group < share.groups.last; ++group) {
                        ++found.at(static_cast<std::size_t>(group));
                    }
                }
            }
            CHECK(std::count(found.begin(), found.end(), 1) == groups);
            CHECK(most == ceil_div(groups, std::min(workers, groups)));
        }
    }
}

TEST_CASE("the part that sums most decides how long partial rows come", "[kernels]") {
    constexpr double kRegular = 1.1;
    constexpr double kIrregular = 1.3;
    constexpr std::int64_t kColumns = 64;
    const spec::MachineSpec machine = machine_with(4);
    const plan::ExchangeCost exchange(machine);
    const double events = 2.0 * kColumns / static_cast<double>(machine.exchange.lane_bytes);
    const auto bring = static_cast<double>(exchange.to_all_over(4));
    const auto move = static_cast<double>(exchange.to_neighbours(4));
    // Of two bands both have row 0, which one of them sums up; the others' rows are whole.
    const auto a = matrix_of(8, 1, {{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3}, {4, 5, 6, 7}});
    const Problem problem(workload_of(kColumns, 1), a);
    const Partition partition(problem, Split{2, 2, 1});
    REQUIRE(partition.contributors(0).size() == 2);
    REQUIRE(partition.contributors(1).size() == 1);
    REQUIRE(partition.contributors(2).size() == 1);
    const auto cycles =
        sparse::refine(machine, exchange, partition, sparse::find_reduction(partition));
    CHECK(cycles.exchange == static_cast<Cycles>(bring + kRegular * 4 * events) +
                                 static_cast<Cycles>(move + kIrregular * events));
    CHECK(cycles.sync == 2 * machine.sync.internal_cycles);
}

TEST_CASE(
    "values come at double width where every part has an item or more of the shortest message",
    "[kernels]") {
    constexpr Bytes kItemBytes = 8;
    for (const std::int64_t least_items : {16, 24, 64}) {
        spec::MachineSpec machine = machine_with(8);
        machine.exchange.pair_min_items = least_items;
        // elements travel in units of eight
        const std::int64_t least = least_items * kItemBytes / 2;
        for (const std::int64_t values : {least - 8, least - 7, least, least + 1, 2 * least}) {
            CAPTURE(least_items, values);
            const auto a = full(2, values, 1); // a row of so many for each of two parts
            const Problem problem(workload_of(16, 1), a);
            const Partition partition(problem, Split{2, 1, 2});
            REQUIRE(static_cast<std::int64_t>(partition.part(0).blocks.size()) == values);
            REQUIRE(static_cast<std::int64_t>(partition.part(1).blocks.size()) == values);
            const bool is_wide = sparse::Homes(machine, partition).values_wide();
            CHECK(is_wide == (ceil_div(values, 8) >= least / 8));
        }
    }
}

TEST_CASE("what several tiles need of a slice of B is at home once, on tiles of another slice",
          "[kernels]") {
    const spec::MachineSpec machine = machine_with(24);
    // each row of blocks shares some columns with others and has one of its own
    std::vector<std::vector<std::int32_t>> rows;
    for (std::int32_t row = 0; row < 12; ++row) {
        rows.push_back({row % 3, 3 + row % 4, 7 + row % 5, 12 + row});
    }
    const auto a = matrix_of(26, 1, rows); // nobody needs the last two
    for (const Split split : {Split{4, 1, 2}, Split{2, 2, 3}, Split{6, 2, 2}, Split{1, 3, 4}}) {
        for (const std::int64_t n : {72, 320}) {
            CAPTURE(split.parts_m, split.parts_k, split.parts_n, n);
            const Problem problem(workload_of(n, 1), a);
            const Partition partition(problem, split);
            const sparse::Homes homes(machine, partition);
            // by tile: where its homes begin, and their bytes
            std::map<TileId, std::map<Bytes, Bytes>> held;
            for (std::int64_t in = 0; in < split.parts_n; ++in) {
                const Bytes line_bytes = problem.line_bytes_of(problem.slice(split, in).size());
                std::vector<int> found(26, 0);
                for (const plan::HomeRun& run : homes.b(in)) {
                    const Range& lines = homes.runs().at(run.group);
                    const auto own = static_cast<std::int64_t>(run.tile) % split.parts_n;
                    REQUIRE(static_cast<std::int64_t>(run.tile) < split.tiles());
                    CHECK(own != in);
                    CHECK(homes.users(lines).size() != 1);
                    REQUIRE(run.first < run.last);
                    REQUIRE(lines.first + run.last <= lines.last);
                    for (std::int64_t line = run.first; line < run.last; ++line) {
                        ++found[static_cast<std::size_t>(lines.first + line)];
                    }
                    const Bytes bytes = (run.last - run.first) * line_bytes;
                    CHECK(held[run.tile].emplace(run.offset, bytes).second);
                }
                for (std::int64_t line = 0; line < 26; ++line) {
                    CAPTURE(in, line);
                    CHECK(found[static_cast<std::size_t>(line)] ==
                          (partition.users_of_line(line).size() <= 1 ? 0 : 1));
                }
            }
            Bytes most = 0;
            for (const auto& [tile, pieces] : held) {
                Bytes end = 0;
                for (const auto& [begin, bytes] : pieces) {
                    CHECK(begin == end);
                    end = begin + bytes;
                }
                most = std::max(most, end);
            }
            CHECK(homes.most_b_bytes() == most);
        }
    }
}

namespace {

/// Rows of the given lengths; blocks of one row are neighbours, each row's from where the last one's end.
workload::SparseF16 with_rows(std::int64_t columns, const std::vector<std::int64_t>& lengths) {
    std::vector<std::vector<std::int32_t>> rows;
    std::int64_t next = 0;
    for (const std::int64_t length : lengths) {
        auto& row = rows.emplace_back();
        for (std::int64_t i = 0; i < length; ++i) {
            row.push_back(static_cast<std::int32_t>((next + i) % columns));
        }
        std::sort(row.begin(), row.end());
        next += length;
    }
    return matrix_of(columns, 1, rows);
}

std::int64_t work_of(const Problem& problem, const sparse::Part& part) {
    std::int64_t work = 0;
    for (const std::int32_t blocks : part.row_blocks) {
        work += problem.row_work(blocks);
    }
    return work;
}

/// Blocks that a part has of a row.
std::int64_t blocks_of(const sparse::Part& part, std::int32_t row) {
    const auto found = std::find(part.rows.begin(), part.rows.end(), row);
    return found == part.rows.end()
               ? 0
               : part.row_blocks[static_cast<std::size_t>(found - part.rows.begin())];
}

/// Rows of a band that are cut: into as many pieces as shares say, of nearly equal length.
std::int64_t check_pieces(const Partition& whole, const Partition& cut, std::int64_t band) {
    const Split& split = cut.split();
    const Problem& problem = cut.problem();
    std::int64_t work = 0;
    std::map<std::int32_t, std::int64_t> blocks_of_row;
    for (std::int64_t im = 0; im < split.parts_m; ++im) {
        const sparse::Part& part = whole.part(im * split.parts_k + band);
        work += work_of(problem, part);
        for (const std::int32_t row : part.rows) {
            blocks_of_row[row] += blocks_of(part, row);
        }
    }
    std::int64_t cut_rows = 0;
    for (const auto& [row, blocks] : blocks_of_row) {
        const std::int64_t shares = problem.row_work(blocks) * split.cut * split.parts_m;
        const std::int64_t pieces =
            shares > work ? std::min({ceil_div(shares, work), split.parts_m, blocks}) : 1;
        std::int64_t has = 0;
        for (std::int64_t im = 0; im < split.parts_m; ++im) {
            const std::int64_t here = blocks_of(cut.part(im * split.parts_k + band), row);
            has += here > 0 ? 1 : 0;
            CHECK((here == 0 || (here >= blocks / pieces && here <= ceil_div(blocks, pieces))));
        }
        CHECK(has == pieces);
        cut_rows += pieces > 1 ? 1 : 0;
    }
    return cut_rows;
}

} // namespace

TEST_CASE("a cut row's pieces are on parts of its band, each block once", "[kernels]") {
    std::mt19937 random(11);
    std::int64_t cut_rows = 0;
    for (int round = 0; round < 60; ++round) {
        CAPTURE(round);
        const std::int64_t columns = 64 + static_cast<std::int64_t>(random() % 64);
        std::vector<std::int64_t> lengths(20 + random() % 40);
        for (std::int64_t& length : lengths) {
            length = random() % 5 == 0 ? columns / 2 + static_cast<std::int64_t>(random() % 32)
                                       : static_cast<std::int64_t>(random() % 4);
        }
        lengths.front() = columns;
        const auto a = with_rows(columns, lengths);
        const Problem problem(workload_of(8, 1), a);
        const std::int64_t parts_m = 2 + static_cast<std::int64_t>(random() % 6);
        const std::int64_t parts_k = 1 + static_cast<std::int64_t>(random() % 3);
        const Partition whole(problem, Split{parts_m, parts_k, 1});
        const Partition cut(
            problem, Split{parts_m, parts_k, 1, 1 + static_cast<std::int64_t>(random() % 12)});
        std::set<std::int64_t> seen;
        for (std::int64_t number = 0; number < cut.split().parts(); ++number) {
            const sparse::Part& part = cut.part(number);
            CHECK(std::is_sorted(part.rows.begin(), part.rows.end()));
            CHECK(std::adjacent_find(part.rows.begin(), part.rows.end()) == part.rows.end());
            std::size_t at = 0;
            for (std::size_t row = 0; row < part.rows.size(); ++row) {
                const auto of = static_cast<std::size_t>(part.rows[row]);
                for (std::int32_t b = 0; b < part.row_blocks[row]; ++b, ++at) {
                    const std::int64_t block = part.blocks.at(at);
                    CHECK(seen.insert(block).second);
                    CHECK((a.row_start[of] <= block && block < a.row_start[of + 1]));
                }
            }
            CHECK(at == part.blocks.size());
        }
        CHECK(static_cast<std::int64_t>(seen.size()) == a.blocks());
        for (std::int64_t band = 0; band < parts_k; ++band) {
            cut_rows += check_pieces(whole, cut, band);
        }
    }
    CHECK(cut_rows > 0);
}

TEST_CASE("a row with half of all blocks is not one part's where rows are cut", "[kernels]") {
    constexpr std::int64_t kParts = 8;
    constexpr std::int64_t kColumns = 800;
    std::vector<std::int64_t> lengths(400, 2);
    lengths[17] = kColumns;
    const auto a = with_rows(kColumns, lengths);
    const Problem problem(workload_of(8, 1), a);
    const auto fullest = [&](std::int64_t cut) {
        const Partition partition(problem, Split{kParts, 1, 1, cut});
        std::int64_t most = 0;
        for (std::int64_t number = 0; number < kParts; ++number) {
            most = std::max(most, work_of(problem, partition.part(number)));
        }
        return most;
    };
    std::int64_t all = 0;
    for (const std::int64_t length : lengths) {
        all += problem.row_work(length);
    }
    CHECK(fullest(0) >= problem.row_work(kColumns));
    // each piece costs what a row does beside its blocks; borders are up to half a row off at either end
    const std::int64_t mean = ceil_div(all + kParts * problem.row_work(1), kParts);
    CHECK(fullest(2) <= mean + problem.row_work(2));
}

TEST_CASE("slices of several passes have every column once, and a tile one of each pass",
          "[kernels]") {
    const auto a = full(4, 4, 1);
    for (const std::int64_t n : {8, 40, 64, 100, 333}) {
        for (const std::int64_t passes : {1, 2, 4}) {
            for (const std::int64_t parts_n : {1, 2, 3}) {
                const Problem problem(workload_of(n, 1), a);
                const Split split{2, 1, parts_n, 0, passes};
                if (split.slices() > problem.column_groups()) {
                    continue;
                }
                const Partition partition(problem, split);
                std::int64_t next = 0;
                std::map<TileId, std::set<std::int64_t>> passes_of_tile;
                for (std::int64_t in = 0; in < split.slices(); ++in) {
                    const Range slice = problem.slice(split, in);
                    CHECK(slice.first == next);
                    CHECK(slice.size() > 0);
                    CHECK(slice.size() <= problem.widest_slice(split));
                    next = slice.last;
                    CHECK(passes_of_tile[partition.tile(1, in)].insert(in / parts_n).second);
                }
                CHECK(next >= n);
                CHECK(next < n + problem.column_grain());
                CHECK(static_cast<std::int64_t>(passes_of_tile.size()) == parts_n);
            }
        }
    }
}
