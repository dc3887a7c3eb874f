#include "engine/runtime/calls/call.h"

#include <algorithm>

namespace ringside {
namespace {

bool are_alike(const std::vector<Transfer>& a, const std::vector<Transfer>& b) {
  return std::ranges::equal(a, b, [](const Transfer& x, const Transfer& y) {
    return x.peer == y.peer && x.offset == y.offset && x.count == y.count;
  });
}

}  // namespace

bool is_alike(const CollectiveCall& a, const CollectiveCall& b) {
  return a.count == b.count && a.collective == b.collective && a.type == b.type && a.op == b.op &&
         a.root == b.root && a.scalar == b.scalar && a.counts == b.counts &&
         are_alike(a.sends, b.sends) && are_alike(a.recvs, b.recvs);
}

CallShape shape_of(const CollectiveCall& call) {
  return {.count = call.count,
          .type = call.type,
          .root = call.root,
          .counts = call.counts,
          .sends = call.sends,
          .recvs = call.recvs};
}

}  // namespace ringside
