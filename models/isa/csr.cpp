// SPDX-License-Identifier: MIT
#include "models/isa/csr.h"

#include <array>
#include <deque>
#include <string>
#include <vector>

namespace tessera::isa {
namespace {

constexpr CsrContext kW = CsrContext::Worker;
constexpr CsrContext kS = CsrContext::Supervisor;
constexpr CsrContext kWS = CsrContext::Both;

constexpr std::array kFixedNames = {
    CsrName{"PC", 0x00, kWS},
    CsrName{"WSR", 0x01, kW},
    CsrName{"VERTEX_BASE", 0x02, kW},
    CsrName{"WORKER_BASE", 0x03, kW},
    CsrName{"REPEAT_COUNT", 0x04, kW},
    CsrName{"REPEAT_FIRST", 0x05, kW},
    CsrName{"REPEAT_END", 0x06, kW},
    CsrName{"SSR", 0x01, kS},
    CsrName{"CR", 0x02, kS},
    CsrName{"TILE_ID", 0x03, kS},
    CsrName{"FP_ICTL", 0x20, kS},
    CsrName{"WORKER0_BASE", 0x21, kS},
    CsrName{"WORKER1_BASE", 0x22, kS},
    CsrName{"WORKER2_BASE", 0x23, kS},
    CsrName{"WORKER3_BASE", 0x24, kS},
    CsrName{"WORKER4_BASE", 0x25, kS},
    CsrName{"WORKER5_BASE", 0x26, kS},
    CsrName{"WORKER6_BASE", 0x27, kS}, // only where a tile has more than six workers
    CsrName{"WORKER7_BASE", 0x28, kS},
    CsrName{"FP_INFMT", 0x31, kS, true},
    CsrName{"FP_ISCL", 0x33, kS, true},
    CsrName{"CCCSLOAD", 0x50, kS},
    CsrName{"COUNT_L", 0x60, kW},
    CsrName{"COUNT_U", 0x61, kW},
    CsrName{"SCOUNT_L", 0x60, kS},
    CsrName{"SCOUNT_U", 0x61, kS},
    CsrName{"DBG_DATA", 0x70, kWS},
    CsrName{"DBG_BRK_ID", 0x71, kWS},
    CsrName{"CTXT_STS", 0x72, kS},
    CsrName{"INCOMING_MUX", 0xa0, kS},
    CsrName{"INCOMING_MUXPAIR", 0xa1, kS},
    CsrName{"INCOMING_DELTA", 0xa2, kS},
    CsrName{"INCOMING_FORMAT", 0xa3, kS},
    CsrName{"INCOMING_BASE", 0xa4, kS},
    CsrName{"INCOMING_SINIT", 0xa5, kS},
    CsrName{"INCOMING_DCOUNT", 0xa6, kS},
    CsrName{"OUTGOING_BASE", 0xa7, kS},
    CsrName{"OUTGOING_DELTA", 0xa8, kS},
    CsrName{"EXCHANGE_CTL", 0xa9, kS},
    CsrName{"ANS_DCOUNT", 0xaa, kS},
    CsrName{"EXCHANGE_ADJ", 0xab, kS},
    CsrName{"FP_STS", 0x100, kW},
    CsrName{"FP_CLR", 0x101, kW},
    CsrName{"FP_CTL", 0x102, kW},
    CsrName{"PRNG_0_0", 0x103, kW},
    CsrName{"PRNG_0_1", 0x104, kW},
    CsrName{"PRNG_1_0", 0x105, kW},
    CsrName{"PRNG_1_1", 0x106, kW},
    CsrName{"PRNG_SEED", 0x107, kW},
    CsrName{"TAS", 0x108, kW},
    CsrName{"FP_NFMT", 0x109, kW, true},
    CsrName{"FP_SCL", 0x10a, kW, true},
};

} // namespace

std::span<const CsrName> csr_names() {
    static const std::vector<CsrName> names = [] {
        static std::deque<std::string> texts; // what the names point to
        std::vector<CsrName> all(kFixedNames.begin(), kFixedNames.end());
        for (std::uint16_t number = 0; number < 64; ++number) {
            texts.push_back("CWEI_" + std::to_string(number / 4) + "_" +
                            std::to_string(number % 4));
            all.push_back({texts.back(), number, CsrContext::Weights, false});
        }
        return all;
    }();
    return names;
}

const CsrName* find_csr(std::string_view name) {
    for (const CsrName& entry : csr_names()) {
        if (entry.name == name) {
            return &entry;
        }
    }
    return nullptr;
}

std::string_view csr_name(std::uint16_t number, CsrContext context) {
    std::string_view name;
    for (const CsrName& entry : kFixedNames) {
        const bool is_seen = context == CsrContext::Both || entry.context == CsrContext::Both ||
                             entry.context == context;
        if (entry.number == number && is_seen) {
            if (!name.empty()) {
                return {};
            }
            name = entry.name;
        }
    }
    return name;
}

} // namespace tessera::isa
