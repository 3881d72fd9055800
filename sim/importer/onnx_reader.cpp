// SPDX-License-Identifier: MIT
#include "sim/importer/onnx_reader.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "sim/importer/elements.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx/onnx_pb.h>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace tessera::importer {
namespace {

using workload::ValueType;
using Tensor = ::onnx::TensorProto;

constexpr std::size_t kMostBytes = 2047 * kMiB; ///< protobuf's messages have less than 2 GiB

ElementKind kind_of(int data_type) {
    switch (data_type) {
    case Tensor::FLOAT:
        return {ValueType::F32, "FLOAT"};
    case Tensor::UINT8:
        return {ValueType::U8, "UINT8"};
    case Tensor::INT8:
        return {ValueType::I8, "INT8"};
    case Tensor::UINT16:
        return {ValueType::U16, "UINT16"};
    case Tensor::INT16:
        return {ValueType::I16, "INT16"};
    case Tensor::INT32:
        return {ValueType::I32, "INT32"};
    case Tensor::INT64:
        return {ValueType::I64, "INT64"};
    case Tensor::BOOL:
        return {ValueType::Mask, "BOOL"};
    case Tensor::FLOAT16:
        return {ValueType::F16, "FLOAT16"};
    case Tensor::DOUBLE:
        return {ValueType::F64, "DOUBLE"};
    case Tensor::UINT32:
        return {ValueType::U32, "UINT32"};
    case Tensor::UINT64:
        return {ValueType::U64, "UINT64"};
    case Tensor::BFLOAT16:
        return {ValueType::BF16, "BFLOAT16"};
    case Tensor::STRING:
        return {std::nullopt, "STRING"};
    case Tensor::COMPLEX64:
        return {std::nullopt, "COMPLEX64"};
    case Tensor::COMPLEX128:
        return {std::nullopt, "COMPLEX128"};
    default:
        return {std::nullopt, fmt::format("type {}", data_type)};
    }
}

/// A mistake of one part of the file.
class Wrong : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

std::string shown(const std::string& name) {
    return name.empty() ? "without a name" : in_quotes(name);
}

/// Reads tensors; `external` may be empty.
class Tensors {
public:
    explicit Tensors(const ExternalBytes& external) : external_(external) {}

    /// @throws Wrong, and what `external` throws
    [[nodiscard]] Elements read(const Tensor& tensor) const {
        const ElementKind kind = kind_of(tensor.data_type());
        if (!kind.type) {
            throw Wrong(fmt::format("elements of {}, expected numbers or truth values", kind.name));
        }
        Elements elements{*kind.type, {}, {}};
        const std::size_t bytes = workload::facts_of(*kind.type).bytes;
        elements.shape.assign(tensor.dims().begin(), tensor.dims().end());
        try {
            require_sizes(elements.shape);
        } catch (const Refused& refused) {
            throw Wrong(refused.what());
        }
        const auto count = static_cast<std::uint64_t>(product_of(elements.shape));
        if (tensor.has_segment()) {
            throw Wrong("got a segment of a tensor, expected a whole one");
        }
        elements.bytes = tensor.data_location() == Tensor::EXTERNAL ? outside(tensor, count * bytes)
                         : tensor.has_raw_data()                    ? tensor.raw_data()
                                                                    : listed(tensor, *kind.type);
        if (elements.bytes.size() != count * bytes) {
            throw Wrong(fmt::format("got {} bytes, expected {} elements of {} bytes",
                                    elements.bytes.size(), count, bytes));
        }
        return elements;
    }

private:
    template <class To, class List> static std::string as(const List& list) {
        std::string bytes;
        bytes.reserve(static_cast<std::size_t>(list.size()) * sizeof(To));
        for (const auto one : list) {
            const auto element = static_cast<To>(one);
            bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
        }
        return bytes;
    }

    static std::string listed(const Tensor& tensor, ValueType type) {
        switch (type) {
        case ValueType::F32:
            return as<float>(tensor.float_data());
        case ValueType::F64:
            return as<double>(tensor.double_data());
        case ValueType::I64:
            return as<std::int64_t>(tensor.int64_data());
        case ValueType::U64:
            return as<std::uint64_t>(tensor.uint64_data());
        case ValueType::U32:
            return as<std::uint32_t>(tensor.uint64_data());
        case ValueType::I32:
            return as<std::int32_t>(tensor.int32_data());
        default: // one or two bytes, halves by their bits
            return workload::facts_of(type).bytes == 2 ? as<std::uint16_t>(tensor.int32_data())
                                                       : as<std::uint8_t>(tensor.int32_data());
        }
    }

