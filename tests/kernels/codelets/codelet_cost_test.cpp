// SPDX-License-Identifier: MIT
// The counts of kernels/codelets/*_cost.h are those of the assembled codelets: issues between two
// labels. An instruction that a codelet gains or loses without its cost fails here.
#include "kernels/codelets/block_norms_cost.h"
#include "kernels/codelets/column_sums_cost.h"
#include "kernels/codelets/copy_cost.h"
#include "kernels/codelets/cross_entropy_cost.h"
#include "kernels/codelets/elementwise_cost.h"
#include "kernels/codelets/embedded_sources.h"
#include "kernels/codelets/gather_cost.h"
#include "kernels/codelets/gather_rows_cost.h"
#include "kernels/codelets/layer_norm_cost.h"
#include "kernels/codelets/matmul_amp_cost.h"
#include "kernels/codelets/one_hot_cost.h"
#include "kernels/codelets/rearrange_cost.h"
#include "kernels/codelets/reduce_add_cost.h"
#include "kernels/codelets/reduce_rows_cost.h"
#include "kernels/codelets/scatter_add_cost.h"
#include "kernels/codelets/softmax_cost.h"
#include "kernels/codelets/softmax_gradient_cost.h"
#include "kernels/codelets/spmm_block16_cost.h"
#include "kernels/codelets/spmm_elementwise_cost.h"
#include "kernels/codelets/spmm_sampled_cost.h"
#include "kernels/codelets/spmm_turn_cost.h"
#include "kernels/codelets/sum_cost.h"
#include "kernels/codelets/sum_pairs_cost.h"
#include "kernels/codelets/top_k_cost.h"
#include "kernels/codelets/turn_cost.h"
#include "models/isa/assembler.h"
#include "models/isa/machine_target.h"
#include "tests/kernels/codelets/codelet_bench.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace tessera;
using namespace tessera::codelets;

/// From one label to another, or through the next exitz.
struct Span {
    std::string from;
    std::string to = "exitz";
    std::int64_t times = 1;
};

enum class Counted { Issues, MatrixSteps, Others };

/// The assembler keeps no `.L` labels, so they lose their dot.
std::string without_dots(std::string text) {
    for (std::size_t at = 0; (at = text.find(".L", at)) != std::string::npos;) {
        text.erase(at, 1);
    }
    return text;
}

std::vector<isa::SourceFile> sources_with_all_labels() {
    std::vector<isa::SourceFile> sources = embedded_sources();
    for (isa::SourceFile& source : sources) {
        source.text = without_dots(source.text);
    }
    return sources;
}

class CountedCodelet {
public:
    explicit CountedCodelet(std::string name,
                            const std::vector<isa::SourceFile>& sources = sources_with_all_labels())
        : name_(std::move(name)) {
        const spec::MachineSpec machine;
        isa::AssemblyOptions options = isa::options_for(isa::target_of(machine));
        options.allow_undefined = true;
        options.embedded = sources;
        const auto source = std::find_if(sources.begin(), sources.end(), [&](const auto& file) {
            return file.name == name_ + ".S";
        });
        REQUIRE(source != sources.end());
        codelet_ = isa::assemble(name_, {*source}, machine.memory.code_begin(), options);
        lines_ = isa::disassemble(codelet_.words, codelet_.address);
    }

    /// What the codelet has in all of the spans.
    std::int64_t count(const std::vector<Span>& spans, Counted counted = Counted::Issues) {
        std::int64_t sum = 0;
        for (const Span& span : spans) {
            sum += span.times * count(span, counted);
        }
        return sum;
    }

    /// Fails unless the codelet has what its cost says, under the name `constant`.
    void expect(const std::string& constant, std::int64_t cost, const std::vector<Span>& spans,
                Counted counted = Counted::Issues) {
        const std::int64_t in_codelet = count(spans, counted);
        INFO(message(constant, cost, spans, in_codelet));
        CHECK(in_codelet == cost);
    }

    [[nodiscard]] std::string message(const std::string& constant, std::int64_t cost,
                                      const std::vector<Span>& spans,
                                      std::int64_t in_codelet) const {
        std::string places;
        for (const Span& span : spans) {
            places += fmt::format("{}{}{} to {}", places.empty() ? "" : ", ",
                                  span.times == 1 ? "" : fmt::format("{} * ", span.times),
                                  span.from, span.to);
        }
        return fmt::format("{}.S: {}: {} in the codelet, {} in its cost ({})", name_, places,
                           in_codelet, cost, constant);
    }

    /// Instructions that no span had, but for what fills up to an alignment.
    [[nodiscard]] std::vector<std::string> uncounted() const {
        std::vector<std::string> left;
        for (const isa::ListingLine& line : lines_) {
            if (counted_.count(line.address) == 0 && line.text != "nop" &&
                line.text.find(".word") == std::string::npos) {
                left.push_back(fmt::format("{:#x}: {}", line.address, line.text));
            }
        }
        return left;
    }

private:
    [[nodiscard]] Address address_of(const std::string& label) const {
        const auto found = codelet_.symbols.find(without_dots(label));
        INFO(name_ << ".S: label " << label);
        REQUIRE(found != codelet_.symbols.end());
        return found->second;
    }

    std::int64_t count(const Span& span, Counted counted) {
        const bool to_exit = span.to == "exitz";
        const Address begin = address_of(span.from);
        const Address end = to_exit ? ~Address{0} : address_of(span.to);
        std::int64_t found = 0;
        for (const isa::ListingLine& line : lines_) {
            if (line.address < begin || line.address >= end) {
                continue;
            }
            counted_.insert(line.address);
            const bool is_step = line.text.find("amp ") != std::string::npos;
            found += counted == Counted::Issues || is_step == (counted == Counted::MatrixSteps);
            if (to_exit && line.text.find("exitz") == 0) {
                break;
            }
        }
        return found;
    }

    std::string name_;
    program::Codelet codelet_;
    std::vector<isa::ListingLine> lines_;
    std::set<Address> counted_;
};

const char* suffix(ElementType partials) {
    return partials == ElementType::F16 ? "f16" : "f32";
}

} // namespace

TEST_CASE("copies cost what their texts have", "[kernels]") {
    CountedCodelet copy("copy");
    for (const std::string name : {"copy64", "copy32"}) {
        copy.expect("kCopyFrame", kCopyFrame, {{name, ".Lword_" + name}, {".Lend_" + name}});
        copy.expect("kCopyWord", kCopyWord, {{".Lword_" + name, ".Lend_" + name}});
    }
    CHECK(copy.uncounted().empty());

    CountedCodelet known("copy_known");
    known.expect("kCopyFrame", kCopyFrame,
                 {{"copy_known32", ".Lword_copy_known32"}, {".Lend_copy_known32"}});
    known.expect("kCopyWord", kCopyWord, {{".Lword_copy_known32", ".Lend_copy_known32"}});
    CHECK(known.uncounted().empty());

    CountedCodelet row("copy_row");
    for (const std::string name : {"copy_row64", "copy_row32"}) {
        row.expect("kCopyRowFrame", kCopyRowFrame, {{name, ".Lword_" + name}, {".Lend_" + name}});
        row.expect("kCopyWord", kCopyWord, {{".Lword_" + name, ".Lend_" + name}});
    }
    CHECK(row.uncounted().empty());

    CountedCodelet paced("copy_paced");
    paced.expect("kPacedCopyNothing", kPacedCopyNothing,
                 {{"copy64_paced", ".Lsome_words"}, {".Lnothing"}});
    paced.expect("kPacedCopyFirstWord", kPacedCopyFirstWord,
                 {{"copy64_paced", ".Lword"}, {".Lend"}});
    paced.expect("kPacedCopyWord", kPacedCopyWord, {{".Lword", ".Lend"}});
    CHECK(paced.uncounted().empty());
}

