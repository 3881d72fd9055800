// SPDX-License-Identifier: MIT
#include "sim/result/result_values.h"

#include "models/program/leaf_steps.h"
#include "sim/result/sentences.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <sys/resource.h>

namespace tessera::result {

using listeners::Account;
using listeners::StepRecord;

namespace {

/// Of what belongs to no kernel.
constexpr const char* kNobodys = "control program";

/// The part of the explanation that the work of a step of kind `kind` goes to.
const char* part_of(program::Role role, const char* kind) {
    switch (role) {
    case program::Role::Reduce:
        return "reduction";
    case program::Role::Rearrange:
        return "rearrangement";
    case program::Role::Control:
        return "control";
    case program::Role::Work:
    case program::Role::Bring:
    case program::Role::Stream:
    case program::Role::Link:
        break;
    }
    return kind;
}

bool is_in_a_step(const std::vector<StepRecord>& records, std::size_t tile) {
    return std::any_of(records.begin(), records.end(), [&](const StepRecord& record) {
        return !record.tile_cycles.empty() && record.tile_cycles[tile] > 0;
    });
}

} // namespace

double mean(const std::vector<Cycles>& cycles) {
    const auto sum = std::accumulate(cycles.begin(), cycles.end(), Cycles{0});
    return ratio(static_cast<double>(sum), static_cast<double>(cycles.size()));
}

std::optional<Bytes> useful_bytes(const RunFacts& facts) {
    const Bytes bytes = facts.job.useful_bytes();
    return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

std::vector<StepFacts> compute_set_records(const RunFacts& facts) {
    std::vector<StepFacts> sets;
    for (const StepRecord& record : facts.account.compute_sets()) {
        sets.push_back(
            {record, compute_set_sentence(record, facts.program.compute_sets[sets.size()],
                                          facts.machine.tile.workers)});
    }
    return sets;
}

std::vector<StepFacts> exchange_records(const RunFacts& facts) {
    std::vector<StepFacts> exchanges;
    for (const StepRecord& record : facts.account.exchanges()) {
        exchanges.push_back({record, exchange_sentence(record)});
    }
    return exchanges;
}

std::vector<StreamRecord> stream_records(const RunFacts& facts) {
    std::vector<StreamRecord> streams;
    for (std::size_t copy = 0; copy < facts.program.stream_copies.size(); ++copy) {
        const auto& moved = facts.program.stream_copies[copy];
        const auto& buffer = facts.program.remote_buffers.at(moved.buffer);
        const bool host = buffer.place == program::RemoteBuffer::Place::Host;
        const bool read = moved.direction == program::StreamCopy::Direction::Read;
        const StepRecord& record = facts.account.streams()[copy];
        streams.push_back({{record, stream_sentence(record)},
                           (host ? "host." : "streaming_memory.") + buffer.name,
                           read ? "read" : "write"});
    }
    return streams;
}

std::vector<KernelShare> kernel_shares(const RunFacts& facts) {
    const Account& account = facts.account;
    std::vector<KernelShare> kernels;
    std::set<const StepRecord*> known;
    Cycles rest = account.cycles();
    const auto add = [&](const std::string& owner, Cycles KernelShare::*kind,
                         const StepRecord& record, Cycles sync) {
        if (owner.empty() || record.executions == 0 || !known.insert(&record).second) {
            return;
        }
        auto kernel = std::find_if(kernels.begin(), kernels.end(),
                                   [&](const auto& earlier) { return earlier.name == owner; });
        if (kernel == kernels.end()) {
            kernel = kernels.insert(kernel, KernelShare{owner});
        }
        const Cycles cycles = record.cycles + sync;
        kernel->cycles += cycles;
        (*kernel).*kind += record.cycles;
        kernel->sync += sync;
        kernel->rearrange += record.role == program::Role::Rearrange ? cycles : 0;
        rest -= cycles;
    };
    for (const program::Step* leaf : program::leaf_steps(facts.program)) {
        const auto index = leaf->index;
        if (leaf->kind == program::Step::Kind::ComputeSet) {
            add(facts.program.compute_sets[index].owner, &KernelShare::compute,
                account.compute_sets()[index], 0);
        } else if (leaf->kind == program::Step::Kind::Exchange) {
            const StepRecord& record = account.exchanges()[index];
            add(facts.program.exchanges[index].owner, &KernelShare::exchange, record,
                record.executions * facts.machine.sync.internal_cycles);
        } else if (leaf->kind == program::Step::Kind::LinkExchange) {
            add(facts.program.link_exchanges[index].owner, &KernelShare::link,
                account.links()[index], 0);
        } else if (leaf->kind != program::Step::Kind::Sync) {
            add(facts.program.stream_copies[index].owner, &KernelShare::stream,
                account.streams()[index], 0);
        }
    }
    if (rest > 0) {
        kernels.push_back({kNobodys, rest});
    }
    for (KernelShare& kernel : kernels) {
        kernel.percent = 100.0 * ratio(static_cast<double>(kernel.cycles),
                                       static_cast<double>(account.cycles()));
    }
    return kernels;
}

// What the critical path spends in a compute set is work up to its mean over all tiles; what there
// is more is for tiles that take no part, and then for tiles that are slower than the mean of those
// that do. Of that, unequal workers account for what they cost the critical tile beyond the mean. In
// an exchange it is work up to its bound, since what the critical tile's fuller lane has to carry
// cannot be shared with others.
Explanation explanation(const Account& account) {
    Explanation out;
    const auto tiles = static_cast<double>(account.tiles().size());
    for (const auto& record : account.compute_sets()) {
        const auto cycles = static_cast<double>(record.cycles);
        const double work =
            std::min(cycles, mean(record.tile_cycles) *
                                 static_cast<double>(record.tile_cycles.size()) / tiles);
        const double of_active = std::min(cycles, record.mean.cycles);
        const auto unequal = static_cast<double>(record.critical.work.busiest_worker_cycles -
                                                 record.critical.work.mean_worker_cycles) -
                             (record.mean.busiest_worker - record.mean.mean_worker);
        const double of_workers = std::clamp(unequal, 0.0, cycles - of_active);
        out[part_of(record.role, "compute")].cycles += work;
        out["unused_tiles"].cycles += of_active - work;
        out["unequal_workers"].cycles += of_workers;
        out["uneven_splits"].cycles += cycles - of_active - of_workers;
    }
    for (const auto& record : account.exchanges()) {
        const Cycles work = record.critical.bound_cycles;
        out[part_of(record.role, "exchange")].cycles += static_cast<double>(work);
        out["exchange_overhead"].cycles += static_cast<double>(record.cycles - work);
    }
    out["sync"].cycles += static_cast<double>(account.phases().sync);
    out["stream"].cycles += static_cast<double>(account.phases().stream);
    out["link"].cycles += static_cast<double>(account.phases().link + account.phases().idle);
    out["control"].cycles += static_cast<double>(account.control_cycles());
    for (auto& [key, part] : out) {
        part.percent = 100.0 * ratio(part.cycles, static_cast<double>(account.cycles()));
    }
    return out;
}

MemoryPeak memory_peak(const RunFacts& facts) {
    const auto& image_of_tile = facts.program.image_of_tile;
    const program::MemoryUse use = program::memory_use(facts.program);
    MemoryPeak out;
    out.tile_bytes = facts.machine.memory.bytes();
    std::uint32_t step = 0;
    Bytes sum = 0;
    for (TileId tile = 0; tile < image_of_tile.size(); ++tile) {
        if (image_of_tile[tile] == program::Program::kNoImage) {
            continue;
        }
        const program::ImageUse& image = use.images[image_of_tile[tile]];
        for (const BytesByKind& kept : image.of_span) {
            std::transform(kept.begin(), kept.end(), out.most_by_kind.begin(),
                           out.most_by_kind.begin(),
                           [](Bytes left, Bytes right) { return std::max(left, right); });
        }
        sum += image.peak_bytes();
        if (image.peak_bytes() > out.bytes) {
            out.bytes = image.peak_bytes();
            out.by_kind = image.peak();
            out.tile = tile;
            step = use.peak_step(image);
        }
    }
    out.mean_bytes = ratio(static_cast<double>(sum), static_cast<double>(facts.machine.chip.tiles));
    out.step = use.steps[step];
    return out;
}

std::int64_t worker_bundles(const RunFacts& facts) {
    const auto& sets = facts.account.compute_sets();
    return std::accumulate(
        sets.begin(), sets.end(), std::int64_t{0},
        [](std::int64_t sum, const StepRecord& set) { return sum + set.counts.worker_bundles(); });
}

std::int64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

bool computes(const Account& account, std::size_t tile) {
    return is_in_a_step(account.compute_sets(), tile);
}

bool exchanges(const Account& account, std::size_t tile) {
    return is_in_a_step(account.exchanges(), tile);
}

// of a copy in the background, a step may not wait at all
bool streams(const Account& account, std::size_t tile) {
    return account.tiles()[tile].stream > 0;
}

bool links(const Account& account, std::size_t tile) {
    return account.tiles()[tile].link > 0;
}

bool takes_part(const Account& account, std::size_t tile) {
    return computes(account, tile) || exchanges(account, tile) || streams(account, tile) ||
           links(account, tile);
}

} // namespace tessera::result
