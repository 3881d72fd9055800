// SPDX-License-Identifier: MIT
#include "sim/assemble/assemble.h"

#include "base/config/paths.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "base/text_lines.h"
#include "kernels/vertex/assemble.h"
#include "models/isa/assembler.h"
#include "models/isa/instruction.h"
#include "models/isa/machine_target.h"
#include "models/machine_file/load.h"
#include "models/program/source_place.h"
#include "sim/process/exit_code.h"
#include "sim/process/output.h"
#include "sim/result/result.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

namespace tessera::assemble {
namespace {

spec::MachineSpec machine_named(const std::string& name, const std::vector<std::string>& sets) {
    return machine_file::load(name, config::default_config_paths(), sets).spec;
}

/// A number as in 0x4c000 or 311296; empty if it is none.
std::optional<std::uint32_t> number_of(std::string_view text) {
    int base = 10;
    if (text.substr(0, 2) == "0x" || text.substr(0, 2) == "0X") {
        text.remove_prefix(2);
        base = 16;
    }
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

Address address_of(const std::string& command, const std::string& text, Address otherwise) {
    if (text.empty()) {
        return otherwise;
    }
    const auto address = number_of(text);
    if (!address || *address % 8 != 0) {
        throw cli::UsageError(fmt::format(
            "{}: --address: got '{}', expected a multiple of 8, as in 0x4c000", command, text));
    }
    return *address;
}

/// `NAME=VALUE` or `NAME`, which is 1.
std::pair<std::string, std::string> definition_of(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    const auto is_name = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ||
        !std::all_of(name.begin(), name.end(), is_name)) {
        throw cli::UsageError(fmt::format("asm: -D: got '{}', expected NAME or NAME=VALUE", text));
    }
    return {name, equals == std::string::npos ? "1" : text.substr(equals + 1)};
}

program::Codelet assemble(const cli::AssembleCommand& command, isa::AssemblyTally& tally) {
    const spec::MachineSpec machine = machine_named(command.machine, command.sets);
    isa::AssemblyOptions options = isa::options_for(isa::target_of(machine));
    for (const auto& directory : command.include_directories) {
        options.include_directories.emplace_back(directory);
    }
    for (const auto& text : command.defines) {
        options.defines.push_back(definition_of(text));
    }
    std::vector<isa::SourceFile> sources;
    for (const auto& file : command.files) {
        sources.push_back({file, read_file(file, vertex::kMostSourceBytes, "an assembly source")});
    }
    options.allow_undefined = command.allow_undefined;
    return isa::assemble(command.files.front(), sources,
                         address_of("asm", command.address, machine.memory.region0_begin()),
                         options, &tally);
}

std::string words_text(const std::vector<std::uint32_t>& words) {
    std::string text;
    for (const std::uint32_t word : words) {
        text += fmt::format("{}{:08x}", text.empty() ? "" : " ", word);
    }
    return text;
}

class Listing {
public:
    explicit Listing(const program::Codelet& codelet) : codelet_(codelet) {
        for (const auto& [name, address] : codelet.symbols) {
            labels_.emplace(address, name);
        }
    }

    [[nodiscard]] std::string text() const {
        std::string text;
        for (const auto& line : isa::disassemble(codelet_.words, codelet_.address)) {
            const auto [first, last] = labels_.equal_range(line.address);
            for (auto label = first; label != last; ++label) {
                text += label->second + ":\n";
            }
            text += fmt::format("{:#010x}  {:<18}  {:<52} {}\n", line.address,
                                words_text(line.words), line.text, source_line(line.address));
        }
        return text;
    }

    [[nodiscard]] nlohmann::json json() const {
        auto lines = nlohmann::json::array();
        for (const auto& line : isa::disassemble(codelet_.words, codelet_.address)) {
            lines.push_back({{"address", line.address},
                             {"words", line.words},
                             {"text", line.text},
                             {"source", source_line(line.address)}});
        }
        return lines;
    }

private:
    [[nodiscard]] std::string source_line(Address address) const {
        const bool has_line = std::binary_search(
            codelet_.lines.begin(), codelet_.lines.end(), program::LineEntry{address, 0, 0, 0, 0},
            [](const program::LineEntry& a, const program::LineEntry& b) {
                return a.address < b.address;
            });
        return has_line ? program::source_place(codelet_, address) : std::string{};
    }

