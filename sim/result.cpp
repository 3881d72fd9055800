// SPDX-License-Identifier: MIT
#include "sim/result.h"

#include "base/error.h"
#include "models/program/leaf_steps.h"
#include "models/spec/matrix_unit.h"
#include "sim/digest.h"
#include "sim/memory_report.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <sys/resource.h>

namespace tessera::sim {
namespace {

using ipu::CyclesByKind;
using ipu::StepRecord;
using nlohmann::json;

/// Of what belongs to no kernel.
constexpr const char* kNobodys = "control program";

constexpr std::array<std::pair<const char*, Cycles CyclesByKind::*>, 5> kKinds{{
    {"compute", &CyclesByKind::compute},
    {"exchange", &CyclesByKind::exchange},
    {"sync", &CyclesByKind::sync},
    {"stream", &CyclesByKind::stream},
    {"idle", &CyclesByKind::idle},
}};

double ratio(double part, double whole) {
    return whole == 0 ? 0.0 : part / whole;
}

template <class Get> json range_over(std::size_t items, const Get& get) {
    Cycles least = items == 0 ? 0 : get(0);
    Cycles most = least;
    Cycles sum = 0;
    for (std::size_t item = 0; item < items; ++item) {
        least = std::min(least, get(item));
        most = std::max(most, get(item));
        sum += get(item);
    }
    return {{"min", least},
            {"mean", ratio(static_cast<double>(sum), static_cast<double>(items))},
            {"max", most}};
}

json phases_json(const CyclesByKind& phases) {
    json out = json::object();
    for (const auto& [word, member] : kKinds) {
        if (member != &CyclesByKind::idle) {
            out[word] = phases.*member;
        }
    }
    return out;
}

json tiles_json(const std::vector<CyclesByKind>& tiles) {
    json out = json::object();
    for (const auto& [word, member] : kKinds) {
        out[std::string(word) + "_cycles"] = range_over(
            tiles.size(), [&, kind = member](std::size_t tile) { return tiles[tile].*kind; });
    }
    return out;
}

json step_json(const StepRecord& record, std::size_t tiles) {
    return {{"name", record.name},
            {"role", program::word(record.role)},
            {"executions", record.executions},
            {"cycles", record.cycles},
            {"bound_cycles", record.bound_cycles},
            {"active_tiles", record.active_tiles},
            {"slowest_tile", record.slowest_tile},
            {"tile_cycles", range_over(tiles, [&](std::size_t tile) {
                 return record.tile_cycles.empty() ? 0 : record.tile_cycles[tile];
             })}};
}

json compute_sets_json(const ipu::Account& account) {
    json out = json::array();
    for (const auto& record : account.compute_sets()) {
        json step = step_json(record, account.tiles().size());
        step["worker_issues"] = record.worker_issues;
        step["worker_bundles"] = record.worker_bundles;
        step["supervisor_instructions"] = record.supervisor_instructions;
        out.push_back(std::move(step));
    }
    return out;
}

json exchanges_json(const ipu::Account& account) {
    json out = json::array();
    for (const auto& record : account.exchanges()) {
        json step = step_json(record, account.tiles().size());
        step["bytes"] = record.bytes;
        step["sent_bytes"] = record.sent_bytes;
        step["words"] = record.bytes / 4;
        out.push_back(std::move(step));
    }
    return out;
}

json streams_json(const RunFacts& facts) {
    json out = json::array();
    const auto& program = facts.program;
    for (std::size_t copy = 0; copy < program.stream_copies.size(); ++copy) {
        const auto& moved = program.stream_copies[copy];
        const auto& buffer = program.remote_buffers.at(moved.buffer);
        const StepRecord& record = facts.account.streams()[copy];
        json step = step_json(record, facts.account.tiles().size());
        const bool host = buffer.place == program::RemoteBuffer::Place::Host;
        const bool read = moved.direction == program::StreamCopy::Direction::Read;
        step["peer"] = (host ? "host." : "streaming_memory.") + buffer.name;
        step["direction"] = read ? "read" : "write";
        step["bytes"] = record.bytes;
        step["sent_bytes"] = record.sent_bytes;
        step["transfer_cycles"] = record.transfer_cycles;
        out.push_back(std::move(step));
    }
    return out;
}

/// Whose the cycles were: every kernel's, or of a pipeline every step's, in the order in which they first
/// appear; an exchange's barrier is its owner's. The rest is the control program's. They sum to the run.
json kernels_json(const spec::MachineSpec& machine, const program::Program& program,
                  const ipu::Account& account) {
    json out = json::array();
    std::map<std::string, std::size_t> row_of;
    Cycles rest = account.cycles();
    const auto row_for = [](const std::string& owner, Cycles cycles) {
        json row = {{"name", owner}, {"cycles", cycles}};
        for (const char* key : {"compute", "exchange", "sync", "stream", "rearrange_cycles"}) {
            row[key] = 0;
        }
        return row;
    };
    const auto add = [&](const std::string& owner, const char* kind, const StepRecord& record,
                         Cycles sync) {
        if (owner.empty() || record.executions == 0) {
            return;
        }
        const auto [entry, added] = row_of.emplace(owner, out.size());
        if (added) {
            out.push_back(row_for(owner, 0));
        }
        json& row = out[entry->second];
        const Cycles cycles = record.cycles + sync;
        const auto increase = [&](const char* key, Cycles by) {
            row[key] = row[key].get<Cycles>() + by;
        };
        increase("cycles", cycles);
        increase(kind, record.cycles);
        increase("sync", sync);
        increase("rearrange_cycles", record.role == program::Role::Rearrange ? cycles : 0);
        rest -= cycles;
    };
    const auto add_leaf = [&](const program::Step& leaf) {
        if (leaf.kind == program::Step::Kind::ComputeSet) {
            add(program.compute_sets[leaf.index].owner, "compute",
                account.compute_sets()[leaf.index], 0);
        } else if (leaf.kind == program::Step::Kind::Exchange) {
            const StepRecord& record = account.exchanges()[leaf.index];
            add(program.exchanges[leaf.index].owner, "exchange", record,
                record.executions * machine.sync.internal_cycles);
        } else {
            add(program.stream_copies[leaf.index].owner, "stream", account.streams()[leaf.index],
                0);
        }
    };
    std::set<std::pair<const void*, std::uint32_t>> known; // by list and place
    for (const program::Step* leaf : program::leaf_steps(program)) {
        const void* list = leaf->kind == program::Step::Kind::ComputeSet
                               ? static_cast<const void*>(&program.compute_sets)
                           : leaf->kind == program::Step::Kind::Exchange
                               ? static_cast<const void*>(&program.exchanges)
                               : &program.stream_copies;
        if (leaf->kind != program::Step::Kind::Sync && known.emplace(list, leaf->index).second) {
            add_leaf(*leaf);
        }
    }
    if (rest > 0) {
        out.push_back(row_for(kNobodys, rest));
    }
    for (json& row : out) {
        row["percent"] =
            100.0 * ratio(row["cycles"].get<double>(), static_cast<double>(account.cycles()));
    }
    return out;
}

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
        break;
    }
    return kind;
}

