#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sim/flow/channel_flow.h"

namespace ringside {

/// A class of equivalent channels: they have one shape, and their lines use links of the same
/// kinds.
struct FlowClass {
  std::shared_ptr<const FlowShape> shape;
  /// By kind of line: the kinds of links that its lines use.
  std::vector<std::vector<int>> crossed = {};
};

/// The number of lines of one kind that use a link.
struct LinesOver {
  int of_class = 0;
  int kind = 0;
  int count = 0;
};

/// A kind of link: links of one rate that carry the same kinds of lines.
struct AlikeLinks {
  std::vector<int> links = {};  ///< ids, ascending
  double rate = 0;              ///< bytes/s
  double load = 0;              ///< bytes on the wire of the whole call, on each link
  std::vector<LinesOver> lines = {};
};

/// The classes of channels and kinds of links of a call.
struct FlowKinds {
  std::vector<FlowClass> classes = {};
  std::vector<int> class_of = {};  ///< by channel: index into `classes`
  std::vector<AlikeLinks> links = {};
};

/// Groups channels into classes and links into kinds.
/// rate          returns the bytes/s of a link
/// first_fabric  first link id of the fabric: links below and from this id on are never of one kind
FlowKinds find_kinds(std::span<const ChannelFlow> channels, const std::function<double(int)>& rate,
                     int first_fabric);

}  // namespace ringside