TEST_CASE("copies of runs cost what their text has", "[kernels]") {
    CountedCodelet runs("copy_runs");
    for (const std::string name : {"copy_runs32", "copy_runs64"}) {
        runs.expect("kCopyRunsNothing", kCopyRunsNothing,
                    {{name, ".Lsome_runs_" + name}, {".Lend_" + name}});
        runs.expect("kCopyRunsFrame", kCopyRunsFrame, {{name, ".Lrun_" + name}, {".Lend_" + name}});
        runs.expect("kCopyRun", kCopyRun,
                    {{".Lrun_" + name, ".Lword_" + name}, {".Lnext_run_" + name, ".Lend_" + name}});
        runs.expect("kCopyWord", kCopyWord, {{".Lword_" + name, ".Lnext_run_" + name}});
    }
    CHECK(runs.uncounted().empty());
}

TEST_CASE("turns cost what their text has", "[kernels]") {
    CountedCodelet turn("turn");
    turn.expect("kTurnFrame", kTurnFrame,
                {{"turn_f16", ".Lline"}, {".Lothers", ".Lchange"}, {".Lend"}});
    turn.expect("kTurnLine", kTurnLine, {{".Lline", ".Lothers"}});
    turn.expect("kTurnOthers", kTurnOthers, {{".Lchange", ".Lend"}});
    turn.expect("kTurnLook", kTurnLook, {{".Lothers", ".Lchange"}});
    CHECK(turn.uncounted().empty());
}

TEST_CASE("gathers cost what their text has", "[kernels]") {
    CountedCodelet gather("gather");
    gather.expect("kGatherNothing", kGatherNothing, {{"gather16", ".Lsome_words"}, {".Lnothing"}});
    gather.expect("kGatherFirstWord", kGatherFirstWord, {{"gather16", ".Lword"}, {".Lend"}});
    gather.expect("kGatherWord", kGatherWord, {{".Lword", ".Lend"}});
    CHECK(gather.uncounted().empty());
    CountedCodelet bytes("gather_bytes");
    bytes.expect("kGatherNothing", kGatherNothing, {{"gather8", ".Lsome_bytes"}, {".Lno_bytes"}});
    bytes.expect("kGatherBytesFrame", kGatherBytesFrame, {{"gather8", ".Lbytes"}, {".Lno_bytes"}});
    bytes.expect("kGatherBytesWord", kGatherBytesWord, {{".Lbytes", ".Lno_bytes"}});
    CHECK(bytes.uncounted().empty());
}

TEST_CASE("gathers of words cost what their text has", "[kernels]") {
    CountedCodelet words("gather_words");
    words.expect("kGatherWordsNothing", kGatherWordsNothing,
                 {{"gather32", ".Lsome_words"}, {".Lnothing"}});
    words.expect("kGatherWordsFrame", kGatherWordsFrame, {{"gather32", ".Lword"}, {".Lnothing"}});
    words.expect("kGatherWordsWord", kGatherWordsWord, {{".Lword", ".Lnothing"}});
    CHECK(words.uncounted().empty());
}

TEST_CASE("transposing blocks costs what its texts have", "[kernels]") {
    struct Vertex {
        const char* name;
        std::int64_t block;
        Bytes element;
    };
    for (const char* type : {"f16", "f32"}) {
        CountedCodelet turn(fmt::format("spmm_turn_{}", type));
        for (const Vertex& vertex :
             {Vertex{"block4", 4, 0}, {"block8", 8, 0}, {"block16", 16, 0}, {"outputs16", 16, 2}}) {
            const bool is_half = type[1] == '1';
            if (vertex.element == 2 && !is_half) {
                continue;
            }
            const std::string name = fmt::format("spmm_turn_{}_{}", vertex.name, type);
            turn.expect("kTurnBlocksNothing", kTurnBlocksNothing,
                        {{name, ".Lsome_blocks_" + name}, {".Lend_" + name}});
            turn.expect("kTurnBlocksFrame", kTurnBlocksFrame,
                        {{name, ".Lblock_" + name}, {".Lend_" + name}});
            turn.expect("turn_blocks_issues",
                        turn_blocks_issues(vertex.block, is_half ? 2 : 4, 1) - kTurnBlocksFrame,
                        {{".Lblock_" + name, ".Lend_" + name}});
        }
        CHECK(turn.uncounted().empty());
    }
}

TEST_CASE("sampled products cost what their texts have", "[kernels]") {
    for (const char* type : {"f32", "single"}) {
        CountedCodelet sampled(fmt::format("spmm_sampled_{}", type));
        const std::string name = fmt::format("spmm_sampled_{}", type);
        sampled.expect("kSampledNothing", kSampledNothing, {{name, ".Lsome_units"}, {".Lnothing"}});
        sampled.expect("kSampledFrame", kSampledFrame, {{name, ".Lunit"}, {".Lnothing"}});
        sampled.expect("kSampledUnit", kSampledUnit,
                       {{".Lunit", ".Lnext"}, {".Lunit_done", ".Lnothing"}});
        sampled.expect("kSampledNext", kSampledNext, {{".Lnext", ".Lproduct"}});
        sampled.expect("kSampledProduct", kSampledProduct,
                       {{".Lproduct", ".Lword"}, {".Llast_word", ".Lunit_done"}});
        sampled.expect("kSampledWord", kSampledWord, {{".Lword", ".Llast_word"}});
        CHECK(sampled.uncounted().empty());
    }
}

TEST_CASE("sums of rows that a list names cost what their text has", "[kernels]") {
    CountedCodelet scatter("scatter_add");
    scatter.expect("kScatterAddNothing", kScatterAddNothing,
                   {{"scatter_add", ".Lsome_words"}, {".Lno_words"}});
    scatter.expect("kScatterAddFrame", kScatterAddFrame,
                   {{"scatter_add", ".Lnumber"}, {".Lno_words"}});
    scatter.expect("kScatterAddRow", kScatterAddRow,
                   {{".Lnumber", ".Lword"}, {".Lrow_end", ".Lno_words"}});
    scatter.expect("kScatterAddWord", kScatterAddWord, {{".Lword", ".Lrow_end"}});
    CHECK(scatter.uncounted().empty());
}

TEST_CASE("rows with a 1 where a list says cost what their text has", "[kernels]") {
    CountedCodelet one_hot("one_hot");
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const std::string name = fmt::format("one_hot_{}", suffix(type));
        one_hot.expect("kOneHotNothing", kOneHotNothing,
                       {{name, ".Lsome_rows_" + name}, {".Ldone_" + name}});
        one_hot.expect("kOneHotFrame", kOneHotFrame, {{name, ".Lrow_" + name}, {".Ldone_" + name}});
        one_hot.expect(
            "one_hot_row", one_hot_row(type),
            {{".Lrow_" + name, ".Lword_" + name}, {".Lend_word_" + name, ".Ldone_" + name}});
        one_hot.expect("kOneHotWord", kOneHotWord, {{".Lword_" + name, ".Lend_word_" + name}});
    }
    CHECK(one_hot.uncounted().empty());
}

