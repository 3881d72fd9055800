// SPDX-License-Identifier: MIT
// `tessera sweep diff`: what two stores say of the same points, whatever versions of the program
// wrote them.
#include "base/config/suggest.h"
#include "base/error.h"
#include "base/text.h"
#include "sim/process/exit_code.h"
#include "sim/sweep/command/commands.h"
#include "sim/sweep/command/result_paths.h"
#include "sim/sweep/command/tell_damage.h"
#include "sim/sweep/listing.h"
#include "sim/sweep/point_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::sweep {
namespace {

/// A row of a store as far as it says which point it is.
struct Line {
    std::size_t row = 0;
    Called machine;
    Called workload;
    std::map<std::string, Called> settings; ///< by path
    std::string mode;

    /// All but the folders of names and what is in the files.
    [[nodiscard]] std::string short_text() const {
        std::string text =
            short_name(machine.written) + '\n' + short_name(workload.written) + '\n' + mode;
        for (const auto& [path, value] : settings) {
            text += '\n' + path + '=' + value.written;
        }
        return text;
    }
};

std::vector<Line> lines_of(const PointTable& table) {
    std::vector<Line> lines;
    for (std::size_t row = 0; row < table.rows(); ++row) {
        Line line{row,
                  table.called(row, PointTable::kMachine),
                  table.called(row, PointTable::kWorkload),
                  {},
                  table.text(table.at(row, PointTable::kMode))};
        for (const std::string& path : table.changed()) {
            const std::size_t column = *table.column(path);
            const Called& called = table.called(row, column);
            const Cell& cell = table.at(row, column);
            if (cell.kind != Cell::Kind::Nothing) {
                line.settings[path] =
                    called.written.empty() ? Called{table.text(cell), ""} : called;
            }
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

/// What two lines have in common beyond their short text; more is a better match.
int likeness(const Line& one, const Line& other) {
    bool same_names = true;
    bool same_contents = true;
    const auto compare = [&](const Called& a, const Called& b) {
        same_names = same_names && a.written == b.written;
        same_contents = same_contents && a.content == b.content;
    };
    compare(one.machine, other.machine);
    compare(one.workload, other.workload);
    for (const auto& [path, value] : one.settings) {
        compare(value, other.settings.at(path));
    }
    return (same_contents ? 2 : 0) + (same_names ? 1 : 0);
}

using Pairs = std::vector<std::pair<const Line*, const Line*>>;

/// The lines of both that are of the same point: most alike first; of names that stood for several
/// contents only those of the same content.
Pairs matched(const std::vector<Line>& before, const std::vector<Line>& after) {
    std::map<std::string, std::pair<std::vector<const Line*>, std::vector<const Line*>>> alike;
    for (const Line& line : before) {
        alike[line.short_text()].first.push_back(&line);
    }
    for (const Line& line : after) {
        alike[line.short_text()].second.push_back(&line);
    }
    Pairs pairs;
    for (auto& [text, lines] : alike) {
        auto& [olds, news] = lines;
        const bool is_clear = olds.size() == 1 && news.size() == 1;
        for (int least = 3; least >= (is_clear ? 0 : 2); --least) {
            std::erase_if(olds, [&](const Line* one) {
                const auto found = std::find_if(news.begin(), news.end(), [&](const Line* other) {
                    return likeness(*one, *other) >= least;
                });
                if (found == news.end()) {
                    return false;
                }
                pairs.emplace_back(one, *found);
                news.erase(found);
                return true;
            });
        }
    }
    return pairs;
}

/// Labels of what lines of both stores name.
class Labels {
public:
    Labels(const std::vector<Line>& before, const std::vector<Line>& after) {
        std::set<Called> configs;
        std::set<Called> files;
        for (const auto* lines : {&before, &after}) {
            for (const Line& line : *lines) {
                configs.insert({line.machine, line.workload});
                for (const auto& [path, value] : line.settings) {
                    files.insert(value);
                }
            }
        }
        put(configs, true);
        put(files, false);
    }

    /// One label, or both where the name has stood for something else since.
    [[nodiscard]] std::string text(const Called& before, const Called& after,
                                   bool is_config) const {
        const std::string& was = texts_.at({is_config, before});
        const std::string& is = texts_.at({is_config, after});
        const bool is_known = !before.content.empty() && !after.content.empty();
        return was == is || !is_known ? is : was + " -> " + is;
    }

private:
    void put(const std::set<Called>& called, bool is_config) {
        const std::vector<Called> all(called.begin(), called.end());
        const auto texts = is_config ? config_labels(all) : file_labels(all);
        for (std::size_t i = 0; i < all.size(); ++i) {
            texts_[{is_config, all[i]}] = texts[i];
        }
    }

    std::map<std::pair<bool, Called>, std::string> texts_;
};

std::string name_of(const Line& before, const Line& after, const Labels& labels) {
    std::string name = fmt::format("{} {} {}", labels.text(before.machine, after.machine, true),
                                   labels.text(before.workload, after.workload, true), after.mode);
    for (const auto& [path, value] : before.settings) {
        name += fmt::format(" {}={}", path, labels.text(value, after.settings.at(path), false));
    }
    return name;
}

} // namespace

int sweep_diff(const cli::SweepDiffCommand& command) {
    need_store(command.before);
    need_store(command.after);
    if (!is_result_path(command.path)) {
        const std::string near = config::did_you_mean(command.path, result_paths());
        throw cli::UsageError(fmt::format("sweep diff: --path: no result has {}{}{}",
                                          in_quotes(command.path), near.empty() ? "" : "; ", near));
    }
    const PointTable before(command.before, {command.path});
    const PointTable after(command.after, {command.path});
    tell_damage(before.damage());
    tell_damage(after.damage());
    const auto old_lines = lines_of(before);
    const auto new_lines = lines_of(after);
    const Labels labels(old_lines, new_lines);
    const auto value = [&](const PointTable& table, std::size_t row) {
        const Cell& cell = table.at(row, *table.column(command.path));
        return cell.kind == Cell::Kind::Nothing ? table.text(table.at(row, PointTable::kStatus))
                                                : table.text(cell);
    };
    const Pairs pairs = matched(old_lines, new_lines);
    std::vector<std::vector<ListedCell>> rows;
    for (const auto& [one, other] : pairs) {
        const std::string was = value(before, one->row);
        const std::string is = value(after, other->row);
        if (was == is) {
            continue;
        }
        const Cell& old_cell = before.at(one->row, *before.column(command.path));
        const Cell& new_cell = after.at(other->row, *after.column(command.path));
        const bool has_ratio = old_cell.is_number() && new_cell.is_number() && old_cell.number != 0;
        rows.push_back(
            {{name_of(*one, *other, labels), false},
             {was, old_cell.is_number()},
             {is, new_cell.is_number()},
             {has_ratio ? fmt::format("{:.4f}", new_cell.number / old_cell.number) : "", true}});
    }
    const std::size_t different = rows.size();
    Listing listing;
    listing.head = {"point", "before", "after", "after/before"};
    listing.rows = different;
    listing.cell = [rows = std::move(rows)](std::size_t row, std::size_t column) {
        return rows[row][column];
    };
    if (different > 0 || command.format != "text") {
        listing.print(command.format, 0);
    }
    if (command.format == "text") {
        std::fputs(fmt::format("{}: {} equal, {} different, {} only before, {} only after\n",
                               command.path, pairs.size() - different, different,
                               old_lines.size() - pairs.size(), new_lines.size() - pairs.size())
                       .c_str(),
                   stdout);
    }
    return different > 0 ? process::kCheckFailed : process::kOk;
}

} // namespace tessera::sweep
