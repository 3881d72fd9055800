// SPDX-License-Identifier: MIT
// Names of the control and status registers. Numbers 0x100 and up are the aux group (uget and
// uput). Source: docs/evidence.md#instruction-set (Graphcore Tile Vertex ISA 1.2.3 for IPU2,
// register indices).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::isa {

enum class CsrContext : std::uint8_t {
    Worker,
    Supervisor,
    Both,
    Weights, ///< the weight registers, which ld64putcs and ld128putcs name
};

struct CsrName {
    std::string_view name; ///< without the leading $
    std::uint16_t number;
    CsrContext context;
    bool is_of_fp8 = false; ///< only where the machine has FP8
};

[[nodiscard]] std::span<const CsrName> csr_names();

/// The entry of this name, or null.
[[nodiscard]] const CsrName* find_csr(std::string_view name);

/// The name of a register number in a context; empty when it has none, or, for Both, another in
/// each.
[[nodiscard]] std::string_view csr_name(std::uint16_t number,
                                        CsrContext context = CsrContext::Both);

} // namespace tessera::isa
