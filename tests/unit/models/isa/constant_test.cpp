// SPDX-License-Identifier: MIT
// Data that are no lists of elements of one width, blocks, common symbols, bytes of files, and the
// end of a source.
#include "tests/support/scratch_folder.h"
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;
using Bytes8 = std::vector<int>;

namespace {

std::string mistake(const std::string& text) {
    const Lines all = mistakes_of(text);
    return all.size() == 1 ? all[0].substr(4) : std::to_string(all.size()) + " mistakes";
}

/// The bytes that a text lays down, up to a byte 0xee behind it.
Bytes8 bytes_of(const std::string& text) {
    Bytes8 bytes;
    for (const std::uint32_t word : words_of(text + "\n.byte 0xee")) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            bytes.push_back(static_cast<int>(word >> shift & 0xffU));
        }
    }
    while (bytes.back() != 0xee) {
        bytes.pop_back();
    }
    bytes.pop_back();
    return bytes;
}

} // namespace

TEST_CASE("numbers of seven bits a byte have as many as they need", "[isa]") {
    CHECK(bytes_of(".uleb128 0, 1, 127, 128, 624485") ==
          Bytes8{0, 1, 0x7f, 0x80, 1, 0xe5, 0x8e, 0x26});
    CHECK(bytes_of(".sleb128 0, 63, 64, -1, -64, -65, -123456") ==
          Bytes8{0, 0x3f, 0xc0, 0, 0x7f, 0x40, 0xbf, 0x7f, 0xc0, 0xbb, 0x78});
    CHECK(bytes_of(".uleb128 0xffffffffffffffff").size() == 10);
    CHECK(bytes_of(".sleb128 0x7fffffffffffffff").size() == 10);
    CHECK(bytes_of("a: nop\nb: .uleb128 b - a").back() == 4);
    CHECK(bytes_of(".uleb128").empty());
    CHECK(mistake(".uleb128 1 +") ==
          "1:13: expression: got the end of the line, expected a number, symbol or parenthesis");
}

TEST_CASE("a number of seven bits a byte that is known later has five", "[isa]") {
    CHECK(bytes_of(".uleb128 b - a\na: .space 300\nb:").at(0) == 0xac);
    const auto bytes = bytes_of(".uleb128 b - a\n.sleb128 a - b\na: .space 130\nb:");
    CHECK(Bytes8(bytes.begin(), bytes.begin() + 10) ==
          Bytes8{0x82, 0x81, 0x80, 0x80, 0, 0xfe, 0xfe, 0xff, 0xff, 0x7f});
    CHECK(mistake(".uleb128 a - b\na: .space 4\nb:") ==
          "1:10: data: got -4, expected 0..34359738367; only a value that is known above may be "
          "longer");
    CHECK(mistake(".sleb128 x\nx = 1 << 34") ==
          "1:10: data: got 17179869184, expected -17179869184..17179869183; only a value that is "
          "known above may be longer");
    CHECK(mistakes_of(".sleb128 x\nx = -(1 << 34)\n.uleb128 y\ny = (1 << 35) - 1").empty());
}

