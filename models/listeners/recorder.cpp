// SPDX-License-Identifier: MIT
#include "models/listeners/recorder.h"

#include "base/error.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <functional>
#include <utility>

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

std::vector<std::uint8_t> compressed(const std::vector<std::uint8_t>& bytes) {
    uLongf size = compressBound(bytes.size());
    std::vector<std::uint8_t> packed(size);
    const int done = compress2(packed.data(), &size, bytes.data(), bytes.size(), 1);
    TESSERA_ASSERT(done == Z_OK);
    packed.resize(size);
    packed.shrink_to_fit();
    return packed;
}

std::vector<std::uint8_t> decompressed(const std::vector<std::uint8_t>& packed, std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    uLongf got = size;
    const int done = uncompress(bytes.data(), &got, packed.data(), packed.size());
    TESSERA_ASSERT(done == Z_OK && got == size);
    return bytes;
}

} // namespace

std::size_t Recorder::Raw::bytes() const {
    std::size_t numbers = 0;
    for (const auto* column : {&begin, &first, &last, &least, &most, &slowest}) {
        numbers += column->size();
    }
    std::size_t wide = 0;
    for (const auto& column : sums) {
        wide += column.size();
    }
    return sizeof(std::uint32_t) * numbers + sizeof(std::uint64_t) * wide;
}

Recorder::Recorder(const program::Program& program, const spec::MachineSpec& machine,
                   std::optional<RecordedWindow> window)
    : tiles_(static_cast<std::size_t>(machine.chip.tiles)),
      workers_(static_cast<std::size_t>(machine.tile.workers)), window_(window), first_of_{} {
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
        Open opened{span.step, step, is_first, span.begin, span.end, 0, span.times, {}, {}};
        if (window_ && released_at_ < window_->to) {
            opened.tile_begin.assign(tiles_, kNone);
            opened.tile_cycles.assign(tiles_, 0);
        }
        open_.insert(place, std::move(opened));
    }
    return open_[last_open_];
}

void Recorder::take(TileId tile, const events::Span& span, std::uint32_t step) {
    Open& open = open_of(span, step);
    open.begin = std::min(open.begin, span.begin);
    open.end = std::max(open.end, span.end);
    const Cycles cycles = span.cycles() / span.times;
    open.slowest_cycles = std::max(open.slowest_cycles, cycles);
    if (!open.tile_begin.empty()) {
        open.tile_begin[tile] = in_32_bits(span.begin - released_at_);
        open.tile_cycles[tile] = in_32_bits(span.cycles());
    }

    unpack(step);
    Kept& kept = steps_[step];
    Raw& raw = kept.raw;
    const std::uint32_t each = in_32_bits(cycles);
    if (raw.begin.empty()) {
        raw.begin.assign(tiles_, kNone);
        raw.first.assign(tiles_, 0);
        raw.sums.assign(sums_of(kept.step.kind), std::vector<std::uint64_t>(tiles_, 0));
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
        raw.sums[0][tile] += static_cast<std::uint64_t>(span.work.counts.matrix_steps());
        for (std::size_t worker = 0; worker < workers_; ++worker) {
            raw.sums[1 + worker][tile] += static_cast<std::uint64_t>(span.work.issues_of[worker]);
        }
    } else if (span.doing == Doing::Exchange) {
        raw.sums[0][tile] += static_cast<std::uint64_t>(span.lanes.in);
        raw.sums[1][tile] += static_cast<std::uint64_t>(span.lanes.out);
    }
}

std::size_t Recorder::sums_of(program::Step::Kind kind) const {
    switch (kind) {
    case program::Step::Kind::ComputeSet:
        return 1 + workers_;
    case program::Step::Kind::Exchange:
        return 2;
    default:
        return 0;
    }
}

