// SPDX-License-Identifier: MIT
#include "models/listeners/recorder.h"

#include "base/error.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace tessera::listeners {

using counts::Group;
using events::Doing;

namespace {

constexpr auto kNone = static_cast<std::uint32_t>(kNoPart);

/// Saturated: a single execution of more cycles than that is drawn as long as that.
std::uint32_t in_32_bits(Cycles cycles) {
    return static_cast<std::uint32_t>(std::clamp<Cycles>(cycles, 0, kNone - 1));
}

/// Writes numbers byte by byte of equal weight, which compress better so.
template <class Number>
void scatter(const std::vector<Number>& numbers, std::vector<std::uint8_t>& bytes) {
    for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
        for (const Number number : numbers) {
            bytes.push_back(static_cast<std::uint8_t>(number >> (8 * byte)));
        }
    }
}

template <class Number>
const std::uint8_t* gather(const std::uint8_t* bytes, std::size_t count,
                           std::vector<Number>& numbers) {
    numbers.assign(count, 0);
    for (std::size_t byte = 0; byte < sizeof(Number); ++byte) {
        for (Number& number : numbers) {
            number = static_cast<Number>(number | static_cast<Number>(*bytes++) << (8 * byte));
        }
    }
    return bytes;
}

} // namespace

std::size_t Recorder::Raw::bytes() const {
    std::size_t numbers = 0;
    for (const auto* column : {&begin, &first, &last, &least, &most, &slowest}) {
        numbers += column->size();
    }
    return sizeof(std::uint32_t) * numbers + sizeof(std::uint64_t) * (one.size() + other.size());
}

Recorder::Recorder(const program::Program& program, std::int64_t tiles)
    : tiles_(static_cast<std::size_t>(tiles)), first_of_{} {
    const auto add = [&](std::size_t kind, program::Step::Kind of, std::size_t count) {
        first_of_[kind] = static_cast<std::uint32_t>(steps_.size());
        for (std::size_t index = 0; index < count; ++index) {
            Kept& kept = steps_.emplace_back();
            kept.step = {of, static_cast<std::uint32_t>(index), 0};
        }
    };
    add(0, program::Step::Kind::ComputeSet, program.compute_sets.size());
    add(1, program::Step::Kind::Exchange, program.exchanges.size());
    add(2, program::Step::Kind::StreamCopy, program.stream_copies.size());
    add(3, program::Step::Kind::LinkExchange, program.link_exchanges.size());
}

std::optional<std::uint32_t> Recorder::number_of(const events::Span& span) const {
    switch (span.doing) {
    case Doing::ComputeSet:
        return first_of_[0] + span.index;
    case Doing::Exchange:
        return first_of_[1] + span.index;
    case Doing::Stream:
        return first_of_[2] + span.index;
    case Doing::Link:
        return first_of_[3] + span.index;
    case Doing::Control:
    case Doing::Told:
    case Doing::Awaited:
    case Doing::Delayed:
        break;
    }
    return std::nullopt;
}

void Recorder::segment(const events::Segment& segment) {
    for (const events::Span& span : segment.spans) {
        if (const auto step = number_of(span)) {
            take(segment.tile, span, *step);
        }
    }
}

Recorder::Open& Recorder::open_of(const events::Span& span, std::uint32_t step) {
    for (const std::size_t near : {last_open_, last_open_ + 1}) {
        if (near < open_.size() && open_[near].number == span.step) {
            last_open_ = near;
            return open_[near];
        }
    }
    const auto place = std::lower_bound(
        open_.begin(), open_.end(), span.step,
        [](const Open& open, std::int64_t number) { return open.number < number; });
    last_open_ = static_cast<std::size_t>(place - open_.begin());
    if (place == open_.end() || place->number != span.step) {
        Kept& kept = steps_[step];
        // what is open of the step comes first
        const bool is_first = kept.step.executions == 0 &&
                              std::none_of(open_.begin(), open_.end(),
                                           [&](const Open& open) { return open.step == step; });
        open_.insert(place, Open{span.step, step, is_first, span.begin, span.end, 0, span.times});
    }
    return open_[last_open_];
}

