// SPDX-License-Identifier: MIT
#include "base/temporary_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <set>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPrefix = ".tessera-";
constexpr const char* kSuffix = ".tmp";

[[noreturn]] void fail(int reason) {
    throw std::system_error(reason, std::generic_category());
}

/// True if nobody else holds a lock on the file; from then on this descriptor does. Some file
/// systems know no locks: nothing is removed there.
bool lock(int descriptor) {
    return flock(descriptor, LOCK_EX | LOCK_NB) == 0;
}

bool is_ours(const std::string& name) {
    return name.rfind(kPrefix, 0) == 0 && name.ends_with(kSuffix);
}

/// Removes a file that has no owner.
void remove_if_left(const fs::path& path) {
    const int descriptor = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) {
        return;
    }
    struct stat status {};
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && lock(descriptor)) {
        unlink(path.c_str());
    }
    close(descriptor);
}

/// What dead owners left in `folder`, looked for once a process.
void sweep(const fs::path& folder) {
    static std::mutex mutex;
    static std::set<fs::path> swept;
    const std::lock_guard guard(mutex);
    std::error_code failed;
    if (!swept.insert(fs::weakly_canonical(folder, failed)).second) {
        return;
    }
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end;
         at.increment(failed)) {
        if (is_ours(at->path().filename().string())) {
            remove_if_left(at->path());
        }
    }
}

/// A new file that this process holds; -1 and errno where there can be none, EEXIST where the name
/// is taken.
int make_locked(const char* path) {
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor < 0) {
        return -1;
    }
    // Before it was locked another process may have taken it for one that was left.
    struct stat status {};
    const bool held = lock(descriptor) || errno != EWOULDBLOCK;
    if (held && fstat(descriptor, &status) == 0 && status.st_nlink > 0) {
        return descriptor;
    }
    close(descriptor);
    errno = EEXIST;
    return -1;
}

std::string next_name() {
    static std::atomic<unsigned> number{0};
    return kPrefix + std::to_string(getpid()) + "-" + std::to_string(number++) + kSuffix;
}

} // namespace

/// Where a signal handler finds the name: slots are used again and never freed.
struct TemporaryFile::Slot {
    std::atomic<bool> taken{false};
    std::atomic<bool> is_file{false};
    std::array<char, PATH_MAX> path{};
    Slot* next = nullptr;

    static std::atomic<Slot*> first;
};
std::atomic<TemporaryFile::Slot*> TemporaryFile::Slot::first{nullptr};

TemporaryFile::Slot& TemporaryFile::free_slot() {
    for (Slot* slot = Slot::first.load(); slot != nullptr; slot = slot->next) {
        if (!slot->taken.exchange(true)) {
            return *slot;
        }
    }
    auto* slot = new Slot;
    slot->taken.store(true);
    slot->next = Slot::first.load();
    while (!Slot::first.compare_exchange_weak(slot->next, slot)) {
    }
    return *slot;
}

TemporaryFile::TemporaryFile(const fs::path& folder) {
    sweep(folder);
    do {
        // absolute, in case that the working directory changes
        const std::string path = (fs::absolute(folder) / next_name()).string();
        if (path.size() + 1 > PATH_MAX) {
            fail(ENAMETOOLONG);
        }
        // Known to the handler before it is there: a signal may come right after it is made. The
        // name has this process's number, so what else may have it is a dead owner's.
        slot_ = &free_slot();
        std::memcpy(slot_->path.data(), path.c_str(), path.size() + 1);
        slot_->is_file.store(true);
        descriptor_ = make_locked(path.c_str());
        if (descriptor_ < 0) {
            const int reason = errno;
            let_go();
            if (reason != EEXIST) {
                fail(reason);
            }
        }
    } while (descriptor_ < 0);
}

TemporaryFile::~TemporaryFile() {
    if (slot_->is_file.load()) {
        unlink(slot_->path.data());
    }
    let_go();
    close(descriptor_);
}

fs::path TemporaryFile::path() const {
    return slot_->path.data();
}

void TemporaryFile::put_in_place(const fs::path& target) {
    if (std::rename(slot_->path.data(), target.c_str()) != 0) {
        fail(errno);
    }
    slot_->is_file.store(false);
}

void TemporaryFile::let_go() {
    slot_->is_file.store(false);
    slot_->taken.store(false);
}

void remove_temporary_files() {
    for (auto* slot = TemporaryFile::Slot::first.load(); slot != nullptr; slot = slot->next) {
        if (slot->is_file.load()) {
            unlink(slot->path.data());
        }
    }
}

void forget_temporary_files() {
    for (auto* slot = TemporaryFile::Slot::first.load(); slot != nullptr; slot = slot->next) {
        slot->is_file.store(false);
    }
}

} // namespace tessera