TEST_CASE("numbers of 128 bits are laid down", "[isa]") {
    CHECK(words_of(".octa 0x0123456789abcdef0011223344556677") ==
          Words{0x44556677, 0x00112233, 0x89abcdef, 0x01234567});
    CHECK(words_of(".octa 340282366920938463463374607431768211455") ==
          Words{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff});
    CHECK(words_of(".octa 1, -1") ==
          Words{1, 0, 0, 0, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff});
    CHECK(words_of(".octa 0xffffffffffffffff, -0x10000000000000000") ==
          Words{0xffffffff, 0xffffffff, 0, 0, 0, 0, 0xffffffff, 0xffffffff});
    CHECK(words_of(".octa 0b11, 017") == Words{3, 0, 0, 0, 15, 0, 0, 0});
    CHECK(words_of(".octa 1 - 2, x\nx = -3") == Words{0xffffffff, 0xffffffff, 0xffffffff,
                                                      0xffffffff, 0xfffffffd, 0xffffffff,
                                                      0xffffffff, 0xffffffff});
    CHECK(words_of(".octa 'a'") == Words{'a', 0, 0, 0});
    CHECK(mistake(".octa 0x100000000000000000000000000000000") ==
          "1:7: number: got 0x100000000000000000000000000000000, expected at most 128 bits");
    CHECK(mistake(".octa 0x12345678123456781 + 1") ==
          "1:27: statement: got '+', expected the end of the statement");
    CHECK(mistake(".quad 0x12345678123456781") ==
          "1:7: number: got 0x12345678123456781, expected at most 64 bits");
    CHECK(words_of(".float 100000000000000000000") == words_of(".float 1e20"));
    CHECK(mistake(".float 0x12345678123456781") ==
          "1:8: .float: got '0x12345678123456781', expected a number such as 1.5");
}

TEST_CASE("data have the names that other assemblers give them too", "[isa]") {
    CHECK(bytes_of(".dc.b 1, -1") == bytes_of(".byte 1, -1"));
    CHECK(bytes_of(".dc.w 1, 2") == bytes_of(".short 1, 2"));
    CHECK(bytes_of(".dc 1, 2") == bytes_of(".short 1, 2"));
    CHECK(words_of(".dc.l 1, x\nx = 3") == Words{1, 3});
    CHECK(words_of(".dc.a .") == Words{kBase});
    CHECK(words_of(".dc.s 1.5") == words_of(".float 1.5"));
    CHECK(words_of(".dc.d 1.5") == words_of(".double 1.5"));
    CHECK(mistake(".dc.b 256") == "1:7: data: got 256, expected -128..255");
    CHECK(mistake(".dc.x 1") == "1:1: directive '.dc.x': not known; did you mean '.dc.a'?");
}

