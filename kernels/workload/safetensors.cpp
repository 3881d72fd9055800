// SPDX-License-Identifier: MIT
#include "kernels/workload/safetensors.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "kernels/workload/value_type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <utility>

namespace tessera::workload {

namespace {

constexpr std::uint64_t kMostHeadBytes = 100'000'000; ///< the format's own limit
constexpr const char* kMetadata = "__metadata__";

/// A tensor with the place of its bytes.
struct PlacedTensor {
    TensorHead head;
    std::uint64_t begin = 0;
};

/// Reads the JSON of a head, strictly.
class HeadReader {
public:
    HeadReader(std::string_view text, std::string file_name)
        : text_(text), file_name_(std::move(file_name)) {}

    std::vector<TensorHead> read() {
        const nlohmann::json root = parsed();
        if (!root.is_object()) {
            fail("head: expected a JSON object");
        }
        std::vector<PlacedTensor> placed;
        for (const auto& [name, value] : root.items()) {
            if (name != kMetadata) {
                placed.push_back(read_tensor(name, value));
            }
        }
        std::sort(placed.begin(), placed.end(), [](const PlacedTensor& a, const PlacedTensor& b) {
            return a.begin != b.begin ? a.begin < b.begin : a.head.bytes < b.head.bytes;
        });
        std::uint64_t end = 0;
        std::vector<TensorHead> heads;
        for (PlacedTensor& tensor : placed) {
            if (tensor.begin != end) {
                fail_in(tensor.head.name,
                        fmt::format("data_offsets: got bytes from {} on, expected from {} on, "
                                    "without gap or overlap",
                                    tensor.begin, end));
            }
            end += tensor.head.bytes;
            heads.push_back(std::move(tensor.head));
        }
        return heads;
    }

private:
    nlohmann::json parsed() {
        constexpr int kDeepest = 8;
        std::set<std::string> names;
        const auto check = [&](int depth, nlohmann::json::parse_event_t event,
                               nlohmann::json& value) {
            if (depth > kDeepest) {
                fail("head: nested deeper than tensors are");
            }
            if (event == nlohmann::json::parse_event_t::key && depth == 1 &&
                !names.insert(value.get<std::string>()).second) {
                fail("head: tensor " + in_quotes(value.get<std::string>()) + " is given twice");
            }
            return true;
        };
        try {
            return nlohmann::json::parse(text_, check);
        } catch (const nlohmann::json::parse_error& error) {
            fail(fmt::format("head, byte {}: expected JSON", error.byte));
        } catch (const nlohmann::json::out_of_range&) {
            fail("head: got a number that is too large, expected whole numbers of at most 2^62");
        }
    }

    PlacedTensor read_tensor(const std::string& name, const nlohmann::json& value) {
        PlacedTensor tensor;
        tensor.head.name = name;
        if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
            !value["dtype"].is_string()) {
            fail_in(name, "expected dtype, shape and data_offsets");
        }
        tensor.head.dtype = value["dtype"].get<std::string>();
        tensor.head.shape.reserve(2);
        for (const std::uint64_t size : whole_numbers(name, value, "shape")) {
            tensor.head.shape.push_back(static_cast<std::int64_t>(size));
        }
        const auto offsets = whole_numbers(name, value, "data_offsets");
        if (offsets.size() != 2 || offsets[1] < offsets[0]) {
            fail_in(name, "data_offsets: expected the first byte and the one behind the last");
        }
        tensor.begin = offsets[0];
        tensor.head.bytes = offsets[1] - offsets[0];
        check_size(tensor.head);
        return tensor;
    }

    std::vector<std::uint64_t> whole_numbers(const std::string& name, const nlohmann::json& value,
                                             const char* key) {
        std::vector<std::uint64_t> numbers;
        const auto found = value.find(key);
        if (found == value.end() || !found->is_array()) {
            fail_in(name, fmt::format("{}: expected a list of whole numbers", key));
        }
        constexpr std::uint64_t kMost = std::uint64_t{1} << 62U;
        for (const auto& number : *found) {
            if (!number.is_number_unsigned() || number.get<std::uint64_t>() > kMost) {
                fail_in(name, fmt::format("{}: expected whole numbers of at most 2^62", key));
            }
            numbers.push_back(number.get<std::uint64_t>());
        }
        return numbers;
    }

    void check_size(TensorHead& head) {
        std::uint64_t elements = 1;
        for (const std::int64_t size : head.shape) {
            const auto more = static_cast<std::uint64_t>(size);
            if (more != 0 && elements > std::numeric_limits<std::int64_t>::max() / more) {
                fail_in(head.name, "shape: got more than 2^63 elements");
            }
            elements *= more;
        }
        const auto* const facts = find_value_type(&ValueTypeFacts::safetensors, head.dtype);
        if (facts == nullptr) {
            return; // as long as it says
        }
        head.type = facts->type;
        if (head.bytes % facts->bytes != 0 || head.bytes / facts->bytes != elements) {
            fail_in(head.name, fmt::format("data_offsets: got {} bytes, expected {} elements of {} "
                                           "bytes as shape and dtype say",
                                           head.bytes, elements, facts->bytes));
        }
    }

    [[noreturn]] void fail(const std::string& message) const {
        MatrixSource{file_name_, ""}.fail(message);
    }
    [[noreturn]] void fail_in(const std::string& name, const std::string& message) const {
        MatrixSource{file_name_, name}.fail(message);
    }

    std::string_view text_;
    std::string file_name_;
};

} // namespace

std::int64_t TensorHead::elements() const {
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) {
        elements *= size;
    }
    return elements;
}

