// SPDX-License-Identifier: MIT
#include "base/zero_pages.h"

#include <new>
#include <sys/mman.h>
#include <utility>

namespace tessera {
namespace {

constexpr std::size_t kPageBytes = 4096;

} // namespace

ZeroPages::ZeroPages(std::size_t bytes) : bytes_(whole_pages(bytes)) {
    if (bytes_ == 0) {
        return;
    }
    void* mapping = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
        throw std::bad_alloc();
    }
    begin_ = static_cast<std::byte*>(mapping);
}

ZeroPages::~ZeroPages() {
    if (begin_ != nullptr) {
        munmap(begin_, bytes_);
    }
}

ZeroPages::ZeroPages(ZeroPages&& other) noexcept
    : bytes_(other.bytes_), begin_(std::exchange(other.begin_, nullptr)) {}

std::size_t ZeroPages::whole_pages(std::size_t bytes) {
    return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

} // namespace tessera
