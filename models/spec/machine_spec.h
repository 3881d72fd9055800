// SPDX-License-Identifier: MIT
// Every parameter of a machine, as plain structs. The name of a field is its JSON key, its path of
// --set (`tile.workers`) and the prefix of its errors. Defaults are those of `bow`.
//
// The `describe` line of a field holds its meaning, unit, range and source. Reading, --set, the
// schema and the listings use nothing else.
#pragma once

#include "models/spec/amp_spec.h"
#include "models/spec/area_spec.h"
#include "models/spec/chip_spec.h"
#include "models/spec/control_spec.h"
#include "models/spec/energy_spec.h"
#include "models/spec/exchange_spec.h"
#include "models/spec/host_spec.h"
#include "models/spec/memory_spec.h"
#include "models/spec/streaming_spec.h"
#include "models/spec/sync_spec.h"
#include "models/spec/system_spec.h"
#include "models/spec/tile_spec.h"

#include <string>

namespace tessera::spec {

struct MachineSpec {
    std::string name = "bow";
    ChipSpec chip;
    TileSpec tile;
    MemorySpec memory;
    AmpSpec amp;
    ExchangeSpec exchange;
    SyncSpec sync;
    ControlSpec control;
    StreamingSpec streaming;
    HostSpec host;
    SystemSpec system;
    EnergySpec energy;
    AreaSpec area;

    template <class Description> static void describe(Description& d) {
        d.fixed("schema_version", 1).required().says("version of this file's format");
        d.note("extends").says(
            "machine whose values hold where this file says nothing: a name, or a "
            "path relative to this file");
        d.note("description").says("one sentence for lists of machines");
        d.field("name", &MachineSpec::name).says("name in results; the file's name if not given");
        d.object("chip", &MachineSpec::chip).says("the chip as a whole");
        d.object("tile", &MachineSpec::tile).says("a tile's contexts and pipeline");
        d.object("memory", &MachineSpec::memory).says("a tile's memory map");
        d.object("amp", &MachineSpec::amp).says("the matrix unit");
        d.object("exchange", &MachineSpec::exchange).says("the exchange between tiles");
        d.object("sync", &MachineSpec::sync).says("the barriers");
        d.object("control", &MachineSpec::control).says("the control program");
        d.object("streaming", &MachineSpec::streaming).says("the memory behind the chip's gateway");
        d.object("host", &MachineSpec::host).says("the link to the host");
        d.object("system", &MachineSpec::system).says("several chips; without it there is one");
        d.object("energy", &MachineSpec::energy).says("energy by kind of event; moves no cycle");
        d.object("area", &MachineSpec::area).says("area of the parts of a chip; moves no cycle");
    }
};

} // namespace tessera::spec
