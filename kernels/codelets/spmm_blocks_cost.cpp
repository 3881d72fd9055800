// SPDX-License-Identifier: MIT
#include "kernels/codelets/spmm_blocks_cost.h"

#include "base/error.h"

#include <algorithm>

namespace tessera::codelets {
namespace {

/// Code of a block over columns that are enough to be in flight together: a loop with steps of the
/// matrix unit around it.
struct ManyColumns {
    std::int64_t in_flight; ///< columns, at least
    std::int64_t others;    ///< issues that are no steps
    std::int64_t steps_before;
    std::int64_t steps_behind;
};

/// The same over one column after the other.
struct EachColumn {
    std::int64_t others_none; ///< without any column
    std::int64_t others;
    std::int64_t column_others; ///< of each column
    std::int64_t column_steps;
};

struct BlockCost {
    std::int64_t steps; ///< of each column of many
    ManyColumns many;
    EachColumn each;
};

constexpr BlockCost kBlock4Half{1, {6, 11, 4, 4}, {7, 8, 3, 3}};
constexpr BlockCost kBlock8Half{2, {4, 9, 6, 6}, {5, 6, 3, 6}};
constexpr BlockCost kBlock4Float{2, {4, 11, 6, 6}, {7, 7, 3, 6}};
constexpr BlockCost kBlock8Float{4, {3, 11, 10, 10}, {7, 7, 3, 12}};
constexpr BlockCost kBlock4Single{4, {3, 8, 10, 6}, {5, 6, 3, 8}};
constexpr BlockCost kBlock8Single{8, {3, 16, 9, 15}, {5, 6, 11, 8}};
constexpr BlockCost kBlock16Single{8, {3, 9, 18, 22}, {5, 6, 3, 24}};

/// Three to five columns of a block of 4 with FP16 partials: loads and stores take turns.
constexpr std::int64_t kTurnsFewest = 3;
constexpr std::int64_t kTurnsOthers = 10; ///< apart from a store a turn

const BlockCost& cost_of(std::int64_t block, ProductTypes types) {
    if (types.data == ElementType::F32) {
        TESSERA_ASSERT(block == 4 || block == 8 || block == 16);
        return block == 4 ? kBlock4Single : block == 8 ? kBlock8Single : kBlock16Single;
    }
    TESSERA_ASSERT(block == 4 || block == 8);
    if (types.partials == ElementType::F16) {
        return block == 4 ? kBlock4Half : kBlock8Half;
    }
    return block == 4 ? kBlock4Float : kBlock8Float;
}

/// Of the code behind the loop of a block of 4 with FP16 partials: two issues part it from the loop.
bool parts_loop_from_end(const BlockCost& cost) {
    return &cost == &kBlock4Half;
}

} // namespace

std::int64_t blocks_passes(std::int64_t block) {
    return block == 16 ? 2 : 1;
}

std::int64_t blocks_weights(std::int64_t block, ProductTypes types) {
    return block * block * bytes_of(types.data) / 8 / blocks_passes(block);
}

std::int64_t blocks_issues(const spec::AmpSpec& amp, std::int64_t block, ProductTypes types,
                           std::int64_t columns) {
    const BlockCost& cost = cost_of(block, types);
    if (columns >= cost.many.in_flight) {
        const std::int64_t looping = cost.steps * (columns - cost.many.in_flight);
        if (parts_loop_from_end(cost)) { // an odd column is one of the end's
            const std::int64_t odd = looping % 2;
            return cost.many.others + amp.issues_of(cost.many.steps_before) +
                   amp.issues_of(looping - odd) + amp.issues_of(odd + cost.many.steps_behind);
        }
        return cost.many.others + amp.issues_of(cost.many.steps_before) +
               amp.issues_of(looping + cost.many.steps_behind);
    }
    if (parts_loop_from_end(cost) && columns >= kTurnsFewest) {
        const std::int64_t turns = columns - kTurnsFewest;
        return kTurnsOthers + amp.issues_of(2) + turns * (1 + amp.issues_of(1)) + amp.issues_of(3);
    }
    if (columns == 0) {
        return cost.each.others_none;
    }
    return cost.each.others +
           columns * (cost.each.column_others + amp.issues_of(cost.each.column_steps));
}

void run_blocks(SupervisorTimeline& time, const spec::AmpSpec& amp, std::int64_t block,
                ProductTypes types, std::int64_t columns,
                const std::vector<std::int32_t>& row_blocks) {
    const Cycles list = time.result_ready(time.issue());
    const Cycles weights = time.result_ready(time.issue());
    time.plain(1);
    Cycles entry = time.result_ready(time.issue());
    const std::vector<std::int64_t> before(static_cast<std::size_t>(time.workers()),
                                           kBlocksColumns);
    time.run_all(before, entry);
    Cycles address = time.result_ready(time.issue(weights));
    const Cycles blocks = time.result_ready(time.issue(list));
    Cycles dense = time.result_ready(time.issue(blocks)); // and the list's next word, always
    entry = time.result_ready(time.issue());
    std::vector<std::int64_t> issues; // of a block that is not a row's first
    std::vector<std::int64_t> first;
    for (std::int64_t worker = 0; worker < time.workers(); ++worker) {
        const std::int64_t own =
            columns / time.workers() + (worker < columns % time.workers() ? 1 : 0);
        issues.push_back(blocks_issues(amp, block, types, own));
        first.push_back(issues.back() + 1);
    }
    const std::int64_t passes = blocks_passes(block);
    const std::int64_t weights_of_pass = blocks_weights(block, types);
    for (std::size_t row = 0; row < row_blocks.size(); ++row) {
        for (std::int32_t at = 0; at < row_blocks[row]; ++at) {
            for (std::int64_t pass = 0; pass < passes; ++pass) {
                time.sync();
                time.issue(address);
                address = 0;
                time.plain(weights_of_pass - 1);
                time.run_all(at == 0 && pass == 0 ? first : issues, std::max(entry, dense));
                entry = time.result_ready(time.issue());
                // on in the dense operand, or the list's next word
                dense = time.result_ready(time.issue(dense));
            }
            at + 1 < row_blocks[row] ? time.jump() : time.plain(1);
        }
        time.issue(dense); // was the next row's blocks
        dense = time.result_ready(time.issue(dense));
        entry = time.result_ready(time.issue());
        row + 1 < row_blocks.size() ? time.jump() : time.plain(1);
    }
    time.sync();
    time.jump();
}

} // namespace tessera::codelets
