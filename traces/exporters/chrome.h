// SPDX-License-Identifier: MIT
// Writes a run in Chrome's trace-event format, which chrome://tracing, ui.perfetto.dev and
// speedscope open and any JSON reader understands. One event a line:
//
//   {"displayTimeUnit":"ns","otherData":{"workload":"four_tiles", ...},"traceEvents":[
//   {"ph":"M","name":"process_name","pid":1,"args":{"name":"tiny (1 ns = 1 cycle)"}},
//   {"ph":"X","name":"matmul","cat":"compute","pid":1,"tid":2,"ts":0.012,"dur":0.040,"args":{...}},
//   {"ph":"C","name":"active_tiles","pid":1,"ts":0.012,"args":{"tiles":4}},
//   {"ph":"s","name":"last to arrive","cat":"flow","id":1,"pid":1,"tid":37,"ts":0.012},
//   ...
//   ],"cycles":697}
//
// Times are microseconds as exact decimal fractions: 0.001 is a cycle, or they are the machine's
// time to the nearest picosecond. The machine is a process, and so is each tile; tracks are
// threads. Source: "Trace Event Format", the document of Chrome's trace viewer; docs/formats/
// chrome.md has the rest.
#pragma once

#include "traces/exporters/format.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::traces {

class ChromeFormat final : public Format {
public:
    explicit ChromeFormat(const FormatContext& context);

    void declare(Track track) override;
    void declare(const CounterSample& sample) override;
    void span(const Span& span) override;
    void sample(const CounterSample& sample) override;
    void truncated(Cycles cycle) override;
    void end(Cycles cycles) override;

private:
    /// Where a flow touches a slice.
    struct FlowPoint {
        Cycles cycle = 0;
        Track track;
    };
    struct Flow {
        std::vector<FlowPoint> points;
        bool ended = false;
    };
    [[nodiscard]] std::string microseconds(Cycles from, Cycles to) const;
    [[nodiscard]] std::string microseconds(Cycles cycle) const { return microseconds(0, cycle); }
    [[nodiscard]] const std::string& quoted_name(const Span& span);
    void begin_event();
    void name_process(int pid, std::string_view name, int sort_index);
    void name_thread(int pid, std::uint64_t tid, std::string_view name, int sort_index);
    void add_to_flow(const Span& span);
    void write_ended_flows();
    void write_flow(std::int64_t number, std::vector<FlowPoint> points);

    bool first_event_ = true;
    std::vector<std::string> quoted_names_; ///< by NameId, where one was used
    std::map<std::int64_t, Flow> flows_;    ///< by number, those not written
};

} // namespace tessera::traces
