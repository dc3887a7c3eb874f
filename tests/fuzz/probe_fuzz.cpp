// Feeds what probe reads that others have written: another rank's report of its host, a firewall's rules as its
// tools list them, and what Python prints of PyTorch. The first byte chooses one of them.

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/probe/compare.h"
#include "harness/probe/read_machine.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside::probe;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0:
      static_cast<void>(parse_report(text));
      break;
    case 1:
      static_cast<void>(read_firewall("nft", text));
      break;
    case 2:
      static_cast<void>(read_pytorch(text));
      break;
    default:
      static_cast<void>(read_firewall("iptables", text));
  }
  return 0;
}
