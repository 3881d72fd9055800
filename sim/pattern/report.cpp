// SPDX-License-Identifier: MIT
#include "sim/pattern/report.h"

#include "base/text.h"
#include "kernels/workload/value_type.h"
#include "sim/result/schema_parts.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace tessera::pattern {
namespace {

constexpr int kSchemaVersion = 1;

/// "row 17 has 168, 43.1 times the mean of 3.9; 12 of 2,708 rows have none"
std::string spread_text(const Spread& spread, const char* line) {
    return fmt::format("{} {} has {}, {:.3g} times the mean of {:.4g}; {} of {} {}s have none",
                       line, spread.line, grouped(spread.most), spread.skew(), spread.mean,
                       grouped(spread.empty), grouped(spread.lines), line);
}

nlohmann::json spread_json(const Spread& spread) {
    return {{"lines", spread.lines}, {"most", spread.most}, {"line", spread.line},
            {"empty", spread.empty}, {"mean", spread.mean}, {"skew", spread.skew()}};
}

} // namespace

std::string percent(double share) {
    return fmt::format("{:.4g} %", 100 * share);
}

std::string summary_text(const Summary& summary, const std::string& file, std::string_view type,
                         const Layout& layout) {
    std::vector<std::vector<std::string>> rows{
        {"size", fmt::format("{} x {}, {}", summary.rows, summary.columns, type)},
        {"entries",
         fmt::format("{}, {} of all elements{}", grouped(summary.entries), percent(summary.density),
                     summary.zeros > 0
                         ? fmt::format("; {} have the value 0", grouped(summary.zeros))
                         : "")},
        {"rows", spread_text(summary.by_row, "row")},
        {"columns", spread_text(summary.by_column, "column")}};
    const BlockSummary& blocks = summary.blocks;
    if (summary.block > 1) {
        rows.push_back({fmt::format("blocks of {0} x {0}", summary.block),
                        fmt::format("{} of {} x {} are kept, {}", grouped(blocks.kept),
                                    grouped(blocks.rows), grouped(blocks.columns),
                                    percent(static_cast<double>(blocks.kept) /
                                            static_cast<double>(blocks.rows * blocks.columns)))});
        rows.push_back(
            {"fill of blocks",
             fmt::format("{} of their elements are entries, {} the least; {} are whole",
                         percent(blocks.fill), grouped(blocks.least), grouped(blocks.whole))});
        rows.push_back({"rows of blocks", spread_text(blocks.by_row, "row")});
        rows.push_back({"columns of blocks", spread_text(blocks.by_column, "column")});
    }
    const FormatBytes& bytes = summary.bytes;
    for (const auto& [name, count] : {std::pair{"bytes as COO", bytes.coo},
                                      {"bytes as CSR", bytes.csr},
                                      {"bytes as CSC", bytes.csc},
                                      {"bytes as BSR", bytes.bsr},
                                      {"bytes dense", bytes.dense}}) {
        rows.push_back({name, grouped(count)});
    }
    return file + "\n" + table(layout, 2, {Align::Left, Align::Left}, rows);
}

nlohmann::json summary_json(const Summary& summary, const std::string& file,
                            std::string_view type) {
    const BlockSummary& blocks = summary.blocks;
    const FormatBytes& bytes = summary.bytes;
    return {{"schema_version", kSchemaVersion},
            {"file", file},
            {"rows", summary.rows},
            {"columns", summary.columns},
            {"type", type},
            {"entries", summary.entries},
            {"zeros", summary.zeros},
            {"density", summary.density},
            {"by_row", spread_json(summary.by_row)},
            {"by_column", spread_json(summary.by_column)},
            {"blocks",
             {{"block", summary.block},
              {"rows", blocks.rows},
              {"columns", blocks.columns},
              {"kept", blocks.kept},
              {"whole", blocks.whole},
              {"least", blocks.least},
              {"fill", blocks.fill},
              {"by_row", spread_json(blocks.by_row)},
              {"by_column", spread_json(blocks.by_column)}}},
            {"bytes",
             {{"coo", bytes.coo},
              {"csr", bytes.csr},
              {"csc", bytes.csc},
              {"bsr", bytes.bsr},
              {"dense", bytes.dense}}}};
}

nlohmann::json summary_schema() {
    using namespace result::schema;
    const auto spread = [](const char* sentence) {
        return object(sentence, {{"lines", whole("rows or columns")},
                                 {"most", whole("in the fullest line")},
                                 {"line", whole("the first line with so many, from 0")},
                                 {"empty", whole("lines without any")},
                                 {"mean", number("over all lines")},
                                 {"skew", number("most over mean; 0 where there is nothing")}});
    };
    nlohmann::json types = nlohmann::json::array();
    for (const workload::ValueTypeFacts& facts : workload::kValueTypes) {
        types.push_back(std::string(facts.name));
    }
    const json blocks = object("blocks of the matrix; those at the edges end with it",
                               {{"block", whole("rows and columns of a block, in elements")},
                                {"rows", whole("of blocks")},
                                {"columns", whole("of blocks")},
                                {"kept", whole("blocks that have an entry")},
                                {"whole", whole("kept blocks of which all elements are entries")},
                                {"least", whole("entries of the kept block that has the fewest")},
                                {"fill", number("entries over elements of kept blocks")},
                                {"by_row", spread("kept blocks in rows of blocks")},
                                {"by_column", spread("kept blocks in columns of blocks")}});
    const json bytes =
        object("bytes of each form: indices of 4 bytes, values of the type, none in a mask",
               {{"coo", whole("row, column and value of each entry")},
                {"csr", whole("compressed rows")},
                {"csc", whole("compressed columns")},
                {"bsr", whole("compressed rows of blocks")},
                {"dense", whole("all elements")}});
    json schema = object("how full a sparse matrix is, how evenly, and how large in which form",
                         {{"schema_version", {{"const", kSchemaVersion}}},
                          {"file", text("as it was named")},
                          {"rows", whole("of the matrix")},
                          {"columns", whole("of the matrix")},
                          {"type", {{"enum", types}, {"description", "of the values"}}},
                          {"entries", whole("with those of value 0")},
                          {"zeros", whole("entries of value 0")},
                          {"density", number("entries over elements")},
                          {"by_row", spread("entries in rows")},
                          {"by_column", spread("entries in columns")},
                          {"blocks", blocks},
                          {"bytes", bytes}});
    schema["$schema"] = "http://json-schema.org/draft-07/schema#";
    schema["title"] = "Tessera pattern";
    return schema;
}

} // namespace tessera::pattern
