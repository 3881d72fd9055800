// SPDX-License-Identifier: MIT
// From a graph to a Program, one pass a file:
//
//   check      tiles and symbols that there are, contents said once
//   uses       which bytes each step touches on which tile      (finds fields that are wrong)
//   lifetimes  when buffers must be kept                        (finds reads of what nothing wrote)
//   state      vertex state: what stands behind what
//   steps      which steps run, in which order
//   placing    where buffers stand
//   binding    vertices, messages, contents and tensors at these places
//   rows       exchange rows, equal ones of a tile once   (kernels/exchange_plan plans them)
//   stub, control_code   what a supervisor runs
//   code_zone  where these and the codelets stand
//   images     what each tile holds at the start
//
// `lower` calls them; from placing on once more, with more room for rows, where these turned out
// longer than expected and find no room elsewhere.
#pragma once

#include "kernels/exchange_plan/exchange_planner.h"
#include "kernels/exchange_plan/known_schedules.h"
#include "kernels/graph/graph.h"
#include "kernels/lower/steps.h"
#include "kernels/plan/predicted_cycles.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tessera::lower {

/// What planning comes to, for all kinds of workloads.
struct Lowered {
    program::Program program;
    std::vector<exchange_plan::ExchangeStats> exchanges; ///< by exchange of the program
    Steps steps;
    std::map<std::string, Bytes> bytes_by_buffer; ///< of a tile with most of them, and "code"
    Bytes bytes_used = 0;                         ///< of that tile, code included
};

/// Exchange, sync and reduction of the program's exchanges, each run once, without those that words decide about.
[[nodiscard]] plan::PredictedCycles predicted_exchanges(const spec::MachineSpec& machine,
                                                        const Lowered& lowered);

/// A graph whose buffers have places, before its exchanges are scheduled, which is what takes long.
class PlacedGraph {
public:
    /// `machine` outlives this. @throws as lower() below
    PlacedGraph(const spec::MachineSpec& machine, graph::Graph graph);
    ~PlacedGraph();
    PlacedGraph(PlacedGraph&&) noexcept;
    PlacedGraph& operator=(PlacedGraph&&) noexcept;

    /// Counts each exchange at its bound. Where no words decide, predicted_exchanges() cannot be below that.
    [[nodiscard]] plan::PredictedCycles least_exchanges() const;

    /// The first says what exchange rows take of a tile by the first schedule that is found, the second what all else takes.
    [[nodiscard]] Bytes quick_row_bytes() const;
    [[nodiscard]] Bytes bytes_without_rows() const;

    /// Schedules exchanges; rows that turn out longer than expected move the buffers. @throws DoesNotFit
    [[nodiscard]] Lowered lower(exchange_plan::KnownSchedules& known) &&;

private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

/// @throws DoesNotFit; NotModelled for a machine that lacks instructions of a codelet; ProgramError
/// for a graph that is wrong, which names program, kernel, step, tile and buffer
[[nodiscard]] Lowered lower(const spec::MachineSpec& machine, graph::Graph graph);

/// The same, with the schedules of other lowerings, and for others.
[[nodiscard]] Lowered lower(const spec::MachineSpec& machine, graph::Graph graph,
                            exchange_plan::KnownSchedules& known);

} // namespace tessera::lower