TEST_CASE("gathers of rows cost what their texts have", "[kernels]") {
    CountedCodelet gather("gather_rows");
    gather.expect("kGatherRowsNothing", kGatherRowsNothing,
                  {{"gather_rows", ".Lsome_numbers"}, {".Lno_numbers"}});
    gather.expect("kGatherRowsFrame", kGatherRowsFrame,
                  {{"gather_rows", ".Lnumber"}, {".Lno_numbers"}});
    gather.expect("kGatherRow", kGatherRow,
                  {{".Lnumber", ".Lword"}, {".Lrow_end", ".Lno_numbers"}});
    gather.expect("kGatherRowWord", kGatherRowWord, {{".Lword", ".Lrow_end"}});
    gather.expect("kGatherRowsNothing", kGatherRowsNothing,
                  {{"join_rows", ".Lsome_words"}, {".Lno_words"}});
    gather.expect("kJoinRowsFrame", kJoinRowsFrame, {{"join_rows", ".Lsum"}, {".Lno_words"}});
    gather.expect("kJoinWord", kJoinWord, {{".Lsum", ".Lother"}, {".Lothers_end", ".Lno_words"}});
    gather.expect("kJoinOther", kJoinOther, {{".Lother", ".Lothers_end"}});
    CHECK(gather.uncounted().empty());
}

TEST_CASE("rearrangements cost what their texts have", "[kernels]") {
    CountedCodelet lines("rearrange");
    for (const auto& [name, item] :
         {std::pair<std::string, std::int64_t>{"rearrange_lines32", kRearrangeLinesItem},
          {"rearrange_lines64", kRearrangeLinesItem},
          {"rearrange_transpose_f16", kRearrangeTransposeItem},
          {"rearrange_cast_f16_f32", kRearrangeCastItem},
          {"rearrange_cast_f32_f16", kRearrangeCastItem}}) {
        lines.expect("kRearrangeNothing", kRearrangeNothing,
                     {{name, ".Lsome_lines_" + name}, {".Lend_" + name}});
        lines.expect("kRearrangeFrame", kRearrangeFrame,
                     {{name, ".Lline_" + name}, {".Lend_" + name}});
        lines.expect(
            "kRearrangeLine", kRearrangeLine,
            {{".Lline_" + name, ".Litem_" + name}, {".Lnext_line_" + name, ".Lend_" + name}});
        lines.expect("kRearrange...Item", item, {{".Litem_" + name, ".Lnext_line_" + name}});
    }
    CHECK(lines.uncounted().empty());

    CountedCodelet strided("rearrange_strided");
    strided.expect("kStrided8Frame", kStrided8Frame,
                   {{"rearrange_strided8", ".Litem8"}, {".Lend8"}});
    strided.expect("kStrided8Item", kStrided8Item, {{".Litem8", ".Lend8"}});
    strided.expect("kStrided16Frame", kStrided16Frame,
                   {{"rearrange_strided16", ".Litem16"}, {".Lend16"}});
    strided.expect("kStrided16Item", kStrided16Item, {{".Litem16", ".Lend16"}});
    CHECK(strided.uncounted().empty());
}

TEST_CASE("sums cost what their texts have", "[kernels]") {
    CountedCodelet sum("sum");
    sum.expect("kSumFrame", kSumFrame,
               {{"sum_f32", ".Lodd"}, {".Leven", ".Ltwo_operands"}, {".Lend"}});
    sum.expect("kSumOddOperand", kSumOddOperand, {{".Lodd", ".Leven"}});
    sum.expect("kSumTwoOperands", kSumTwoOperands, {{".Ltwo_operands", ".Lend"}});
    CHECK(sum.uncounted().empty());

    for (const ProductTypes& types : test::kProductTypes) {
        const std::string p = suffix(types);
        CountedCodelet reduce("reduce_add_" + p);
        reduce.expect("kReduceNothing", kReduceNothing,
                      {{"reduce_" + p, ".Lsome_units"}, {".Ldone"}});
        reduce.expect("kReduceFrame", kReduceFrame, {{"reduce_" + p, ".Lunit"}, {".Ldone"}});
        reduce.expect("reduce_unit_issues", reduce_unit_issues(types),
                      {{".Lunit", ".Lslice"}, {".Lend_unit", ".Ldone"}});
        reduce.expect("kReduceSlice", kReduceSlice, {{".Lslice", ".Lend_unit"}});
        CHECK(reduce.uncounted().empty());
    }
}

TEST_CASE("reductions of rows cost what their texts have", "[kernels]") {
    CountedCodelet half("reduce_rows_f16");
    CountedCodelet single("reduce_rows_f32");
    for (const auto& [reduction, op] :
         {std::pair<RowReduction, std::string>{RowReduction::Sum, "sum"},
          {RowReduction::Max, "max"}}) {
        const std::string h = "reduce_rows_" + op + "_f16";
        half.expect("kReduceRowsNothingF16", kReduceRowsNothingF16,
                    {{h, ".Lsome_rows_" + h}, {".Ldone_" + h}});
        half.expect("kReduceRowsFrameF16", kReduceRowsFrameF16,
                    {{h, ".Lpair_" + h}, {".Ldone_" + h}});
        half.expect("kReduceRowsPairF16", kReduceRowsPairF16,
                    {{".Lpair_" + h, ".Lrow_first_" + h},
                     {".Lend_row_first_" + h, ".Lrow_second_" + h},
                     {".Lend_row_second_" + h, ".Ldone_" + h}});
        for (const std::string& place : {"first_" + h, "second_" + h}) {
            half.expect("kReduceRowsRowF16", kReduceRowsRowF16,
                        {{".Lrow_" + place, ".Lquad_" + place},
                         {".Lend_quad_" + place, ".Ltail_" + place},
                         {".Lend_tail_" + place, ".Lend_row_" + place}});
            half.expect("kReduceRowsQuadF16", kReduceRowsQuadF16,
                        {{".Lquad_" + place, ".Lend_quad_" + place}});
            half.expect("reduce_rows_tail_f16", reduce_rows_tail_f16(reduction),
                        {{".Ltail_" + place, ".Lend_tail_" + place}});
        }

        const std::string s = "reduce_rows_" + op + "_f32";
        single.expect("kReduceRowsNothingF32", kReduceRowsNothingF32,
                      {{s, ".Lsome_rows_" + s}, {".Ldone_" + s}});
        single.expect("kReduceRowsFrameF32", kReduceRowsFrameF32,
                      {{s, ".Lrow_" + s}, {".Ldone_" + s}});
        single.expect("kReduceRowsPairF32", kReduceRowsPairF32,
                      {{".Lpair_" + s, ".Lend_pair_" + s}});
        const bool is_sum = reduction == RowReduction::Sum;
        const std::string behind = ".Lend_pair_" + s;
        single.expect(
            "reduce_rows_row_f32", reduce_rows_row_f32(reduction),
            is_sum ? std::vector<Span>{{".Lrow_" + s, ".Lpair_" + s},
                                       {behind, ".Lodd"},
                                       {".Leven", ".Ldone_" + s}}
                   : std::vector<Span>{{".Lrow_" + s, ".Lpair_" + s}, {behind, ".Ldone_" + s}});
    }
    single.expect("kReduceRowsOddSumF32", kReduceRowsOddSumF32, {{".Lodd", ".Leven"}});
    CHECK(half.uncounted().empty());
    CHECK(single.uncounted().empty());
}