/// Where the cycles of the machine went; the parts sum to the run. The work of a compute set is its
/// mean over all tiles; what there is more is for tiles that take no part, and for the slowest of
/// those that do. The work of an exchange is its bound, since what its busiest lane has to carry
/// cannot be shared with others.
json explanation_json(const ipu::Account& account) {
    std::map<std::string, double> cycles;
    for (const ExplanationPart& part : kExplanationParts) {
        cycles[part.key] = 0;
    }
    const auto tiles = static_cast<double>(account.tiles().size());
    for (const auto& record : account.compute_sets()) {
        const auto sum = static_cast<double>(
            std::accumulate(record.tile_cycles.begin(), record.tile_cycles.end(), Cycles{0}));
        const double mean = ratio(sum, tiles);
        const double mean_of_active = ratio(sum, static_cast<double>(record.active_tiles));
        cycles[part_of(record.role, "compute")] += mean;
        cycles["unused_tiles"] += mean_of_active - mean;
        // a set without a vertex takes the control program's time and nobody's else
        cycles[record.active_tiles == 0 ? "control" : "uneven_splits"] +=
            static_cast<double>(record.cycles) - mean_of_active;
    }
    for (const auto& record : account.exchanges()) {
        cycles[part_of(record.role, "exchange")] += static_cast<double>(record.bound_cycles);
        cycles["exchange_overhead"] += static_cast<double>(record.cycles - record.bound_cycles);
    }
    cycles["sync"] += static_cast<double>(account.phases().sync);
    cycles["stream"] += static_cast<double>(account.phases().stream);
    cycles["control"] += static_cast<double>(account.control_cycles());
    const auto whole = static_cast<double>(account.cycles());
    json out = json::object();
    for (const auto& [key, part] : cycles) {
        out[key] = {{"cycles", part}, {"percent", 100.0 * ratio(part, whole)}};
    }
    return out;
}

