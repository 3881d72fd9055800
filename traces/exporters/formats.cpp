// SPDX-License-Identifier: MIT
#include "traces/exporters/formats.h"

#include "traces/exporters/chrome.h"
#include "traces/exporters/perfetto.h"
#include "traces/exporters/vcd.h"

#include <algorithm>
#include <array>

namespace tessera::traces {
namespace {

template <typename Made> std::unique_ptr<Format> make(const FormatContext& context) {
    return std::make_unique<Made>(context);
}

constexpr std::array<FormatSpec, 3> kFormats{{{"chrome", ".json", make<ChromeFormat>},
                                              {"vcd", ".vcd", make<VcdFormat>},
                                              {"perfetto", "", make<PerfettoFormat>}}};

} // namespace

std::span<const FormatSpec> formats() {
    return kFormats;
}

const FormatSpec& format_of(std::string_view path) {
    constexpr std::string_view kCompressed = ".gz";
    if (path.ends_with(kCompressed)) {
        path.remove_suffix(kCompressed.size());
    }
    return *std::find_if(kFormats.begin(), kFormats.end(),
                         [&](const FormatSpec& spec) { return path.ends_with(spec.ending); });
}

} // namespace tessera::traces