TEST_CASE("norms of blocks cost what their texts have", "[kernels]") {
    CountedCodelet vertex("block_norms");
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const bool half = type == ElementType::F16;
        const std::string suffix = half ? "f16" : "f32";
        const std::string name = "block_norms_" + suffix;
        vertex.expect("kBlockNormsNothing", kBlockNormsNothing,
                      {{name, ".Lsome_blocks_" + name}, {".Ldone_" + name}});
        vertex.expect("kBlockNormsFrame", half ? kBlockNormsFrameF16 : kBlockNormsFrameF32,
                      {{name, ".Lblock_" + name}, {".Ldone_" + name}});
        vertex.expect(
            "kBlockNormsBlock", half ? kBlockNormsBlockF16 : kBlockNormsBlockF32,
            {{".Lblock_" + name, ".Lunit_" + suffix}, {".Lend_unit_" + suffix, ".Ldone_" + name}});
        vertex.expect("kBlockNormsUnit", kBlockNormsUnit,
                      {{".Lunit_" + suffix, ".Lend_unit_" + suffix}});
    }
    CHECK(vertex.uncounted().empty());
}

TEST_CASE("softmaxes cost what their texts have", "[kernels]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const std::string entry = fmt::format("softmax_{}", suffix(type));
        const SoftmaxCost cost = softmax_cost(type);
        const bool half = type == ElementType::F16;
        CountedCodelet vertex(entry);
        vertex.expect("kSoftmaxNothing", kSoftmaxNothing, {{entry, ".Lsome_rows"}, {".Ldone"}});
        vertex.expect("softmax_cost.frame", cost.frame, {{entry, ".Lrow"}, {".Ldone"}});
        const auto at = [&](const char* label) { return fmt::format("{}_{}", label, entry); };
        vertex.expect("softmax_cost.row", cost.row,
                      {{".Lrow", at(".Lmax")},
                       {at(".Lend_max"), at(".Lpair")},
                       {at(".Lend_pair"), at(".Lodd")},
                       {at(".Leven"), at(".Lscale")},
                       {at(".Lend_scale"), half ? at(".Lpad") : ".Ldone"},
                       {half ? at(".Lnext_row") : ".Ldone", ".Ldone"}});
        vertex.expect("kSoftmaxMaxPair", kSoftmaxMaxPair, {{at(".Lmax"), at(".Lend_max")}});
        vertex.expect("softmax_cost.pair", cost.pair, {{at(".Lpair"), at(".Lend_pair")}});
        vertex.expect("softmax_cost.odd", cost.odd, {{at(".Lodd"), at(".Leven")}});
        vertex.expect("kSoftmaxScalePair", kSoftmaxScalePair, {{at(".Lscale"), at(".Lend_scale")}});
        vertex.expect("softmax_cost.pad", cost.pad,
                      {{half ? at(".Lpad") : ".Ldone", half ? at(".Lnext_row") : ".Ldone"}});
        CHECK(vertex.uncounted().empty());
    }
}

TEST_CASE("softmaxes of rows that workers share cost what their texts have", "[kernels]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        CountedCodelet split(fmt::format("softmax_split_{}", suffix(type)));
        const std::string parts = fmt::format("softmax_parts_{}", suffix(type));
        const std::string join = fmt::format("softmax_join_{}", suffix(type));
        const SoftmaxCost cost = softmax_cost(type);
        const SoftmaxSplitCost row = softmax_split_cost(type);
        const bool half = type == ElementType::F16;
        split.expect("kSoftmaxPartsFrame", kSoftmaxPartsFrame,
                     {{parts, ".Lrow_parts"}, {".Ldone_parts"}});
        split.expect("softmax_split_cost.parts_row", row.parts_row,
                     {{".Lrow_parts", ".Lmax_" + parts},
                      {".Lend_max_" + parts, ".Lpair_" + parts},
                      {".Lend_pair_" + parts, ".Lodd_" + parts},
                      {".Leven_" + parts, ".Ldone_parts"}});
        split.expect("kSoftmaxMaxPair", kSoftmaxMaxPair,
                     {{".Lmax_" + parts, ".Lend_max_" + parts}});
        split.expect("softmax_cost.pair", cost.pair, {{".Lpair_" + parts, ".Lend_pair_" + parts}});
        split.expect("softmax_cost.odd", cost.odd, {{".Lodd_" + parts, ".Leven_" + parts}});
        split.expect("kSoftmaxJoinFrame", kSoftmaxJoinFrame,
                     {{join, ".Lrow_join"}, {".Ldone_join"}});
        split.expect("softmax_split_cost.join_row", row.join_row,
                     {{".Lrow_join", ".Lall"},
                      {".Lend_all", ".Lpart"},
                      {".Lend_part", ".Lscale_" + join},
                      {".Lend_scale_" + join, half ? ".Lpad_" + join : ".Ldone_join"},
                      {half ? ".Lnext_row_" + join : ".Ldone_join", ".Ldone_join"}});
        split.expect("kSoftmaxJoinAll", kSoftmaxJoinAll, {{".Lall", ".Lend_all"}});
        split.expect("kSoftmaxJoinPart", kSoftmaxJoinPart, {{".Lpart", ".Lend_part"}});
        split.expect("kSoftmaxScalePair", kSoftmaxScalePair,
                     {{".Lscale_" + join, ".Lend_scale_" + join}});
        split.expect("softmax_cost.pad", cost.pad,
                     {{half ? ".Lpad_" + join : ".Ldone_join",
                       half ? ".Lnext_row_" + join : ".Ldone_join"}});
        CHECK(split.uncounted().empty());
    }
}

TEST_CASE("softmaxes of scaled, masked and causal rows cost what their texts have", "[kernels]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        for (const auto& [kind, is_masked, is_causal] : {std::tuple{"scaled", false, false},
                                                         {"masked", true, false},
                                                         {"causal", false, true},
                                                         {"causal_mask", true, true}}) {
            const std::string whole = fmt::format("softmax_{}_{}", kind, suffix(type));
            const std::string parts = fmt::format("softmax_{}_parts_{}", kind, suffix(type));
            CountedCodelet codelet(whole);
            const SoftmaxScaledCost cost = softmax_scaled_cost({type, is_masked, is_causal});
            const bool half = type == ElementType::F16;
            CAPTURE(whole);
            codelet.expect("kSoftmaxNothing", kSoftmaxNothing,
                           {{whole, ".Lsome_rows"}, {".Ldone"}});
            codelet.expect("frame", cost.frame, {{whole, ".Lrow"}, {".Ldone"}});
            codelet.expect("parts_frame", cost.parts_frame,
                           {{parts, ".Lrow_parts"}, {".Ldone_parts"}});
            for (const std::string& name : {whole, parts}) {
                const auto at = [&](const char* label) {
                    return fmt::format("{}_{}", label, name);
                };
                codelet.expect("prepare", cost.prepare, {{at(".Lprepare"), at(".Lend_prepare")}});
                codelet.expect("kSoftmaxScaledOdd", kSoftmaxScaledOdd,
                               {{at(".Lodd"), at(".Lprepared")}});
                codelet.expect("kSoftmaxScaledExpPair", kSoftmaxScaledExpPair,
                               {{at(".Lpair"), at(".Lend_pair")}});
                const bool is_whole = name == whole;
                const std::string end = is_whole ? at(".Lscale") : ".Ldone_parts";
                std::vector<Span> row{{is_whole ? ".Lrow" : ".Lrow_parts", at(".Lprepare")},
                                      {at(".Lend_prepare"), at(".Lodd")},
                                      {at(".Lprepared"), at(".Lpair")},
                                      {at(".Lend_pair"), is_causal ? at(".Lhide") : end}};
                if (is_causal) {
                    codelet.expect("kSoftmaxScaledHide", kSoftmaxScaledHide,
                                   {{at(".Lhide"), at(".Lend_hide")}});
                    row.push_back({at(".Lend_hide"), end});
                }
                if (is_whole) {
                    row.push_back({at(".Lend_scale"), half ? at(".Lpad") : ".Ldone"});
                    row.push_back({half ? at(".Lnext_row") : ".Ldone", ".Ldone"});
                }
                codelet.expect("row", is_whole ? cost.row : cost.parts_row, row);
            }
            codelet.expect("kSoftmaxScalePair", kSoftmaxScalePair,
                           {{".Lscale_" + whole, ".Lend_scale_" + whole}});
            codelet.expect(
                "softmax_cost.pad", softmax_cost(type).pad,
                {{half ? ".Lpad_" + whole : ".Ldone", half ? ".Lnext_row_" + whole : ".Ldone"}});
            CHECK(codelet.uncounted().empty());
        }
    }
}

