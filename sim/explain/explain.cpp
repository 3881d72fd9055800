// SPDX-License-Identifier: MIT
#include "sim/explain/explain.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "base/text.h"
#include "sim/compare/compare_command.h"
#include "sim/process/exit_code.h"
#include "sim/recording/format.h"
#include "sim/result/result_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numeric>
#include <utility>

namespace tessera::explain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::size_t kHead = 11; ///< columns of what stands in front of a line, as in summaries
constexpr double kWorthALine = 0.001;  ///< of the run
constexpr double kWorthAKernel = 0.05; ///< of the run
constexpr std::size_t kMostSteps = 5;

double number(const Json& object, const char* pointer) {
    return result::number_at(object, pointer);
}

double sum_over(const Json& document, const char* list, const char* pointer) {
    const Json& steps = result::list_at(document, list);
    return std::accumulate(steps.begin(), steps.end(), 0.0, [&](double sum, const Json& step) {
        return sum + number(step, pointer);
    });
}

std::string percent(double part, double whole) {
    return fmt::format("{:.1f} %", whole == 0 ? 0.0 : 100 * part / whole);
}

std::string whole(double cycles) {
    return grouped(std::llround(cycles));
}

/// Cycles of compute sets that would go if matrix steps took half their issues: of each set half the
/// share that these have of its issues, of what its tiles do on the mean.
double half_of_matrix_issues(const Json& document) {
    double cycles = 0;
    for (const Json& step : result::list_at(document, "compute_sets")) {
        const double issues = number(step, "/worker_issues");
        const double matrix = number(step, "/counts/worker_issues/matrix");
        cycles += issues == 0 ? 0 : number(step, "/cycles") * matrix / issues / 2;
    }
    return cycles;
}

/// A step with its kind.
struct Found {
    const char* kind;
    const Json* step;
};

std::vector<Found> steps_of(const Json& document) {
    std::vector<Found> found;
    for (const auto& [list, kind] : result::kStepLists) {
        for (const Json& step : result::list_at(document, list)) {
            found.push_back({kind, &step});
        }
    }
    std::stable_sort(found.begin(), found.end(), [](const Found& one, const Found& other) {
        return number(*one.step, "/cycles") > number(*other.step, "/cycles");
    });
    return found;
}

class Text {
public:
    explicit Text(const Layout& layout) : layout_(layout) {}

    void line(std::string_view head, const std::string& text) {
        text_ += paragraph(layout_, painted(layout_, Paint::Head, head), kHead, text);
    }
    std::string take() { return std::move(text_); }

private:
    const Layout& layout_;
    std::string text_;
};

std::string gain_text(const Gain& gain, double run) {
    return fmt::format("{}{}: {}{} less, {} cycles", gain.change,
                       gain.setting.empty() ? "" : " (--set " + gain.setting + ")",
                       gain.is_exact ? "" : "at most ", percent(gain.cycles, run),
                       whole(gain.cycles));
}

/// What a tile did in a step, beside the mean of those that had a part.
class OneStep {
public:
    OneStep(const recording::Recording& recording, const Json& columns, std::size_t critical)
        : tiles_(recording.tiles()), critical_(std::min(critical, recording.tiles() - 1)) {
        const auto read = [&](const char* name) {
            return columns.contains(name) ? recording.numbers(columns.at(name), tiles_)
                                          : std::vector<double>(tiles_, 0.0);
        };
        has_begin_ = columns.contains("begin");
        begin_ = read("begin");
        cycles_ = read("cycles");
        for (const auto& [name, word] : {std::pair{"issues", "issue slots"},
                                         {"matrix_steps", "matrix steps"},
                                         {"received", "cycles in which words come in"},
                                         {"sent", "cycles in which words go out"}}) {
            amounts_.emplace_back(word, read(name));
        }
        for (std::size_t worker = 0;; ++worker) {
            const std::string name = fmt::format("issues_of_{}", worker);
            if (!columns.contains(name)) {
                break;
            }
            worker_issues_.push_back(read(name.c_str())[critical_]);
        }
    }

