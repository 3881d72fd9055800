// SPDX-License-Identifier: MIT
#include "base/activity.h"
#include "base/error.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/plan/image_builder.h"
#include "kernels/plan/superstep_builder.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/sparse/spmm.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_layout.h"
#include "kernels/sparse/spmm_search.h"
#include "kernels/sparse/spmm_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

namespace tessera::spmm {
namespace {

/// Splits planned to the end; the estimate ranks them, the plan decides.
constexpr std::size_t kPlanned = 3;
/// With more transfers than this the best-ranked split is taken: planning their exchange is what
/// takes the time.
constexpr std::size_t kManyTransfers = 30'000;
/// Splits tried before the answer is that none fits.
constexpr std::size_t kTried = 60;

template <typename T> void append(std::vector<std::byte>& bytes, const std::vector<T>& values) {
    const std::size_t at = bytes.size();
    bytes.resize(at + values.size() * sizeof(T));
    std::memcpy(bytes.data() + at, values.data(), values.size() * sizeof(T));
}

class Planner {
public:
    Planner(const spec::MachineSpec& machine, const plan::CodeletLibrary& library,
            const Layout& layout, const std::string& name)
        : machine_(machine), library_(library), layout_(layout), partition_(layout.partition()),
          problem_(partition_.problem()), split_(partition_.split()),
          builder_(machine, library, "spmm", name),
          steps_(machine, library, builder_, layout.memory().address("vertex state"),
                 machine.chip.tiles) {}

    void plan() {
        std::vector<program::Transfer> transfers;
        std::vector<LocalCopy> copies;
        {
            const Activity dealing("dealing operands");
            layout_.bring(transfers, copies);
        }
        steps_.add_exchange("bring operands", program::Role::Bring, std::move(transfers));
        add_multiply(copies);
        if (layout_.reduces()) {
            steps_.add_exchange("reduce: bring partial rows", program::Role::Reduce,
                                layout_.bring_partials());
            add_reduction();
        }
        builder_.add_tensor(values_tensor(layout_));
        builder_.add_tensor(dense_tensor(layout_));
        builder_.add_tensor(result_tensor(layout_));
        add_memory();
    }

    [[nodiscard]] plan::CodeRoom code_room() const { return builder_.code_room(); }
    [[nodiscard]] Cycles cycles() const { return steps_.predicted.total(); }

    plan::PlannedProgram finish() {
        plan::PlannedProgram planned;
        planned.program = builder_.build();
        TESSERA_ASSERT(plan::tells_steps_of(layout_.steps(), planned.program));
        plan::PlanInfo& info = planned.info;
        info.parts_m = split_.parts_m;
        info.parts_k = split_.parts_k;
        info.parts_n = split_.parts_n;
        info.tiles_busy = tiles_busy_;
        set_roundings(info);
        const workload::SparseF16& a = *problem_.matrix;
        info.flops = 2.0 * static_cast<double>(a.blocks()) *
                     static_cast<double>(a.block * a.block) * static_cast<double>(problem_.n);
        info.predicted = steps_.predicted;
        info.bytes_by_buffer = layout_.memory().sizes();
        info.bytes_used = layout_.memory().used_bytes();
        return planned;
    }

private:
    using Vertices = std::vector<std::vector<program::Vertex>>;

    /// Products of elements are rounded to FP16 in any case: the FP32 accumulators are rounded once
    /// more with FP16 partials and once in a reduction. The check's own last rounding stands for
    /// the result.
    void set_roundings(plan::PlanInfo& info) const {
        std::size_t contributors = 0;
        std::int64_t blocks = 0;
        for (std::int64_t row = 0; row < problem_.matrix->block_rows(); ++row) {
            contributors = std::max(contributors, partition_.contributors(row).size());
            blocks =
                std::max(blocks, problem_.matrix->row_start[static_cast<std::size_t>(row + 1)] -
                                     problem_.matrix->row_start[static_cast<std::size_t>(row)]);
        }
        const bool half = problem_.partials == ElementType::F16;
        const std::int64_t reduced = contributors > 1 ? 1 : 0;
        if (problem_.block == 1) {
            info.rounded_to = ElementType::F16;
            info.roundings = 1 + (half ? reduced : 0);
        } else {
            info.rounded_to = problem_.partials;
            info.roundings =
                half ? blocks + reduced : 4 * blocks + static_cast<std::int64_t>(contributors);
        }
    }

