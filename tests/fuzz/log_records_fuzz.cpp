#include <cstdint>
#include <string>

#include "base/assert.h"
#include "diag/logparse/init_records.h"
#include "diag/logparse/parsers.h"
#include "diag/logparse/topo_records.h"

/// Feeds the same text to each parser: a parser that does not know it leaves the record unchanged.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::logs;
  const std::string text(data, data + size);
  for (const auto parser : {parse_channel, parse_tree, parse_connected, parse_comm, parse_init,
                            parse_environment, parse_shell_variable, parse_version, parse_net,
                            parse_gdr, parse_topology, parse_call, parse_api_call, parse_result,
                            parse_benchmark, parse_xid, parse_python, parse_ras, parse_message}) {
    Record record;
    record.kind = RecordKind::Unknown;
    record.line = text;
    const Parsed parsed = parser(text, record);
    RINGSIDE_ASSERT(parsed != Parsed::No || record.kind == RecordKind::Unknown,
                    "made a record of no text");
    RINGSIDE_ASSERT(
        parsed == Parsed::No || parsed == Parsed::Broken || record.kind != RecordKind::Unknown,
        "made no record");
    if (record.kind == RecordKind::NetDevices) {
      NetDevice device;
      for (NetDeviceCursor at(record.as<NetDevices>()); at.next(device);) continue;
    }
    if (record.kind == RecordKind::TopoPaths) {
      TopoPath path;
      for (TopoPathCursor at(record.as<TopoPaths>()); at.next(path);) continue;
    }
  }
  return 0;
}
