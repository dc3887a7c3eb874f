#include "engine/flight/copy_dump.h"

#include <map>

namespace ringside {

FlightDump copy_of(const FlightDump& dump) {
  FlightDump copy = dump;
  std::map<const FlightDump::Call*, const FlightDump::Call*> copies;
  for (std::size_t i = 0; i < dump.calls.size(); ++i) copies[&dump.calls[i]] = &copy.calls[i];
  for (FlightDump::Entry& entry : copy.entries) entry.call = copies.at(entry.call);
  return copy;
}

}  // namespace ringside