json memory_json(const spec::MachineSpec& machine, const program::Program& program) {
    const MemoryUse use = memory_use(program);
    BytesByKind most{};
    BytesByKind worst{};
    std::uint32_t peak_step = 0;
    Bytes sum = 0;
    TileId worst_tile = 0;
    for (TileId tile = 0; tile < program.image_of_tile.size(); ++tile) {
        if (program.image_of_tile[tile] == program::Program::kNoImage) {
            continue;
        }
        const ImageUse& image = use.images[program.image_of_tile[tile]];
        for (const BytesByKind& kept : image.of_span) {
            std::transform(kept.begin(), kept.end(), most.begin(), most.begin(),
                           [](Bytes left, Bytes right) { return std::max(left, right); });
        }
        sum += image.peak_bytes();
        if (image.peak_bytes() > sum_of(worst)) {
            worst_tile = tile;
            worst = image.peak();
            peak_step = use.peak_step(image);
        }
    }
    return {
        {"tile_bytes", machine.memory.bytes()},
        {"mean_bytes", ratio(static_cast<double>(sum), static_cast<double>(machine.chip.tiles))},
        {"max_bytes", sum_of(worst)},
        {"peak_step", use.steps[peak_step]},
        {"max_bytes_by_kind", by_kind_json(most)},
        {"worst_tile", worst_tile},
        {"worst_tile_bytes_by_kind", by_kind_json(worst)}};
}

std::int64_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

json host_json(const RunFacts& facts) {
    std::int64_t bundles = 0;
    for (const auto& record : facts.account.compute_sets()) {
        bundles += record.worker_bundles;
    }
    return {{"plan_s", facts.host.plan_s},
            {"simulate_s", facts.host.simulate_s},
            {"check_s", facts.host.check_s},
            {"wall_s", facts.host.wall_s},
            {"bundles", bundles},
            {"bundles_per_s", ratio(static_cast<double>(bundles), facts.host.simulate_s)},
            {"threads", facts.host.threads},
            {"peak_rss_bytes", peak_rss_bytes()}};
}

void add_product_speed(json& result, const RunFacts& facts, const job::ProductWork& product,
                       double seconds) {
    const spec::MatrixUnit unit = spec::matrix_unit(facts.machine);
    const std::int64_t macs =
        product.partials == ElementType::F16 ? unit.macs_f16_f16 : unit.macs_f16_f32;
    const double peak_tflops =
        2e-12 * static_cast<double>(macs * facts.machine.chip.tiles) * facts.machine.chip.clock_hz;
    const double tflops = ratio(1e-12 * static_cast<double>(product.flops), seconds);
    result["flops"] = product.flops;
    if (product.flops_dense_equivalent) {
        result["flops_dense_equivalent"] = *product.flops_dense_equivalent;
    }
    result["tflops"] = tflops;
    result["peak_tflops"] = peak_tflops;
    result["matrix_unit"] = {{"macs_per_cycle", macs},
                             {"memory_bytes_per_cycle", unit.memory_bytes}};
    result["fraction_of_peak"] = ratio(tflops, peak_tflops);
}

