// SPDX-License-Identifier: MIT
#include "kernels/dynamic/published/vertex_cycles.h"

#include "base/ceil_div.h"
#include "base/error.h"

#include <algorithm>

namespace tessera::dynamic {
namespace {

/// Issues of a worker for a row of `blocks` elements times `n` columns, by the widths that its loops
/// take at once: groups of 16 bytes, then one of 8. Rows of one such width have loops of their own.
Cycles row_issues(ElementType data, std::int64_t blocks, std::int64_t n) {
    const bool f16 = data == ElementType::F16;
    const std::int64_t wide = f16 ? 8 : 4;
    if (n == wide) {
        return (f16 ? 15 : 13) + 3 * blocks;
    }
    if (n == wide / 2) {
        return 11 + 2 * blocks;
    }
    Cycles issues = f16 ? 12 : 13;
    if (n >= wide) {
        issues += (f16 ? 16 : 13) + 3 * (n / wide) * blocks;
    }
    if (n % wide != 0) {
        issues += (f16 ? 13 : 11) + 2 * blocks;
    }
    return issues;
}

Cycles start_issues(ElementType data, std::int64_t n) {
    const bool f16 = data == ElementType::F16;
    const std::int64_t wide = f16 ? 8 : 4;
    if (n == wide) {
        return f16 ? 28 : 25;
    }
    if (n == wide / 2) {
        return f16 ? 30 : 27;
    }
    return f16 ? 33 : 30;
}

/// The issues that each worker spends in the block vertex.
struct BlockIssues {
    Cycles start = 0;
    Cycles one = 0; ///< a block with one column, two, more: and `column` for each column
    Cycles two = 0;
    Cycles more = 0;
    Cycles column = 0;
    std::int64_t passes = 1;
};

BlockIssues block_issues(std::int64_t block, ElementType data, ElementType partials) {
    if (data == ElementType::F32) {
        TESSERA_ASSERT(block == 4 || block == 8);
        return block == 4 ? BlockIssues{26, 14, 14, 14, 4} : BlockIssues{23, 22, 22, 23, 8};
    }
    const bool f16 = partials == ElementType::F16;
    switch (block) {
    case 4:
        return f16 ? BlockIssues{26, 15, 16, 17, 2} : BlockIssues{26, 17, 18, 19, 2};
    case 8:
        return f16 ? BlockIssues{23, 19, 20, 20, 4} : BlockIssues{20, 22, 23, 23, 4};
    default:
        TESSERA_ASSERT(block == 16);
        return f16 ? BlockIssues{22, 22, 23, 22, 4} : BlockIssues{23, 24, 25, 24, 4, 2};
    }
}

} // namespace

Cycles element_cycles(const published::DenseMachine& machine, ElementType data,
                      const VertexWork& work) {
    const std::int64_t rows = ceil_div(work.rows, machine.workers);
    return 30 + 93 * work.buckets +
           machine.round_cycles *
               (start_issues(data, work.n) + rows * row_issues(data, work.row_blocks, work.n));
}

Cycles element_transposed_cycles(const published::DenseMachine& machine, ElementType data,
                                 const VertexWork& work) {
    const std::int64_t rows = ceil_div(work.rows, machine.workers);
    const bool f16 = data == ElementType::F16;
    const std::int64_t wide = f16 ? 8 : 4;
    Cycles issues = 0;
    if (f16 && work.n == wide) {
        issues = 20 + work.row_blocks * (18 + 10 * rows);
    } else {
        const Cycles group = f16 ? 10 : 6;
        const Cycles element = 2 + group * (work.n / wide) + (work.n % wide != 0 ? group / 2 : 0);
        issues = (f16 ? 26 : 23) + work.row_blocks * ((f16 ? 30 : 32) + rows * element);
    }
    return 30 + 112 * work.buckets + machine.round_cycles * issues;
}

Cycles block_cycles(const published::DenseMachine& machine, std::int64_t block, ElementType data,
                    ElementType partials, const VertexWork& work) {
    const BlockIssues issues = block_issues(block, data, partials);
    const std::int64_t columns = ceil_div(work.n, machine.workers);
    const std::int64_t blocks = work.rows * work.row_blocks;
    const Cycles load = block * block * bytes_of(data) / 8;
    const Cycles supervisor =
        40 + 102 * work.buckets + 2 + blocks * (load + 3 + 12 * issues.passes) + work.rows;
    const Cycles first = columns == 1 ? issues.one : columns == 2 ? issues.two : issues.more;
    return supervisor +
           machine.round_cycles *
               (issues.start + blocks * issues.passes * (first + issues.column * columns - 3));
}

Cycles transpose_cycles(const published::DenseMachine& machine, std::int64_t block,
                        ElementType data, std::int64_t blocks) {
    const std::int64_t of_worker = ceil_div(blocks, machine.workers);
    Cycles issues = 0;
    if (data == ElementType::F16 && block == 4) {
        issues = 37 + 4 * (std::max<std::int64_t>(of_worker, 2) - 2);
    } else {
        const std::int64_t grain = data == ElementType::F16 ? 4 : 2;
        const Cycles step = data == ElementType::F16 ? 4 : 3;
        const std::int64_t grains = block / grain;
        issues = 29 + of_worker * (18 + grains * (12 + step * (grains - 2)));
    }
    return 7 + machine.round_cycles * issues;
}

} // namespace tessera::dynamic