    static std::int64_t whole_number(const std::string& key, const std::string& text) {
        std::int64_t number = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, number);
        if (error != std::errc{} || stop != end || number < 0) {
            throw Wrong(fmt::format("external data: {}: got {}, expected a number of bytes", key,
                                    in_quotes(text)));
        }
        return number;
    }

    [[nodiscard]] std::string outside(const Tensor& tensor, std::uint64_t wanted) const {
        std::string location;
        std::int64_t first = 0;
        std::optional<std::int64_t> count;
        for (const auto& entry : tensor.external_data()) {
            if (entry.key() == "location") {
                location = entry.value();
            } else if (entry.key() == "offset") {
                first = whole_number("offset", entry.value());
            } else if (entry.key() == "length") {
                count = whole_number("length", entry.value());
            }
        }
        if (location.empty() || !external_) {
            throw Wrong("external data: got no location");
        }
        const auto expected = static_cast<std::int64_t>(wanted);
        if (count.value_or(expected) != expected) {
            throw Wrong(
                fmt::format("external data: length: got {} bytes, expected {}", *count, expected));
        }
        return external_(location, first, expected);
    }

    const ExternalBytes& external_;
};

class ModelReader {
public:
    ModelReader(std::string file_name, const ExternalBytes& external)
        : file_name_(std::move(file_name)), tensors_(external) {}

    Model read(const ::onnx::ModelProto& proto) {
        Model model;
        read_opset(proto, model);
        const ::onnx::GraphProto& graph = proto.graph();
        for (const Tensor& tensor : graph.initializer()) {
            try {
                if (!model.initialisers.emplace(tensor.name(), tensors_.read(tensor)).second) {
                    throw Wrong("is given twice");
                }
            } catch (const Wrong& wrong) {
                fail(fmt::format("initialiser {}: {}", shown(tensor.name()), wrong.what()));
            }
        }
        for (const auto& sparse : graph.sparse_initializer()) {
            fail(fmt::format("initialiser {}: got a sparse tensor, expected a dense one",
                             shown(sparse.values().name())));
        }
        for (const auto& input : graph.input()) {
            if (!model.initialisers.contains(input.name())) {
                model.inputs.push_back(port_of(input));
            }
        }
        for (const auto& output : graph.output()) {
            model.outputs.push_back(port_of(output));
        }
        for (const auto& node : graph.node()) {
            model.nodes.push_back(node_of(node));
        }
        if (!mistakes_.empty()) {
            throw ConfigError(std::move(mistakes_));
        }
        return model;
    }

private:
    void fail(std::string message) {
        mistakes_.push_back({file_name_, 0, 0, "", std::move(message), ""});
    }

    void read_opset(const ::onnx::ModelProto& proto, Model& model) {
        for (const auto& set : proto.opset_import()) {
            if (set.domain().empty() || set.domain() == "ai.onnx") {
                model.opset = set.version();
            }
        }
        if (!proto.has_graph() || proto.opset_import().empty()) {
            throw ConfigError(Diagnostic{file_name_, 0, 0, "",
                                         "got no graph and operator set, expected an ONNX model",
                                         "the file may be truncated, or none of ONNX"});
        }
        if (model.opset > kNewestOpset) {
            throw ConfigError(Diagnostic{
                file_name_, 0, 0, "",
                fmt::format("got operator set {}, expected at most {}", model.opset, kNewestOpset),
                "export the model with an older one"});
        }
    }

    static Port port_of(const ::onnx::ValueInfoProto& info) {
        Port port;
        port.name = info.name();
        port.is_tensor = info.type().has_tensor_type();
        if (!port.is_tensor) {
            return port;
        }
        const auto& type = info.type().tensor_type();
        port.kind = kind_of(type.elem_type());
        port.has_shape = type.has_shape();
        for (const auto& size : type.shape().dim()) {
            if (size.has_dim_value()) {
                port.shape.emplace_back(size.dim_value());
            } else {
                port.shape.emplace_back(size.dim_param());
            }
        }
        return port;
    }

