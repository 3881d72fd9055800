// SPDX-License-Identifier: MIT
#include "sim/result/result.h"

#include "base/config/json_text.h"
#include "sim/result/cost_tables.h"
#include "sim/result/digest.h"
#include "sim/result/memory_report.h"
#include "sim/result/result_head.h"
#include "sim/result/result_table.h"
#include "sim/result/result_values.h"
#include "sim/result/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>

namespace tessera::result {
namespace {

using enum Unit;
using counts::Group;
using listeners::Account;
using listeners::CyclesByKind;
using listeners::StepRecord;
using nlohmann::json;

constexpr std::array<std::pair<const char*, Cycles CyclesByKind::*>, 6> kKinds{{
    {"compute", &CyclesByKind::compute},
    {"exchange", &CyclesByKind::exchange},
    {"sync", &CyclesByKind::sync},
    {"stream", &CyclesByKind::stream},
    {"link", &CyclesByKind::link},
    {"idle", &CyclesByKind::idle},
}};

struct ExplanationPart {
    const char* key;
    const char* word;
    const char* sentence;
};
constexpr std::array<ExplanationPart, 12> kExplanationParts{{
    {"compute", "compute", "mean over all tiles of the compute sets that are nothing of the below"},
    {"exchange", "exchange", "bounds of the exchanges that are nothing of the below"},
    {"exchange_overhead", "exchange overhead",
     "what exchanges take beyond their bounds: prologue, latency, return, gaps in the schedule"},
    {"sync", "sync", "barriers"},
    {"stream", "stream", "the machine waited for stream copies"},
    {"link", "link", "the machine waited for messages between chips, or for its chip to begin"},
    {"control", "control",
     "the control program's own instructions and values, compute sets without a vertex, and steps "
     "of role control: means of compute sets, bounds of exchanges"},
    {"reduction", "reduction", "steps of role reduce: means of compute sets, bounds of exchanges"},
    {"rearrangement", "rearrangement",
     "steps of role rearrange: means of compute sets, bounds of exchanges"},
    {"unused_tiles", "unused tiles",
     "compute sets: what the mean over the tiles that take part is longer than the mean over all"},
    {"uneven_splits", "uneven splits",
     "compute sets: what the critical tile takes longer than the mean of those that take part, but "
     "for unequal workers"},
    {"unequal_workers", "unequal workers",
     "compute sets: of what the critical tile takes longer than the mean of those that take part, "
     "what unequal workers account for: of each launch the busiest beyond the mean worker"},
}};

/// Counts the tiles of which `busy` is true.
template <class Busy> auto tiles_that(Busy busy) {
    return [busy](const Account& account) {
        std::int64_t count = 0;
        for (std::size_t tile = 0; tile < account.tiles().size(); ++tile) {
            count += busy(account, tile) ? 1 : 0;
        }
        return count;
    };
}

using PerTile = std::vector<Cycles>;

Table<PerTile> range_table() {
    const auto least = [](const PerTile& all) {
        return all.empty() ? 0 : *std::min_element(all.begin(), all.end());
    };
    const auto most = [](const PerTile& all) {
        return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
    };
    return {{"min", Cycle, "least over the tiles", least},
            {"mean", Cycle, "mean over the tiles", mean},
            {"max", Cycle, "most over the tiles", most}};
}

json role_schema() {
    std::string sentence = "what the step is for";
    json words = json::array();
    for (const program::RoleWord& role : program::kRoles) {
        sentence += fmt::format("{} {}: {}", words.empty() ? ";" : ",", role.word, role.sentence);
        words.push_back(role.word);
    }
    return {{"enum", std::move(words)}, {"description", std::move(sentence)}};
}

/// What steps of all kinds have, and then `more`.
template <class Step> Table<Step> step_table(const char* bound_cycles, const Table<Step>& more) {
    Table<Step> table{
        {"name", Word, "as in the program", &Step::name, "slowest first"},
        {"role", role_schema(), [](const Step& step) { return program::word(step.role); }},
        {"executions", Count, "how often it ran", &Step::executions, "times"},
        {"cycles", Cycle,
         "of the run: the step's part of the critical path; the steps, syncs and the control "
         "program add up to the run",
         &Step::cycles, "cycles"},
        {"slowest_cycles", Cycle, "sum over executions of the slowest tile", &Step::slowest_cycles},
        {"tile_cycles", "sum over executions, over all tiles of the machine", range_table(),
         &Step::tile_cycles},
        {"mean_cycles", Cycle, "sum over executions of the mean over the tiles that take part",
         [](const Step& step) { return step.mean.cycles; }, "mean"},
        {"critical_bound_cycles", Cycle,
         "the fewest cycles in which what took cycles could have been done: the critical tile's "
         "issues, words on its fuller lane, or the link's service; never more than cycles",
         [](const Step& step) { return step.critical.bound_cycles; }, "bound"},
        {"bound_cycles", Cycle, bound_cycles, &Step::bound_cycles},
        {"active_tiles", Count, "tiles that take part, of the last execution", &Step::active_tiles,
         "tiles"},
        {"slowest_tile", Number,
         "of the last execution; not the critical one where that comes last for what it does "
         "before "
         "or behind the step",
         &Step::slowest_tile},
        {"critical_tile", Number, "that had most of cycles; 0 where they are none", critical_tile,
         "critical"},
        {"critical_tiles", Count, "that had any of cycles",
         [](const Step& step) { return static_cast<std::int64_t>(step.path.size()); }},
        {"sentence", Word, "what the critical tile did there, against others and the bound",
         &Step::sentence}};
    table.insert(table.end(), more.begin(), more.end());
    return table;
}

Table<StepFacts> chip_step_table(const Table<StepFacts>& more) {
    return step_table("the fewest cycles in which the busiest tile could have done it; never more "
                      "than slowest_cycles",
                      more);
}

/// The counts of the groups that steps of the kind have, or of all.
Table<counts::Counts> counts_table(std::optional<counts::StepKind> of) {
    using counts::Counts;
    Table<Counts> table;
    for (std::size_t number = 0; number < counts::kGroups.size(); ++number) {
        const counts::GroupSpec& group = counts::kGroups[number];
        if (of && group.of != *of) {
            continue;
        }
        Table<Counts> kinds;
        for (std::size_t kind = 0; kind < group.kinds.size(); ++kind) {
            const auto get = [number, kind](const Counts& counts) {
                return counts.at(static_cast<Group>(number), kind);
            };
            kinds.push_back({group.kinds[kind].key, Count, group.kinds[kind].sentence, get});
        }
        if (kinds.size() > 1) {
            table.push_back({group.key, group.sentence, kinds, std::identity{}});
        } else {
            table.push_back({group.key, Count, group.sentence, [number](const Counts& counts) {
                                 return counts.sum(static_cast<Group>(number));
                             }});
        }
    }
    return table;
}

Entry<StepFacts> counts_entry(counts::StepKind of) {
    return {"counts", "over all tiles and executions", counts_table(of), &StepFacts::counts};
}

auto sum_of(Group group) {
    return [group](const StepRecord& record) { return record.counts.sum(group); };
}

Table<StepFacts> compute_set_table() {
    using Set = StepFacts;
    return chip_step_table(
        {{"worker_issues", Count, "issue slots used by workers", sum_of(Group::WorkerIssues)},
         {"worker_bundles", Count, "instructions and bundles executed by workers",
          sum_of(Group::WorkerBundles)},
         {"supervisor_instructions", Count, "instructions executed by supervisors",
          sum_of(Group::SupervisorInstructions)},
         {"matrix_steps", Count, "steps of the matrix units", sum_of(Group::MatrixSteps)},
         {"launches", Count, "of workers, up to a sync each", sum_of(Group::Launches)},
         {"busiest_worker_cycles",
          "of the busiest worker of each launch, summed over launches and executions, over all "
          "tiles of the machine",
          range_table(), &Set::busiest_worker},
         {"mean_worker_cycles",
          "of the mean worker, summed over launches and executions, over all tiles of the machine",
          range_table(), &Set::mean_worker},
         {"critical_busiest_worker_cycles", Cycle, "of busiest_worker_cycles, what is in cycles",
          [](const Set& set) { return set.critical.work.busiest_worker_cycles; }},
         {"critical_mean_worker_cycles", Cycle, "of mean_worker_cycles, what is in cycles",
          [](const Set& set) { return set.critical.work.mean_worker_cycles; }},
         counts_entry(counts::StepKind::ComputeSet)});
}

Table<StepFacts> exchange_table() {
    using Set = StepFacts;
    return chip_step_table(
        {{"bytes", Byte, "delivered, each receiver counted", &Set::bytes},
         {"sent_bytes", Byte, "sent, a multicast counted once each time that it is sent",
          &Set::sent_bytes},
         {"words", Count, "of 4 bytes, delivered", [](const Set& step) { return step.bytes / 4; }},
         counts_entry(counts::StepKind::Exchange)});
}

Table<StreamRecord> stream_table() {
    using Copy = StreamRecord;
    return step_table<Copy>(
        "sum over executions of what the link needed; never more than transfer_cycles",
        {{"peer", Word, "streaming_memory or host, and the remote buffer", &Copy::peer},
         {"direction", Word, "read: into tiles; write: out of them", &Copy::direction},
         {"bytes", Byte, "delivered", &Copy::bytes},
         {"sent_bytes", Byte, "sent", &Copy::sent_bytes},
         {"transfer_cycles", Cycle,
          "sum over executions from start to end, also where nothing waited",
          &Copy::transfer_cycles},
         {"counts", "over all tiles and executions", counts_table(counts::StepKind::StreamCopy),
          &Copy::counts}});
}

Table<StepFacts> link_table() {
    using Set = StepFacts;
    return step_table<Set>(
        "sum over executions of what the busiest edge, context or lane needed; never more than "
        "transfer_cycles",
        {{"bytes", Byte, "delivered to the chip", &Set::bytes},
         {"sent_bytes", Byte, "sent by it", &Set::sent_bytes},
         {"bound_by", Word,
          "of the last execution: what bound_cycles is of, edge, context, lane or turn; barrier "
          "where the one before it takes longer; nothing where no message comes",
          &Set::bound_by},
         {"transfer_cycles", Cycle,
          "sum over executions from the release until the last tile goes on",
          &Set::transfer_cycles}});
}

Table<ChipRecord> chips_table() {
    using Chip = ChipRecord;
    Table<Chip> table{{"chip", Number, "its number", &Chip::chip},
                      {"cycles", Cycle, "until its program ended", &Chip::cycles}};
    for (const auto& [kind, cycles] : kKinds) {
        table.push_back({kind, Cycle, "of them, on its critical path",
                         [of = cycles](const Chip& chip) { return chip.phases.*of; }});
    }
    return table;
}

Table<simulation::EdgeRecord> edge_table() {
    using Edge = simulation::EdgeRecord;
    return {{"from", Number, "chip", &Edge::from},
            {"to", Number, "chip", &Edge::to},
            {"links", Count, "beside each other", &Edge::links},
            {"bytes", Byte, "of messages", &Edge::payload_bytes},
            {"link_bytes", Byte, "with what packets have besides", &Edge::bytes},
            {"busy_cycles", Cycle, "of all its links together", &Edge::busy_cycles},
            {"most_waiting", Count, "packets that waited for it at once", &Edge::most_waiting}};
}

std::optional<std::vector<StepFacts>> link_records(const RunFacts& facts) {
    if (facts.chips.empty()) {
        return std::nullopt;
    }
    std::vector<StepFacts> links;
    for (const StepRecord& record : facts.account.links()) {
        links.push_back({record, link_sentence(record)});
    }
    return links;
}

std::optional<std::vector<ChipRecord>> chip_records(const RunFacts& facts) {
    if (facts.chips.empty()) {
        return std::nullopt;
    }
    std::vector<ChipRecord> chips;
    for (const Account* const account : facts.chips) {
        chips.push_back(
            {static_cast<std::int64_t>(chips.size()), account->cycles(), account->phases()});
    }
    return chips;
}

std::optional<std::vector<simulation::EdgeRecord>> edge_records(const RunFacts& facts) {
    return facts.chips.empty() ? std::nullopt : std::optional(facts.edges);
}

Table<CyclesByKind> phase_table() {
    Table<CyclesByKind> table;
    for (const auto& [kind, cycles] : kKinds) {
        if (cycles != &CyclesByKind::idle) {
            table.push_back({kind, Cycle, "cycles", cycles, kind});
        }
    }
    return table;
}

Table<Account> tiles_table() {
    Table<Account> table;
    for (const auto& [kind, member] : kKinds) {
        const auto all = [of = member](const Account& account) {
            PerTile cycles;
            for (const CyclesByKind& tile : account.tiles()) {
                cycles.push_back(tile.*of);
            }
            return cycles;
        };
        table.push_back({kind + std::string("_cycles"),
                         "per tile; the six kinds of a tile sum to cycles", range_table(), all});
    }
    return table;
}

Table<Account> busy_table() {
    return {{"compute", Count, "in compute sets", tiles_that(computes), "compute"},
            {"exchange", Count, "in exchanges", tiles_that(exchanges), "exchange"},
            {"stream", Count, "in stream copies", tiles_that(streams), "stream"},
            {"link", Count, "in link exchanges", tiles_that(links), "link"}};
}

Table<Explanation> explanation_table() {
    Table<Explanation> table;
    for (const ExplanationPart& part : kExplanationParts) {
        const Table<Share> share{{"cycles", Cycle, "cycles", &Share::cycles, part.word},
                                 {"percent", Percent, "of the run's cycles", &Share::percent}};
        table.push_back({part.key, part.sentence, share, [key = part.key](const Explanation& all) {
                             const auto found = all.find(key);
                             return found == all.end() ? Share{} : found->second;
                         }});
    }
    return table;
}

Table<CriticalPath> critical_path_table() {
    Table<CriticalPath> by_role;
    for (std::size_t role = 0; role < program::kRoles.size(); ++role) {
        by_role.push_back({std::string(program::kRoles.at(role).word), Cycle,
                           program::kRoles.at(role).sentence,
                           [role](const CriticalPath& path) { return path.by_role.at(role); }});
    }
    by_role.push_back(
        {"barriers", Cycle, "from a last arrival to the release", &CriticalPath::barriers});
    using Path = CriticalPath;
    return {{"sentence", Word, "in words", &Path::sentence},
            {"cycles", "by what its steps are for; they sum to the run", by_role, std::identity{}},
            {"tile", Number, "that is on it longest", &Path::tile},
            {"tile_cycles", Cycle, "for which it is", &Path::tile_cycles},
            {"tiles", Count, "that are on it", &Path::tiles}};
}

Table<KernelShare> kernel_table() {
    using Kernel = KernelShare;
    return {
        {"name", Word,
         "the kernel, or what the pipeline calls the step; 'control program' has what is nobody's",
         &Kernel::name, "in their order"},
        {"cycles", Cycle, "of the run", &Kernel::cycles, "cycles"},
        {"percent", Percent, "of the run's cycles", &Kernel::percent, "%"},
        {"compute", Cycle, "cycles of its compute sets", &Kernel::compute, "compute"},
        {"exchange", Cycle, "cycles of its exchanges", &Kernel::exchange, "exchange"},
        {"sync", Cycle, "cycles of the barriers before its exchanges", &Kernel::sync},
        {"stream", Cycle, "cycles in which the machine waited for its stream copies",
         &Kernel::stream},
        {"link", Cycle, "cycles in which the machine waited for its link exchanges", &Kernel::link},
        {"rearrange_cycles", Cycle, "of all these, in steps of role rearrange", &Kernel::rearrange,
         "rearranging"}};
}

Table<listeners::Round> round_table() {
    using listeners::Round;
    return {
        {"begin", Cycle, "when the copy begins", &Round::begin},
        {"cycles", Cycle, "of the run", &Round::cycles},
        {"kernels",
         {{"type", "object"},
          {"description", "cycles of each kernel's steps on the critical path; barriers and the "
                          "control program are nobody's"},
          {"additionalProperties", schema::whole("cycles")}},
         &Round::kernels,
         [](const std::vector<std::pair<std::string, Cycles>>& kernels) {
             json made = json::object();
             for (const auto& [name, cycles] : kernels) {
                 made[name] = cycles;
             }
             return made;
         }}};
}

Table<job::PatternFacts> pattern_table() {
    using Facts = job::PatternFacts;
    return {{"tensor", Word, "its name", &Facts::tensor},
            {"patterns", Count, "that it has had", &Facts::patterns},
            {"went", schema::list("blocks that went in each change", schema::whole("blocks")),
             &Facts::went},
            {"drawn_instead",
             {{"type", "boolean"},
              {"description", "the schedule goes by values, which timing mode does not know"}},
             &Facts::is_drawn_instead}};
}

std::optional<std::vector<job::PatternFacts>> pattern_facts(const RunFacts& facts) {
    auto patterns = facts.job.patterns();
    return patterns.empty() ? std::nullopt : std::optional(std::move(patterns));
}

Table<MemoryPeak> memory_table() {
    using Peak = MemoryPeak;
    return {{"tile_bytes", Byte, "what a tile has", &Peak::tile_bytes},
            {"mean_bytes", Byte, "used in a tile's fullest step, mean over all tiles",
             &Peak::mean_bytes},
            {"max_bytes", Byte, "used on the fullest tile in its fullest step", &Peak::bytes},
            {"peak_step", Word, "that step", &Peak::step},
            {"max_bytes_by_kind", by_kind_schema("most over tiles and steps, each kind by itself"),
             &Peak::most_by_kind, by_kind_json},
            {"worst_tile", Number, "the fullest tile", &Peak::tile},
            {"worst_tile_bytes_by_kind", by_kind_schema("of the fullest tile in that step"),
             &Peak::by_kind, by_kind_json}};
}

Table<RunFacts> host_table() {
    const auto of = [](auto member) {
        return [member](const RunFacts& facts) { return facts.host.*member; };
    };
    return {{"plan_s", Second, "operands and plan", of(&HostFacts::plan_s)},
            {"simulate_s", Second, "from elaboration to the result in the host's hands",
             of(&HostFacts::simulate_s)},
            {"check_s", Second, "host reference and comparison", of(&HostFacts::check_s)},
            {"encode_s", Second, "of simulate_s: patterns were made and encoded",
             of(&HostFacts::encode_s)},
            {"wall_s", Second, "all of it", of(&HostFacts::wall_s)},
            {"bundles", Count, "executed by workers", worker_bundles},
            {"bundles_per_s", Rate, "over simulate_s",
             [](const RunFacts& facts) {
                 return ratio(static_cast<double>(worker_bundles(facts)), facts.host.simulate_s);
             }},
            {"threads", Count, "host threads", of(&HostFacts::threads)},
            {"peak_rss_bytes", Byte, "of the process",
             [](const RunFacts&) { return peak_rss_bytes(); }}};
}

json schema_of_object(const char* sentence) {
    return {{"type", "object"}, {"description", sentence}};
}

Table<traces::TraceSummary> trace_table() {
    using Trace = traces::TraceSummary;
    return {{"clock",
             {{"enum", traces::kClockWords}, {"description", "what the trace's time is"}},
             [](const Trace& trace) { return traces::word(trace.clock); }},
            {"format", Word, "chrome, perfetto or vcd", &Trace::format},
            {"slices", Count, "written", &Trace::slices},
            {"tiles", {{"type", "array"}, {"items", schema::whole("tile number")}}, &Trace::tiles},
            {"truncated", {{"type", "boolean"}}, &Trace::truncated}};
}

Table<ipu::TimingFacts> timing_table() {
    using Timing = ipu::TimingFacts;
    return {
        {"phases", Count, "of compute sets, tile by tile", &Timing::phases},
        {"phases_run", Count, "of those, run: one of each class of tiles that do the same",
         &Timing::phases_run},
        {"phases_counted", Count, "the others",
         [](const Timing& timing) { return timing.phases - timing.phases_run; }},
        {"audited_tiles", Count, "tiles that were run in full and held against their classes",
         &Timing::audited_tiles},
        {"unknown_addresses", Count,
         "loads and stores whose address depends on tensor data; what is wrong with one, only a "
         "run with data finds",
         &Timing::unknown_addresses},
        {"missing",
         {{"type", "array"},
          {"items", {{"type", "string"}}},
          {"description", "what only a run with data finds"}},
         [](const Timing&) {
             return json{
                 "the answer", "its check",
                 "addresses from lists, and element conflicts inside repeats and where a worker "
                 "goes a way that another went before"};
         }}};
}

Table<ResultRecord> results_table() {
    return {{"name", Word, "as the workload calls it", &ResultRecord::name},
            {"file", Word, "of --out", &ResultRecord::file}};
}

Table<RunFacts> digest_table() {
    return {{"program", Word, "of what the machine is given to do: its bytes and where arrays are",
             [](const RunFacts& facts) {
                 return facts.system != nullptr ? program_digest(*facts.system)
                                                : program_digest(facts.program);
             }},
            {"tile_cycles", Word, "of every tile's cycles of each kind, chip after chip",
             [](const RunFacts& facts) {
                 const std::array<const Account*, 1> alone{&facts.account};
                 return facts.chips.empty() ? tile_cycles_digest(alone)
                                            : tile_cycles_digest(facts.chips);
             }},
            {"output", Word, "of the names and bytes of all tensors that the run makes and keeps",
             &RunFacts::output_digest}};
}

HeadFacts head_of(const RunFacts& facts) {
    return {facts.machine,          facts.machine_resolved,  facts.unused_parameters,
            facts.workload_name,    facts.workload_resolved, facts.job,
            facts.account.cycles(), &facts.program};
}

Table<RunFacts> result_table() {
    using Facts = RunFacts;
    const auto account = [](auto of) {
        return
            [of](const Facts& facts) -> decltype(auto) { return std::invoke(of, facts.account); };
    };
    Table<Facts> table{
        {{"cycles", Cycle, "of the run: the sum of phases", account(&Account::cycles)},
         {"useful_bytes", Byte, "that the workload moves for its user", useful_bytes},
         {"gbytes_per_s", Rate, "useful_bytes over seconds, in 1e9 bytes a second",
          [](const Facts& facts) {
              const auto bytes = useful_bytes(facts);
              return bytes ? std::optional(
                                 ratio(1e-9 * static_cast<double>(*bytes), seconds(head_of(facts))))
                           : std::nullopt;
          }},
         {"phases",
          "the machine's view: the critical path, which from one release to the next is the tile "
          "that arrives last",
          phase_table(), account(&Account::phases)},
         {"tiles", "the tiles' view", tiles_table(), account(std::identity{})},
         {"tiles_busy", Count,
          "tiles that computed, exchanged, streamed or had to do with other chips",
          account(tiles_that(takes_part))},
         {"tiles_busy_by_kind",
          "tiles that took part in some step of the kind; a tile may count in several",
          busy_table(), account(std::identity{})},
         {"compute_sets", "in the program's order", "one step", compute_set_table(),
          compute_set_records},
         {"exchanges", "in the program's order", "one step", exchange_table(), exchange_records},
         {"streams", "stream copies, in the program's order", "one step", stream_table(),
          stream_records},
         {"link_exchanges", "between chips, in the program's order; of systems", "one step",
          link_table(), link_records},
         {"chips", "of systems: the chips; the rest of the result is of the one that ends last",
          "a chip", chips_table(), chip_records},
         {"edges", "of systems: what went over the links, each way by itself", "an edge",
          edge_table(), edge_records},
         {"counts", "what the run did, over all tiles; the steps, and barriers of none",
          counts_table(std::nullopt), account(&Account::counts)},
         {"explanation", "where the machine's cycles went; the parts sum to the run",
          explanation_table(), account(explanation)},
         {"critical_path",
          "what the run waits for: from one release to the next what the tile does that comes last",
          critical_path_table(), account(critical_path)},
         {"kernels", "whose the cycles were; they sum to the run",
          "a kernel, or a step of a pipeline", kernel_table(), kernel_shares},
         {"rounds", "of a sequence of patterns: each from the copy that brings the next one",
          "a round", round_table(), &Facts::rounds},
         {"patterns", "of tensors with a sequence", "a tensor", pattern_table(), pattern_facts},
         {"memory", "tile memory in the step in which most of it is used", memory_table(),
          memory_peak},
         {"results", "what the workload is run for, the answer first; none in timing mode",
          "a tensor", results_table(), std::mem_fn(&Facts::results)},
         {"plan", schema_of_object("what the planner chose"),
          [](const Facts& facts) { return facts.job.plan_json(); }},
         {"timing", "of timing mode", timing_table(), &Facts::timing},
         {"digests", "CRC-32 in hexadecimal; runs with equal ones found the same", digest_table(),
          std::identity{}},
         {"check",
          {{"type", {"object", "null"}},
           {"description", "comparison with the host reference; null where switched off"}},
          [](const Facts& facts) { return facts.check ? facts.check->json : json(nullptr); }},
         {"trace", "of --trace", trace_table(), &Facts::trace},
         {"host", "what the host spent; the only part that differs between equal runs",
          host_table(), std::identity{}}}};
    for (const auto& entry : cost_table()) {
        table.push_back(entry);
    }
    return with_head<Facts>(std::move(table), head_of);
}

} // namespace

nlohmann::json make_result(const RunFacts& facts) {
    return result_table().values(facts);
}

nlohmann::json result_schema() {
    return {{"$schema", "http://json-schema.org/draft-07/schema#"},
            {"title", "Tessera result"},
            {"description",
             "what one run of tessera found, or one estimate; keys are sorted, and all "
             "but host is the same for equal runs"},
            {"oneOf", {result_table().schema("what a run found"), estimate_schema()}}};
}

ResultColumns result_columns() {
    return {phase_table().columns(), busy_table().columns(), explanation_table().columns(),
            kernel_table().columns(), chip_step_table({}).columns()};
}

std::string json_text(const nlohmann::json& document) {
    return config::text_of_json(document, 2) + "\n";
}

} // namespace tessera::result
