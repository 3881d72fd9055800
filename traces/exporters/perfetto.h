// SPDX-License-Identifier: MIT
// Writes a run as a Perfetto trace: the protobuf format of ui.perfetto.dev and trace_processor.
// Timestamps are absolute and whole nanoseconds: cycles, or the machine's time to the nearest one.
// Every span is one BEGIN and one END on a flat track, a flow its numbers at the BEGINs. What it
// looks like in the viewer (docs/formats/perfetto.md has the rest):
//
//   bow (1 ns = 1 cycle)
//     run                               what ran, on which machine, by which version
//     active_tiles, exchange_bytes      counters
//     machine    |matmul    |exchange |sync |matmul ...   a slice a phase, named by its step
//     tiles
//       tile_0   |matmul |idle |exchange|sync ...         the same for one tile, which is idle
//                                                         while it waits for slower ones
//         worker_0 .. worker_5, supervisor                a slice a vertex
// Source of the format: the Perfetto project's public trace protos; the fields used are listed with
// their numbers in tests/support/perfetto_subset.proto.
#pragma once

#include "traces/exporters/format.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::traces {

class PerfettoFormat final : public Format {
public:
    explicit PerfettoFormat(const FormatContext& context);

    void declare(Track track) override;
    void declare(const CounterSample& sample) override;
    void span(const Span& span) override;
    void sample(const CounterSample& sample) override;
    void truncated(Cycles cycle) override;
    void end(Cycles cycles) override;

private:
    [[nodiscard]] std::int64_t time_ns(Cycles cycle) const;
    void declare_process(std::uint32_t chip);
    void declare_child(std::uint64_t uuid, std::uint64_t parent_uuid, std::string_view name,
                       int place);
    void describe_run();
    void write_begin(const Span& span);
    /// An instant; `annotate` gets a function that takes number, word and value of an argument.
    template <typename Annotate>
    void write_note(std::uint64_t uuid, Cycles cycle, std::string_view name, Annotate annotate);

    std::vector<bool> tiles_declared_;      ///< by chip
    std::vector<bool> interned_categories_; ///< by identifier in the file
    std::vector<bool> interned_names_;
    std::vector<bool> interned_args_;
};

} // namespace tessera::traces
