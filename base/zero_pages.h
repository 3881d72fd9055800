// SPDX-License-Identifier: MIT
// Memory that begins as zeros and costs the host nothing where it is not touched.
#pragma once

#include <cstddef>

namespace tessera {

class ZeroPages {
public:
    /// @throws std::bad_alloc if the address space cannot be had.
    explicit ZeroPages(std::size_t bytes);
    ~ZeroPages();
    ZeroPages(ZeroPages&& other) noexcept;
    ZeroPages(const ZeroPages&) = delete;
    ZeroPages& operator=(const ZeroPages&) = delete;
    ZeroPages& operator=(ZeroPages&&) = delete;

    /// The first byte, at the start of a page; null where there are none.
    [[nodiscard]] std::byte* begin() const { return begin_; }

    /// `bytes` rounded up to whole pages.
    [[nodiscard]] static std::size_t whole_pages(std::size_t bytes);

private:
    std::size_t bytes_;
    std::byte* begin_ = nullptr;
};

} // namespace tessera
