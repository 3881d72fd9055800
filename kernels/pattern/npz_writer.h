// SPDX-License-Identifier: MIT
// Archives of arrays as NumPy saves them (numpy.savez), in memory.
#pragma once

#include "kernels/workload/dense_entries.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::pattern {

class NpzWriter {
public:
    /// `descr` is NumPy's name of the type: "<f4". `data` are the array's bytes, row-major.
    void add(const std::string& name, std::string_view descr,
             const std::vector<std::int64_t>& shape, std::string_view data);

    /// Whole numbers of 4 or 8 bytes.
    template <class Number> void add(const std::string& name, const std::vector<Number>& numbers) {
        add(name, sizeof(Number) == sizeof(std::int32_t) ? "<i4" : "<i8",
            {static_cast<std::int64_t>(numbers.size())},
            {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)});
    }

    /// The archive, the same for equal arrays. @throws IoError
    [[nodiscard]] std::string bytes(const workload::MatrixSource& to) const;

private:
    struct Member {
        std::string name;
        std::string bytes;
    };
    std::vector<Member> members_;
};

} // namespace tessera::pattern
