#include "engine/transport/lent_slots.h"

#include "base/assert.h"
#include "engine/transport/shm/shared_memory.h"

namespace ringside {

void check_room(const LentSlots& slots, Bytes slot_size) {
  const std::size_t needed = LentSlots::memory_for(slot_size).value;
  RINGSIDE_ASSERT(slots.offset % LentSlots::kGrain == 0 && slots.offset <= slots.region->size() &&
                      needed <= slots.region->size() - slots.offset,
                  "slots of {} bytes at {} of {} bytes", slot_size.value, slots.offset,
                  slots.region->size());
}

}  // namespace ringside
