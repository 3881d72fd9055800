// SPDX-License-Identifier: MIT
#include "kernels/vertex/state.h"

#include "kernels/vertex/value_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace tessera::vertex {
namespace {

using program::PointerFormat;
using program::PointerTable;
using program::PointerTarget;

constexpr std::int64_t kOffsetLimit = 1 << 21;

class Packer {
public:
    /// Without arrays only the layout is made, and no value is looked at.
    Packer(Evaluation& evaluation, const std::map<std::string, ArrayPlace>* arrays, Address address)
        : evaluation_(evaluation), arrays_(arrays), address_(address) {}

    std::vector<std::byte> pack(const std::vector<StateField>& fields) {
        for (const auto& field : fields) {
            add(field);
        }
        for (const auto& [at, entries] : tables_) {
            align(4);
            const auto table = address_ + static_cast<Address>(bytes_.size());
            std::memcpy(&bytes_[at], &table, sizeof(table));
            for (const Entry& entry : entries) {
                append(4, entry.bits);
            }
        }
        for (const auto& [at, entries] : counts_) {
            add_count(at, entries);
        }
        return std::move(bytes_);
    }

    /// Without places: the fields in words, and the tables behind them apart.
    StateWords words(const std::vector<StateField>& fields) {
        is_placed_ = false;
        for (const auto& field : fields) {
            add(field);
        }
        align(4);
        StateWords made;
        made.words.resize(bytes_.size() / 4);
        for (std::size_t i = 0; i < made.words.size(); ++i) {
            std::memcpy(&made.words[i].number, &bytes_[4 * i], 4);
        }
        for (const auto& [at, target] : pointers_) {
            made.words[at / 4] = pointer_to(target);
        }
        for (const auto& [at, entries] : tables_) {
            made.words[at / 4] = {.kind = StateWord::Kind::Table,
                                  .number = static_cast<std::uint32_t>(made.tables.size())};
            auto& table = made.tables.emplace_back();
            std::ranges::transform(entries, std::back_inserter(table), [](const Entry& entry) {
                return entry.array.empty() ? StateWord{.number = entry.bits} : pointer_to(entry);
            });
        }
        return made;
    }

private:
    /// A word of a table: its bits, or of a pointer that is a word also where it leads.
    struct Entry {
        std::uint32_t bits = 0;
        std::string array = {};
        Bytes offset = 0;
    };
    static StateWord pointer_to(const Entry& entry) {
        return {.kind = StateWord::Kind::Pointer, .array = entry.array, .offset = entry.offset};
    }

    /// Where a pointer leads and what is left of the array from there.
    struct Target {
        std::string array;
        std::int64_t address = 0;
        std::int64_t elements_left = 0;
        Bytes element_bytes = 1;
        bool inside = true; ///< the array or its padding
        Bytes offset = 0;   ///< in the array
    };

    [[nodiscard]] bool measuring() const { return arrays_ == nullptr; }
    /// Into bits 31:24 of a word with an address: those of tile memory have 21 bits.
    void add_count(std::size_t at, std::int64_t entries) {
        bytes_[at + 3] |= static_cast<std::byte>(entries);
    }
    void align(std::int64_t bytes) {
        const auto unit = static_cast<std::size_t>(bytes);
        bytes_.resize((bytes_.size() + unit - 1) / unit * unit);
    }
    /// `bytes` of `value` at a multiple of `bytes`.
    void append(std::int64_t bytes, std::uint64_t value) {
        align(bytes);
        for (std::int64_t i = 0; i < bytes; ++i) {
            bytes_.push_back(static_cast<std::byte>(value >> (8 * static_cast<unsigned>(i))));
        }
    }
    void append_word(std::int64_t value) { append(4, static_cast<std::uint64_t>(value)); }
    std::int64_t whole(const std::string& pointer, const Json& given, std::int64_t low,
                       std::int64_t high, const std::string& unit = {}) {
        return measuring() ? low : evaluation_.whole(pointer, given, low, high, unit);
    }

