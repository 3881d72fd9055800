// SPDX-License-Identifier: MIT
// What stands at an address of a bench's code, for people.
#pragma once

#include "sim/vertex/bench.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::vertex {

/// The code words of the image at an address: one, or two of a bundle; none outside code.
[[nodiscard]] std::vector<std::uint32_t> words_at(const Bench& bench, Address address);

/// The instruction or bundle at an address as text; empty outside code.
[[nodiscard]] std::string instruction_text(const Bench& bench, Address address);

/// "scaled_add.S:41"; "stub" outside the sources.
[[nodiscard]] std::string source_line(const Bench& bench, Address address);

/// Symbol at or before the address, as "name" or "name+0x8".
[[nodiscard]] std::string symbol_text(const Bench& bench, Address address);

} // namespace tessera::vertex
