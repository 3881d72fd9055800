// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/memory_elements.h"

#include <cstddef>

namespace tessera::exchange_plan {

Elements::Elements(const spec::MemorySpec& memory)
    : memory_(memory),
      region0_elements_((memory.region0_bytes + memory.element_bytes - 1) / memory.element_bytes) {}

std::int64_t Elements::of(Bytes address) const {
    const auto offset = address - memory_.base;
    if (offset < memory_.region0_bytes)
        return offset / memory_.element_bytes;
    return region0_elements_ + (offset - memory_.region0_bytes) / (2 * memory_.element_bytes);
}

Bytes Elements::begin(std::int64_t element) const {
    if (element < region0_elements_)
        return memory_.base + element * memory_.element_bytes;
    return memory_.base + memory_.region0_bytes +
           (element - region0_elements_) * 2 * memory_.element_bytes;
}

std::vector<std::uint8_t> tiles_with_shared_elements(const spec::MachineSpec& machine,
                                                     const JobList& list) {
    const Elements elements(machine.memory);
    const auto count = static_cast<std::size_t>(elements.count());
    const auto tiles = static_cast<std::size_t>(machine.chip.tiles);
    // By tile and element; several messages may mark one.
    std::vector<bool> sent(count * tiles);
    std::vector<bool> received(count * tiles);
    const auto mark = [&](std::vector<bool>& used, TileId tile, Bytes address, Bytes bytes) {
        const auto last = elements.of(address + bytes - 1);
        for (auto element = elements.of(address); element <= last; ++element)
            used[count * tile + static_cast<std::size_t>(element)] = true;
    };
    for (const auto& job : list.jobs) {
        const auto bytes = static_cast<Bytes>(job.words) * 4;
        mark(sent, job.source, job.address, bytes);
        for (const auto& to : list.of(job))
            mark(received, to.tile, to.address, bytes);
    }
    std::vector<std::uint8_t> shared(tiles);
    for (std::size_t i = 0; i < sent.size(); ++i)
        if (sent[i] && received[i])
            shared[i / count] = 1;
    return shared;
}

} // namespace tessera::exchange_plan
