// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_lines.h"

#include "kernels/sparse/spmm_tensors.h"

#include <vector>

namespace tessera::sparse {

void bring_lines(graph::Bringing& bringing, const Lines& lines, const Range& slices) {
    const Homes& homes = lines.homes;
    const Partition& partition = homes.partition();
    const Problem& problem = partition.problem();
    // A run's lines stand behind each other on every tile that has them, in all slices alike.
    std::vector<std::vector<std::int64_t>> first_lines; // by run and user
    for (const Range& run : homes.runs()) {
        auto& of_users = first_lines.emplace_back();
        for (const std::int32_t part : homes.users(run)) {
            of_users.push_back(partition.part(part).local_line(run.first));
        }
    }
    std::vector<graph::Receiver> receivers;
    for (std::int64_t in = slices.first; in < slices.last; ++in) {
        const Bytes line_bytes = problem.line_bytes_of(problem.slice(partition.split(), in).size());
        for (const HomeRun& home : homes.b(in)) {
            const Range& run = homes.runs()[home.group];
            const auto send = [&] {
                if (!receivers.empty()) {
                    bringing.add(home.tile, {lines.home, home.offset}, home.units() * line_bytes,
                                 receivers);
                    receivers.clear();
                }
            };
            auto first_line = first_lines[home.group].cbegin();
            for (const std::int32_t part : homes.users(run)) {
                receivers.push_back({partition.tile(part, in),
                                     {lines.used, (*first_line++ + home.first) * line_bytes}});
                if (receivers.size() == homes.together(run)) {
                    send();
                }
            }
            send();
        }
    }
}

void add_pieces(graph::Tensor& tensor, const Lines& lines, std::int64_t rows) {
    const Homes& homes = lines.homes;
    const Partition& partition = homes.partition();
    const Problem& problem = partition.problem();
    const std::int64_t rows_of_line = problem.by_rows ? problem.block : 1;
    for (std::int64_t in = 0; in < partition.split().slices(); ++in) {
        graph::CellGrid cells = cells_of(problem, rows, problem.slice(partition.split(), in));
        if (problem.by_rows) {
            cells.group = 1;
            cells.cell_bytes = cells.element_bytes;
        }
        const auto add = [&](TileId tile, graph::Place place, std::int64_t first,
                             std::int64_t count) {
            add_lines(tensor, tile, place, cells, problem.block / rows_of_line,
                      first * rows_of_line, count * rows_of_line);
        };
        for (const HomeRun& home : homes.b(in)) {
            add(home.tile, {lines.home, home.offset}, homes.runs()[home.group].first + home.first,
                home.units());
        }
        // A line that one tile needs is at home there.
        for (const Range& run : homes.runs()) {
            const std::vector<std::int32_t>& users = homes.users(run);
            if (homes.stays(run)) {
                const Bytes line = partition.part(users[0]).local_line(run.first) *
                                   problem.line_bytes_of(cells.rows);
                add(partition.tile(users[0], in), {lines.used, line}, run.first, run.size());
            }
        }
    }
}

} // namespace tessera::sparse
