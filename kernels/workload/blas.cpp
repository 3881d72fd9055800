// SPDX-License-Identifier: MIT
#include "kernels/workload/blas.h"

#include "base/error.h"

#include <cblas.h>

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <limits>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <thread>

namespace tessera::workload {
namespace {

constexpr const char* kLibrary = "libopenblas.so.0";
constexpr std::size_t kLibraryBytes = std::size_t{64} << 20U;
constexpr std::size_t kBufferBytes = std::size_t{132}
                                     << 20U; ///< BUFFER_SIZE of its x86-64, and some

bool has_addresses(std::size_t bytes) {
    void* const there =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return there != MAP_FAILED && munmap(there, bytes) == 0;
}

/// The library waits for ever for a buffer that it cannot have.
int buffers_that_fit() {
    std::size_t most = std::max(1U, std::thread::hardware_concurrency());
    while (most > 0 && !has_addresses(kLibraryBytes + most * kBufferBytes)) {
        most /= 2;
    }
    if (most == 0) {
        throw OutOfHostMemory("the host reference: no room for OpenBLAS and a buffer of it (ulimit "
                              "-v); --no-check runs without");
    }
    return static_cast<int>(most);
}

int blas_int(std::int64_t value) {
    TESSERA_ASSERT(value >= 0 && value <= std::numeric_limits<int>::max());
    return static_cast<int>(value);
}

/// A variable of the environment, for a scope.
class Environment {
public:
    Environment(const char* name, const char* value) : name_(name) {
        if (const char* before = std::getenv(name)) {
            before_ = before;
        }
        setenv(name, value, 1);
    }
    ~Environment() {
        if (before_) {
            setenv(name_, before_->c_str(), 1);
        } else {
            unsetenv(name_);
        }
    }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

private:
    const char* name_;
    std::optional<std::string> before_;
};

void* symbol(void* library, const char* name) {
    void* const found = dlsym(library, name);
    if (found == nullptr) {
        throw IoError(std::string(kLibrary) + ": has no " + name +
                      "; --no-check runs without a reference");
    }
    return found;
}

} // namespace

const Blas& Blas::loaded() {
    static const Blas blas;
    return blas;
}

Blas::Blas() : most_at_once_(buffers_that_fit()) {
    const Environment one_thread("OPENBLAS_NUM_THREADS", "1");
    void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw IoError(std::string("the host reference cannot be computed: ") + dlerror() +
                      "; --no-check runs without it");
    }
    dgemm_ = symbol(library, "cblas_dgemm");
    sgemm_ = symbol(library, "cblas_sgemm");
}

void Blas::multiply(std::int64_t m, std::int64_t n, std::int64_t k, const double* a,
                    const double* b, double* c) const {
    reinterpret_cast<decltype(&cblas_dgemm)>(dgemm_)(
        CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_int(m), blas_int(n), blas_int(k), 1.0, a,
        std::max(blas_int(k), 1), b, blas_int(n), 0.0, c, blas_int(n));
}

void Blas::multiply(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, const float* b,
                    float* c) const {
    reinterpret_cast<decltype(&cblas_sgemm)>(sgemm_)(
        CblasRowMajor, CblasNoTrans, CblasNoTrans, blas_int(m), blas_int(n), blas_int(k), 1.0F, a,
        std::max(blas_int(k), 1), b, blas_int(n), 0.0F, c, blas_int(n));
}

} // namespace tessera::workload
