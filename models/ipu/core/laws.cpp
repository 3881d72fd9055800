// SPDX-License-Identifier: MIT
#include "models/ipu/core/laws.h"

#include "base/error.h"

#include <fmt/format.h>

namespace tessera::ipu {

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

void check_cycles(Cycles cycles, std::span<const CyclesByKind> tiles) {
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
        const CyclesByKind& spent = tiles[tile];
        if (spent.sum() != cycles || spent.idle < 0) {
            throw ProgramError(fmt::format(
                "tile_{}: got {} compute + {} exchange + {} sync + {} stream + {} idle = {} "
                "cycles, expected the {} of the run",
                tile, spent.compute, spent.exchange, spent.sync, spent.stream, spent.idle,
                spent.sum(), cycles));
        }
    }
}

void check_laws(const program::Program& program, const Account& account) {
    check_bytes(program, account.exchanges());
    check_streams(program, account.streams());
    check_cycles(account.cycles(), account.tiles());
}

} // namespace tessera::ipu
