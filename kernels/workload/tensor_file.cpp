// SPDX-License-Identifier: MIT
#include "kernels/workload/tensor_file.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/workload/npy.h"
#include "kernels/workload/pattern_file.h"
#include "kernels/workload/safetensors.h"
#include "kernels/workload/value_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <ios>
#include <vector>

namespace tessera::workload {
namespace {

constexpr std::string_view kEnding = ".safetensors:";

[[noreturn]] void fail_to_read(const std::string& file) {
    throw IoError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
}

/// A tensor whose head has been read.
class FoundTensor {
public:
    explicit FoundTensor(const std::string& name)
        : place_(matrix_place(name)), file_(place_.file, std::ios::binary) {
        if (!file_) {
            fail_to_read(place_.file);
        }
        const SafetensorsReader reader(
            [this](std::string& bytes, std::size_t count) { append(bytes, count); }, place_.file);
        begin_ = reader.head_bytes().size();
        std::vector<std::string> names;
        for (const TensorHead& head : reader.tensors()) {
            if (head.name == place_.tensor) {
                head_ = head;
                break;
            }
            begin_ += head.bytes;
            names.push_back(head.name);
        }
        if (head_.name != place_.tensor) {
            MatrixSource{place_.file, ""}.fail("has no tensor " + in_quotes(place_.tensor),
                                               config::did_you_mean(place_.tensor, names));
        }
        if (!head_.type || facts_of(*head_.type).npy.empty()) {
            MatrixSource{place_.file, place_.tensor}.fail(
                "dtype: got " + in_quotes(head_.dtype) +
                ", expected BOOL, F16, F32, F64 or a type of whole numbers");
        }
    }

    [[nodiscard]] std::string header() const {
        return npy_bytes(facts_of(*head_.type).npy, head_.shape, "");
    }
    [[nodiscard]] std::string whole() {
        std::string bytes;
        file_.clear();
        file_.seekg(static_cast<std::streamoff>(begin_));
        append(bytes, static_cast<std::size_t>(head_.bytes));
        if (bytes.size() != head_.bytes) {
            MatrixSource{place_.file, place_.tensor}.fail(
                fmt::format("got {} bytes, expected {}", bytes.size(), head_.bytes),
                "the file is truncated");
        }
        return npy_bytes(facts_of(*head_.type).npy, head_.shape, bytes);
    }

private:
    /// In pieces: a head may say more than there is.
    void append(std::string& bytes, std::size_t count) {
        constexpr std::size_t kPieceBytes = std::size_t{1} << 26U;
        while (count > 0 && file_) {
            const std::size_t before = bytes.size();
            const std::size_t piece = std::min(count, kPieceBytes);
            bytes.resize(before + piece);
            file_.read(bytes.data() + before, static_cast<std::streamsize>(piece));
            bytes.resize(before + static_cast<std::size_t>(file_.gcount()));
            count -= piece;
        }
        if (file_.bad()) {
            fail_to_read(place_.file);
        }
    }

    MatrixPlace place_;
    std::ifstream file_;
    TensorHead head_;
    std::uint64_t begin_ = 0;
};

} // namespace

bool is_tensor_of_file(const std::string& name) {
    return name.find(kEnding) != std::string::npos;
}

std::string npy_of_tensor(const std::string& name) {
    return FoundTensor(name).whole();
}

std::string npy_header_of_tensor(const std::string& name) {
    return FoundTensor(name).header();
}

} // namespace tessera::workload