TEST_CASE("gradients of softmaxes cost what their texts have", "[kernels]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        CountedCodelet codelet(fmt::format("softmax_gradient_{}", suffix(type)));
        for (const std::string part : {"sums", "apply"}) {
            const std::string entry = fmt::format("softmax_gradient_{}_{}", part, suffix(type));
            const bool sums = part == "sums";
            const auto at = [&](const char* label) { return fmt::format("{}_{}", label, part); };
            codelet.expect("kSoftmaxGradientNothing", kSoftmaxGradientNothing,
                           {{entry, at(".Lsome_rows")}, {at(".Ldone")}});
            codelet.expect("frame", sums ? kSoftmaxGradientSumsFrame : kSoftmaxGradientApplyFrame,
                           {{entry, at(".Lrow")}, {at(".Ldone")}});
            codelet.expect("unit",
                           sums ? kSoftmaxGradientSumsUnit : softmax_gradient_apply_unit(type),
                           {{at(".Lunit"), at(".Lend_unit")}});
            if (sums) {
                codelet.expect("kSoftmaxGradientSumsRow", kSoftmaxGradientSumsRow,
                               {{at(".Lrow"), at(".Lunit")},
                                {at(".Lend_unit"), at(".Ltail")},
                                {at(".Lwhole"), at(".Ldone")}});
                codelet.expect("kSoftmaxGradientSumsTail", kSoftmaxGradientSumsTail,
                               {{at(".Ltail"), at(".Lwhole")}});
            } else {
                codelet.expect("kSoftmaxGradientApplyRow", kSoftmaxGradientApplyRow,
                               {{at(".Lrow"), at(".Lpart")},
                                {at(".Lend_part"), at(".Lunit")},
                                {at(".Lend_unit"), at(".Ldone")}});
                codelet.expect("kSoftmaxGradientApplyShare", kSoftmaxGradientApplyShare,
                               {{at(".Lpart"), at(".Lend_part")}});
            }
        }
        CHECK(codelet.uncounted().empty());
    }
}

namespace {

/// Vertex `entry`, whose labels end in `part`. Rounds are units, or pairs of elements behind `.Lpair`.
void expect_row_shares(CountedCodelet& codelet, const std::string& entry, const std::string& part,
                       const RowShareCost& cost, const std::string& round = ".Lunit") {
    const auto at = [&](const std::string& label) { return fmt::format("{}_{}", label, part); };
    const auto end_of = [&](const std::string& label) { return at(".Lend_" + label.substr(2)); };
    codelet.expect("kLayerNormNothing", kLayerNormNothing,
                   {{entry, at(".Lsome_rows")}, {at(".Ldone")}});
    codelet.expect("frame", cost.frame, {{entry, at(".Lrow")}, {at(".Ldone")}});
    codelet.expect("round", cost.round, {{at(round), end_of(round)}});
    std::vector<Span> row;
    std::string from = at(".Lrow");
    if (cost.share > 0) {
        codelet.expect("share", cost.share, {{at(".Lpart"), at(".Lend_part")}});
        row.push_back({from, at(".Lpart")});
        from = at(".Lend_part");
    }
    row.push_back({from, at(round)});
    from = end_of(round);
    if (cost.tail > 0) {
        const bool is_odd = round == ".Lpair";
        const std::string tail = at(is_odd ? ".Lodd" : ".Ltail");
        const std::string behind = at(is_odd ? ".Leven" : ".Lend_tail");
        codelet.expect("tail", cost.tail, {{tail, behind}});
        row.push_back({from, tail});
        from = behind;
    }
    row.push_back({from, at(".Ldone")});
    codelet.expect("row", cost.row, row);
}

} // namespace

TEST_CASE("sums of columns cost what their text has", "[kernels]") {
    CountedCodelet codelet("column_sums");
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const std::string name = fmt::format("column_sums_{}", suffix(type));
        codelet.expect("kColumnSumsNothing", kColumnSumsNothing,
                       {{name, ".Lsome_units_" + name}, {".Ldone_" + name}});
        codelet.expect("kColumnSumsFrame", kColumnSumsFrame,
                       {{name, ".Lunit_" + name}, {".Ldone_" + name}});
        codelet.expect("kColumnSumsRow", kColumnSumsRow, {{".Lrow_" + name, ".Lend_row_" + name}});
        codelet.expect(
            "column_sums_unit", column_sums_unit(type),
            {{".Lunit_" + name, ".Lrow_" + name}, {".Lend_row_" + name, ".Ldone_" + name}});
    }
    CHECK(codelet.uncounted().empty());
}

TEST_CASE("layer norms and their gradients cost what their texts have", "[kernels]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        const auto entry = [&](const char* part) {
            return fmt::format("layer_norm_{}_{}", part, suffix(type));
        };
        CountedCodelet forward(fmt::format("layer_norm_{}", suffix(type)));
        expect_row_shares(forward, entry("sums"), "sums", layer_norm_sums_cost(type));
        expect_row_shares(forward, entry("squares"), "squares", layer_norm_squares_cost(type));
        expect_row_shares(forward, entry("apply"), "apply", layer_norm_apply_cost(type));
        CHECK(forward.uncounted().empty());
        CountedCodelet gradient(fmt::format("layer_norm_gradient_{}", suffix(type)));
        expect_row_shares(gradient, entry("gradient_sums"), "sums",
                          layer_norm_gradient_sums_cost(type), ".Lpair");
        expect_row_shares(gradient, entry("gradient_apply"), "apply",
                          layer_norm_gradient_apply_cost(type), ".Lpair");
        CHECK(gradient.uncounted().empty());
    }
}

