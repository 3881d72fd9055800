// SPDX-License-Identifier: MIT
#include "base/host_threads.h"

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tessera {

int startable_threads(int wanted) {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    std::vector<std::thread> others;
    try {
        while (static_cast<int>(others.size()) + 1 < wanted) {
            others.emplace_back([&] {
                std::unique_lock lock(mutex);
                changed.wait(lock, [&] { return done; });
            });
        }
    } catch (const std::system_error&) { // as many as there are
    }
    {
        const std::scoped_lock lock(mutex);
        done = true;
    }
    changed.notify_all();
    for (std::thread& other : others) {
        other.join();
    }
    return static_cast<int>(others.size()) + 1;
}

} // namespace tessera
