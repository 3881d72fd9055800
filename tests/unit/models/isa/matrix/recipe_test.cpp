// SPDX-License-Identifier: MIT
// Whole passes through the matrix unit by the published recipe, as assembly text, for every
// combination of types and number of engines; what the instructions cost; and that their text and
// words belong together.
#include "base/float16.h"
#include "models/isa/instruction.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <random>

using namespace tessera;

namespace {

constexpr Address kInputs = 0x80000;
constexpr Address kPartials = 0x88000;
constexpr Address kResults = 0xa0000;
constexpr Address kWeights = 0xb0000;

struct PassForm {
    const char* mnemonic;
    bool half_inputs;
    bool half_partials;
    bool half_results;
    int sets;
};

constexpr PassForm kForms[] = {
    {"f16v4hihoamp", true, true, true, 1},   {"f16v4sihoamp", true, false, true, 1},
    {"f16v4sisoamp", true, false, false, 1}, {"f16v4hihov4amp", true, true, true, 2},
    {"f32sisoamp", false, false, false, 1},  {"f32sisov2amp", false, false, false, 2},
};

/// A pass over `pixels` with `engines` engines: 2 engines outputs a set, and 4 engines (FP16) or 2
/// engines (FP32) inputs.
class Pass {
public:
    Pass(const PassForm& form, int engines, int pixels)
        : form_(form), engines_(engines), pixels_(pixels),
          phases_(form.half_inputs ? engines : 2 * engines), outputs_(2 * engines * form.sets),
          inputs_((form.half_inputs ? 4 : 1) * phases_) {
        std::mt19937 random(static_cast<unsigned>(engines));
        const auto draw = [&random] { return static_cast<int>(random() % 9) - 4; };
        x_.resize(static_cast<std::size_t>(pixels * inputs_));
        w_.resize(static_cast<std::size_t>(outputs_ * inputs_));
        p_.resize(static_cast<std::size_t>(pixels * outputs_));
        for (auto* values : {&x_, &w_, &p_}) {
            std::generate(values->begin(), values->end(), draw);
        }
    }

    [[nodiscard]] std::vector<int> expected() const {
        std::vector<int> result = p_;
        for (int pixel = 0; pixel < pixels_; ++pixel) {
            for (int c = 0; c < outputs_; ++c) {
                for (int k = 0; k < inputs_; ++k) {
                    result[at(pixel, c, outputs_)] +=
                        x_[at(pixel, k, inputs_)] * w_[at(c, k, inputs_)];
                }
            }
        }
        return result;
    }

    [[nodiscard]] std::vector<int> run() const {
        std::string text = fmt::format(
            ".supervisor\n.globl start\nstart: setzi $m0, {}\nput $CCCSLOAD, $m0\n", kWeights);
        for (int i = 0; i < 64; ++i) {
            text += fmt::format("ld64putcs {}\n", i);
        }
        text += "setzi $m0, worker\nrun $m0, $mzero, 0\nsync TEXCH_SYNCZONE_LOCAL\nbr "
                "$lr\n.worker\n.align 8\nworker:\n" +
                body() + "exitz $mzero\n";
        test::AssembledTile tile(text);
        write(tile, kInputs, x_, form_.half_inputs);
        write(tile, kPartials, p_, form_.half_partials);
        write(tile, kWeights, weights(), form_.half_inputs);
        tile.run();
        std::vector<int> results;
        for (std::size_t i = 0; i < p_.size(); ++i) {
            results.push_back(static_cast<int>(
                form_.half_results ? f16_to_f32(tile.read<std::uint16_t>(kResults, p_.size())[i])
                                   : tile.read<float>(kResults, p_.size())[i]));
        }
        return results;
    }

private:
    static std::size_t at(int row, int column, int columns) {
        return static_cast<std::size_t>(row * columns + column);
    }

    static void write(test::AssembledTile& tile, Address address, const std::vector<int>& values,
                      bool half) {
        if (half) {
            std::vector<std::uint16_t> halves;
            for (const int value : values) {
                halves.push_back(f32_to_f16(static_cast<float>(value)));
            }
            tile.write(address, halves);
        } else {
            tile.write(address, std::vector<float>(values.begin(), values.end()));
        }
    }