    void add_multiply(const std::vector<LocalCopy>& copies) {
        Vertices vertices(static_cast<std::size_t>(machine_.chip.tiles));
        std::map<TileId, std::vector<std::int64_t>> copied_words;
        const auto workers = static_cast<std::uint32_t>(machine_.tile.workers);
        std::map<TileId, std::vector<program::Vertex>> copy_vertices;
        Cycles slowest = 0;
        for (std::int64_t part = 0; part < split_.parts(); ++part) {
            if (partition_.part(part).blocks.empty()) {
                continue;
            }
            std::map<std::int64_t, program::SharedBytes> lists_of_width;
            for (std::int64_t in = 0; in < split_.parts_n; ++in) {
                const TileId tile = partition_.tile(part, in);
                const std::int64_t columns = problem_.slice(split_, in).length();
                program::SharedBytes& lists = lists_of_width[columns];
                if (lists == nullptr) {
                    lists = make_lists(part, columns);
                }
                builder_.add_bytes(tile, program::SegmentKind::Metadata, "lists",
                                   layout_.memory().address("lists"), lists,
                                   layout_.steps().lifetime("lists"));
                vertices[tile].push_back(multiply_vertex(tile, part, columns));
                ++tiles_busy_;
            }
        }
        for (const LocalCopy& copy : copies) {
            const auto words = static_cast<std::uint32_t>(copy.bytes / 8);
            copied_words[copy.tile].push_back(words);
            copy_vertices[copy.tile].push_back(
                steps_.vertex(copy.tile, "copy64", program::VertexKind::MultiWorker,
                              {copy.from, copy.to, words / workers, words % workers}));
        }
        for (const auto& [tile, list] : copy_vertices) {
            vertices[tile].insert(vertices[tile].begin(), list.begin(), list.end());
        }
        for (std::int64_t part = 0; part < split_.parts(); ++part) {
            std::map<std::pair<std::int64_t, std::vector<std::int64_t>>, Cycles> known;
            for (std::int64_t in = 0; in < split_.parts_n && !partition_.part(part).blocks.empty();
                 ++in) {
                const std::vector<std::int64_t>& words = copied_words[partition_.tile(part, in)];
                const std::int64_t columns = problem_.slice(split_, in).length();
                Cycles& cycles = known[{columns, words}];
                if (cycles == 0) {
                    cycles =
                        multiply_cycles(machine_, problem_, partition_.part(part), columns, words);
                }
                slowest = std::max(slowest, cycles);
            }
        }
        steps_.predicted.compute += machine_.control.step_cycles + slowest;
        builder_.add_compute_set("multiply", program::Role::Work, std::move(vertices));
    }

    [[nodiscard]] program::SharedBytes make_lists(std::int64_t number, std::int64_t columns) const {
        const Part& part = partition_.part(number);
        std::vector<std::byte> bytes;
        if (problem_.block == 1) {
            std::vector<std::uint16_t> offsets;
            for (const std::int32_t line : part.local_x) {
                const Bytes offset = line * problem_.x_line_bytes(columns);
                offsets.push_back(static_cast<std::uint16_t>(
                    program::pack_pointer(kLineOffset, {.address = offset}, "list of non-zeros")));
            }
            offsets.push_back(0);
            for (const std::int32_t blocks : part.row_blocks) {
                offsets.push_back(static_cast<std::uint16_t>(blocks - 1));
            }
            offsets.push_back(0);
            append(bytes, offsets);
        } else {
            append(bytes, block_entries(part, columns));
        }
        return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    }

    [[nodiscard]] std::vector<std::uint32_t> block_entries(const Part& part,
                                                           std::int64_t columns) const {
        std::vector<std::uint32_t> entries;
        const std::uint32_t halves = problem_.partials == ElementType::F16 ? 1 : 2;
        const std::string symbol = fmt::format("spmm_block16_{}", name_of(problem_.partials));
        const Address fresh = library_.entry(symbol + "_fresh");
        const Address add = library_.entry(symbol + "_add");
        std::size_t at = 0;
        for (std::size_t row = 0; row < part.rows.size(); ++row) {
            const Address out = layout_.memory().address("partials") +
                                static_cast<Address>(static_cast<Bytes>(row) *
                                                     problem_.partial_line_bytes(columns));
            for (std::int32_t b = 0; b < part.row_blocks[row]; ++b, ++at) {
                const Address x =
                    layout_.memory().address("x") +
                    static_cast<Address>(part.local_x[at] * problem_.x_line_bytes(columns));
                for (std::uint32_t half = 0; half < halves; ++half) {
                    entries.push_back(x);
                    entries.push_back(out + half * static_cast<std::uint32_t>(columns) * 32U);
                    entries.push_back(b == 0 ? fresh : add);
                }
            }
        }
        return entries;
    }

