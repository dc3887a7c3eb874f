#include <cstdint>
#include <string>

#include "base/assert.h"
#include "sim/fabric/kinds.h"
#include "sim/fabric/platform.h"

/// Feeds a SimGrid platform from a stranger: it is refused with the place of the error and the fix, or read as hosts
/// whose paths consist of its links.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  const auto check = [](const Error& error) {
    RINGSIDE_ASSERT(error.message.starts_with("p.xml:"), "an error without its place: {}",
                    error.message);
    RINGSIDE_ASSERT(!error.help.empty(), "no fix: {}", error.message);
  };
  const std::string text(data, data + size);
  static_cast<void>(is_platform_text(text));
  auto platform = parse_platform(text, "p.xml");
  if (!platform) {
    check(platform.error());
    return 0;
  }
  const int hosts = static_cast<int>(platform->hosts.size());
  FabricSettings settings{.kind = FabricKind::Platform, .where = "p.xml:1"};
  settings.platform = std::make_shared<const Platform>(*std::move(platform));
  const auto fabric =
      make_fabric(std::move(settings), {{.count = hosts, .nics = {{50e9}, {25e9}}}});
  if (!fabric) {
    check(fabric.error());
    return 0;
  }
  const Fabric& made = **fabric;
  constexpr int kFew = 64;  // a shape examines the paths of all hosts
  if (hosts <= kFew) {
    RINGSIDE_ASSERT(made.shape().bisection.value >= 0, "{}", made.shape().bisection.value);
  }
  for (const FabricPort to :
       {FabricPort{hosts - 1, 0}, FabricPort{hosts / 2, 1}, FabricPort{0, 1}}) {
    for (const int link : made.way({0, 0}, to, 0).links) {
      RINGSIDE_ASSERT(made.link(link).rate.value > 0, "a way over {}", made.link(link).name);
    }
  }
  return 0;
}