void Recorder::keep_in_window(const Open& open) {
    if (open.tile_begin.empty() || open.begin >= window_->to || open.end <= window_->from) {
        return;
    }
    if (window_bytes_ >= kMostWindowBytes) {
        window_left_out_ += open.times;
        return;
    }
    const auto ahead = in_32_bits(open.begin - released_at_);
    std::vector<std::uint32_t> begin = open.tile_begin;
    for (std::uint32_t& one : begin) {
        one -= one == kNone ? 0 : ahead;
    }
    std::vector<std::uint8_t> bytes;
    bytes.reserve(2 * sizeof(std::uint32_t) * tiles_);
    scatter(begin, bytes);
    scatter(open.tile_cycles, bytes);
    in_window_.push_back({open.execution(), compressed(bytes)});
    window_bytes_ += in_window_.back().bytes.capacity();
}

WindowExecution Recorder::window_execution(std::size_t number) const {
    const Packed& packed = in_window_[number];
    const auto bytes = decompressed(packed.bytes, 2 * sizeof(std::uint32_t) * tiles_);
    WindowExecution out{packed.execution, {}, {}};
    gather(gather(bytes.data(), tiles_, out.begin), tiles_, out.cycles);
    return out;
}

void Recorder::close(const Open& open) {
    keep_in_window(open);
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
        executions_.push_back(open.execution());
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
    for (const auto& column : kept.raw.sums) {
        scatter(column, bytes);
    }
    kept.packed = compressed(bytes);
}

Recorder::Raw Recorder::unpacked(const Kept& kept) const {
    const std::size_t whole = kept.is_repeated ? tiles_ : 0;
    const std::size_t sums = sums_of(kept.step.kind);
    const auto bytes = decompressed(kept.packed, sizeof(std::uint32_t) * (2 * tiles_ + 4 * whole) +
                                                     sizeof(std::uint64_t) * sums * tiles_);
    Raw raw;
    const std::uint8_t* from = bytes.data();
    from = gather(from, tiles_, raw.begin);
    from = gather(from, tiles_, raw.first);
    for (auto* column : {&raw.last, &raw.least, &raw.most, &raw.slowest}) {
        from = gather(from, whole, *column);
    }
    raw.sums.resize(sums);
    for (auto& column : raw.sums) {
        from = gather(from, tiles_, column);
    }
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

std::vector<RecordedColumn> Recorder::columns(std::size_t step) const {
    const Kept& kept = steps_[step];
    std::vector<RecordedColumn> out;
    if (kept.step.executions == 0) {
        return out;
    }
    const Raw raw = kept.is_raw ? kept.raw : unpacked(kept);
    const auto add = [&](std::string name, const auto& numbers) {
        out.push_back({std::move(name), {numbers.begin(), numbers.end()}});
    };
    add("begin", raw.begin);
    if (kept.is_repeated) {
        add("first", raw.first);
        add("last", raw.last);
        add("least", raw.least);
        add("most", raw.most);
        add("slowest", raw.slowest);
    }
    if (kept.step.kind == program::Step::Kind::ComputeSet) {
        std::vector<std::uint64_t> issues(tiles_, 0);
        for (std::size_t worker = 0; worker < workers_; ++worker) {
            const auto& own = raw.sums[1 + worker];
            std::transform(own.begin(), own.end(), issues.begin(), issues.begin(), std::plus<>());
            add(fmt::format("issues_of_{}", worker), own);
        }
        add("issues", issues);
        add("matrix_steps", raw.sums[0]);
    } else if (kept.step.kind == program::Step::Kind::Exchange) {
        add("received", raw.sums[0]);
        add("sent", raw.sums[1]);
    }
    return out;
}

std::size_t Recorder::bytes() const {
    std::size_t all = raw_bytes_ + window_bytes_ + in_window_.capacity() * sizeof(Packed) +
                      executions_.capacity() * sizeof(RecordedExecution) +
                      releases_.capacity() * sizeof(RecordedRelease) +
                      steps_.capacity() * sizeof(Kept);
    for (const Kept& kept : steps_) {
        all += kept.packed.capacity();
    }
    return all;
}

} // namespace tessera::listeners
