// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_cost.h"
#include "kernels/matmul/matmul_layout.h"
#include "kernels/matmul/matmul_search.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/plan/image_builder.h"
#include "kernels/plan/pieces.h"
#include "kernels/plan/superstep_builder.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace tessera::matmul {
namespace {

/// Partitions tried exactly before the answer is that none fits.
constexpr std::size_t kTried = 200;

/// B's blocks [out group][k group of the chunk] in weight store order; blocks [first, last) stand
/// one after the other.
void add_blocks(program::Tensor& tensor, TileId tile, Address address, const Problem& problem,
                Range out_groups, Range k_groups, std::int64_t first, std::int64_t last) {
    const std::int64_t across = k_groups.length();
    for (std::int64_t at = first; at < last;) {
        const std::int64_t out = (out_groups.begin + at / across) * problem.group;
        const std::int64_t k0 = k_groups.begin + at % across;
        const std::int64_t full = problem.k / 16 - k0;
        const std::int64_t blocks =
            std::clamp<std::int64_t>(full, 1, std::min(across - at % across, last - at));
        const std::int64_t inputs = std::min<std::int64_t>(16, problem.k - k0 * 16);
        const std::int64_t channels = std::min(problem.group, problem.n - out);
        program::Piece piece;
        piece.tile = tile;
        piece.address = address + static_cast<Address>((at - first) * problem.block_bytes());
        piece.host_offset = k0 * 16 * problem.n + out;
        piece.dims = {{blocks, 16 * problem.n, problem.block_bytes()}};
        if (problem.group == 8) { // channel c is unit c
            piece.dims.push_back({channels, 1, 32});
            piece.dims.push_back({inputs, problem.n, 2});
            tensor.pieces.push_back(std::move(piece));
        } else if (channels == 16) { // channel c: set (c >> 1) & 1, unit 2 * (c >> 2) + (c & 1)
            piece.dims.push_back({4, 4, 64});
            piece.dims.push_back({2, 2, 256});
            piece.dims.push_back({2, 1, 32});
            piece.dims.push_back({inputs, problem.n, 2});
            tensor.pieces.push_back(std::move(piece));
        } else {
            piece.dims.push_back({inputs, problem.n, 2});
            for (std::int64_t c = 0; c < channels; ++c) {
                program::Piece channel = piece;
                channel.host_offset += c;
                channel.address +=
                    static_cast<Address>(((c >> 1) & 1) * 256 + (c >> 2) * 64 + (c & 1) * 32);
                tensor.pieces.push_back(std::move(channel));
            }
        }
        at += blocks;
    }
}

class Planner {
public:
    Planner(const spec::MachineSpec& machine, const plan::CodeletLibrary& library,
            const Layout& layout, const std::string& name)
        : machine_(machine), library_(library), layout_(layout), grid_(layout.grid()),
          partials_(grid_.problem().partials), builder_(machine, library, "matmul", name),
          steps_(machine, library, builder_, layout.memory().address("vertex state"),
                 std::max(grid_.partition().tiles(), machine.chip.tiles)) {}

    /// Compute sets, exchanges, images and tensors; the rows may still need a larger code zone.
    void plan() {
        for (std::int64_t chunk = 0; chunk < grid_.partition().chunks; ++chunk) {
            add_chunk(chunk);
        }
        if (grid_.reduces()) {
            add_reduction();
        }
        add_operands();
        add_result();
        add_memory();
    }

    [[nodiscard]] plan::CodeRoom code_room() const { return builder_.code_room(); }