    void tell(Text& text) const {
        constexpr double kNoPart = 4294967295.0;
        std::vector<double> cycles;
        for (std::size_t tile = 0; tile < tiles_; ++tile) {
            if (has_begin_ && begin_[tile] != kNoPart) {
                cycles.push_back(cycles_[tile]);
            }
        }
        if (cycles.empty()) {
            text.line("tiles", "no tile waits in it");
            return;
        }
        std::sort(cycles.begin(), cycles.end());
        const auto at = [&](double share) {
            return cycles[static_cast<std::size_t>(share * static_cast<double>(cycles.size() - 1))];
        };
        const double most = cycles.back();
        const auto slow = std::count_if(cycles.begin(), cycles.end(),
                                        [&](double one) { return one >= 0.95 * most; });
        text.line("tiles", fmt::format("{} of {} have a part: least {}, half of them at most {}, "
                                       "nine in ten at most {}, most {}; {} within 5 % of that",
                                       grouped(static_cast<std::int64_t>(cycles.size())),
                                       grouped(static_cast<std::int64_t>(tiles_)), whole(at(0)),
                                       whole(at(0.5)), whole(at(0.9)), whole(most), grouped(slow)));
        for (const auto& [word, amount] : amounts_) {
            const double sum = std::accumulate(amount.begin(), amount.end(), 0.0);
            if (sum > 0) {
                const double mean = sum / static_cast<double>(cycles.size());
                text.line("", fmt::format("{}: tile {} has {}, {:.2f} times the mean of {}", word,
                                          critical_, whole(amount[critical_]),
                                          amount[critical_] / mean, whole(mean)));
            }
        }
        if (!worker_issues_.empty()) {
            const auto [idlest, busiest] =
                std::minmax_element(worker_issues_.begin(), worker_issues_.end());
            text.line("", fmt::format("of tile {}'s workers, number {} has most issue slots, {}, "
                                      "and number {} has fewest, {}",
                                      critical_, busiest - worker_issues_.begin(), whole(*busiest),
                                      idlest - worker_issues_.begin(), whole(*idlest)));
        }
    }

private:
    std::size_t tiles_;
    std::size_t critical_;
    bool has_begin_ = false; ///< else the step has not run
    std::vector<double> begin_;
    std::vector<double> cycles_;
    std::vector<std::pair<std::string, std::vector<double>>> amounts_;
    std::vector<double> worker_issues_; ///< of the critical tile; empty of exchanges
};

const Json* recorded_step(const recording::Recording& recording, const Found& found,
                          const Json& document) {
    for (const auto& [list, kind] : result::kStepLists) {
        if (std::string_view(kind) != found.kind) {
            continue;
        }
        const auto index =
            static_cast<std::size_t>(found.step - &result::list_at(document, list).front());
        return recording.step(kind, index);
    }
    return nullptr;
}

void tell_step(Text& text, const Found& found, const Json& document,
               const recording::Recording* recording) {
    const Json& step = *found.step;
    const double run = number(document, "/cycles");
    const double cycles = number(step, "/cycles");
    text.line("step", fmt::format("{}: {} cycles in {}, {} of the run",
                                  result::text_at(step, "/name"), whole(cycles),
                                  counted(static_cast<std::size_t>(number(step, "/executions")),
                                          "execution"),
                                  percent(cycles, run)));
    text.line("why", result::text_at(step, "/sentence"));
    const double bound = number(step, "/critical_bound_cycles");
    if (bound > 0) {
        text.line("bound", fmt::format("{} cycles: what the critical tile does takes at least so "
                                       "long; without all that is above it the run takes {} less",
                                       whole(bound), percent(cycles - bound, run)));
    }
    if (recording == nullptr) {
        return;
    }
    if (const Json* const recorded = recorded_step(*recording, found, document)) {
        OneStep(*recording, recorded->at("columns"),
                static_cast<std::size_t>(std::max(0.0, number(step, "/critical_tile"))))
            .tell(text);
    }
}

} // namespace

std::vector<Gain> gains_of(const Json& document) {
    std::vector<Gain> gains;
    const double run = number(document, "/cycles");
    const auto part = [&](const char* key) {
        return number(document, (std::string("/explanation/") + key + "/cycles").c_str());
    };
    gains.push_back({"without the uneven split of work over tiles", "", part("uneven_splits")});
    gains.push_back({"with work for the tiles that compute nothing", "", part("unused_tiles")});
    gains.push_back({"with equal work for the workers of each tile", "", part("unequal_workers")});
    gains.push_back(
        {"without prologue, latency and gaps of exchanges", "", part("exchange_overhead")});
    gains.push_back({"without rearrangements", "", part("rearrangement")});
    gains.push_back({"with sums that cost nothing", "", part("reduction")});
    gains.push_back({"without waits for stream copies", "", part("stream")});
    gains.push_back({"without waits for other chips", "", part("link")});
    const auto lane = static_cast<std::int64_t>(number(document, "/machine/exchange/lane_bytes"));
    const bool has_lanes = result::text_at(document, "/machine/exchange/fabric") == "compiled";
    if (has_lanes && lane > 0 && lane < 16) {
        gains.push_back({fmt::format("with lanes of {} bytes", 2 * lane),
                         fmt::format("exchange.lane_bytes={}", 2 * lane),
                         sum_over(document, "exchanges", "/critical_bound_cycles") / 2});
    }
    // where a chip waits for memory or for another one, a shorter barrier may only mean a longer wait
    const auto barrier =
        static_cast<std::int64_t>(number(document, "/machine/sync/internal_cycles"));
    const bool is_alone = number(document, "/activity/streaming_bytes") == 0 &&
                          number(document, "/activity/host_bytes") == 0 &&
                          number(document, "/machine/system/chips") <= 1;
    if (barrier > 1) {
        gains.push_back(
            {fmt::format("with barriers of {} cycles", barrier / 2),
             fmt::format("sync.internal_cycles={}", barrier / 2),
             number(document, "/counts/barriers") * static_cast<double>(barrier - barrier / 2),
             is_alone});
    }
    const double steps = number(document, "/machine/amp/steps_per_issue");
    if (steps > 0 && steps <= 2) {
        gains.push_back(
            {fmt::format("with {} matrix {} an issue", 2 * steps, steps == 0.5 ? "step" : "steps"),
             fmt::format("amp.steps_per_issue={}", 2 * steps), half_of_matrix_issues(document)});
    }
    std::erase_if(gains, [&](const Gain& gain) { return gain.cycles < kWorthALine * run; });
    std::stable_sort(gains.begin(), gains.end(),
                     [](const Gain& one, const Gain& other) { return one.cycles > other.cycles; });
    return gains;
}

