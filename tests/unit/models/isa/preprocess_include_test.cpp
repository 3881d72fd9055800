// SPDX-License-Identifier: MIT
// #include: where it looks, what it finds, and the headers that are part of the product.
#include "tests/unit/models/isa/preprocess_support.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tessera::isa;
using namespace tessera::isa::assembly;
using namespace tessera::isa::assembly::test;
using Texts = std::vector<std::string>;

namespace {

/// A directory of its own for a test, gone with it.
class Directory {
public:
    Directory() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "tessera_include_XXXXXX").string();
        REQUIRE(mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~Directory() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;

    void write(const std::string& name, const std::string& text) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text;
    }
    [[nodiscard]] std::string in(const std::string& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

/// The number that a name of the standard headers stands for.
std::int64_t constant(const std::string& name, const Target& target = {}) {
    PreprocessOptions options;
    options.target = target;
    const Texts texts =
        preprocessed("#include <poplar/TileConstants.hpp>\n" + name + "\n", options).texts();
    REQUIRE(texts.size() == 1);
    INFO(name << " is " << texts[0]);
    REQUIRE(texts[0].find_first_not_of("0123456789abcdefx") == std::string::npos);
    return std::stoll(texts[0], nullptr, 0);
}

} // namespace

TEST_CASE("quotes look beside the including file and then in the directories") {
    const Directory directory;
    directory.write("main/own.h", "own\n#include \"sub/deep.h\"\n");
    directory.write("main/sub/deep.h", "deep\n#include \"beside.h\"\n#include <shared.h>\n");
    directory.write("main/sub/beside.h", "beside\n");
    directory.write("first/shared.h", "first\n");
    directory.write("second/shared.h", "second\n");
    directory.write("second/own.h", "wrong\n");
    PreprocessOptions options;
    options.include_directories = {directory.in("first"), directory.in("second")};
    const Preprocessed result =
        preprocessed("#include \"own.h\"\n#include <own.h>\n#define N \"shared.h\"\n#include N\n"
                     "#define A <shared.h>\n#include A\nlast\n",
                     options, directory.in("main/a.S"));
    CHECK(result.mistakes.empty());
    CHECK(result.texts() ==
          Texts{"own", "deep", "beside", "first", "wrong", "first", "first", "last"});
    CHECK(result.map.files == Texts{directory.in("main/a.S"), directory.in("main/own.h"),
                                    directory.in("main/sub/deep.h"),
                                    directory.in("main/sub/beside.h"),
                                    directory.in("first/shared.h"), directory.in("second/own.h")});
}

TEST_CASE("texts that the caller brings along stand before all files") {
    const Directory directory;
    directory.write("own.h", "wrong\n");
    directory.write("other.h", "other\n");
    const std::vector<SourceFile> embedded = {
        {"own.h", "own\n#include \"deep.h\"\n#include <other.h>\n"}, {"deep.h", "deep\n"}};
    PreprocessOptions options;
    options.include_directories = {directory.in("")};
    options.embedded = &embedded;
    const Preprocessed result = preprocessed("#include \"own.h\"\n", options, directory.in("a.S"));
    CHECK(result.mistakes.empty());
    CHECK(result.texts() == Texts{"own", "deep", "other"});
    CHECK(result.map.files ==
          Texts{directory.in("a.S"), "own.h", "deep.h", directory.in("other.h")});
    CHECK(preprocessed("#include \"dep.h\"\n", options).mistakes.front() ==
          "a.S:1:2: cannot find the include file 'dep.h'; did you mean 'deep.h'?");
}

TEST_CASE("the nearest file is also looked for where the program was started") {
    const Directory directory;
    directory.write("beside.h", "x\n");
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(directory.in(""));
    const Preprocessed result = preprocessed("#include \"besides.h\"\n", {}, "a.S");
    std::filesystem::current_path(before);
    REQUIRE(result.mistakes.size() == 1);
    CHECK(result.mistakes.front() ==
          "a.S:1:2: cannot find the include file 'besides.h'; did you mean 'beside.h'?");
}

TEST_CASE("an included file's text and mistakes carry the way there") {
    const Directory directory;
    directory.write("b.h", "\n#include \"c.h\"\n#define M wrong\n");
    directory.write("c.h", "text\n#if 1\n");
    const Preprocessed result = preprocessed("x\n  #include \"b.h\"\nM\n", {}, directory.in("a.S"));
    REQUIRE(result.lines.size() == 8);
    CHECK(result.origin_of(5, "text") == directory.in("c.h") + ":1:1 < included from here " +
                                             directory.in("b.h") + ":2:2 < included from here " +
                                             directory.in("a.S") + ":2:4");
    CHECK(result.origin_of(8, "wrong") == directory.in("b.h") +
                                              ":3:11 < in the expansion of macro 'M' " +
                                              directory.in("a.S") + ":3:1");
    CHECK(result.mistakes ==
          Texts{directory.in("c.h") + ":2:2: #if without its #endif\n  " + directory.in("b.h") +
                ":2:2: included from here\n  " + directory.in("a.S") + ":2:4: included from here"});
}

TEST_CASE("of a long way to a mistake the first eight steps are told, and the last") {
    for (const int steps : {1, 8, 9, 10, 13}) {
        CAPTURE(steps);
        const Directory directory;
        for (int i = 1; i < steps; ++i) {
            directory.write("f" + std::to_string(i) + ".h",
                            "#include \"f" + std::to_string(i + 1) + ".h\"\n");
        }
        directory.write("f" + std::to_string(steps) + ".h", "#if 1\n");
        const Preprocessed result = preprocessed("#include \"f1.h\"\n", {}, directory.in("a.S"));
        std::string expected =
            directory.in("f" + std::to_string(steps) + ".h") + ":1:2: #if without its #endif";
        for (int i = 1; i < steps; ++i) {
            expected += i <= 8 ? "\n  " + directory.in("f" + std::to_string(steps - i) + ".h") +
                                     ":1:2: included from here"
                        : i == 9 ? "\n  ..."
                                 : "";
        }
        CHECK(result.mistakes ==
              Texts{expected + "\n  " + directory.in("a.S") + ":1:2: included from here"});
    }
}

TEST_CASE("a missing include names the nearest that is there") {
    const Directory directory;
    directory.write("helpers.h", "");
    directory.write("sub/tables.inc", "");
    PreprocessOptions options;
    options.include_directories = {directory.in("sub")};
    const std::string name = directory.in("a.S");
    CHECK(preprocessed("\n#include \"helper.h\"\n", options, name).mistakes ==
          Texts{name + ":2:2: cannot find the include file 'helper.h'; did you mean 'helpers.h'?"});
    CHECK(preprocessed("#include <table.inc>\n", options, name).mistakes ==
          Texts{name + ":1:2: cannot find the include file 'table.inc'; did you mean "
                       "'tables.inc'?"});
    CHECK(preprocessed("#include \"sub/table.inc\"\n", options, name).mistakes ==
          Texts{name + ":1:2: cannot find the include file 'sub/table.inc'; did you mean "
                       "'sub/tables.inc'?"});
    CHECK(preprocessed("#include \"TileConstants.hpp\"\n", options, name).mistakes ==
          Texts{name + ":1:2: cannot find the include file 'TileConstants.hpp'; did you mean "
                       "'poplar/TileConstants.hpp'?"});
    CHECK(preprocessed("#include <qqqqqqqqqqqqqqqqqqqq>\n", options, name).mistakes ==
          Texts{name + ":1:2: cannot find the include file 'qqqqqqqqqqqqqqqqqqqq'"});
}

TEST_CASE("an include that is there and cannot be read says why, and is never what was meant") {
    const Directory directory;
    directory.write("sub/deep.h", "");
    const std::string name = directory.in("a.S");
    CHECK(preprocessed("#include \"sub\"\n", {}, name).mistakes ==
          Texts{name + ":1:2: cannot read the include file 'sub': it is no file with a text"});
    CHECK(
        preprocessed("#include \"/dev/zero\"\n", {}, name).mistakes ==
        Texts{name + ":1:2: cannot read the include file '/dev/zero': it is no file with a text"});
    CHECK(preprocessed("#include \"/dev/nulx\"\n", {}, name).mistakes ==
          Texts{name + ":1:2: cannot find the include file '/dev/nulx'"});
    directory.write("large.h", "");
    std::filesystem::resize_file(directory.in("large.h"), (64U << 20U) + 1);
    CHECK(preprocessed("#include \"large.h\"\n", {}, name).mistakes ==
          Texts{name + ":1:2: cannot read the include file 'large.h': it has more than 64 MiB"});
    // what another directory has is still found
    directory.write("other/sub", "text\n");
    PreprocessOptions options;
    options.include_directories = {directory.in("other")};
    CHECK(preprocessed("#include \"sub\"\n", options, name).texts() == Texts{"text"});
}

TEST_CASE("an include without end is an error") {
    const Directory directory;
    directory.write("self.h", "#include \"self.h\"\n#include \"self.h\"\n");
    const Preprocessed result = preprocessed("#include \"self.h\"\n", {}, directory.in("a.S"));
    REQUIRE(result.mistakes.size() == 1);
    CHECK(result.mistakes[0].find("self.h' is included without end, expected at most 100 files "
                                  "within each other and 20000 in all") != std::string::npos);
    directory.write("empty.h", "\n");
    std::string text;
    for (int copy = 0; copy <= 20000; ++copy) {
        text += "#include \"empty.h\"\n";
    }
    CHECK(preprocessed(text, {}, directory.in("a.S")).mistakes.size() == 1);
    directory.write("once.h", "#pragma once\nonce\n");
    CHECK(preprocessed("#include \"once.h\"\n#include \"./once.h\"\n", {}, directory.in("a.S"))
              .texts() == Texts{"once"});
    for (const std::string line : {"#pragma pack", "#ident once", "#pragma once more"}) {
        CAPTURE(line); // says no such thing
        directory.write("twice.h", line + "\ntwice\n");
        CHECK(preprocessed("#include \"twice.h\"\n#include \"twice.h\"\n", {}, directory.in("a.S"))
                  .texts() == Texts{"twice", "twice"});
    }
}

TEST_CASE("included files are a hundred within each other at most") {
    constexpr int kMost = 100;
    const Directory directory;
    for (const int files : {kMost, kMost + 1}) {
        CAPTURE(files);
        for (int file = 1; file <= files; ++file) {
            const std::string next = "#include \"" + std::to_string(file + 1) + ".h\"\n";
            directory.write(std::to_string(file) + ".h", file < files ? next : "last\n");
        }
        const Preprocessed result = preprocessed("#include \"1.h\"\n", {}, directory.in("a.S"));
        CHECK(result.texts() == (files <= kMost ? Texts{"last"} : Texts{}));
        CHECK(result.mistakes.size() == (files <= kMost ? 0U : 1U));
    }
}

TEST_CASE("an include within a call is an error") {
    CHECK(preprocessed("#define F(x) x\nF(\n#include <arch/gc_tile_defines.h>\n1)\n").mistakes ==
          Texts{"a.S:3:2: #include within a macro's arguments"});
}

TEST_CASE("what is included has limits in all") {
    const Directory directory;
    directory.write("long.h", std::string(1U << 20U, 'x') + "\n");
    directory.write("lines.h", std::string(1U << 20U, '\n'));
    const std::string too_large = "the preprocessed source is too large, expected at most 64 MiB "
                                  "and 2000000 lines";
    for (const char* name : {"long.h", "lines.h"}) {
        std::string text;
        for (int copy = 0; copy < 70; ++copy) {
            text += "#include \"" + std::string(name) + "\"\n";
        }
        const Preprocessed result = preprocessed(text, {}, directory.in("a.S"));
        REQUIRE(result.mistakes.size() == 1);
        CHECK(result.mistakes[0].find(too_large) != std::string::npos);
    }
    // 64 lines of a MiB, the last one out of a macro
    const std::string mib(1U << 20U, 'x');
    for (const std::string more : {"", "y"}) {
        std::string text = "#define X " + mib + more + "\n";
        for (int copy = 0; copy < 63; ++copy) {
            text += "#include \"long.h\"\n";
        }
        CHECK(preprocessed(text + "X\n", {}, directory.in("a.S")).mistakes.empty() == more.empty());
    }
    std::string text;
    for (int copy = 0; copy < 64; ++copy) {
        text += "#include \"long.h\"\n";
    }
    CHECK(preprocessed(text, {}, directory.in("a.S")).mistakes.empty());
    CHECK_FALSE(preprocessed(text + "y\n", {}, directory.in("a.S")).mistakes.empty());
}

TEST_CASE("a source includes 20,000 files in all") {
    const Directory directory;
    directory.write("e.h", "");
    std::string text;
    for (int times = 0; times < 20'000; ++times) {
        text += "#include \"e.h\"\n";
    }
    CHECK(preprocessed(text, {}, directory.in("a.S")).mistakes.empty());
    CHECK(preprocessed(text + "#include \"e.h\"\n", {}, directory.in("a.S")).mistakes.size() == 1);
}

TEST_CASE("a standard header in a wrong folder is suggested where it is") {
    const std::string begin = "a.S:1:2: cannot find the include file '";
    for (const auto& [wanted, meant] :
         {std::pair{"some/where/else/StackSizeDefs.hpp", "poplar/StackSizeDefs.hpp"},
          std::pair{"x/gc_tile_defines.h", "arch/gc_tile_defines.h"}}) {
        CHECK(preprocessed("#include <" + std::string(wanted) + ">\n").mistakes ==
              Texts{begin + wanted + "'; did you mean '" + meant + "'?"});
    }
    CHECK(preprocessed("#include <some/where/else/no.hpp>\n").mistakes ==
          Texts{begin + "some/where/else/no.hpp'"});
}

TEST_CASE("the standard headers agree with the constants of the assembler") {
    for (const auto& [name, value] : standard_constants(kDefaultTarget)) {
        CHECK(constant(name) == value);
    }
}

TEST_CASE("a name of a file may be as long as is said, and no longer") {
    constexpr std::size_t kLongest = 1024;
    const Directory directory;
    directory.write("f", "found\n");
    directory.write("ff", "found\n");
    PreprocessOptions options;
    options.include_directories = {directory.in("")};
    for (const std::size_t length : {kLongest - 1, kLongest, kLongest + 1}) {
        std::string name = length % 2 == 0 ? "ff" : "f";
        while (name.size() < length) {
            name = "./" + name;
        }
        REQUIRE(name.size() == length);
        const Preprocessed result = preprocessed("#include <" + name + ">\n", options);
        CAPTURE(length);
        CHECK(result.mistakes.empty() == (length <= kLongest));
        CHECK(result.texts() == (length <= kLongest ? Texts{"found"} : Texts{}));
    }
}

TEST_CASE("the standard headers follow the machine") {
    Target first;
    first.architecture = 1;
    first.memory_base = 0x40000;
    first.region0_bytes = 0x20000;
    Target quarter;
    quarter.architecture = 21;
    quarter.workers = 4;
    CHECK(constant("CTXT_WORKERS") == 6);
    CHECK(constant("CTXT_WORKERS", quarter) == 4);
    CHECK(constant("TMEM_REGION0_BASE_ADDR", first) == 0x40000);
    CHECK(constant("TMEM_REGION1_BASE_ADDR", first) == 0x60000);
    CHECK(constant("TMEM_REGION0_BASE_ADDR") == kDefaultTarget.memory_base);
    CHECK(constant("TMEM_REGION0_SIZE") == kDefaultTarget.region0_bytes);
    CHECK(constant("TMEM_REGION1_BASE_ADDR") ==
          kDefaultTarget.memory_base + kDefaultTarget.region0_bytes);
    CHECK(constant("TMEM_REGION1_SIZE") == kDefaultTarget.region1_bytes);
    CHECK(constant("TMEM_ELEMSIZE") == kDefaultTarget.element_bytes);
    CHECK(constant("CSR_W_REPEAT_COUNT__VALUE__MASK") == kDefaultTarget.repeat_count_mask());
    CHECK(constant("CSR_W_REPEAT_COUNT__VALUE__MASK", first) == first.repeat_count_mask());
    CHECK(constant("TAMP_F8V8_E4_P3", quarter) == constant("TAMP_F16V4_E4_P3"));
    CHECK(constant("CSR_W_FP_SCL__INDEX", quarter) == 0x10a);
}

TEST_CASE("the standard headers are there under all their names") {
    const Preprocessed result = preprocessed("#include \"poplar/AvailableVTypes.h\"\n"
                                             "#include \"arch/gc_tile_defines.h\"\n"
                                             "#include \"poplar/TileConstants.hpp\"\n"
                                             "#include <poplar/StackSizeDefs.hpp>\n"
                                             "#include <poplar/StackSizeDefs.hpp>\n"
                                             ".section .text.f, FUNCTION_IS_WORKER\n"
                                             "CSR_W_FP_CLR__ZAACC__SHIFT TISTACC_P1\n");
    CHECK(result.mistakes.empty());
    CHECK(result.texts() == Texts{".macro DEF_STACK_USAGE args:vararg", ".endm",
                                  ".macro DEF_STACK_SIZE_OWN args:vararg", ".endm",
                                  ".section .text.f, \"ax\"", "3 1"});
}