    plan::PlannedProgram finish() {
        plan::PlannedProgram planned;
        const Partition& p = grid_.partition();
        const Problem& problem = grid_.problem();
        planned.program = builder_.build();
        TESSERA_ASSERT(plan::tells_steps_of(layout_.steps(), planned.program));
        planned.info.parts_m = p.parts_m;
        planned.info.parts_k = p.parts_k;
        planned.info.parts_n = p.parts_n;
        planned.info.chunks = p.chunks;
        planned.info.paired =
            p.paired == Paired::None ? "none" : (p.paired == Paired::A ? "a" : "b");
        planned.info.tiles_busy = p.tiles();
        planned.info.rounded_to = partials_;
        planned.info.roundings = partials_ == ElementType::F16
                                     ? grid_.most_k_groups() + (p.parts_k > 1 ? 1 : 0)
                                     : 4 * grid_.most_k_groups() + p.parts_k;
        planned.info.flops = 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.k) *
                             static_cast<double>(problem.n);
        planned.info.predicted = steps_.predicted;
        planned.info.bytes_by_buffer = layout_.memory().sizes();
        planned.info.bytes_used = layout_.memory().used_bytes();
        return planned;
    }

private:
    using Vertices = std::vector<std::vector<program::Vertex>>;

    void add_chunk(std::int64_t chunk) {
        std::vector<program::Transfer> transfers;
        std::vector<LocalCopy> copies;
        layout_.bring(chunk, transfers, copies);
        steps_.add_exchange(fmt::format("bring chunk {}", chunk), program::Role::Bring,
                            std::move(transfers));

        Vertices vertices(static_cast<std::size_t>(machine_.chip.tiles));
        std::map<TileId, std::vector<std::int64_t>> copied_words;
        const auto workers = static_cast<std::uint32_t>(machine_.tile.workers);
        for (const LocalCopy& copy : copies) {
            const auto words = static_cast<std::uint32_t>(copy.bytes / 8);
            vertices[copy.tile].push_back(
                steps_.vertex(copy.tile, "copy64", program::VertexKind::MultiWorker,
                              {copy.from, copy.to, words / workers, words % workers}));
            copied_words[copy.tile].push_back(words);
        }
        Cycles slowest = 0;
        for (std::int64_t tile = 0; tile < grid_.partition().tiles(); ++tile) {
            const auto id = static_cast<TileId>(tile);
            vertices[id].push_back(matmul_vertex(id, chunk));
            slowest = std::max(slowest, stub_cycles(grid_.part(id), chunk, copied_words[id]));
        }
        steps_.predicted.compute += machine_.control.step_cycles + slowest;
        builder_.add_compute_set(fmt::format("multiply chunk {}", chunk), program::Role::Work,
                                 std::move(vertices));
    }

    program::Vertex matmul_vertex(TileId tile, std::int64_t chunk) {
        const TilePart part = grid_.part(tile);
        const auto rows = static_cast<std::uint32_t>(grid_.rows(part.im).length());
        const auto workers = static_cast<std::uint32_t>(machine_.tile.workers);
        const std::string symbol =
            fmt::format("matmul_{}_{}", name_of(partials_), chunk == 0 ? "fresh" : "add");
        return steps_.vertex(
            tile, symbol, program::VertexKind::Supervisor,
            {layout_.weights(part, chunk), layout_.x(part, chunk),
             layout_.memory().address("partials"), rows * 32, rows / workers, rows % workers,
             static_cast<std::uint32_t>(grid_.out_groups(part.in).length() - 1),
             static_cast<std::uint32_t>(grid_.chunk(part.ik, chunk).length() - 1)});
    }

    Cycles stub_cycles(const TilePart& part, std::int64_t chunk,
                       const std::vector<std::int64_t>& copied_words) {
        const codelets::MatmulVertexShape shape{grid_.rows(part.im).length(),
                                                grid_.out_groups(part.in).length(),
                                                grid_.chunk(part.ik, chunk).length(), chunk == 0};
        const auto key = std::make_tuple(shape.rows, shape.out_groups, shape.k_groups, shape.fresh,
                                         copied_words);
        const auto found = known_cycles_.find(key);
        if (found != known_cycles_.end()) {
            return found->second;
        }
        plan::StubTimeline stub(machine_, true);
        for (const std::int64_t words : copied_words) {
            stub.copy(words);
        }
        stub.matmul(partials_, shape);
        return known_cycles_.emplace(key, stub.finish()).first->second;
    }