    const program::Codelet& codelet_;
    std::multimap<Address, std::string> labels_;
};

std::string symbols_text(const program::Codelet& codelet, const isa::AssemblyTally& tally) {
    std::string text;
    for (const auto& line : tally.printed) {
        text += line + "\n";
    }
    text += fmt::format("{} bytes at {:#x}, {} symbols\n", 4 * codelet.words.size(),
                        codelet.address, codelet.symbols.size());
    std::vector<std::pair<Address, std::string>> symbols;
    for (const auto& [name, address] : codelet.symbols) {
        symbols.emplace_back(address, name);
    }
    std::sort(symbols.begin(), symbols.end());
    for (const auto& [address, name] : symbols) {
        text += fmt::format("  {:#010x}  {}\n", address, name);
    }
    for (const auto& symbol : tally.undefined) {
        text += fmt::format("  undefined   {}  {}\n", symbol.name, symbol.place);
    }
    return text;
}

/// Instructions, mnemonics from the most frequent on, bytes of each section.
std::string tally_text(const isa::AssemblyTally& tally) {
    std::vector<std::pair<std::int64_t, std::string>> order;
    for (const auto& [name, times] : tally.mnemonics) {
        order.emplace_back(times, name);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string mnemonics;
    for (const auto& [times, name] : order) {
        mnemonics += fmt::format("{}{} {}", mnemonics.empty() ? "" : ", ", name, times);
    }
    std::string text =
        fmt::format("\ninstructions {}, {} of them in {}\n", tally.instructions, 2 * tally.bundles,
                    counted(static_cast<std::size_t>(tally.bundles), "bundle"));
    text += fmt::format("mnemonics    {}\n", mnemonics.empty() ? "none" : mnemonics);
    text += fmt::format("{:<24}{:>10}{:>10}{:>10}\n", "section", "code B", "data B", "padding B");
    for (const auto& section : tally.sections) {
        text += fmt::format("{:<24}{:>10}{:>10}{:>10}\n", section.name, section.code_bytes,
                            section.data_bytes, section.padding_bytes);
    }
    return text;
}

nlohmann::json tally_json(const isa::AssemblyTally& tally) {
    auto sections = nlohmann::json::array();
    for (const auto& section : tally.sections) {
        sections.push_back({{"name", section.name},
                            {"code_bytes", section.code_bytes},
                            {"data_bytes", section.data_bytes},
                            {"padding_bytes", section.padding_bytes}});
    }
    return {{"instructions", tally.instructions},
            {"bundles", tally.bundles},
            {"mnemonics", tally.mnemonics},
            {"sections", std::move(sections)}};
}

void write_words(process::Output& output, const std::vector<std::uint32_t>& words) {
    std::string bytes;
    for (const std::uint32_t word : words) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            bytes.push_back(static_cast<char>((word >> shift) & 0xffU));
        }
    }
    output.write(bytes);
}

/// The words of a text of hexadecimal words.
std::vector<std::uint32_t> hex_words(const std::string& file, const std::string& bytes) {
    const std::string_view text = utf8_text(bytes, file);
    std::vector<std::uint32_t> words;
    int line = 1;
    std::size_t line_begin = 0;
    for (std::size_t at = 0; at < text.size();) {
        if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
            if (text[at++] == '\n') {
                ++line;
                line_begin = at;
            }
            continue;
        }
        std::size_t end = at;
        while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) == 0) {
            ++end;
        }
        std::string word(text.substr(at, end - at));
        if (word.substr(0, 2) != "0x") {
            word.insert(0, "0x");
        }
        const auto value = number_of(word);
        if (!value) {
            throw ConfigError(
                {file, line, static_cast<int>(at - line_begin) + 1, "",
                 fmt::format("got '{}', expected a word of up to 8 hexadecimal digits",
                             text.substr(at, std::min<std::size_t>(end - at, 40))),
                 ""});
        }
        words.push_back(*value);
        at = end;
    }
    return words;
}

/// The words of a file: little-endian bytes, or text of hexadecimal words.
std::vector<std::uint32_t> words_of(const cli::DisassembleCommand& command) {
    const std::string bytes = read_file(command.file, vertex::kMostSourceBytes, "a file of words");
    if (command.hex) {
        return hex_words(command.file, bytes);
    }
    if (bytes.size() % 4 != 0) {
        throw ConfigError({command.file, 0, 0, "",
                           fmt::format("got {} bytes, expected words of 4", bytes.size()),
                           "--hex reads text of hexadecimal words"});
    }
    std::vector<std::uint32_t> words(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

nlohmann::json assembly_json(const program::Codelet& codelet, const isa::AssemblyTally& tally,
                             const Listing& listing) {
    auto undefined = nlohmann::json::array();
    for (const auto& symbol : tally.undefined) {
        undefined.push_back({{"name", symbol.name}, {"place", symbol.place}});
    }
    return {{"address", codelet.address}, {"bytes", 4 * codelet.words.size()},
            {"symbols", codelet.symbols}, {"undefined", std::move(undefined)},
            {"printed", tally.printed},   {"summary", tally_json(tally)},
            {"listing", listing.json()}};
}

} // namespace

std::string assemble_text(const cli::AssembleCommand& command) {
    const bool to_stdout =
        process::check_outputs("asm", {{"--out", command.out}, {"--json", command.json}});
    const auto words_file = process::open_output(command.out);
    const auto json_file = process::open_output(command.json);
    isa::AssemblyTally tally;
    const program::Codelet codelet = assemble(command, tally);
    const Listing listing(codelet);
    for (const auto& warning : codelet.warnings) {
        process::tell_warning(warning);
    }
    if (words_file != nullptr) {
        write_words(*words_file, codelet.words);
    }
    if (json_file != nullptr) {
        json_file->write(result::json_text(assembly_json(codelet, tally, listing)));
    }
    std::string text = command.quiet ? ""
                                     : symbols_text(codelet, tally) +
                                           (command.summary ? tally_text(tally) : "") +
                                           (command.listing ? "\n" + listing.text() : "");
    if (to_stdout) {
        process::tell(text);
        text.clear();
    }
    return text;
}

std::string disassemble_text(const cli::DisassembleCommand& command) {
    const spec::MachineSpec machine = machine_named(command.machine, {});
    const auto words = words_of(command);
    std::string text;
    for (const auto& line : isa::disassemble(
             words, address_of("disasm", command.address, machine.memory.region0_begin()))) {
        text += fmt::format("{:<52} // {:#010x}  {}\n", line.text, line.address,
                            words_text(line.words));
    }
    return text;
}

} // namespace tessera::assemble