namespace {

/// `waits`: issues of a round that no instruction makes.
void expect_map(CountedCodelet& codelet, const std::string& name, const MapLoop& cost,
                std::int64_t waits = 0) {
    codelet.expect("MapLoop.nothing", cost.nothing,
                   {{name, ".Lsome_rows_" + name}, {".Lend_" + name}});
    codelet.expect("MapLoop.frame", cost.frame, {{name, ".Lrow_" + name}, {".Lend_" + name}});
    codelet.expect("kMapLastRow", kMapLastRow, {{".Llast_" + name, ".Lwhole_" + name}});
    // units that are no rounds wait as those of rounds do
    codelet.expect("MapLoop.row", cost.row - cost.ahead * waits,
                   {{".Lrow_" + name, ".Llast_" + name},
                    {".Lwhole_" + name, ".Lunit_" + name},
                    {".Lend_unit_" + name, ".Lend_" + name}});
    codelet.expect("MapLoop.round", cost.round - waits, {{".Lunit_" + name, ".Lend_unit_" + name}});
}

} // namespace

TEST_CASE("functions of every element cost what their texts have", "[kernels]") {
    CountedCodelet relu("elementwise_relu");
    CountedCodelet relu_gradient("elementwise_relu_gradient");
    CountedCodelet scale("elementwise_scale");
    CountedCodelet add("elementwise_add");
    CountedCodelet add_whole("elementwise_add_i32");
    expect_map(add_whole, "add_i32", kAddWholeLoop);
    CountedCodelet multiply("elementwise_multiply");
    CountedCodelet arithmetic("elementwise_arithmetic");
    for (const std::string type : {"f16", "f32"}) {
        expect_map(relu, "relu_" + type, kReluLoop);
        expect_map(relu_gradient, "relu_gradient_" + type, kReluGradientLoop);
        expect_map(scale, "scale_" + type, kScaleLoop);
        expect_map(add, "add_" + type, kAddLoop);
        expect_map(multiply, "multiply_" + type, kMultiplyLoop);
        for (const char* const name : {"subtract_", "maximum_", "minimum_"}) {
            expect_map(arithmetic, name + type, kArithmeticLoop);
        }
    }
    CountedCodelet cast("elementwise_cast");
    expect_map(cast, "cast_f16_f32", kWidenLoop);
    expect_map(cast, "cast_f32_f16", kNarrowLoop);
    CountedCodelet whole("elementwise_whole");
    CountedCodelet cast_whole("elementwise_cast_whole");
    for (const std::string type : {"i32", "u32"}) {
        expect_map(cast_whole, "cast_" + type + "_f32", kFromWholeLoop);
        expect_map(cast_whole, "cast_f32_" + type, kToWholeLoop);
        expect_map(whole, "narrow_" + type, kNarrowWholeLoop);
        const MapLoop chosen = type == "i32" ? kWholeLoop : kWholeSelectLoop;
        expect_map(whole, "maximum_" + type, chosen);
        expect_map(whole, "minimum_" + type, chosen);
    }
    expect_map(cast_whole, "cast_words", kWordsLoop);
    expect_map(whole, "subtract_i32", kWholeLoop);
    expect_map(whole, "multiply_i32", kWholeLoop);
    CountedCodelet divide("elementwise_divide");
    expect_map(divide, "divide_f16", kDivideF16Loop, 4 * kDivisionWaits);
    expect_map(divide, "divide_f32", kDivideF32Loop, 2 * kDivisionWaits);
    CountedCodelet exponential("elementwise_exponential");
    expect_map(exponential, "exp_f16", kExpF16Loop, 2 * kHalfExpWaits);
    expect_map(exponential, "exp_f32", kExpF32Loop, 2 * kExpWaits);
    expect_map(exponential, "log_f16", kExpF16Loop, 2 * kHalfExpWaits);
    expect_map(exponential, "log_f32", kLogF32Loop, 2 * kLogWaits);
    expect_map(exponential, "sqrt_f16", kSqrtF16Loop, 4 * kRootWaits);
    expect_map(exponential, "sqrt_f32", kSqrtF32Loop, 2 * kRootWaits);
    CountedCodelet dropout("elementwise_dropout");
    expect_map(dropout, "dropout_f16", kDropoutLoop);
    expect_map(dropout, "dropout_f32", kDropoutLoop);
    CountedCodelet gelu("elementwise_gelu");
    expect_map(gelu, "gelu_f16", kGeluF16Loop);
    expect_map(gelu, "gelu_f32", kGeluF32Loop, 2 * kSigmWaits);
    CountedCodelet scaled_add("elementwise_scaled_add");
    expect_map(scaled_add, "scaled_add_f16", kScaledAddLoop);
    expect_map(scaled_add, "scaled_add_f32", kScaledAddLoop);
    expect_map(scaled_add, "scaled_add_f32_f16", kScaledAddMixedLoop);
    CountedCodelet gelu_gradient("elementwise_gelu_gradient");
    expect_map(gelu_gradient, "gelu_gradient_f16", kGeluGradientF16Loop, 2 * kHalfSigmWaits);
    expect_map(gelu_gradient, "gelu_gradient_f32", kGeluGradientF32Loop, 2 * kSigmWaits);
    CountedCodelet adam("elementwise_adam");
    adam.expect("kAdamCorrections", kAdamCorrections - 2 * kDivisionWaits, {{"adam_corrections"}});
    constexpr std::int64_t kWaits = 2 * (kRootWaits + kDivisionWaits);
    expect_map(adam, "adam_moments_f16", kAdamMomentsF16Loop);
    expect_map(adam, "adam_moments_f32", kAdamMomentsF32Loop);
    expect_map(adam, "adam_apply_f16", kAdamApplyF16Loop, kWaits);
    expect_map(adam, "adam_apply_f32", kAdamApplyF32Loop, kWaits);
    CountedCodelet lamb("elementwise_lamb");
    lamb.expect("kLambScalars", kLambScalars - kRootWaits - kDivisionWaits, {{"lamb_scalars"}});
    expect_map(lamb, "lamb_norms_f16", kLambNormsF16Loop, kWaits);
    expect_map(lamb, "lamb_norms_f32", kLambNormsF32Loop, kWaits);
    CountedCodelet squares("elementwise_squares");
    CountedCodelet scale_by("elementwise_scale_by");
    expect_map(scale_by, "scale_by_f16", kScaleByF16Loop);
    expect_map(scale_by, "scale_by_f32", kScaleByF32Loop);
    CountedCodelet logistic("elementwise_logistic");
    expect_map(logistic, "tanh_f16", kTanhF16Loop);
    expect_map(logistic, "tanh_f32", kTanhF32Loop, 2 * kSigmWaits);
    expect_map(logistic, "swish_f16", kSwishF16Loop, 2 * kHalfSigmWaits);
    expect_map(logistic, "swish_f32", kSwishF32Loop, 2 * kSigmWaits);
    expect_map(logistic, "swish_gradient_f16", kSwishGradientF16Loop, 2 * kHalfSigmWaits);
    expect_map(logistic, "swish_gradient_f32", kSwishGradientF32Loop, 2 * kSigmWaits);
    expect_map(logistic, "sigmoid_f16", kSigmoidF16Loop, 2 * kHalfSigmWaits);
    expect_map(logistic, "sigmoid_f32", kSigmoidF32Loop, 2 * kSigmWaits);
    CountedCodelet glu("elementwise_glu");
    expect_map(glu, "glu_f16", kGluF16Loop, 2 * kHalfSigmWaits);
    expect_map(glu, "glu_f32", kGluF32Loop, 2 * kSigmWaits);
    CountedCodelet rsqrt("elementwise_rsqrt");
    expect_map(rsqrt, "rsqrt_f16", kRsqrtF16Loop, 4 * kOverRootWaits);
    expect_map(rsqrt, "rsqrt_f32", kRsqrtF32Loop, 2 * kOverRootWaits);
    for (const std::string type : {"f16", "f32"}) {
        expect_map(rsqrt, "rsqrt_gradient_" + type, kRsqrtGradientLoop);
        expect_map(logistic, "tanh_gradient_" + type, kLogisticGradientLoop);
        expect_map(logistic, "sigmoid_gradient_" + type, kLogisticGradientLoop);
        expect_map(squares, "squares_" + type, kSquaresLoop);
        expect_map(squares, "squares_of_difference_" + type, kSquaresOfDifferenceLoop);
    }
    for (const CountedCodelet& codelet :
         {relu, relu_gradient, scale,      add,   add_whole,  multiply, cast,       dropout,
          gelu, gelu_gradient, scaled_add, adam,  lamb,       squares,  scale_by,   logistic,
          glu,  rsqrt,         arithmetic, whole, cast_whole, divide,   exponential}) {
        CHECK(codelet.uncounted().empty());
    }
}