    void add(const StateField& field) {
        if (field.form == "pointer") {
            pointer(field);
        } else if (field.form == "pointers") {
            pointers(field);
        } else if (field.form == "spans") {
            spans(field);
        } else if (field.form == "delta_n") {
            delta_n(field);
        } else if (field.form == "align") {
            align(evaluation_.whole(field.pointer + "/align", field.value, 1, 32768, "B"));
        } else {
            numbers(field);
        }
    }

    void numbers(const StateField& field) {
        const std::string at = field.pointer + "/" + field.form;
        const std::string type = field.form == "word"    ? "u32"
                                 : field.form == "bytes" ? "u8"
                                                         : field.form;
        if (!field.value.is_array()) {
            number(at, *find_value_type(type), field, field.value);
            return;
        }
        for (std::size_t i = 0; i < field.value.size(); ++i) {
            number(fmt::format("{}/{}", at, i), *find_value_type(type), field, field.value[i]);
        }
    }
    void number(const std::string& at, const ValueType& type, const StateField& field,
                const Json& given) {
        align(type.bytes());
        double value = measuring() ? 0 : evaluation_.number(at, given);
        if (field.form == "word" && value < 0) {
            value += 4294967296.0; // as registers hold it
        }
        const std::size_t before = bytes_.size();
        const std::string reason = append_element(type, value, bytes_);
        if (!reason.empty()) {
            evaluation_.fail(at, reason);
            bytes_.resize(before + static_cast<std::size_t>(type.bytes()));
        }
    }

    Target target(const std::string& at, const std::string& name, const Json& offset_bytes,
                  const Json& offset_elements) {
        if (measuring()) {
            return {};
        }
        const ArrayPlace& array = arrays_->at(name);
        const std::int64_t bytes =
            whole(at + "/offset_bytes", offset_bytes, -kOffsetLimit, kOffsetLimit, "B") +
            array.element_bytes * whole(at + "/offset_elements", offset_elements, -kOffsetLimit,
                                        kOffsetLimit, "elements");
        const bool inside =
            bytes >= -array.padding_before_bytes && bytes <= array.bytes + array.padding_bytes;
        if (!inside) {
            evaluation_.fail(at, fmt::format("got an offset of {} B, expected one inside '{}' of "
                                             "{} B and {} B of padding{}",
                                             bytes, name, array.bytes, array.padding_bytes,
                                             array.padding_before_bytes == 0
                                                 ? ""
                                                 : fmt::format(", {} B of it before",
                                                               array.padding_before_bytes)));
        }
        return {name,
                static_cast<std::int64_t>(array.address) + bytes,
                std::max<Bytes>(0, array.bytes - bytes) / array.element_bytes,
                array.element_bytes,
                inside,
                bytes};
    }
    /// Of arrays without places an address cannot be part of a word.
    void refuse_part(const std::string& at, std::string_view what) {
        if (!is_placed_) {
            evaluation_.fail(
                at, fmt::format("got {}, expected pointers that are words of their own", what),
                "a pipeline places the arrays");
        }
    }
    /// Of a span that starts at `target`: what stands there, or the rest of the array.
    std::int64_t length(const std::string& at, const Json& given, const Target& target,
                        PointerFormat format) {
        const std::int64_t limit = program::largest_length(format);
        if (measuring() || given.is_null()) {
            return whole(at + "/length", Json(target.elements_left), 0, limit, "elements");
        }
        const bool array_ends = target.elements_left < limit;
        return whole(at + "/length", given, 0, array_ends ? target.elements_left : limit,
                     array_ends ? fmt::format("elements, what '{}' has from there", target.array)
                                : "elements");
    }