void Recorder::take(TileId tile, const events::Span& span, std::uint32_t step) {
    Open& open = open_of(span, step);
    open.begin = std::min(open.begin, span.begin);
    open.end = std::max(open.end, span.end);
    const Cycles cycles = span.cycles() / span.times;
    open.slowest_cycles = std::max(open.slowest_cycles, cycles);

    unpack(step);
    Kept& kept = steps_[step];
    Raw& raw = kept.raw;
    const std::uint32_t each = in_32_bits(cycles);
    if (raw.begin.empty()) {
        raw.begin.assign(tiles_, kNone);
        raw.first.assign(tiles_, 0);
        raw.one.assign(tiles_, 0);
        raw.other.assign(tiles_, 0);
        raw_bytes_ += raw.bytes();
    }
    if ((!open.is_first || span.times > 1) && !kept.is_repeated) {
        kept.is_repeated = true;
        raw_bytes_ -= raw.bytes();
        raw.last = raw.least = raw.most = raw.slowest = raw.first;
        raw_bytes_ += raw.bytes();
    }
    const bool is_new = raw.begin[tile] == kNone;
    if (is_new) {
        // of a tile that comes in later, the begin is that in its own first execution
        raw.begin[tile] = in_32_bits(span.begin - released_at_);
        raw.first[tile] = each;
    }
    if (kept.is_repeated) {
        raw.last[tile] = each;
        raw.least[tile] = is_new ? each : std::min(raw.least[tile], each);
        raw.most[tile] = std::max(raw.most[tile], each);
    }
    if (span.doing == Doing::ComputeSet) {
        raw.one[tile] += static_cast<std::uint64_t>(span.work.counts.worker_issues());
        raw.other[tile] += static_cast<std::uint64_t>(span.work.counts.matrix_steps());
    } else if (span.doing == Doing::Exchange) {
        raw.one[tile] += static_cast<std::uint64_t>(span.lanes.in);
        raw.other[tile] += static_cast<std::uint64_t>(span.lanes.out);
    }
}

void Recorder::close(const Open& open) {
    Kept& kept = steps_[open.step];
    if (kept.step.executions == 0) {
        std::uint32_t least = kNone;
        for (const std::uint32_t begin : kept.raw.begin) {
            least = std::min(least, begin);
        }
        for (std::uint32_t& begin : kept.raw.begin) {
            begin -= begin == kNone ? 0 : least;
        }
    }
    if (open.slowest_cycles > kept.slowest_cycles) {
        kept.slowest_cycles = open.slowest_cycles;
        if (kept.is_repeated) {
            kept.raw.slowest = kept.raw.last;
        }
    }
    kept.step.executions += open.times;
    kept.used = barriers_;
    if (executions_.size() < kMostEvents) {
        executions_.push_back(
            {open.begin, open.end, open.step, static_cast<std::uint32_t>(open.times)});
    } else {
        executions_left_out_ += open.times;
    }
}

void Recorder::released(const events::Release& release) {
    ++barriers_;
    for (const Open& open : open_) {
        close(open);
    }
    open_.clear();
    last_open_ = 0;
    released_at_ = release.cycle;
    if (releases_.size() < kMostEvents) {
        releases_.push_back({release.last_arrival, release.cycle, release.critical,
                             static_cast<std::uint32_t>(release.times)});
    } else {
        releases_left_out_ += release.times;
    }
    if (raw_bytes_ > kMostRawBytes) {
        make_room();
    }
}

/// Packs the half that was not used for longest.
void Recorder::make_room() {
    std::sort(raw_.begin(), raw_.end(), [&](std::uint32_t one, std::uint32_t other) {
        return steps_[one].used > steps_[other].used;
    });
    while (raw_bytes_ > kMostRawBytes / 2 && !raw_.empty()) {
        Kept& kept = steps_[raw_.back()];
        raw_bytes_ -= kept.raw.bytes();
        pack(kept);
        kept.raw = {};
        kept.is_raw = false;
        raw_.pop_back();
    }
}