TEST_CASE("cross entropies cost what their texts have", "[kernels]") {
    for (const ElementType type : {ElementType::F16, ElementType::F32}) {
        CountedCodelet codelet(fmt::format("cross_entropy_{}", suffix(type)));
        const std::string name = fmt::format("cross_entropy_parts_{}", suffix(type));
        const CrossEntropyCost cost = cross_entropy_cost(type);
        codelet.expect("kCrossEntropyPartsNothing", kCrossEntropyPartsNothing,
                       {{name, ".Lsome_rows"}, {".Ldone"}});
        codelet.expect("kCrossEntropyPartsFrame", kCrossEntropyPartsFrame,
                       {{name, ".Lrow"}, {".Ldone"}});
        codelet.expect("kCrossEntropyMaxUnit", kCrossEntropyMaxUnit, {{".Lmax", ".Lend_max"}});
        codelet.expect("kCrossEntropyMaxTail", kCrossEntropyMaxTail,
                       {{".Ltail_max", ".Lwhole_max"}});
        codelet.expect("pair", cost.pair, {{".Lpair", ".Lend_pair"}});
        codelet.expect("tail", cost.tail, {{".Ltail_sum", ".Lwhole_sum"}});
        codelet.expect("row", cost.row,
                       {{".Lrow", ".Lmax"},
                        {".Lend_max", ".Ltail_max"},
                        {".Lwhole_max", ".Lpair"},
                        {".Lend_pair", ".Ltail_sum"},
                        {".Lwhole_sum", ".Ldone"}});
        CHECK(codelet.uncounted().empty());
    }
    CountedCodelet join("cross_entropy_join");
    join.expect("kCrossEntropyJoinNothing", kCrossEntropyJoinNothing,
                {{"cross_entropy_join", ".Lsome_rows"}, {".Ldone"}});
    join.expect("kCrossEntropyJoinFrame", kCrossEntropyJoinFrame,
                {{"cross_entropy_join", ".Lrow"}, {".Ldone"}});
    join.expect("kCrossEntropyJoinRow", kCrossEntropyJoinRow,
                {{".Lrow", ".Lall"},
                 {".Lend_all", ".Lpart"},
                 {".Lend_part", ".Ldot"},
                 {".Lend_dot", ".Ldone"}});
    join.expect("kCrossEntropyJoinMax", kCrossEntropyJoinMax, {{".Lall", ".Lend_all"}});
    join.expect("kCrossEntropyJoinPart", kCrossEntropyJoinPart, {{".Lpart", ".Lend_part"}});
    join.expect("kCrossEntropyJoinDot", kCrossEntropyJoinDot, {{".Ldot", ".Lend_dot"}});
    CHECK(join.uncounted().empty());
}

TEST_CASE("sums of pairs cost what their text has", "[kernels]") {
    CountedCodelet sums("sum_pairs");
    for (const auto& [name, frame] :
         {std::pair<std::string, std::int64_t>{"sum_pairs", kSumPairsFrame},
          {"sum_pairs_total", kSumPairsTotalFrame}}) {
        sums.expect("kSumPairsFrame", frame, {{name, ".Lpair_" + name}, {".Lend_" + name}});
        sums.expect("kSumPairsPair", kSumPairsPair, {{".Lpair_" + name, ".Lend_" + name}});
    }
    CHECK(sums.uncounted().empty());
}

TEST_CASE("element-wise sparse products cost what their texts have", "[kernels]") {
    for (const ProductTypes& types : test::kProductTypes) {
        const std::string entry = fmt::format("spmm_elementwise_{}", suffix(types));
        CountedCodelet vertex(entry);
        vertex.expect("kElementwiseNothing", kElementwiseNothing,
                      {{entry, ".Lsome_rows"}, {".Ldone"}});
        vertex.expect("kElementwiseFrame", kElementwiseFrame, {{entry, ".Lgroup"}, {".Ldone"}});
        vertex.expect("kElementwiseGroup", kElementwiseGroup,
                      {{".Lgroup", ".Lfirst_row"}, {".Llast", ".Ldone"}});
        // The loop goes round for all non-zeros of a row but one.
        vertex.expect("kElementwiseNonZero", kElementwiseNonZero,
                      {{".Lnon_zero_of_first_row", ".Lend_first_row"}});
        vertex.expect("kElementwiseNonZero", kElementwiseNonZero, {{".Lnon_zero", ".Lend_row"}});
        vertex.expect("elementwise_row_issues", elementwise_row_issues(types),
                      {{".Lfirst_row", ".Lnon_zero_of_first_row"},
                       {".Lnon_zero_of_first_row", ".Lend_first_row", -1},
                       {".Lend_first_row", ".Lrow"}});
        vertex.expect(
            "elementwise_row_issues", elementwise_row_issues(types),
            {{".Lrow", ".Lnon_zero"}, {".Lnon_zero", ".Lend_row", -1}, {".Lend_row", ".Llast"}});
        CHECK(vertex.uncounted().empty());
    }
}

namespace {

void expect_few_rows(CountedCodelet& vertex, const std::string& constant, const AmpFewRows& cost,
                     const std::vector<Span>& spans) {
    vertex.expect(constant + ".steps", cost.steps, spans, Counted::MatrixSteps);
    vertex.expect(constant + ".others", cost.others, spans, Counted::Others);
}

void expect_many_rows(CountedCodelet& vertex, const std::string& constant, const AmpManyRows& cost,
                      const Span& before, const Span& behind) {
    vertex.expect(constant + ".steps_before", cost.steps_before, {before}, Counted::MatrixSteps);
    vertex.expect(constant + ".steps_behind", cost.steps_behind, {behind}, Counted::MatrixSteps);
    vertex.expect(constant + ".others", cost.others, {before, behind}, Counted::Others);
    const Span loop{before.to, behind.from};
    vertex.expect("kAmpRowSteps", kAmpRowSteps, {loop}, Counted::MatrixSteps);
    vertex.expect("kAmpRowSteps", kAmpRowSteps, {loop});
}

} // namespace

