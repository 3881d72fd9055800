// SPDX-License-Identifier: MIT
#include "models/tile/tile.h"

namespace tessera::tile {

Tile::Tile(const sc_core::sc_module_name& name, TileId tile, const sc_core::sc_time& cycle_period)
    : sc_module(name), out_end("out_end"), tile_(tile), cycle_period_(cycle_period) {
    SC_HAS_PROCESS(Tile);
    SC_METHOD(on_start);
    sensitive << ev_start_;
    dont_initialize();
    SC_METHOD(on_end);
    sensitive << ev_end_;
    dont_initialize();
}

void Tile::load(const spec::MachineSpec& spec, const program::Image& image, CodeCache& code,
                std::byte* memory) {
    core_ = std::make_unique<TileCore>(spec, tile_, memory);
    core_->load(image, code);
}

void Tile::compute(Address stub, bool wants_spans) {
    spans_.clear();
    failure_ = nullptr;
    outcome_ = {};
    try {
        outcome_ = core_->run(stub, wants_spans ? &spans_ : nullptr);
    } catch (...) {
        failure_ = std::current_exception();
    }
}

void Tile::start(Cycles wait_cycles) {
    ev_start_.notify(time_of(wait_cycles));
}

void Tile::on_start() {
    ev_end_.notify(time_of(outcome_.cycles));
}

void Tile::on_end() {
    out_end->compute_ended(tile_);
}

sc_core::sc_time Tile::time_of(Cycles cycles) const {
    return sc_core::sc_time::from_value(cycle_period_.value() *
                                        static_cast<sc_core::sc_time::value_type>(cycles));
}

} // namespace tessera::tile