    program::Vertex multiply_vertex(TileId tile, std::int64_t number, std::int64_t columns) {
        const Part& part = partition_.part(number);
        const plan::MemoryPlan& memory = layout_.memory();
        const auto workers = static_cast<std::uint32_t>(machine_.tile.workers);
        const bool half = problem_.partials == ElementType::F16;
        if (problem_.block == 16) {
            const auto loads = static_cast<std::uint32_t>(part.blocks.size() * (half ? 1 : 2));
            const auto width = static_cast<std::uint32_t>(columns);
            return steps_.vertex(tile, fmt::format("spmm_block16_{}", name_of(problem_.partials)),
                                 program::VertexKind::Supervisor,
                                 {memory.address("values"), memory.address("lists"), loads - 1,
                                  width / workers, width % workers});
        }
        const auto row_bytes = static_cast<std::uint32_t>(problem_.partial_line_bytes(columns));
        const auto group_bytes = static_cast<std::uint32_t>(problem_.partial_line_bytes(8));
        std::vector<std::uint32_t> state = {row_bytes / 8 - (half ? 1 : 3)};
        const Address counts =
            memory.address("lists") + static_cast<Address>(2 * (part.blocks.size() + 1));
        for (const Share& share : deal_work(problem_, part, columns / 8, machine_.tile.workers)) {
            const auto first_row = static_cast<std::uint32_t>(share.rows.begin);
            const auto first_group = static_cast<std::uint32_t>(share.groups.begin);
            const auto done = static_cast<std::uint32_t>(share.first_block);
            state.insert(state.end(), {memory.address("lists") + 2 * done,
                                       memory.address("values") + 2 * done, counts + 2 * first_row,
                                       memory.address("partials") + first_row * row_bytes +
                                           first_group * group_bytes,
                                       static_cast<std::uint32_t>(share.rows.length()) - 1U,
                                       memory.address("x") + first_group * 16,
                                       static_cast<std::uint32_t>(share.groups.length()) - 1U});
        }
        return steps_.vertex(tile, fmt::format("spmm_elementwise_{}", name_of(problem_.partials)),
                             program::VertexKind::MultiWorker, state);
    }

    void add_reduction() {
        Vertices vertices(static_cast<std::size_t>(machine_.chip.tiles));
        const auto workers = static_cast<std::uint32_t>(machine_.tile.workers);
        Cycles slowest = 0;
        for (std::int64_t part = 0; part < split_.parts(); ++part) {
            const auto& jobs = layout_.reduction().jobs_of_part[static_cast<std::size_t>(part)];
            for (std::int64_t in = 0; in < split_.parts_n && !jobs.empty(); ++in) {
                const TileId tile = partition_.tile(part, in);
                const std::int64_t columns = problem_.slice(split_, in).length();
                plan::StubTimeline stub(machine_, false);
                for (const std::size_t number : jobs) {
                    const SumJob& job = layout_.reduction().jobs[number];
                    const auto units = static_cast<std::uint32_t>(
                        job.rows * problem_.partial_line_bytes(columns) / 16);
                    const Address own = layout_.partial_line(part, job.first_row, columns);
                    vertices[tile].push_back(steps_.vertex(
                        tile, fmt::format("reduce_{}", name_of(problem_.partials)),
                        program::VertexKind::MultiWorker,
                        {own, job.others.empty() ? own : layout_.slice(job, 0, columns), units,
                         static_cast<std::uint32_t>(job.others.size()),
                         layout_.result(job, columns), units / workers, units % workers}));
                    stub.reduce(problem_.partials, units,
                                static_cast<std::int64_t>(job.others.size()));
                }
                slowest = std::max(slowest, stub.finish());
            }
        }
        steps_.predicted.compute += machine_.control.step_cycles + slowest;
        steps_.predicted.reduction += machine_.control.step_cycles + slowest;
        builder_.add_compute_set("reduce", program::Role::Reduce, std::move(vertices));
    }