TEST_CASE("matrix products cost what their texts have", "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        const std::string p = suffix(partials);
        const std::string fresh = "amp_fresh_" + p;
        const std::string add = "amp_add_" + p;
        CountedCodelet vertex("matmul_amp_" + p);
        vertex.expect("kMatmulStart", kMatmulStart, {{".Lstart_fresh", ".Lstart_add"}});
        vertex.expect("kMatmulStart", kMatmulStart, {{".Lstart_add", ".Lstarted"}});
        vertex.expect("kMatmulNextOutFresh", kMatmulNextOutFresh, {{".Lnext_out_fresh", fresh}});
        vertex.expect("kMatmulNextOutAdd", kMatmulNextOutAdd, {{".Lnext_out_add", ".Lnext_k_add"}});
        vertex.expect("kMatmulNextK", kMatmulNextK, {{".Lnext_k_add", add}});

        expect_many_rows(vertex, "kAmpFresh", kAmpFresh, {fresh, ".Lrow_fresh"}, {".Ldrain_fresh"});
        expect_few_rows(vertex, "kAmpFreshOne", kAmpFreshOne,
                        {{fresh, ".Lmany_fresh"}, {".Lfew_fresh"}});
        expect_few_rows(vertex, "kAmpFreshNone", kAmpFreshNone,
                        {{fresh, ".Lmany_fresh"}, {".Lfew_fresh", ".Lone_fresh"}, {".Lnone"}});
        expect_many_rows(vertex, "kAmpAdd", kAmpAdd, {add, ".Lrow_add"}, {".Ldrain_add"});
        expect_few_rows(vertex, "kAmpAddTwo", kAmpAddTwo, {{add, ".Lmany_add"}, {".Lfew_add"}});
        expect_few_rows(vertex, "kAmpAddOne", kAmpAddOne,
                        {{add, ".Lmany_add"}, {".Lfew_add", ".Ltwo_add"}, {".Lfewer_add"}});
        expect_few_rows(vertex, "kAmpAddNone", kAmpAddNone,
                        {{add, ".Lmany_add"},
                         {".Lfew_add", ".Ltwo_add"},
                         {".Lfewer_add", ".Lone_add"},
                         {".Lnone"}});

        const spec::MachineSpec machine;
        for (const bool is_fresh : {true, false}) {
            SupervisorTimeline time(machine);
            run_matmul(time, machine.amp, partials, {20, 2, 3, is_fresh});
            const Span entry = is_fresh ? Span{"matmul_" + p + "_fresh", "matmul_" + p + "_add"}
                                        : Span{"matmul_" + p + "_add", ".Lwalk"};
            vertex.expect("run_matmul, 2 out groups, 3 k groups", time.issues(),
                          {entry,
                           {".Lwalk", ".Lload"},
                           {".Lload", ".Lloaded_group", 2 * 3},
                           {".Lloaded_group", ".Lloaded", 2},
                           {".Lloaded", ".Lstart_fresh"}});
        }
        CHECK(vertex.uncounted().empty());
    }
}

TEST_CASE("block-sparse products cost what their texts have", "[kernels]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        const std::string entry = fmt::format("spmm_block16_{}", suffix(partials));
        CountedCodelet vertex(entry);
        vertex.expect("kBlock16Columns", kBlock16Columns, {{".Lcolumns", entry + "_fresh"}});
        vertex.expect("kBlock16Addresses", kBlock16Addresses, {{entry + "_fresh", entry + "_add"}});
        vertex.expect("kBlock16Addresses", kBlock16Addresses, {{entry + "_add", ".Lend"}});
        const spec::MachineSpec machine;
        SupervisorTimeline time(machine);
        run_block16(time, machine.amp, partials, 20, {true, false, true});
        vertex.expect("run_block16, 3 entries", time.issues(),
                      {{entry, ".Lload"}, {".Lload", ".Lloaded", 3}, {".Lloaded", ".Lcolumns"}});
        CHECK(vertex.uncounted().empty());
    }
}

TEST_CASE("selecting the largest elements costs what its texts have", "[kernels]") {
    const auto expect = [](CountedCodelet& codelet, TopKElement element, ElementType type,
                           const std::string& names, const std::string& label) {
        codelet.expect("top_k_keys_frame", top_k_keys_frame(type),
                       {{"top_k_keys_" + names, ".Lvalue" + label},
                        {".Lvalues_end" + label, ".Lother" + label},
                        {".Lothers_end" + label}});
        codelet.expect("top_k_key", top_k_key(element),
                       {{".Lvalue" + label, ".Lvalues_end" + label}});
        codelet.expect("top_k_other", top_k_other(element),
                       {{".Lother" + label, ".Lothers_end" + label}});
        codelet.expect("kTopKResultsFrame", kTopKResultsFrame,
                       {{"top_k_results_" + names, ".Lresult" + label}, {".Lresults_end" + label}});
        codelet.expect("top_k_result", top_k_result(type),
                       {{".Lresult" + label, ".Lresults_end" + label}});
    };
    for (const TopKElement element : {TopKElement::Word, TopKElement::Pair}) {
        const bool is_word = element == TopKElement::Word;
        CountedCodelet codelet(is_word ? "top_k_words" : "top_k_pairs");
        if (is_word) {
            expect(codelet, element, ElementType::F16, "words", "");
        } else {
            expect(codelet, element, ElementType::F16, "pairs_f16", "_f16");
            expect(codelet, element, ElementType::F32, "pairs_f32", "_f32");
        }
        codelet.expect("kTopKSortFrame", kTopKSortFrame,
                       {{".Lsort", ".Lsort_pair"}, {".Lsort_end"}});
        codelet.expect("top_k_comparison", top_k_comparison(element, false),
                       {{".Lsort_pair", ".Lsort_end"}});
        codelet.expect("kTopKHalveFrame", kTopKHalveFrame,
                       {{".Lhalve", ".Lhalve_pair"}, {".Lhalve_end"}});
        codelet.expect("top_k_comparison", top_k_comparison(element, true),
                       {{".Lhalve_pair", ".Lhalve_end"}});
        SupervisorTimeline time{spec::MachineSpec{}};
        run_top_k_select(time, element, std::vector<TopKStage>(3));
        const std::string entry = is_word ? "top_k_select_words" : "top_k_select_pairs";
        codelet.expect(
            "run_top_k_select, 3 stages", time.issues(),
            {{entry, ".Lstage"}, {".Lstage", ".Lstages_end", 3}, {".Lstages_end", ".Lsort"}});
        CHECK(codelet.uncounted().empty());
    }
}

TEST_CASE("an instruction more in a codelet shows by its labels and both counts", "[kernels]") {
    std::vector<isa::SourceFile> sources = sources_with_all_labels();
    for (isa::SourceFile& source : sources) {
        const std::string loop = "Lunit:\n";
        const std::size_t at = source.text.find(loop);
        if (source.name == "reduce_add.S") {
            REQUIRE(at != std::string::npos);
            source.text.insert(at + loop.size(), "        { nop ; fnop }\n");
        }
    }
    CountedCodelet longer("reduce_add_f16", sources);
    const std::vector<Span> spans = {{".Lunit", ".Lslice"}, {".Lend_unit", ".Ldone"}};
    const std::int64_t counted = longer.count(spans);
    CHECK(counted == reduce_unit_issues(of_f16(ElementType::F16)) + 1);
    CHECK(longer.message("reduce_unit_issues", 8, spans, counted) ==
          fmt::format("reduce_add_f16.S: .Lunit to .Lslice, .Lend_unit to .Ldone: {} in the "
                      "codelet, 8 in its cost (reduce_unit_issues)",
                      counted));
}
