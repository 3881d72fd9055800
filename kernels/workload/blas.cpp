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
constexpr const char* kCoreVariable = "OPENBLAS_CORETYPE";
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

void* open_library() {
    void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        throw IoError(std::string("the host reference cannot be computed: ") + dlerror() +
                      "; --no-check runs without it");
    }
    return library;
}

/// What it takes the processor for.
std::string core_of(void* library) {
    const auto name = reinterpret_cast<const char* (*)()>(dlsym(library, "openblas_get_corename"));
    return name == nullptr ? "" : name();
}

/// What the library is to take the processor for: it knows those that are older than it, and takes
/// others for one without AVX, four times as slow. Null: what it finds by itself.
const char* better_core(void* library) {
    if (std::getenv(kCoreVariable) != nullptr || core_of(library) != "Prescott") {
        return nullptr;
    }
    const bool avx512 =
        __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
        __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    const bool avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    return avx512 ? "SkylakeX" : avx2 ? "Haswell" : nullptr;
}

} // namespace

const Blas& Blas::loaded() {
    static const Blas blas;
    return blas;
}

Blas::Blas() : most_at_once_(buffers_that_fit()) {
    const Environment one_thread("OPENBLAS_NUM_THREADS", "1");
    void* library = open_library();
    if (const char* core = better_core(library)) {
        const Environment this_core(kCoreVariable, core);
        dlclose(library);
        library = open_library(); // which reads the variable
    }
    core_ = core_of(library);
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
