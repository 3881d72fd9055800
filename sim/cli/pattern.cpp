// SPDX-License-Identifier: MIT
// The commands of `tessera pattern`.
#include "base/text.h"
#include "sim/cli/parts.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::cli {
namespace {

const std::vector<std::string> kStorages{"coo", "csr", "csc", "bsr"};
const std::vector<std::string> kTypes{"mask", "f16", "bf16", "f32", "f64", "i8", "u8",
                                      "i16",  "u16", "i32",  "u32", "i64", "u64"};
const std::vector<std::string> kGenerators{"uniform", "banded", "power_law", "n_of_m"};
constexpr const char* kEndings =
    ".mtx, .smtx, .npy, each also with .gz behind it, .npz or .safetensors";

int block_of(const std::string& command, const Given& given) {
    constexpr int kMost = 1024;
    const int block = given.number("block");
    if (block < 1 || block > kMost) {
        throw UsageError(
            fmt::format("{}: --block: got {}, expected 1..{} elements", command, block, kMost));
    }
    return block;
}

OptionSpec out_option(const char* sentence) {
    return shortened('o', text("out", "FILE", sentence));
}

OptionSpec block_option(const char* sentence) {
    return otherwise("1", number("block", "B", sentence));
}

OptionSpec as_option() {
    return word("as", "STORAGE",
                "of an .npz file (bsr if --block is more than 1, else csr, if not given)",
                kStorages, "");
}

OptionSpec marks_option() {
    return flag("marks", "elements of a .safetensors tensor that are NaN are pruned, all others "
                         "are kept, also those of value 0");
}

Command make_pattern_make(const Given& given) {
    const std::string command = "pattern make";
    PatternMakeCommand make;
    refuse_empty(command, given, {"out"});
    make.generator = given.operands().at(0);
    make.size = given.operands().at(1);
    make.keys.assign(given.operands().begin() + 2, given.operands().end());
    make.block = block_of(command, given);
    make.as = given.text("as");
    make.out = given.text("out");
    return make;
}

Command make_pattern_show(const Given& given) {
    const std::string command = "pattern show";
    refuse_empty(command, given, {"json"});
    return PatternShowCommand{given.operands().at(0), block_of(command, given), given.has("marks"),
                              given.text("json"), given.has("quiet")};
}

Command make_pattern_convert(const Given& given) {
    const std::string command = "pattern convert";
    PatternConvertCommand convert;
    refuse_empty(command, given, {"out"});
    convert.file = given.operands().at(0);
    convert.block = block_of(command, given);
    convert.transpose = given.has("transpose");
    convert.marks = given.has("marks");
    convert.type = given.text("type");
    convert.as = given.text("as");
    convert.out = given.text("out");
    return convert;
}

Command make_pattern_sparsify(const Given& given) {
    const std::string command = "pattern sparsify";
    refuse_empty(command, given, {"config", "out"});
    return PatternSparsifyCommand{given.operands().at(0), given.text("config"), given.text("out"),
                                  given.has("quiet")};
}

Command make_pattern_finalize(const Given& given) {
    refuse_empty("pattern finalize", given, {"out"});
    return PatternFinalizeCommand{given.operands().at(0), given.text("out"), given.has("quiet")};
}

Command make_pattern_evolve(const Given& given) {
    const std::string command = "pattern evolve";
    refuse_empty(command, given, {"schedule", "gradients", "out"});
    PatternEvolveCommand evolve;
    evolve.file = given.operands().at(0);
    evolve.schedule = given.text("schedule");
    evolve.gradients = given.text("gradients");
    evolve.block = block_of(command, given);
    evolve.marks = given.has("marks");
    evolve.out = given.text("out");
    evolve.quiet = given.has("quiet");
    return evolve;
}

Command make_pattern_encode(const Given& given) {
    const std::string command = "pattern encode";
    refuse_empty(command, given, {"machine", "tensor", "step", "out", "json"});
    PatternEncodeCommand encode;
    encode.file = given.operands().at(0);
    encode.workload = given.operands().at(1);
    encode.machine = given.text("machine");
    encode.sets = given.texts("set");
    if (given.has("plan")) {
        encode.sets.push_back("workload.plan=" + given.text("plan"));
    }
    encode.tensor = given.text("tensor");
    encode.step = given.text("step");
    if (given.has("bucket")) {
        encode.bucket = given.number("bucket");
    }
    encode.marks = given.has("marks");
    encode.out = given.text("out");
    encode.json = given.text("json");
    encode.quiet = given.has("quiet");
    return encode;
}

CommandSpec pattern_make_spec() {
    return {.name = "pattern make",
            .usage = "GENERATOR ROWSxCOLUMNS KEY=VALUE... -o FILE [options]",
            .sentence = "makes a sparse pattern by a generator of workloads",
            .operands = {"generator and size", 2, 10, Completes::Words, kGenerators},
            .options = {out_option("write the pattern to FILE, whose ending says the format"),
                        block_option("the generator keeps blocks of B x B elements"), as_option()},
            .examples = {{"tessera pattern make uniform 768x3072 density=0.1 --block 16 -o "
                          "mask.npy",
                          "a tenth of the blocks, anywhere"},
                         {"tessera pattern make n_of_m 64x64 density=0.5 group=4 -o mask.mtx",
                          "two of each four neighbours"}},
            .make = make_pattern_make};
}

CommandSpec pattern_show_spec() {
    return {.name = "pattern show",
            .usage = "FILE [options]",
            .sentence = "says how full a sparse matrix is, how evenly, and how large in which form",
            .operands = {"file", 1, 1, Completes::File},
            .options = {block_option("blocks of B x B elements are looked at"), marks_option(),
                        text("json", "FILE", "write the same as JSON; - for stdout"), quiet()},
            .examples = {{"tessera pattern show graph.mtx --block 16",
                          "the blocks of 16 x 16 that a graph touches, and how full they are"}},
            .make = make_pattern_show};
}

CommandSpec pattern_convert_spec() {
    return {.name = "pattern convert",
            .usage = "FILE -o FILE [options]",
            .sentence = "writes a sparse matrix in another format",
            .operands = {"file", 1, 1, Completes::File},
            .options = {out_option("write to FILE, whose ending says the format"),
                        block_option("keep each block of B x B that has an entry as a whole"),
                        flag("transpose", "write columns as rows"),
                        word("type", "TYPE",
                             "of the values, or mask to drop them; a value that it does not have "
                             "exactly is refused (as they are if not given)",
                             kTypes, ""),
                        as_option(), marks_option()},
            .examples = {{"tessera pattern convert mask.smtx -o mask.npz --block 16",
                          fmt::format("formats: {}", kEndings)},
                         {"tessera pattern convert model.safetensors:fc1.weight -o fc1.mtx",
                          "one tensor of a checkpoint"}},
            .make = make_pattern_convert};
}

CommandSpec pattern_sparsify_spec() {
    return {.name = "pattern sparsify",
            .usage = "CHECKPOINT --config FILE -o FILE [options]",
            .sentence = "prunes tensors of a .safetensors file: their elements become NaN",
            .operands = {"checkpoint", 1, 1, Completes::File},
            .options = {text("config", "FILE",
                             "JSON that says which tensors, how much and how: sparsity, "
                             "init_method, seed, param_name_patterns"),
                        out_option("write to FILE, another .safetensors file"), quiet()},
            .examples = {{"tessera pattern sparsify a.safetensors --config s.json -o "
                          "b.safetensors",
                          "s.json: {\"sparsity\": 0.9, \"init_method\": \"topk\"}"}},
            .make = make_pattern_sparsify};
}

CommandSpec pattern_finalize_spec() {
    return {.name = "pattern finalize",
            .usage = "CHECKPOINT -o FILE [options]",
            .sentence = "makes the pruned elements of a .safetensors file 0",
            .operands = {"checkpoint", 1, 1, Completes::File},
            .options = {out_option("write to FILE, another .safetensors file"), quiet()},
            .examples = {{"tessera pattern finalize b.safetensors -o c.safetensors",
                          "a checkpoint that every reader takes"}},
            .make = make_pattern_finalize};
}

CommandSpec pattern_evolve_spec() {
    return {.name = "pattern evolve",
            .usage = "CHECKPOINT --schedule FILE -o FOLDER [options]",
            .sentence = "writes the patterns that a matrix goes through in sparse training",
            .operands = {"checkpoint", 1, 1, Completes::File},
            .options = {text("schedule", "FILE",
                             "JSON that says what goes and comes in each change: prune, regrow, "
                             "fraction, decay, patterns, seed, param_name_patterns"),
                        shortened('o', text("out", "FOLDER",
                                            "write FOLDER/TENSOR/000000.npz, 000001.npz, ...; the "
                                            "folder must be new or empty")),
                        block_option("blocks of B x B elements go and come"), marks_option(),
                        text("gradients", "FILE",
                             "a .safetensors file of gradients, by the names of the tensors; for "
                             "schedules that regrow by gradient"),
                        quiet()},
            .examples = {{"tessera pattern evolve a.safetensors --schedule s.json --block 16 -o "
                          "patterns",
                          "s.json: {\"prune\": \"magnitude\", \"regrow\": \"random\", "
                          "\"patterns\": 160}"}},
            .make = make_pattern_evolve};
}

CommandSpec pattern_encode_spec() {
    return {.name = "pattern encode",
            .usage = "FILE WORKLOAD [options]",
            .sentence = "deals a sparse matrix to the buckets of a dynamic sparse product",
            .operands = {"file and workload", 2, 2, Completes::File},
            .options = {machine("name or file of the machine that the product is planned for"),
                        texts("set", "PATH=VALUE",
                              "override a parameter of the machine, or of the workload if PATH "
                              "starts with workload.",
                              Completes::Parameter),
                        word("plan", "PLAN", "short for --set workload.plan=PLAN",
                             {"fastest", "published"}, {}),
                        text("tensor", "NAME",
                             "of a pipeline: the sparse tensor (its only one if not given)",
                             Completes::Nothing),
                        text("step", "NAME",
                             "of a pipeline: a step that reads it, where steps with other plans "
                             "have other buckets",
                             Completes::Nothing),
                        number("bucket", "N", "show the words of bucket N, which is on tile N"),
                        marks_option(),
                        shortened('o', text("out", "FILE",
                                            "write what the host gives to the tiles to FILE, an "
                                            ".npz file: values, metadata, control")),
                        text("json", "FILE", "write the same as JSON; - for stdout"), quiet()},
            .examples = {{"tessera pattern encode mask.npz spmm_dynamic_b16_4096 --bucket 0",
                          "how full the buckets are, and what the words of one of them say"}},
            .make = make_pattern_encode};
}

} // namespace

std::vector<CommandSpec> pattern_commands() {
    return {pattern_make_spec(),     pattern_show_spec(),     pattern_convert_spec(),
            pattern_sparsify_spec(), pattern_finalize_spec(), pattern_evolve_spec(),
            pattern_encode_spec()};
}

} // namespace tessera::cli