    /// All 64 registers: output c of two sets is set (c >> 1) & 1, unit 2 * (c >> 2) + (c & 1); of
    /// one set unit c.
    [[nodiscard]] std::vector<int> weights() const {
        const int per_unit = form_.half_inputs ? 16 : 8;
        std::vector<int> all(static_cast<std::size_t>(16 * per_unit), 0);
        for (int c = 0; c < outputs_; ++c) {
            const int unit = form_.sets == 2 ? 8 * ((c >> 1) & 1) + 2 * (c >> 2) + (c & 1) : c;
            for (int k = 0; k < inputs_; ++k) {
                all[at(unit, k, per_unit)] = w_[at(c, k, inputs_)];
            }
        }
        return all;
    }

    [[nodiscard]] std::string body() const {
        std::string text = fmt::format("setzi $m4, {}\nsetzi $m5, {}\nsetzi $m6, {}\n", kInputs,
                                       kPartials, kResults);
        const char* x = form_.half_inputs ? "$a0:1" : "$a0";
        const bool two_words = form_.sets == 2 || !form_.half_partials;
        const char* p = two_words ? "$a2:3" : "$a2";
        const char* d = form_.half_results && form_.sets == 1 ? "$a4" : "$a4:5";
        const char* flag = form_.half_inputs ? "TAMP_F16V4" : "TAMP_F32";
        for (int group = 0; group < pixels_ + 2; ++group) {
            for (int phase = 0; phase < phases_; ++phase) {
                const bool moves = form_.half_inputs || form_.sets == 2 || phase % 2 == 0;
                const bool has_input = group >= 1 && group <= pixels_;
                const bool has_partial = group < pixels_ && moves;
                if (has_input) {
                    text += fmt::format("{} {}, $mzero, $m4+=, 1\n",
                                        form_.half_inputs ? "ld64step" : "ld32step", x);
                }
                if (has_partial) {
                    text += fmt::format("{} {}, $mzero, $m5+=, 1\n",
                                        two_words ? "ld64step" : "ld32step", p);
                }
                text += fmt::format("{} {}, {}, {}, {}_E{}_P{}\n", form_.mnemonic, d,
                                    has_input ? x : (form_.half_inputs ? "$azeros" : "$azero"),
                                    has_partial ? p : (two_words ? "$azeros" : "$azero"), flag,
                                    engines_, phase);
                if (group >= 2 && moves) {
                    text += fmt::format("{} {}, $mzero, $m6+=, 1\n",
                                        d[3] == ':' ? "st64step" : "st32step", d);
                }
            }
        }
        return text;
    }

    const PassForm& form_;
    int engines_;
    int pixels_;
    int phases_;
    int outputs_;
    int inputs_;
    std::vector<int> x_;
    std::vector<int> w_;
    std::vector<int> p_;
};

} // namespace

TEST_CASE("a pass by the published recipe is the exact product for all types and engines",
          "[unit][isa]") {
    for (const PassForm& form : kForms) {
        for (const int engines : {1, 2, 3, 4}) {
            const Pass pass(form, engines, 3);
            CAPTURE(form.mnemonic, engines);
            CHECK(pass.run() == pass.expected());
        }
    }
}