void add_speed(json& result, const RunFacts& facts) {
    const double seconds =
        static_cast<double>(facts.account.cycles()) / facts.machine.chip.clock_hz;
    result["seconds"] = seconds;
    if (const auto product = facts.job.product()) {
        add_product_speed(result, facts, *product, seconds);
    }
    if (const Bytes bytes = facts.job.useful_bytes(); bytes > 0) {
        result["useful_bytes"] = bytes;
        result["gbytes_per_s"] = ratio(1e-9 * static_cast<double>(bytes), seconds);
    }
}

/// Tiles that take part in steps of each kind, and in any.
void add_tiles_busy(json& result, const ipu::Account& account) {
    const std::size_t tiles = account.tiles().size();
    std::vector<bool> any(tiles);
    const auto count_if = [&](const auto& is_busy) {
        std::int64_t busy = 0;
        for (std::size_t tile = 0; tile < tiles; ++tile) {
            if (is_busy(tile)) {
                any[tile] = true;
                ++busy;
            }
        }
        return busy;
    };
    const auto in_a_step = [&](const std::vector<StepRecord>& records) {
        return [&](std::size_t tile) {
            return std::any_of(records.begin(), records.end(), [&](const StepRecord& record) {
                return !record.tile_cycles.empty() && record.tile_cycles[tile] > 0;
            });
        };
    };
    // of a copy in the background, a step may not wait at all
    const auto streams = [&](std::size_t tile) { return account.tiles()[tile].stream > 0; };
    result["tiles_busy_by_kind"] = {{"compute", count_if(in_a_step(account.compute_sets()))},
                                    {"exchange", count_if(in_a_step(account.exchanges()))},
                                    {"stream", count_if(streams)}};
    result["tiles_busy"] = std::count(any.begin(), any.end(), true);
}

} // namespace

nlohmann::json make_result(const RunFacts& facts) {
    const auto& account = facts.account;
    json workload = facts.workload_resolved;
    workload["name"] = facts.workload_name;
    json result = {
        {"schema_version", kResultSchemaVersion},
        {"status", "ok"},
        {"sentence", facts.job.sentence()},
        {"machine", facts.machine_resolved},
        {"unused_parameters", facts.unused_parameters},
        {"workload", std::move(workload)},
        {"cycles", account.cycles()},
        {"phases", phases_json(account.phases())},
        {"tiles", tiles_json(account.tiles())},
        {"compute_sets", compute_sets_json(account)},
        {"exchanges", exchanges_json(account)},
        {"streams", streams_json(facts)},
        {"explanation", explanation_json(account)},
        {"kernels", kernels_json(facts.machine, facts.program, account)},
        {"memory", memory_json(facts.machine, facts.program)},
        {"plan", facts.job.plan_json()},
        {"digests",
         {{"tile_cycles", tile_cycles_digest(account)}, {"output", facts.output_digest}}},
        {"check", facts.check ? facts.check->json : json(nullptr)},
        {"host", host_json(facts)}};
    add_tiles_busy(result, account);
    add_speed(result, facts);
    if (facts.trace) {
        result["trace"] = {{"slices", facts.trace->slices},
                           {"tiles", facts.trace->tiles},
                           {"truncated", facts.trace->truncated}};
    }
    return result;
}

std::string json_text(const nlohmann::json& document) {
    return document.dump(2) + "\n";
}

} // namespace tessera::sim