TEST_CASE("blocks hold one value so often", "[isa]") {
    CHECK(bytes_of(".dcb.b 3, 7") == Bytes8{7, 7, 7});
    CHECK(bytes_of(".dcb.w 2, 0x102") == Bytes8{2, 1, 2, 1});
    CHECK(bytes_of(".dcb 2, 0x102") == Bytes8{2, 1, 2, 1});
    CHECK(words_of(".dcb.l 2, -2") == Words{0xfffffffe, 0xfffffffe});
    CHECK(words_of(".dcb.s 2, -1.5") == words_of(".float -1.5, -1.5"));
    CHECK(words_of(".dcb.d 2, 1.5") == words_of(".double 1.5, 1.5"));
    CHECK(bytes_of(".dcb.b 2") == Bytes8{0, 0});
    CHECK(bytes_of(".dcb.l 0, 1").empty());
    struct Row {
        const char* directive;
        std::size_t bytes;
    };
    for (const Row& row :
         {Row{".ds.b", 3}, Row{".ds.w", 6}, Row{".ds", 6}, Row{".ds.l", 12}, Row{".ds.s", 12},
          Row{".ds.d", 24}, Row{".ds.p", 36}, Row{".ds.x", 36}}) {
        CAPTURE(row.directive);
        CHECK(bytes_of(std::string(row.directive) + " 3") == Bytes8(row.bytes, 0));
    }
    CHECK(bytes_of(".ds.p 1, -2") ==
          Bytes8{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff});
    CHECK(bytes_of(".ds.p 1, 2") == Bytes8{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    CHECK(mistake(".dcb.b -1") == "1:1: .dcb.b: got -1 elements, expected 0 or more");
    CHECK(mistake(".dcb.b 1, 256") == "1:11: data: got 256, expected -128..255");
    CHECK(mistake(".dcb.l 1, 4294967296").find("got 4294967296") != std::string::npos);
    CHECK(mistake(".ds.w x\nx = 1") ==
          "1:1: .ds.w: got a value that is not known yet, expected a number of elements");
    CHECK(mistake(".dcb.s 1, x") == "1:11: .dcb.s: got 'x', expected a number such as 1.5");
}

TEST_CASE("common symbols of one name share one place in bss", "[isa]") {
    const auto codelet = assembled(
        std::vector<SourceFile>{{"a.S", ".comm buffer, 12\nsetzi $m0, buffer\n.comm other, 4, 32"},
                                {"b.S", "setzi $m1, buffer\n.comm buffer, 40, 16"}});
    const Address buffer = codelet.symbols.at("buffer");
    CHECK(buffer % 16 == 0);
    CHECK(codelet.symbol_info.at("buffer").bytes == 40);
    CHECK(codelet.symbol_info.at("buffer").binding == program::SymbolBinding::Global);
    CHECK(codelet.symbols.at("other") % 32 == 0);
    CHECK(codelet.symbols.at("other") >= buffer + 40);
    CHECK(codelet.words[0] == 0x19000000U + buffer);
    CHECK(codelet.words[(buffer - kBase) / 4] == 0);
    CHECK(4 * codelet.words.size() == codelet.symbols.at("other") + 4 - kBase);
}

TEST_CASE("a definition is what common symbols of its name mean", "[isa]") {
    const std::string use = ".comm x, 64\n.int x\n";
    const auto strong =
        assembled(std::vector<SourceFile>{{"a.S", use}, {"b.S", ".globl x\nx: .int 7"}});
    CHECK(strong.words == Words{kBase + 8, 0x19e00000, 7});
    // a weak one gives way
    const auto weak =
        assembled(std::vector<SourceFile>{{"a.S", use}, {"b.S", ".weak x\nx: .int 7"}});
    CHECK(weak.words.at(0) == weak.symbols.at("x"));
    CHECK(weak.symbol_info.at("x").bytes == 64);
    CHECK(weak.symbols.at("x") > kBase + 8);
    CHECK(mistake(".comm x, 4\nx: nop") ==
          "2:1: symbol 'x': defined in line 1 already, expected a new name");
    CHECK(mistake("x: nop\n.comm x, 4") ==
          "2:7: symbol 'x': defined in line 1 already, expected a new name");
    CHECK(mistakes_of(".comm x, 4\n.comm x, 8\n.int x").empty());
}

TEST_CASE("local common symbols are each source's own", "[isa]") {
    const std::string one = ".lcomm x, 8\n.local y\n.comm y, 4, 4\n.int x, y";
    const auto codelet = assembled(std::vector<SourceFile>{{"a.S", one}, {"b.S", one}});
    CHECK(codelet.words.at(0) != codelet.words.at(codelet.words.size() / 2));
    CHECK(codelet.words.at(1) == codelet.words.at(0) + 8);
    CHECK(codelet.symbol_info.at("x").binding == program::SymbolBinding::Local);
    CHECK(codelet.symbol_info.at("x").bytes == 8);
    CHECK(codelet.symbol_info.at("y").binding == program::SymbolBinding::Local);
    // the place goes on where it was
    CHECK(words_of(".int 1\n.lcomm x, 8\n.int 2") == Words{1, 2, 0, 0});
}

TEST_CASE("common symbols stand at multiples of their alignment, wherever the code ends", "[isa]") {
    for (const std::string directive : {".comm x, 4, ", ".lcomm x, 4, "}) {
        for (const Address alignment : {8U, 16U, 64U}) {
            CAPTURE(directive, alignment);
            const auto all = assembled("nop\n" + directive + std::to_string(alignment) +
                                       "\n.globl x_at\nx_at: .int x");
            const auto at = static_cast<Address>(all.words[1]);
            CHECK(at == (kBase + 8 + alignment - 1) / alignment * alignment);
        }
    }
}

TEST_CASE("common symbols of any size stand behind each other, by their names", "[isa]") {
    for (const std::string kind : {".comm ", ".lcomm "}) {
        std::string text = "nop\nnop\n";
        const std::vector<Bytes> sizes = {1, 1, 3, 1, 0, 2, 1, 5, 1};
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            text += fmt::format("{}s{}, {}, 1\n", kind, i, sizes[i]);
        }
        const auto all = assembled(text);
        Address next = kBase + 8;
        for (std::size_t i = 0; i < sizes.size(); ++i) {
            CAPTURE(kind, i);
            CHECK(all.symbols.at(fmt::format("s{}", i)) == next);
            next += static_cast<Address>(sizes[i]);
        }
        CHECK(all.words.size() == (next - kBase + 3) / 4);
    }
    // a byte of padding too
    const auto padded = assembled(".comm a, 1, 1\n.comm b, 2, 2\n.comm c, 1, 1\n");
    CHECK(padded.symbols.at("b") == padded.symbols.at("a") + 2);
    CHECK(padded.symbols.at("c") == padded.symbols.at("b") + 2);
}

TEST_CASE("sizes of common symbols have their limits", "[isa]") {
    const auto alignment_of = [](const std::string& bytes) {
        const auto all = assembled(".lcomm pad, 1\n.lcomm x, " + bytes);
        return all.symbols.at("x") - all.symbols.at("pad");
    };
    CHECK(alignment_of("1") == 1);
    CHECK(alignment_of("2") == 2);
    CHECK(alignment_of("7") == 4);
    CHECK(alignment_of("15") == 8);
    CHECK(alignment_of("16") == 16);
    CHECK(alignment_of("100") == 16);
    CHECK(mistakes_of(".comm x, 0\n.int x").empty());
    CHECK(mistake(".comm x, -1") == "1:1: .comm: got -1 bytes, expected 0..1048576");
    CHECK(mistake(".lcomm x, 1048577") == "1:1: .lcomm: got 1048577 bytes, expected 0..1048576");
    CHECK(mistake(".comm x, 1048576\n.comm y, 1") ==
          "2:1: source: got more than 1048576 bytes of code and data");
    CHECK(mistake(".comm x, 4, 3") ==
          "1:1: .comm: got alignment 3, expected a power of two, at most 32768");
    CHECK(mistake(".comm x, 4, 65536").find("got alignment 65536") != std::string::npos);
    CHECK(mistake(".comm x") == "1:8: .comm: got the end of the line, expected a comma");
    CHECK(mistake(".comm 4, 4") == "1:7: .comm: got '4', expected a name");
}

TEST_CASE("alignments are the powers of two from 1 to 32768", "[isa]") {
    constexpr int kMostPower = 15;
    const auto is_taken = [](const std::string& directive, std::int64_t alignment) {
        return mistakes_of(directive + std::to_string(alignment) + "\n.int 1").empty();
    };
    for (int power = 0; power <= kMostPower + 1; ++power) {
        const std::int64_t alignment = std::int64_t{1} << power;
        CAPTURE(alignment);
        CHECK(is_taken(".p2align ", power) == (power <= kMostPower));
        for (const std::string directive :
             {".comm x, 4, ", ".lcomm x, 4, ", ".balign ", ".align "}) {
            CAPTURE(directive);
            CHECK(is_taken(directive, alignment) == (power <= kMostPower));
            if (alignment > 2) {
                CHECK_FALSE(is_taken(directive, alignment - 1));
                CHECK_FALSE(is_taken(directive, alignment + 1));
            }
            CHECK_FALSE(is_taken(directive, -alignment));
        }
    }
    CHECK_FALSE(is_taken(".comm x, 4, ", 0));
    CHECK_FALSE(is_taken(".p2align ", -1));
}

TEST_CASE("the bytes of a file are laid down", "[isa]") {
    const tessera::test::ScratchFolder folder;
    static_cast<void>(folder.write("five.bin", std::string("\xef\xbb\xbf\0z", 5)));
    const std::string source = folder.path("a.S");
    AssemblyOptions options = options_for(kDefaultTarget);
    const auto read = [&](const std::string& text) {
        return assemble("test", {{source, text}}, kBase, options).words;
    };
    const auto mistake_of = [&](const std::string& text) -> std::string {
        try {
            static_cast<void>(read(text));
        } catch (const ConfigError& error) {
            return error.what();
        }
        return {};
    };
    // beside the source; nothing of it is taken for a mark or an end
    CHECK(read(".incbin \"five.bin\"") == Words{0x00bfbbef, 'z'});
    CHECK(read(".incbin \"five.bin\", 3") == Words{'z' << 8});
    CHECK(read(".incbin \"five.bin\", 1, 2") == Words{0xbfbb});
    CHECK(read(".incbin \"five.bin\",, 1") == Words{0xef});
    CHECK(read(".incbin \"five.bin\", 5\n.int 1") == Words{1});
    static_cast<void>(folder.write("most.bin", std::string(std::size_t{1} << 20U, '\x01')));
    CHECK(read(".incbin \"most.bin\"") == Words(std::size_t{1} << 18U, 0x01010101));
    CHECK(mistake_of(".incbin \"five.bin\", 6") ==
          source +
              ":1:9: .incbin 'five.bin': got bytes 6 to 5, expected 0 to 5, which the file has");
    CHECK(mistake_of(".incbin \"five.bin\", 4, 2") ==
          source +
              ":1:9: .incbin 'five.bin': got bytes 4 to 6, expected 0 to 5, which the file has");
    CHECK(mistake_of(".incbin \"fiv.bin\"") ==
          source + ":1:9: .incbin 'fiv.bin': not found beside the source or in a folder of -I; did "
                   "you mean 'five.bin'?");
    CHECK(mistake_of(".incbin five") ==
          source + ":1:9: .incbin: got 'five', expected the name of a file in quotes");
    CHECK(mistake_of(".incbin \"five.bin\", x\nx = 1") ==
          source + ":1:1: .incbin: got a value that is not known yet, expected a number of bytes");
    // in a folder that is searched
    options.include_directories = {std::filesystem::path(source).parent_path()};
    CHECK(assemble("test", {{"elsewhere.S", ".incbin \"five.bin\", 4"}}, kBase, options).words ==
          Words{'z'});
    // and among the texts that the caller brings
    options.embedded = {{"text.bin", "abcd"}};
    CHECK(read(".incbin \"text.bin\"") == Words{0x64636261});
    static_cast<void>(folder.write("large.bin", std::string(1048577, 'x')));
    CHECK(mistake_of(".incbin \"large.bin\"") ==
          source + ":1:1: source: got more than 1048576 bytes of code and data");
}

TEST_CASE("nothing behind the end is read", "[isa]") {
    CHECK(words_of(".int 1\n.end\n.int 2\nnonsense { }") == Words{1});
    CHECK(words_of(".macro M\n.int 1\n.end\n.int 3\n.endm\nM\n.int 2") == Words{1});
    CHECK(words_of(".if 0\n.end\n.endif\n.int 2") == Words{2});
    CHECK(mistake(".if 1\n.end\n.endif") == "1:1: .if: got the end of the file, expected .endif");
    CHECK(mistake("{ nop\n.end") ==
          "1:1: bundle: got the end of the file, expected an instruction or }");
    CHECK(assembled(std::vector<SourceFile>{{"a.S", ".int 1\n.end"}, {"b.S", ".int 2"}})
              .words.size() == 3);
}

TEST_CASE("texts to be printed are kept", "[isa]") {
    AssemblyTally tally;
    const auto options = options_for(kDefaultTarget);
    static_cast<void>(assemble("test", {{"a.S", ".print \"one \\\"1\\\"\"\n.print \"two\""}}, kBase,
                               options, &tally));
    CHECK(tally.printed == Lines{"one \"1\"", "two"});
    CHECK(mistake(".print x") == "1:8: .print: got 'x', expected a string");
}