namespace {

/// One line of each instruction of the accumulators and the matrix unit.
const std::vector<std::string>& instructions() {
    static const std::vector<std::string> lines = {
        "f32mac $a0, $a1",
        "f32v2mac $a0:1, $a2:3",
        "f32v2aop $a0:1, $a2:3, 0",
        "f16v2cmac $a0, $a1",
        "f16v4cmac $a0:1, $a2:3",
        "f32v4acc $a0:3",
        "f16v4acc $a0:1",
        "f16v8acc $a0:3",
        "f32v4absacc $a0:3",
        "f16v4absacc $a0:1",
        "f16v8absacc $a0:3",
        "f32v4sqacc $a0:3",
        "f16v8sqacc $a0:3",
        "f16v4gacc $a0:1",
        "f16v2gina $a0, $azero, 3",
        "f32v2gina $a0:1, $azeros, 2",
        "f32v2axpy $a0:1, $a2:3, $a4:5",
        "f16v4mix $a0:1, $a2:3, $a4:5",
        "f16v4istacc $a0:1, $a2:3, $a4:5, TISTACC_P1",
        "f16v4stacc $a0:1, TSTACC_P0",
        "f16v4hihoamp $a0, $a2:3, $a4, TAMP_F16V4_E4_P1",
        "f16v4sihoamp $a0, $a2:3, $a4:5, TAMP_F16V4_E3_P0",
        "f16v4sisoamp $a0:1, $a2:3, $a4:5, TAMP_F16V4_E2_P1",
        "f16v4hihov4amp $a0:1, $a2:3, $a4:5, TAMP_F16V4_E1_P0",
        "f32sisoamp $a0:1, $a2, $a4:5, TAMP_F32_E1_P2",
        "f32sisov2amp $azeros, $a2, $azeros, TAMP_F32_E4_P7",
        "f16v4hihoslic $a0, $a2:3, $a4, TSLIC_F16V4_1x4_W1",
        "f16v4sihoslic $a0, $a2:3, $a4:5, TSLIC_F16V4_1x3_W3",
        "f16v4sisoslic $a0:1, $a2:3, $a4:5, TSLIC_F16V4_1x4_W0",
        "f16v4hihov4slic $a0:1, $a2:3, $a4:5, TSLIC_F16V4_1x3_W2",
    };
    return lines;
}

std::string program_of(const std::string& line, int times) {
    std::string text = ".supervisor\n.globl start\nstart: setzi $m0, worker\nrun $m0, $mzero, "
                       "0\nsync TEXCH_SYNCZONE_LOCAL\nbr $lr\n.worker\n.align 8\nworker:\n";
    for (int i = 0; i < times; ++i) {
        text += line + "\n";
    }
    return text + "exitz $mzero\n";
}

} // namespace

TEST_CASE("accumulator and matrix-unit instructions take one worker issue", "[timing][isa]") {
    for (const std::string& line : instructions()) {
        test::AssembledTile once(program_of(line, 1));
        test::AssembledTile more(program_of(line, 8));
        CAPTURE(line);
        CHECK(more.run().cycles - once.run().cycles == 7 * once.spec().tile.workers);
    }
}

TEST_CASE("FP8 instructions are of one generation and take one worker issue", "[timing][isa]") {
    for (const std::string mnemonic :
         {"f8v8hihov4amp", "f8v8hihov4slic", "f8v2tof16", "f8v4tof16", "f16v8tof8"}) {
        const auto& row = isa::spec_of(isa::opcodes_named(mnemonic).front());
        CAPTURE(mnemonic);
        CHECK(row.cycles == 1);
        CHECK((row.flags & isa::kFp8) != 0);
    }
}

TEST_CASE("only instructions of two sets say so", "[unit][isa]") {
    std::vector<std::string> two_sets;
    for (std::size_t i = 1; i < static_cast<std::size_t>(isa::Opcode::kCount); ++i) {
        const auto& row = isa::spec_of(static_cast<isa::Opcode>(i));
        if ((row.flags & isa::kTwoSets) != 0) {
            two_sets.emplace_back(row.mnemonic);
        }
    }
    std::sort(two_sets.begin(), two_sets.end());
    CHECK(two_sets == std::vector<std::string>{"f16v4hihov4amp", "f16v4hihov4slic", "f32sisov2amp",
                                               "f32sisov2slic", "f8v8hihov4amp", "f8v8hihov4slic"});
}

TEST_CASE("instructions of a phase keep their constants apart", "[unit][isa]") {
    const auto constants = isa::standard_constants(isa::kDefaultTarget);
    CHECK(constants.at("TAMP_F32_E1_P2") == 2);
    CHECK(constants.at("TAMP_F16V4_E4_P3") == 0x33);
    CHECK(constants.at("TSLIC_F16V4_1x4_W1") == 0x31);
    CHECK(constants.at("TSLIC_F16V4_1x3_W1") == 0x21);
}
