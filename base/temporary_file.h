// SPDX-License-Identifier: MIT
// A file that is still being written: it is beside its target, has a name of its own, and is removed
// with its owner.
//
// Contract:
// - A living owner holds a lock on the file; the system releases it however the owner ends. A new
//   file in a folder first removes the unlocked ones there.
// - remove_temporary_files() may be called by a signal handler, of any thread, at any time.
#pragma once

#include <filesystem>

namespace tessera {

class TemporaryFile {
public:
    /// Makes `.tessera-<process>-<number>.tmp` in `folder`. @throws std::system_error
    explicit TemporaryFile(const std::filesystem::path& folder);
    /// Removes it, unless it was put in place.
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;

    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] std::filesystem::path path() const;
    /// Renames the file to `target`, replacing a file of that name. @throws std::system_error
    void put_in_place(const std::filesystem::path& target);

private:
    struct Slot;
    static Slot& free_slot();
    void let_go();

    friend void remove_temporary_files();
    friend void forget_temporary_files();

    Slot* slot_ = nullptr;
    int descriptor_ = -1;
};

/// Removes all temporary files of this process that are not in place.
void remove_temporary_files();

/// For a child process: leaves the parent's files alone.
void forget_temporary_files();

} // namespace tessera