    void pointer(const StateField& field) {
        const Target to =
            target(field.pointer, field.array, field.offset_bytes, field.offset_elements);
        const program::PointerFacts& facts = program::facts_of(field.packing);
        if (field.packing == PointerFormat::Word || field.packing == PointerFormat::Span) {
            align(4);
            note_pointer(to);
        } else {
            refuse_part(field.pointer, fmt::format("packing '{}'", facts.name));
        }
        PointerTarget packed{to.address};
        if (facts.length_bits > 0) {
            packed.length = length(field.pointer, field.length, to, field.packing);
        }
        if (facts.relative) {
            packed.unit = std::int64_t{1}
                          << whole(field.pointer + "/shift", field.shift, 0, 16, "bits");
            packed.base = whole(field.pointer + "/base", field.base, 0, kOffsetLimit, "B");
        }
        const std::uint64_t bits = pack(field.pointer, field.packing, packed, to);
        for (Bytes done = 0; done < facts.bytes; done += 4) {
            append(std::min<Bytes>(facts.bytes, 4), bits >> (8 * static_cast<unsigned>(done)));
        }
    }
    /// The next word is an address.
    void note_pointer(const Target& to) {
        pointers_.emplace_back(bytes_.size(), Entry{0, to.array, to.offset});
    }
    /// 0 where the pointer is a mistake, which is noted.
    std::uint64_t pack(const std::string& at, PointerFormat format, const PointerTarget& target,
                       const Target& to) {
        if (measuring() || !to.inside) {
            return 0;
        }
        const std::string mistake = program::pointer_mistake(format, target);
        if (!mistake.empty()) {
            evaluation_.fail(at, mistake);
            return 0;
        }
        return program::pack_pointer(format, target, at);
    }

    /// Name, offsets and length of an item, which is a name or an object.
    static const std::string& name_of(const Json& item) {
        return item.is_object() ? item.at("array").get_ref<const std::string&>()
                                : item.get_ref<const std::string&>();
    }
    static Json member(const Json& item, const char* key, const Json& otherwise) {
        return item.is_object() ? item.value(key, otherwise) : otherwise;
    }
    Target item_target(const std::string& at, const Json& item) {
        return target(at, name_of(item), member(item, "offset_bytes", 0),
                      member(item, "offset_elements", 0));
    }

    void pointers(const StateField& field) {
        const PointerTable& table = program::kListOfPointers;
        std::vector<Entry> words;
        for (std::size_t i = 0; i < field.items.size(); ++i) {
            const std::string at = fmt::format("{}/{}/{}", field.pointer, table.name, i);
            const Target to = item_target(at, field.items[i]);
            words.push_back({entry(at, table, {to.address}, to), to.array, to.offset});
        }
        list(field, words);
        count(field, words.size());
    }
    /// The entries themselves, or a pointer to them.
    void list(const StateField& field, const std::vector<Entry>& words) {
        if (field.is_list) {
            add_table(words);
            return;
        }
        for (const Entry& word : words) {
            align(4);
            if (!word.array.empty()) {
                pointers_.emplace_back(bytes_.size(), word);
            }
            append_word(word.bits);
        }
    }
    /// How many entries a list has, where the field says it.
    void count(const StateField& field, std::size_t entries) {
        const std::string at = field.pointer + "/count";
        if (field.count == "bits31_24") {
            refuse_part(at, "bits31_24");
            counts_.emplace_back(first_word_, whole(at, entries, 0, 255, "entries"));
        } else if (field.count != false) {
            const auto& type =
                *find_value_type(field.count == true ? "u32" : field.count.get<std::string>());
            const std::int64_t limit = (std::int64_t{1} << (8 * type.bytes())) - 1;
            append(type.bytes(),
                   static_cast<std::uint64_t>(whole(at, entries, 0, limit, "entries")));
        }
    }

