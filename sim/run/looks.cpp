// SPDX-License-Identifier: MIT
#include "sim/run/looks.h"

#include "base/stopwatch.h"

#include <algorithm>

namespace tessera::run {

Looks::Looks(job::Job& job, const program::Program& program, int threads)
    : job_(job), threads_(threads) {
    Stopwatch preparing;
    for (const job::Look& look : job.looks()) {
        const program::Tensor& tensor = program.tensors.at(look.tensor.index);
        Wanted& wanted = wanted_.emplace_back(Wanted{look.kind, look.index, look.tensor, {}, 0});
        program::Tensor none = tensor;
        none.pieces.clear();
        wanted.bytes = static_cast<std::size_t>(bytes_of(tensor.type));
        for (const std::int64_t extent : tensor.shape) {
            wanted.bytes *= static_cast<std::size_t>(extent);
        }
        for (const program::Piece& piece : tensor.pieces) {
            if (piece.tile >= wanted.of_tile.size()) {
                wanted.of_tile.resize(piece.tile + 1, none);
            }
            wanted.of_tile[piece.tile].pieces.push_back(piece);
        }
    }
    seconds_ += preparing.lap();
}

void Looks::begin() {
    job_.begun([this](program::ArrayId array) { return simulation_->read(array); }, threads_);
}

bool Looks::watches(program::Step::Kind kind, std::uint32_t index) const {
    return std::any_of(wanted_.begin(), wanted_.end(), [&](const Wanted& wanted) {
        return wanted.kind == kind && wanted.index == index;
    });
}

Looks::Left& Looks::left(program::Step::Kind kind, std::uint32_t index, std::int64_t step) {
    const std::scoped_lock lock(mutex_);
    const auto [place, fresh] = left_.try_emplace(step);
    if (fresh) {
        place->second.step.kind = kind;
        place->second.step.index = index;
        for (const Wanted& wanted : wanted_) {
            if (wanted.kind == kind && wanted.index == index) {
                place->second.tensors[wanted.tensor].resize(wanted.bytes);
            }
        }
    }
    return place->second;
}

void Looks::passed(TileId tile, program::Step::Kind kind, std::uint32_t index, std::int64_t step) {
    Stopwatch reading;
    Left& now = left(kind, index, step);
    for (const Wanted& wanted : wanted_) {
        if (wanted.kind == kind && wanted.index == index && tile < wanted.of_tile.size()) {
            // tiles hold different elements, so their threads write different bytes
            simulation_->read_part(wanted.of_tile[tile], now.tensors.find(wanted.tensor)->second);
        }
    }
    const std::scoped_lock lock(mutex_);
    read_seconds_ += reading.lap();
}

void Looks::released(const events::Release& /*release*/) {
    // All tiles have passed what they have been computed past.
    while (!left_.empty()) {
        Stopwatch looking;
        const auto first = left_.extract(left_.begin());
        const auto& tensors = first.mapped().tensors;
        job_.ended(
            first.mapped().step, [&](program::ArrayId array) { return tensors.at(array); },
            threads_);
        seconds_ += looking.lap();
    }
}

void Looks::copy_ended(const events::Flight& flight) {
    constexpr auto kCopy = program::Step::Kind::StreamCopy;
    if (watches(kCopy, flight.copy)) {
        Left& now = left(kCopy, flight.copy, flight.step);
        now.step.row = flight.row;
        for (auto& [tensor, bytes] : now.tensors) {
            bytes = simulation_->read(tensor);
        }
    }
    if (flight.read) {
        job_.arrived(flight.copy,
                     [this](program::ArrayId array) { return simulation_->read(array); });
    }
}

} // namespace tessera::run
