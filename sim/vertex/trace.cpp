// SPDX-License-Identifier: MIT
#include "sim/vertex/trace.h"

#include "models/tile/core/pipeline_trace.h"
#include "sim/vertex/code_text.h"
#include "traces/exporters/exporter.h"
#include "traces/exporters/konata.h"
#include "traces/selection.h"

#include <utility>

namespace tessera::vertex {
namespace {

traces::DescribeAddress describe_in(const Bench& bench) {
    return [&bench](Address address) {
        return traces::InstructionText{instruction_text(bench, address),
                                       source_line(bench, address)};
    };
}

} // namespace

void write_trace(std::unique_ptr<traces::OutputFile> output, const spec::MachineSpec& machine,
                 const Bench& bench, const PointResult& result, const std::string& vertex) {
    traces::NameTable names;
    traces::Exporter exporter(std::move(output), {traces::Level::Worker, {true}}, names,
                              {.metadata = {.workload = vertex,
                                            .machine = machine.name,
                                            .clock_hz = machine.chip.clock_hz,
                                            .version = TESSERA_VERSION,
                                            .clock = traces::Clock::Cycles}});
    traces::send_pipeline(exporter, names, 0, result.tile_cycles,
                          tile::pipeline_instructions(*result.log, machine), describe_in(bench));
    static_cast<void>(exporter.finish());
}

void write_konata(traces::OutputFile& output, const spec::MachineSpec& machine, const Bench& bench,
                  const PointResult& result) {
    traces::write_konata(output, tile::pipeline_instructions(*result.log, machine),
                         static_cast<int>(machine.tile.workers), describe_in(bench));
}

} // namespace tessera::vertex