    void spans(const StateField& field) {
        std::vector<Entry> words;
        const program::PointerFacts& facts = program::facts_of(field.span_packing);
        if (field.span_packing != PointerFormat::Span) {
            refuse_part(field.pointer, fmt::format("packing '{}'", facts.name));
        }
        for (std::size_t i = 0; i < field.items.size(); ++i) {
            const std::string at = fmt::format("{}/spans/{}", field.pointer, i);
            const Target to = item_target(at, field.items[i]);
            const std::int64_t elements =
                length(at, member(field.items[i], "length", nullptr), to, field.span_packing);
            const std::uint64_t bits = pack(at, field.span_packing, {to.address, elements}, to);
            for (Bytes done = 0; done < facts.bytes; done += 4) {
                words.push_back(
                    {static_cast<std::uint32_t>(bits >> (8 * static_cast<unsigned>(done))),
                     done == 0 ? to.array : std::string(), to.offset});
            }
        }
        list(field, words);
        count(field, field.items.size());
    }
    std::uint32_t entry(const std::string& at, const PointerTable& table,
                        const PointerTarget& target, const Target& to) {
        return static_cast<std::uint32_t>(pack(at, table.entry, target, to));
    }
    /// A word that points to a table of `words`.
    void add_table(const std::vector<Entry>& words) {
        append_word(0);
        first_word_ = bytes_.size() - 4;
        tables_.emplace_back(first_word_, words);
    }

    void delta_n(const StateField& field) {
        const PointerTable& table = program::kListOfDeltas;
        refuse_part(field.pointer, "delta_n");
        const auto at = [&](std::size_t i) {
            return fmt::format("{}/{}/{}", field.pointer, table.name, i);
        };
        std::vector<Target> targets;
        for (std::size_t i = 0; i < field.items.size(); ++i) {
            targets.push_back(item_target(at(i), field.items[i]));
        }
        std::int64_t base = 0;
        if (!measuring() && !field.base_array.empty()) {
            base = arrays_->at(field.base_array).address;
        } else if (!targets.empty()) {
            base =
                std::min_element(targets.begin(), targets.end(), [](const auto& a, const auto& b) {
                    return a.address < b.address;
                })->address;
        }
        const Json own = targets.empty() ? 1 : targets.front().element_bytes;
        const std::int64_t unit =
            whole(field.pointer + "/element_bytes",
                  field.element_bytes.is_null() ? own : field.element_bytes, 1, 16, "B");
        std::vector<Entry> words;
        for (std::size_t i = 0; i < targets.size(); ++i) {
            const std::int64_t elements =
                length(at(i), member(field.items[i], "length", nullptr), targets[i], table.entry);
            words.push_back(
                {entry(at(i), table, {targets[i].address, elements, base, unit}, targets[i])});
        }
        append_word(base);
        const std::size_t at_base = bytes_.size() - 4;
        add_table(words);
        first_word_ = at_base;
        count(field, words.size());
    }

    Evaluation& evaluation_;
    const std::map<std::string, ArrayPlace>* arrays_;
    Address address_;
    bool is_placed_ = true; ///< the arrays have addresses
    std::vector<std::byte> bytes_;
    std::vector<std::pair<std::size_t, Entry>> pointers_;            ///< words that are addresses
    std::vector<std::pair<std::size_t, std::vector<Entry>>> tables_; ///< by pointer to them
    std::size_t first_word_ = 0; ///< of the last list that has a pointer
    std::vector<std::pair<std::size_t, std::int64_t>> counts_; ///< by the word that takes them
};

} // namespace

Bytes state_bytes(Evaluation& evaluation, const std::vector<StateField>& fields) {
    return static_cast<Bytes>(Packer(evaluation, nullptr, 0).pack(fields).size());
}

std::vector<std::byte> pack_state(Evaluation& evaluation, const std::vector<StateField>& fields,
                                  const std::map<std::string, ArrayPlace>& arrays,
                                  Address address) {
    return Packer(evaluation, &arrays, address).pack(fields);
}

StateWords state_words(Evaluation& evaluation, const std::vector<StateField>& fields,
                       std::map<std::string, ArrayPlace> arrays) {
    constexpr Address kSomewhere = 1 << 19; // pointers before an array are no mistake
    for (auto& [name, place] : arrays) {
        place.address = kSomewhere;
    }
    return Packer(evaluation, &arrays, 0).words(fields);
}

} // namespace tessera::vertex
