// SPDX-License-Identifier: MIT
#include "models/isa/exchange_word.h"
#include "sim/result/what_if.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera;

namespace {

/// An exchange of the compiled fabric, which has rows.
program::Exchange exchange_of(std::vector<program::Transfer> transfers) {
    program::Exchange exchange;
    exchange.transfers = std::move(transfers);
    exchange.rows.emplace_back();
    return exchange;
}

program::Transfer transfer(Address from, std::vector<Address> to, Bytes bytes) {
    program::Transfer made;
    made.source_address = from;
    made.bytes = bytes;
    for (const Address address : to) {
        made.destinations.push_back({1, address});
    }
    return made;
}

bool is_told(std::vector<program::Exchange> exchanges) {
    program::Program program;
    program.exchanges = std::move(exchanges);
    const std::vector<std::string> told = result::what_ifs(program);
    CHECK(told.size() <= 1);
    return !told.empty();
}

} // namespace

TEST_CASE("an exchange whose last byte is beyond the rows' addresses is a what-if", "[unit][sim]") {
    constexpr Bytes kBytes = 64;
    constexpr Address kLow = 0x50000;
    constexpr auto kLast = static_cast<Address>(isa::kExchangeReach - kBytes);
    const program::Exchange within = exchange_of({transfer(kLast, {kLow, kLast}, kBytes)});
    CHECK_FALSE(is_told({}));
    CHECK_FALSE(is_told({within}));
    // the source, or any receiver, of any transfer of any exchange
    const program::Transfer low = transfer(kLow, {kLow}, kBytes);
    for (const program::Transfer& beyond :
         {transfer(kLast + 4, {kLow}, kBytes), transfer(kLow, {kLast + 4, kLow}, kBytes),
          transfer(kLow, {kLow, kLast + 4}, kBytes), transfer(kLast, {kLow}, kBytes + 4)}) {
        CHECK(is_told({exchange_of({beyond})}));
        CHECK(is_told({exchange_of({low, beyond})}));
        CHECK(is_told({exchange_of({beyond, low})}));
        CHECK(is_told({within, exchange_of({beyond})}));
        CHECK(is_told({exchange_of({beyond}), within}));
        // other fabrics execute no rows
        program::Exchange without_rows = exchange_of({beyond});
        without_rows.rows.clear();
        CHECK_FALSE(is_told({without_rows}));
    }
}

TEST_CASE("a what-if names the bits that rows have and would need", "[unit][sim]") {
    program::Program program;
    program.exchanges.push_back(
        exchange_of({transfer(static_cast<Address>(isa::kExchangeReach), {}, 4)}));
    CHECK(result::what_ifs(program) ==
          std::vector<std::string>{
              "a what-if: exchanges reach addresses of " + std::to_string(isa::kExchangeReach) +
              " bytes and more: the instructions of their rows are given " +
              std::to_string(isa::kWhatIfAddressBits) +
              " bits of address, where the machine's have " + std::to_string(isa::kAddressBits)});
}