std::string safetensors_head(std::span<const TensorHead> tensors) {
    constexpr std::size_t kAlignment = 8;
    nlohmann::ordered_json head = nlohmann::ordered_json::object();
    std::uint64_t at = 0;
    for (const TensorHead& tensor : tensors) {
        head[tensor.name] = {{"dtype", tensor.dtype},
                             {"shape", tensor.shape},
                             {"data_offsets", {at, at + tensor.bytes}}};
        at += tensor.bytes;
    }
    std::string text = head.dump();
    text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
    std::string length;
    for (std::size_t i = 0; i < kTensorsLengthBytes; ++i) {
        length += static_cast<char>(text.size() >> (8 * i) & 0xffU);
    }
    return length + text;
}

SafetensorsReader::SafetensorsReader(ByteSource source, std::string file_name)
    : source_(std::move(source)), file_name_(std::move(file_name)) {
    read_head();
}

SafetensorsReader::SafetensorsReader(const std::string& path) : file_name_(path) {
    const auto file = std::make_shared<InputFile>(path);
    source_ = [file](std::string& bytes, std::size_t count) { file->append_to(bytes, count); };
    read_head();
}

void SafetensorsReader::fail(const std::string& message, const std::string& hint) const {
    MatrixSource{file_name_, ""}.fail(message, hint);
}

void SafetensorsReader::read_head() {
    source_(head_, kTensorsLengthBytes);
    if (head_.size() < kTensorsLengthBytes) {
        fail("not a .safetensors file: it ends inside the length of its head");
    }
    std::uint64_t length = 0;
    for (std::size_t i = kTensorsLengthBytes; i-- > 0;) {
        length = length << 8U | static_cast<unsigned char>(head_[i]);
    }
    if (length > kMostHeadBytes) {
        fail(fmt::format("head: got {} bytes, expected at most {}", length, kMostHeadBytes),
             "the file may be none of .safetensors");
    }
    source_(head_, static_cast<std::size_t>(length));
    if (head_.size() != kTensorsLengthBytes + length) {
        fail(fmt::format("head: got {} bytes, expected {}", head_.size() - kTensorsLengthBytes,
                         length),
             "the file is truncated");
    }
    tensors_ = HeadReader(std::string_view(head_).substr(kTensorsLengthBytes), file_name_).read();
}

std::string SafetensorsReader::next() {
    // In pieces: a head may say more than there is.
    constexpr std::uint64_t kPieceBytes = 64 * kMiB;
    const TensorHead& head = tensors_.at(read_++);
    std::string bytes;
    while (bytes.size() < head.bytes) {
        const std::size_t before = bytes.size();
        source_(bytes, static_cast<std::size_t>(std::min(head.bytes - before, kPieceBytes)));
        if (bytes.size() == before) {
            MatrixSource{file_name_, head.name}.fail(
                fmt::format("got {} bytes, expected {}", before, head.bytes),
                "the file is truncated");
        }
    }
    return bytes;
}

void SafetensorsReader::expect_end() {
    std::string more;
    source_(more, 1);
    if (!more.empty()) {
        fail("got more bytes than those of the tensors");
    }
}

namespace {

/// The number of a tensor; an empty name means the only one.
std::size_t number_of(const SafetensorsReader& reader, const std::string& tensor) {
    std::vector<std::string> names;
    for (const TensorHead& head : reader.tensors()) {
        names.push_back(head.name);
    }
    auto found = std::find(names.begin(), names.end(), tensor);
    if (tensor.empty() && names.size() == 1) {
        found = names.begin();
    }
    if (found == names.end()) {
        const MatrixSource file{reader.file_name(), ""};
        if (tensor.empty()) {
            file.fail(fmt::format("got {} tensors, expected the name of one{}", names.size(),
                                  names.empty() ? "" : ", such as " + in_quotes(names.front())));
        }
        file.fail("has no tensor " + in_quotes(tensor), config::did_you_mean(tensor, names));
    }
    return static_cast<std::size_t>(found - names.begin());
}

MatrixShape shape_of(const SafetensorsReader& reader, const TensorHead& head) {
    const auto is_size = [](std::int64_t size) { return size >= 1 && size <= kLargestSize; };
    if (head.shape.size() != 2 || !is_size(head.shape[0]) || !is_size(head.shape[1])) {
        MatrixSource{reader.file_name(), head.name}.fail(
            fmt::format("shape: got [{}], expected two sizes of 1..{}", fmt::join(head.shape, ", "),
                        kLargestSize));
    }
    return {head.shape[0], head.shape[1]};
}

} // namespace

CoordinateMatrix next_matrix(SafetensorsReader& reader, const TensorHead& head, Marks marks) {
    const MatrixShape shape = shape_of(reader, head);
    const MatrixSource from{reader.file_name(), head.name};
    if (!head.type) {
        from.fail("dtype: got " + in_quotes(head.dtype) +
                  ", expected BOOL, F16, BF16, F32, F64 or a type of whole numbers");
    }
    return entries_of(reader.next(), shape.rows, shape.columns, *head.type, marks, from);
}

CoordinateMatrix read_safetensors_matrix(SafetensorsReader& reader, const std::string& tensor,
                                         Marks marks) {
    const std::size_t number = number_of(reader, tensor);
    static_cast<void>(shape_of(reader, reader.tensors()[number])); // before others are read
    for (std::size_t i = 0; i < number; ++i) {
        static_cast<void>(reader.next());
    }
    return next_matrix(reader, reader.tensors()[number], marks);
}

MatrixShape read_safetensors_size(const std::string& path, const std::string& tensor) {
    const SafetensorsReader reader(path);
    return shape_of(reader, reader.tensors()[number_of(reader, tensor)]);
}

} // namespace tessera::workload
