#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "sim/flow/channel_flow.h"

namespace ringside {

/// Channels that are alike, down to the links that they lie over.
struct FlowClass {
  std::shared_ptr<const FlowShape> shape;
  std::vector<std::vector<int>> crossed =
      {};  ///< by kind of line: the kinds of links that such lines lie over
};

/// Lines of one kind over a link.
struct LinesOver {
  int of_class = 0;
  int kind = 0;
  int count = 0;
};

/// Links of one rate over which the same kinds of lines lie.
struct AlikeLinks {
  std::vector<int> links = {};  ///< ids, ascending
  double rate = 0;
  double load = 0;  ///< bytes on the wire, of the whole call, on each
  std::vector<LinesOver> lines = {};
};

/// Many channels over many links, reduced to one of each kind.
struct FlowKinds {
  std::vector<FlowClass> classes = {};
  std::vector<int> class_of = {};  ///< by channel
  std::vector<AlikeLinks> links = {};
};

/// rate          bytes/s of a link
/// first_fabric  links from this one on are never of one kind with those before it
FlowKinds find_kinds(std::span<const ChannelFlow> channels, const std::function<double(int)>& rate,
                     int first_fabric);

}  // namespace ringside
