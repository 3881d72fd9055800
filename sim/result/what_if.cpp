// SPDX-License-Identifier: MIT
#include "sim/result/what_if.h"

#include "models/isa/exchange_word.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::result {
namespace {

/// Whether any row of the compiled exchange has an address of more bits than the machine's.
bool reaches_beyond_rows(const program::Exchange& exchange) {
    const auto beyond = [&](Address address, Bytes bytes) {
        return static_cast<Bytes>(address) + bytes > isa::kExchangeReach;
    };
    return !exchange.rows.empty() &&
           std::ranges::any_of(exchange.transfers, [&](const program::Transfer& transfer) {
               return beyond(transfer.source_address, transfer.bytes) ||
                      std::ranges::any_of(transfer.destinations, [&](const auto& destination) {
                          return beyond(destination.address, transfer.bytes);
                      });
           });
}

} // namespace

std::vector<std::string> what_ifs(const program::Program& program) {
    if (std::ranges::none_of(program.exchanges, reaches_beyond_rows)) {
        return {};
    }
    return {fmt::format("a what-if: exchanges reach addresses of {} bytes and more: the "
                        "instructions of their rows are given "
                        "{} bits of address, where the machine's have {}",
                        isa::kExchangeReach, isa::kWhatIfAddressBits, isa::kAddressBits)};
}

} // namespace tessera::result