    void add_reduction() {
        const Partition& p = grid_.partition();
        steps_.add_exchange("reduce: bring partial results", program::Role::Reduce,
                            layout_.bring_partials());
        Vertices vertices(static_cast<std::size_t>(machine_.chip.tiles));
        const auto workers = static_cast<std::uint32_t>(machine_.tile.workers);
        std::uint32_t most_units = 0;
        for (std::int64_t tile = 0; tile < p.tiles(); ++tile) {
            const auto id = static_cast<TileId>(tile);
            const Range share = grid_.share(grid_.part(id));
            const auto units = static_cast<std::uint32_t>(2 * share.length());
            most_units = std::max(most_units, units);
            if (units == 0) {
                continue;
            }
            const Address own = layout_.memory().address("partials") +
                                static_cast<Address>(share.begin * kCellBytes);
            const Address slices = p.parts_k > 1 ? layout_.memory().address("slices") : own;
            vertices[id].push_back(steps_.vertex(
                id, fmt::format("reduce_{}", name_of(partials_)), program::VertexKind::MultiWorker,
                {own, slices, units, static_cast<std::uint32_t>(p.parts_k - 1),
                 layout_.memory().address("result"), units / workers, units % workers}));
        }
        const Cycles cycles = machine_.control.step_cycles +
                              plan::reduce_cycles(machine_, partials_, most_units, p.parts_k - 1);
        steps_.predicted.compute += cycles;
        steps_.predicted.reduction += cycles;
        builder_.add_compute_set("reduce", program::Role::Reduce, std::move(vertices));
    }

    [[nodiscard]] plan::CellGrid grid_a(const TilePart& part, std::int64_t chunk) const {
        plan::CellGrid cells;
        cells.rows = grid_.rows(part.im).length();
        cells.first_row = grid_.rows(part.im).begin;
        cells.first_group = grid_.chunk(part.ik, chunk).begin;
        cells.host_inner = grid_.problem().k;
        cells.host_row_stride = grid_.problem().k;
        return cells;
    }

    void add_operands() {
        const Partition& p = grid_.partition();
        const Problem& problem = grid_.problem();
        program::Tensor a{"a", ElementType::F16, {problem.m, problem.k}, {}};
        program::Tensor b{"b", ElementType::F16, {problem.k, problem.n}, {}};
        for (std::int64_t chunk = 0; chunk < p.chunks; ++chunk) {
            for (const HomeRun& run : layout_.homes_a(chunk)) {
                add_cells(a, run.home.tile, layout_.home("home of a", run),
                          grid_a(layout_.group_a(run.home.group), chunk), run.home.first,
                          run.home.last);
            }
            for (const HomeRun& run : layout_.homes_b(chunk)) {
                const TilePart part = layout_.group_b(run.home.group);
                add_blocks(b, run.home.tile, layout_.home("home of b", run), problem,
                           grid_.out_groups(part.in), grid_.chunk(part.ik, chunk), run.home.first,
                           run.home.last);
            }
            for (std::int64_t tile = 0; tile < p.tiles(); ++tile) {
                const auto id = static_cast<TileId>(tile);
                const TilePart part = grid_.part(id);
                const std::int64_t k_groups = grid_.chunk(part.ik, chunk).length();
                if (grid_.a_stays()) {
                    add_cells(a, id, layout_.x(part, chunk), grid_a(part, chunk), 0,
                              k_groups * grid_.rows(part.im).length());
                }
                if (grid_.b_stays()) {
                    add_blocks(b, id, layout_.weights(part, chunk), problem,
                               grid_.out_groups(part.in), grid_.chunk(part.ik, chunk), 0,
                               k_groups * grid_.out_groups(part.in).length());
                }
            }
        }
        builder_.add_tensor(std::move(a));
        builder_.add_tensor(std::move(b));
    }