namespace {

/// "compute 60.0 %, exchange 38.2 %, barriers 1.8 %": of a kernel.
std::string phases_text(const Json& kernel) {
    const double cycles = number(kernel, "/cycles");
    std::string text;
    for (const auto& [key, word] : {std::pair{"/compute", "compute"},
                                    {"/exchange", "exchange"},
                                    {"/sync", "barriers"},
                                    {"/stream", "waits for streams"},
                                    {"/link", "waits for other chips"}}) {
        if (number(kernel, key) > 0) {
            text += fmt::format("{} {} {}", text.empty() ? ";" : ",", word,
                                percent(number(kernel, key), cycles));
        }
    }
    return text;
}

void tell_kernels(Text& text, const Json& document, double run) {
    const char* head = "kernels";
    const Json& kernels = result::list_at(document, "kernels");
    std::vector<const Json*> largest;
    for (const Json& kernel : kernels) {
        if (kernels.size() > 1 && number(kernel, "/cycles") >= kWorthAKernel * run) {
            largest.push_back(&kernel);
        }
    }
    std::stable_sort(largest.begin(), largest.end(), [](const Json* one, const Json* other) {
        return number(*one, "/cycles") > number(*other, "/cycles");
    });
    for (const Json* const kernel : largest) {
        text.line(head,
                  fmt::format("{}: {} of the run{}", result::text_at(*kernel, "/name"),
                              percent(number(*kernel, "/cycles"), run), phases_text(*kernel)));
        head = "";
    }
}

} // namespace

std::string run_text(const Json& document, const Layout& layout) {
    Text text(layout);
    const double run = number(document, "/cycles");
    text.line("run",
              fmt::format("{} on {}: {} cycles, {}", result::text_at(document, "/workload/name"),
                          result::text_at(document, "/machine/name"), whole(run),
                          result::text_at(document, "/sentence")));
    if (!document.contains("critical_path")) {
        text.line("", "an estimate has no steps to explain");
        return text.take();
    }
    text.line("critical", result::text_at(document, "/critical_path/sentence"));
    tell_kernels(text, document, run);
    const char* head = "steps";
    const std::vector<Found> steps = steps_of(document);
    for (std::size_t i = 0; i < std::min(steps.size(), kMostSteps); ++i) {
        const Json& step = *steps[i].step;
        if (number(step, "/cycles") < kWorthAKernel * run) {
            break;
        }
        text.line(head, fmt::format("{} ({}): {}", result::text_at(step, "/name"),
                                    percent(number(step, "/cycles"), run),
                                    result::text_at(step, "/sentence")));
        head = "";
    }
    if (steps.empty()) {
        text.line(head, "none are kept: the point's sweep was run without --keep full, and gains "
                        "that follow from steps are not told");
    }
    head = "gains";
    for (const Gain& gain : gains_of(document)) {
        text.line(head, gain_text(gain, run));
        head = "";
    }
    return text.take();
}

std::string step_text(const Json& document, const std::string& name,
                      const recording::Recording* recording, const Layout& layout) {
    Text text(layout);
    std::vector<std::string> names;
    std::size_t told = 0;
    for (const Found& found : steps_of(document)) {
        names.push_back(result::text_at(*found.step, "/name"));
        if (names.back().rfind(name, 0) == 0 && told < kMostSteps) {
            tell_step(text, found, document, recording);
            ++told;
        }
    }
    if (names.empty()) {
        throw cli::UsageError(
            "explain: the result has no steps: it is an estimate, or a point of a "
            "sweep that was run without --keep full");
    }
    if (told == 0) {
        const std::string near = config::did_you_mean(name, names);
        throw cli::UsageError(fmt::format("explain: no step is called {}{}{}", in_quotes(name),
                                          near.empty() ? "" : "; ", near));
    }
    return text.take();
}

std::string explain_text(const cli::ExplainCommand& command, const Layout& layout) {
    const Json document = compare::result_of(command.what);
    if (command.step.empty()) {
        return run_text(document, layout);
    }
    std::unique_ptr<recording::Recording> recording;
    const fs::path file = fs::path(command.what) / recording::kFile;
    if (fs::is_directory(command.what) && fs::exists(file)) {
        try {
            recording = std::make_unique<recording::Recording>(file);
        } catch (const IoError& error) {
            process::tell_warning(std::string(error.what()) + "; tiles are not told");
        }
        if (recording != nullptr && !recording->is_of(document)) { // of a run before that
            recording.reset();
        }
    }
    return step_text(document, command.step, recording.get(), layout);
}

} // namespace tessera::explain