void Recorder::pack(Kept& kept) const {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(kept.raw.bytes());
    for (const auto* column : {&kept.raw.begin, &kept.raw.first, &kept.raw.last, &kept.raw.least,
                               &kept.raw.most, &kept.raw.slowest}) {
        scatter(*column, bytes);
    }
    scatter(kept.raw.one, bytes);
    scatter(kept.raw.other, bytes);
    uLongf size = compressBound(bytes.size());
    kept.packed.resize(size);
    const int done = compress2(kept.packed.data(), &size, bytes.data(), bytes.size(), 1);
    TESSERA_ASSERT(done == Z_OK);
    kept.packed.resize(size);
    kept.packed.shrink_to_fit();
}

Recorder::Raw Recorder::unpacked(const Kept& kept) const {
    const std::size_t whole = kept.is_repeated ? tiles_ : 0;
    std::vector<std::uint8_t> bytes(4 * (2 * tiles_ + 4 * whole) + 8 * 2 * tiles_);
    uLongf size = bytes.size();
    const int done = uncompress(bytes.data(), &size, kept.packed.data(), kept.packed.size());
    TESSERA_ASSERT(done == Z_OK && size == bytes.size());
    Raw raw;
    const std::uint8_t* from = bytes.data();
    from = gather(from, tiles_, raw.begin);
    from = gather(from, tiles_, raw.first);
    for (auto* column : {&raw.last, &raw.least, &raw.most, &raw.slowest}) {
        from = gather(from, whole, *column);
    }
    from = gather(from, tiles_, raw.one);
    gather(from, tiles_, raw.other);
    return raw;
}

void Recorder::unpack(std::uint32_t step) {
    Kept& kept = steps_[step];
    if (kept.is_raw) {
        return;
    }
    kept.is_raw = true;
    raw_.push_back(step);
    if (!kept.packed.empty()) {
        kept.raw = unpacked(kept);
        kept.packed = {};
        raw_bytes_ += kept.raw.bytes();
    }
}

std::vector<Recorder::Step> Recorder::steps() const {
    std::vector<Step> all;
    all.reserve(steps_.size());
    for (const Kept& kept : steps_) {
        all.push_back(kept.step);
    }
    return all;
}

std::vector<std::pair<RecordedColumn, std::vector<std::uint64_t>>>
Recorder::columns(std::size_t step) const {
    using enum RecordedColumn;
    const Kept& kept = steps_[step];
    std::vector<std::pair<RecordedColumn, std::vector<std::uint64_t>>> out;
    if (kept.step.executions == 0) {
        return out;
    }
    const Raw raw = kept.is_raw ? kept.raw : unpacked(kept);
    const auto add = [&](RecordedColumn column, const auto& numbers) {
        out.emplace_back(column, std::vector<std::uint64_t>(numbers.begin(), numbers.end()));
    };
    add(Begin, raw.begin);
    if (kept.is_repeated) {
        add(First, raw.first);
        add(Last, raw.last);
        add(Least, raw.least);
        add(Most, raw.most);
        add(Slowest, raw.slowest);
    }
    if (kept.step.kind == program::Step::Kind::ComputeSet) {
        add(Issues, raw.one);
        add(MatrixSteps, raw.other);
    } else if (kept.step.kind == program::Step::Kind::Exchange) {
        add(Received, raw.one);
        add(Sent, raw.other);
    }
    return out;
}

std::size_t Recorder::bytes() const {
    std::size_t all = raw_bytes_ + executions_.capacity() * sizeof(RecordedExecution) +
                      releases_.capacity() * sizeof(RecordedRelease) +
                      steps_.capacity() * sizeof(Kept);
    for (const Kept& kept : steps_) {
        all += kept.packed.capacity();
    }
    return all;
}

} // namespace tessera::listeners