    void add_result() {
        const Problem& problem = grid_.problem();
        program::Tensor c{"c", ElementType::F16, {problem.m, problem.n}, {}};
        for (std::int64_t tile = 0; tile < grid_.partition().tiles(); ++tile) {
            const auto id = static_cast<TileId>(tile);
            const TilePart part = grid_.part(id);
            plan::CellGrid cells;
            cells.rows = grid_.rows(part.im).length();
            cells.group = problem.group;
            cells.first_row = grid_.rows(part.im).begin;
            cells.first_group = grid_.out_groups(part.in).begin;
            cells.host_inner = problem.n;
            cells.host_row_stride = problem.n;
            cells.cell_bytes = 2 * problem.group;
            const Range share = grid_.share(part);
            add_cells(c, id, layout_.memory().address(grid_.reduces() ? "result" : "partials"),
                      cells, share.begin, share.end);
        }
        builder_.add_tensor(std::move(c));
    }

    void add_memory() {
        const plan::MemoryPlan& memory = layout_.memory();
        for (std::int64_t tile = 0; tile < machine_.chip.tiles; ++tile) {
            const auto id = static_cast<TileId>(tile);
            const bool busy = tile < grid_.partition().tiles();
            for (const plan::MemoryPlan::Buffer& buffer : memory.buffers()) {
                if (buffer.kind == program::SegmentKind::Tensor &&
                    (busy || buffer.name == "home of a" || buffer.name == "home of b")) {
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
    const Grid& grid_;
    ElementType partials_;
    plan::ImageBuilder builder_;
    plan::SuperstepBuilder steps_;
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, std::vector<std::int64_t>>,
             Cycles>
        known_cycles_;
};

std::string too_big(const Problem& problem, const Candidate& tried, const Layout& layout) {
    const Partition& p = tried.partition;
    return fmt::format(
        "matmul {} x {} x {} does not fit in tile memory, not even in {} x {} x {} "
        "tiles and {} chunks: {}",
        problem.m, problem.k, problem.n, p.parts_m, p.parts_k, p.parts_n, p.chunks,
        plan::why_not(layout.memory(), layout.fullest_tile(), layout.steps().steps()));
}

} // namespace

plan::PlannedProgram plan_matmul(const spec::MachineSpec& machine,
                                 const workload::MatmulWorkload& workload) {
    const Problem problem(workload);
    const auto m = static_cast<double>(problem.m);
    const auto k = static_cast<double>(problem.k);
    const auto n = static_cast<double>(problem.n);
    plan::need_chip_memory(machine, 2 * (m * k + k * n + m * n),
                           fmt::format("matmul {} x {} x {}", problem.m, problem.k, problem.n));
    const std::string p(name_of(workload.partials));
    const plan::CodeletLibrary library(machine, {"matmul_amp_" + p, "reduce_add_" + p, "copy"});
    std::string reason;
    for (const Candidate& candidate : search(machine, problem, kTried)) {
        Layout layout(machine, Grid(problem, candidate.partition));
        // The length of the exchange rows is known when they are planned; a second round has room
        // for them.
        plan::CodeRoom code = plan::ImageBuilder::first_code_room(machine, library);
        for (int round = 0; round < 3; ++round) {
            if (!layout.place(code)) {
                reason = too_big(problem, candidate, layout);
                break;
            }
            Planner planner(machine, library, layout,
                            fmt::format("matmul {} x {} x {}", problem.m, problem.k, problem.n));
            planner.plan();
            if (planner.code_room().bytes() <= layout.memory().code_zone_bytes()) {
                return planner.finish();
            }
            code = planner.code_room();
            reason = too_big(problem, candidate, layout);
        }
    }
    throw DoesNotFit(reason);
}

} // namespace tessera::matmul