    void add_memory() {
        const plan::MemoryPlan& memory = layout_.memory();
        for (std::int64_t tile = 0; tile < machine_.chip.tiles; ++tile) {
            const auto id = static_cast<TileId>(tile);
            const bool busy = tile < split_.tiles();
            for (const plan::MemoryPlan::Buffer& buffer : memory.buffers()) {
                if (buffer.kind == program::SegmentKind::Tensor &&
                    (busy || buffer.name == "home of x" || buffer.name == "home of values")) {
                    builder_.add_zero(id, buffer.kind, buffer.name, buffer.begin, buffer.bytes,
                                      buffer.lifetime);
                }
            }
            steps_.place_state(id);
        }
    }

    const spec::MachineSpec& machine_;
    const plan::CodeletLibrary& library_;
    const Layout& layout_;
    const Partition& partition_;
    const Problem& problem_;
    const Split& split_;
    plan::ImageBuilder builder_;
    plan::SuperstepBuilder steps_;
    std::int64_t tiles_busy_ = 0;
};

std::vector<std::string> sources(const Problem& problem) {
    const std::string p(name_of(problem.partials));
    if (problem.block == 1) {
        return {"spmm_elementwise_" + p, "reduce_add_" + p, "copy"};
    }
    return {"matmul_amp_" + p, "spmm_block16_" + p, "reduce_add_" + p, "copy"};
}

std::string too_big(const Problem& problem, const Split& split, const Layout& layout) {
    return fmt::format(
        "sparse product {} x {} x {} with {} blocks does not fit in tile memory in {} x {} x {} "
        "parts: {}",
        problem.matrix->rows, problem.matrix->columns, problem.n, problem.matrix->blocks(),
        split.parts_m, split.parts_k, split.parts_n,
        plan::why_not(layout.memory(), layout.fullest_tile(), layout.steps().steps()));
}

/// The split's program, or nothing when it does not fit; `reason` then says why. A split that is
/// only `compared` with one that fits is not planned either when that would take long.
std::optional<plan::PlannedProgram> plan_split(const spec::MachineSpec& machine,
                                               const plan::CodeletLibrary& library,
                                               const Problem& problem, const Split& split,
                                               bool compared, std::string& reason) {
    std::optional<Activity> dividing(std::in_place, "dividing the matrix");
    const Partition partition(problem, split);
    Layout layout(machine, partition);
    dividing.reset();
    if (compared && layout.messages() > kManyTransfers) {
        return std::nullopt;
    }
    // The length of the exchange rows is known when they are planned; the next round has room for
    // them.
    plan::CodeRoom code = plan::ImageBuilder::first_code_room(machine, library);
    for (int round = 0; round < 3; ++round) {
        if (!layout.place(code)) {
            break;
        }
        Planner planner(machine, library, layout,
                        fmt::format("spmm {} x {} x {}", problem.matrix->rows,
                                    problem.matrix->columns, problem.n));
        planner.plan();
        if (planner.code_room().bytes() <= layout.memory().code_zone_bytes()) {
            const Activity building("writing images");
            return planner.finish();
        }
        code = planner.code_room();
    }
    if (reason.empty()) {
        reason = too_big(problem, split, layout);
    }
    return std::nullopt;
}

} // namespace

plan::PlannedProgram plan_spmm(const spec::MachineSpec& machine,
                               const workload::SpmmWorkload& workload,
                               const workload::SparseF16& matrix) {
    const Problem problem(workload, matrix);
    const auto n = static_cast<double>(problem.n);
    plan::need_chip_memory(
        machine,
        2 * (static_cast<double>(matrix.values.size()) +
             (static_cast<double>(matrix.columns) + static_cast<double>(matrix.rows)) * n),
        fmt::format("sparse product {} x {} x {}", matrix.rows, matrix.columns, problem.n));
    const plan::CodeletLibrary library(machine, sources(problem));
    std::optional<plan::PlannedProgram> best;
    std::string reason;
    std::size_t planned = 0;
    std::size_t tried = 0;
    const auto candidates = search(machine, problem);
    const Activity trying("split", 0);
    for (const Candidate& candidate : candidates) {
        trying.step();
        if (planned == kPlanned || (tried++ >= kTried && planned > 0) || tried > 4 * kTried) {
            break;
        }
        auto made =
            plan_split(machine, library, problem, candidate.split, best.has_value(), reason);
        planned += made.has_value() ? 1 : 0;
        if (made.has_value() &&
            (!best.has_value() || made->info.predicted.total() < best->info.predicted.total())) {
            best = std::move(made);
        }
    }
    if (!best.has_value()) {
        throw DoesNotFit(reason);
    }
    return std::move(*best);
}

} // namespace tessera::spmm
