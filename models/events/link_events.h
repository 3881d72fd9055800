// SPDX-License-Identifier: MIT
// What the links of a system tell of their traffic, and who hears it.
#pragma once

#include "base/units.h"

#include <cstdint>

namespace tessera::events {

/// All messages of a link exchange from one chip to another are in.
struct Carried {
    std::int64_t from = 0; ///< chips
    std::int64_t to = 0;
    std::uint32_t exchange = 0; ///< of the program of `from`
    std::int64_t step = 0;      ///< of the sending chip
    std::int64_t step_there = 0;
    Cycles begin = 0;    ///< the first turn with such a message begins
    Cycles sent = 0;     ///< the last one is over
    Cycles first_in = 0; ///< the first message is in
    Cycles last_in = 0;
    Bytes bytes = 0;
    std::int64_t messages = 0;
};

/// Hears what goes between chips, in order of `last_in`.
class LinkListener {
public:
    LinkListener() = default;
    LinkListener(const LinkListener&) = default;
    LinkListener& operator=(const LinkListener&) = default;
    virtual ~LinkListener() = default;

    virtual void carried(const Carried& carried) = 0;
};

} // namespace tessera::events