    Node node_of(const ::onnx::NodeProto& proto) {
        Node node;
        node.name = proto.name();
        node.op = proto.op_type();
        node.domain = proto.domain() == "ai.onnx" ? "" : proto.domain();
        node.inputs.assign(proto.input().begin(), proto.input().end());
        node.outputs.assign(proto.output().begin(), proto.output().end());
        for (const auto& attribute : proto.attribute()) {
            try {
                node.attributes[attribute.name()] = attribute_of(attribute);
            } catch (const Wrong& wrong) {
                fail(fmt::format("node {} ({}): attribute {}: {}", shown(node.name), node.op,
                                 shown(attribute.name()), wrong.what()));
            }
        }
        return node;
    }

    [[nodiscard]] Attribute attribute_of(const ::onnx::AttributeProto& proto) const {
        using Proto = ::onnx::AttributeProto;
        switch (proto.type()) {
        case Proto::FLOAT:
            return proto.f();
        case Proto::INT:
            return std::int64_t{proto.i()};
        case Proto::STRING:
            return proto.s();
        case Proto::TENSOR:
            return tensors_.read(proto.t());
        case Proto::FLOATS:
            return std::vector<float>(proto.floats().begin(), proto.floats().end());
        case Proto::INTS:
            return Sizes(proto.ints().begin(), proto.ints().end());
        default:
            return OtherAttribute{Proto::AttributeType_Name(proto.type())};
        }
    }

    std::string file_name_;
    Tensors tensors_;
    std::vector<Diagnostic> mistakes_;
};

/// @throws ConfigError where the bytes are no such message
template <class Message>
void parse(Message& message, std::string_view bytes, const std::string& file_name,
           const char* what) {
    // what it says of broken messages is said here
    google::protobuf::SetLogHandler(nullptr);
    google::protobuf::io::CodedInputStream stream(
        reinterpret_cast<const std::uint8_t*>(bytes.data()), static_cast<int>(bytes.size()));
    if (!message.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
        throw ConfigError(Diagnostic{file_name, 0, 0, "", fmt::format("expected {}", what),
                                     "the file is truncated, or none of ONNX"});
    }
}

/// The bytes of a file beside the model's.
std::string bytes_beside(const std::filesystem::path& folder, const std::string& location,
                         std::int64_t first, std::int64_t count) {
    const std::filesystem::path written(location);
    if (written.is_absolute() ||
        std::ranges::any_of(written, [](const auto& part) { return part == ".."; })) {
        throw Wrong(fmt::format("external data: location: got {}, expected a file in the model's "
                                "folder or below it",
                                in_quotes(location)));
    }
    const std::filesystem::path path = folder / written;
    std::error_code failed;
    const auto size = static_cast<std::int64_t>(std::filesystem::file_size(path, failed));
    if (failed) {
        throw IoError(fmt::format("cannot read {}: {}", path.string(), failed.message()));
    }
    if (first > size || count > size - first) {
        throw Wrong(fmt::format("external data: got {} bytes in {}, expected {} from byte {} on",
                                size, path.string(), count, first));
    }
    std::ifstream file(path, std::ios::binary);
    std::string bytes(static_cast<std::size_t>(count), '\0');
    file.seekg(first);
    file.read(bytes.data(), count);
    if (!file) {
        throw IoError(fmt::format("cannot read {}", path.string()));
    }
    return bytes;
}

} // namespace

bool reads_onnx() {
    return true;
}

Model read_onnx(std::string_view bytes, const std::string& file_name,
                const ExternalBytes& external) {
    ::onnx::ModelProto proto;
    parse(proto, bytes, file_name, "an ONNX model");
    return ModelReader(file_name, external).read(proto);
}

Model read_onnx_file(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    std::error_code failed; // what cannot be opened is told when it is read
    const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
    if (!failed && bytes > kMostBytes) {
        throw ConfigError(
            Diagnostic{path, 0, 0, "",
                       fmt::format("got {} bytes, expected at most {}, as of a message "
                                   "of protobuf",
                                   bytes, kMostBytes),
                       "its tensors may be in files beside it"});
    }
    return read_onnx(read_file(path, kMostBytes, "a model file"), path,
                     [&](const std::string& location, std::int64_t first, std::int64_t count) {
                         return bytes_beside(folder, location, first, count);
                     });
}

} // namespace tessera::importer
