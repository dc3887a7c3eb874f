#include <cstdint>
#include <string>

#include "base/assert.h"
#include "engine/topology/node_type.h"

/// A node type from a stranger: refused with a reason, or one that a cluster can be made of.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  auto node = ringside::parse_node(text, "node.yaml");
  if (!node) {
    RINGSIDE_ASSERT(node.error().message.starts_with("node.yaml"), "an error without its place: {}",
                    node.error().message);
    return 0;
  }
  RINGSIDE_ASSERT(node->gpus >= 1 && node->nics() <= node->gpus, "{} GPUs, {} NICs", node->gpus,
                  node->nics());
  const bool has_cluster = ringside::make_cluster(*std::move(node), 1).has_value();
  RINGSIDE_ASSERT(has_cluster, "a node type that no cluster can be made of");
  return 0;
}
