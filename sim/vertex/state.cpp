// SPDX-License-Identifier: MIT
#include "sim/vertex/state.h"

#include "sim/vertex/value_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tessera::vertex {
namespace {

constexpr std::int64_t kLengthLimit = (1 << 12) - 1;  // bits 31:20 of a span's word
constexpr std::int64_t kAddressLimit = (1 << 20) - 1; // bits 19:0
constexpr std::int64_t kOffsetLimit = 1 << 21;
constexpr std::int64_t kWordLimit = 0xffffffffLL;

class Packer {
public:
    /// Without arrays only the layout is made, and no value is looked at.
    Packer(Evaluation& evaluation, const std::map<std::string, ArrayPlace>* arrays, Address address)
        : evaluation_(evaluation), arrays_(arrays), address_(address) {}

    std::vector<std::byte> pack(const std::vector<StateField>& fields) {
        for (const auto& field : fields) {
            add(field);
        }
        for (const auto& [at, words] : tables_) {
            align(4);
            const auto table = address_ + static_cast<Address>(bytes_.size());
            std::memcpy(&bytes_[at], &table, sizeof(table));
            for (const std::uint32_t entry : words) {
                append(4, entry);
            }
        }
        return std::move(bytes_);
    }

private:
    /// Where a pointer leads and what is left of the array from there.
    struct Target {
        std::string array;
        std::int64_t address = 0;
        std::int64_t elements_left = 0;
        Bytes element_bytes = 1;
    };

    [[nodiscard]] bool measuring() const { return arrays_ == nullptr; }
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
        if (bytes < 0 || bytes > array.bytes + array.padding_bytes) {
            evaluation_.fail(at, fmt::format("got an offset of {} B, expected one inside '{}' of "
                                             "{} B and {} B of padding",
                                             bytes, name, array.bytes, array.padding_bytes));
        }
        return {name, static_cast<std::int64_t>(array.address) + bytes,
                std::max<Bytes>(0, array.bytes - bytes) / array.element_bytes, array.element_bytes};
    }
    /// Of a span that starts at `target`: what stands there, or the rest of the array.
    std::int64_t length(const std::string& at, const Json& given, const Target& target,
                        std::int64_t limit) {
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
        switch (field.packing) {
        case Packing::Word:
            append_word(to.address);
            break;
        case Packing::ShortSpan:
            check_short(field.pointer, to.address);
            append_word(to.address | length(field.pointer, field.length, to, kLengthLimit) << 20);
            break;
        case Packing::Scaled16:
            scaled(field, to);
            break;
        case Packing::Span:
            append_word(to.address);
            append_word(length(field.pointer, field.length, to, kWordLimit));
            break;
        }
    }
    void check_short(const std::string& at, std::int64_t address) {
        if (address < 0 || address > kAddressLimit) {
            evaluation_.fail(at,
                             fmt::format("got address {:#x}, expected one of 20 bits", address));
        }
    }
    void scaled(const StateField& field, const Target& to) {
        const std::int64_t shift = whole(field.pointer + "/shift", field.shift, 0, 16, "bits");
        const std::int64_t base = whole(field.pointer + "/base", field.base, 0, kOffsetLimit, "B");
        const std::int64_t value = (to.address - base) >> shift;
        if (value << shift != to.address - base || value < 0 || value > 0xffff) {
            evaluation_.fail(field.pointer,
                             fmt::format("got address {:#x} from base {:#x}, expected a multiple "
                                         "of {} that fits in 16 bits",
                                         to.address, base, std::int64_t{1} << shift));
        }
        append(2, static_cast<std::uint64_t>(value));
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
        std::vector<std::uint32_t> words;
        for (std::size_t i = 0; i < field.items.size(); ++i) {
            const std::string at = fmt::format("{}/pointers/{}", field.pointer, i);
            words.push_back(static_cast<std::uint32_t>(item_target(at, field.items[i]).address));
        }
        if (field.is_list) {
            append_word(0);
            tables_.emplace_back(bytes_.size() - 4, words);
        } else {
            for (const std::uint32_t entry : words) {
                append_word(entry);
            }
        }
        if (field.has_count) {
            append_word(static_cast<std::int64_t>(words.size()));
        }
    }

    void delta_n(const StateField& field) {
        std::vector<Target> targets;
        for (std::size_t i = 0; i < field.items.size(); ++i) {
            targets.push_back(
                item_target(fmt::format("{}/delta_n/{}", field.pointer, i), field.items[i]));
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
        std::vector<std::uint32_t> words;
        for (std::size_t i = 0; i < targets.size(); ++i) {
            words.push_back(delta(field, i, targets[i], base, unit));
        }
        append_word(base);
        append_word(0);
        tables_.emplace_back(bytes_.size() - 4, words);
        if (field.has_count) {
            append_word(static_cast<std::int64_t>(words.size()));
        }
    }
    std::uint32_t delta(const StateField& field, std::size_t i, const Target& to, std::int64_t base,
                        std::int64_t unit) {
        const std::string at = fmt::format("{}/delta_n/{}", field.pointer, i);
        const std::int64_t offset = (to.address - base) / unit;
        if (to.address < base || offset * unit != to.address - base || offset > kAddressLimit) {
            evaluation_.fail(at, fmt::format("got address {:#x} from base {:#x}, expected a "
                                             "multiple of {} B above it, of 20 bits",
                                             to.address, base, unit));
        }
        const auto elements =
            length(at, member(field.items[i], "length", nullptr), to, kLengthLimit);
        return static_cast<std::uint32_t>(offset | elements << 20);
    }

    Evaluation& evaluation_;
    const std::map<std::string, ArrayPlace>* arrays_;
    Address address_;
    std::vector<std::byte> bytes_;
    std::vector<std::pair<std::size_t, std::vector<std::uint32_t>>> tables_; ///< by pointer to them
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

} // namespace tessera::vertex
