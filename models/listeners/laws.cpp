// SPDX-License-Identifier: MIT
#include "models/listeners/laws.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace tessera::listeners {

void check_bytes(const program::Program& program, std::span<const StepRecord> records) {
    TESSERA_ASSERT(records.size() == program.exchanges.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& exchange = program.exchanges[i];
        Bytes once = 0;
        for (const auto& transfer : exchange.transfers) {
            once += transfer.bytes * static_cast<Bytes>(transfer.destinations.size());
        }
        const Bytes sent = once * records[i].executions;
        if (records[i].bytes != sent) {
            throw ProgramError(
                fmt::format("exchange {}: got {} bytes received, expected the {} that were sent",
                            exchange.name, records[i].bytes, sent));
        }
    }
}

void check_streams(const program::Program& program, std::span<const StepRecord> records) {
    TESSERA_ASSERT(records.size() == program.stream_copies.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& copy = program.stream_copies[i];
        const Bytes sent =
            copy.rows * program.remote_buffers.at(copy.buffer).row_bytes * records[i].executions;
        if (records[i].bytes != sent) {
            throw ProgramError(
                fmt::format("stream copy {}: got {} bytes received, expected the {} that were sent",
                            copy.name, records[i].bytes, sent));
        }
    }
}

void check_links(const program::Program& program, std::span<const StepRecord> records) {
    TESSERA_ASSERT(records.size() == program.link_exchanges.size());
    for (std::size_t i = 0; i < records.size(); ++i) {
        const auto& exchange = program.link_exchanges[i];
        const auto check = [&](const std::vector<program::LinkMessage>& messages, Bytes got,
                               const char* does) {
            Bytes once = 0;
            for (const program::LinkMessage& message : messages) {
                once += message.place.bytes;
            }
            if (got != once * records[i].executions) {
                throw ProgramError(fmt::format("link exchange {}: got {} bytes {}, expected {}",
                                               exchange.name, got, does,
                                               once * records[i].executions));
            }
        };
        check(exchange.sends, records[i].sent_bytes, "sent");
        check(exchange.receives, records[i].bytes, "received");
    }
}

void check_cycles(Cycles cycles, std::span<const CyclesByKind> tiles) {
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
        const CyclesByKind& spent = tiles[tile];
        if (spent.sum() != cycles || spent.idle < 0) {
            throw ProgramError(fmt::format(
                "tile_{}: got {} compute + {} exchange + {} sync + {} stream + {} link + {} idle = "
                "{} cycles, expected the {} of the run",
                tile, spent.compute, spent.exchange, spent.sync, spent.stream, spent.link,
                spent.idle, spent.sum(), cycles));
        }
    }
}

Laws::Laws(const program::Program& program, const Account& account)
    : program_(program), account_(account), arrived_(account.tiles().size()) {}

void Laws::segment(const events::Segment& segment) {
    Cycles& at = arrived_.at(segment.tile);
    for (const events::Span& span : segment.spans) {
        if (span.begin != at || span.end <= span.begin) {
            throw ProgramError(fmt::format("tile_{}: got a span of cycles [{}, {}), expected it to "
                                           "begin at {} and to last",
                                           segment.tile, span.begin, span.end, at));
        }
        at = span.end;
    }
    if (at != segment.end) {
        throw ProgramError(fmt::format("tile_{}: got spans up to cycle {}, expected {}",
                                       segment.tile, at, segment.end));
    }
}

void Laws::released(const events::Release& release) {
    Cycles at = released_at_;
    for (const auto& [tile, span] : release.path) {
        if (span.begin != at) {
            throw ProgramError(fmt::format("critical path: got tile_{} from cycle {}, expected {}",
                                           tile, span.begin, at));
        }
        at = span.end;
    }
    const auto slowest = std::max_element(arrived_.begin(), arrived_.end());
    if (at != release.last_arrival || *slowest != at ||
        slowest - arrived_.begin() != static_cast<std::ptrdiff_t>(release.critical)) {
        throw ProgramError(fmt::format(
            "critical path: got it up to cycle {}, expected {}, where tile_{} came last; tile_{} "
            "came at {}",
            at, release.last_arrival, release.critical, slowest - arrived_.begin(), *slowest));
    }
    released_at_ = release.cycle;
    std::fill(arrived_.begin(), arrived_.end(), release.cycle);
}

void Laws::check() const {
    check_bytes(program_, account_.exchanges());
    check_streams(program_, account_.streams());
    check_links(program_, account_.links());
    check_cycles(account_.cycles(), account_.tiles());
}

} // namespace tessera::listeners
