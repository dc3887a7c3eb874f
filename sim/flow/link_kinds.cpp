#include "sim/flow/link_kinds.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/mixed.h"

namespace ringside {
namespace {

/// Calls visit(link, kind of line) for each line of the channel that carries bytes, and each link that it uses.
template <typename Visit>
void for_each_use(const ChannelFlow& channel, const Visit& visit) {
  for (std::size_t i = 0; i < channel.kinds.size(); ++i) {
    const auto kind = static_cast<std::size_t>(channel.kinds[i]);
    if (channel.shape->bytes[kind] == 0) continue;
    for (std::uint32_t at = channel.first[i]; at < channel.first[i + 1]; ++at) {
      visit(static_cast<std::size_t>(channel.links[at]), kind);
    }
  }
}

class Kinds {
 public:
  Kinds(std::span<const ChannelFlow> channels, const std::function<double(int)>& rate,
        int first_fabric)
      : channels_(channels), rate_(rate), first_fabric_(static_cast<std::size_t>(first_fabric)) {}

  FlowKinds run() {
    load_links();
    distinguish_links();
    for (const ChannelFlow& channel : channels_) classify(channel);
    list_lines();
    return std::move(kinds_);
  }

 private:
  /// Sums the load of each link, and a hash of its lines that does not depend on their order.
  void load_links() {
    std::size_t links = 0;
    for (const ChannelFlow& channel : channels_) {
      const auto most = std::ranges::max_element(channel.links);
      if (most != channel.links.end()) links = std::max(links, static_cast<std::size_t>(*most) + 1);
    }
    loads_.assign(links, 0);
    lines_.assign(links, 0);
    for (const ChannelFlow& channel : channels_) {
      const std::uint64_t shape = mixed(std::bit_cast<std::uintptr_t>(channel.shape.get()));
      for_each_use(channel, [&](std::size_t link, std::size_t kind) {
        loads_[link] += channel.shape->bytes[kind];
        lines_[link] += mixed(shape + kind);
      });
    }
  }

  void distinguish_links() {
    kind_of_.assign(loads_.size(), -1);
    std::map<std::tuple<std::uint64_t, double, bool>, int> known;
    for (std::size_t link = 0; link < loads_.size(); ++link) {
      if (loads_[link] == 0) continue;
      const double rate = rate_(static_cast<int>(link));
      const auto [place, is_new] = known.try_emplace({lines_[link], rate, link >= first_fabric_},
                                                     static_cast<int>(kinds_.links.size()));
      kind_of_[link] = place->second;
      if (is_new) kinds_.links.push_back({.rate = rate, .load = loads_[link]});
      kinds_.links[static_cast<std::size_t>(place->second)].links.push_back(static_cast<int>(link));
    }
  }

  void classify(const ChannelFlow& channel) {
    std::vector<std::vector<int>> crossed(channel.shape->bytes.size());
    for_each_use(channel, [&](std::size_t link, std::size_t kind) {
      std::vector<int>& list = crossed[kind];
      const int one = kind_of_[link];
      // Most lines use the same kinds of links as the line before.
      if (std::ranges::find(list, one) == list.end()) list.push_back(one);
    });
    for (std::vector<int>& list : crossed) std::ranges::sort(list);
    const auto is_alike = [&](const FlowClass& known) {
      return known.shape == channel.shape && known.crossed == crossed;
    };
    const auto found = std::ranges::find_if(kinds_.classes, is_alike);
    kinds_.class_of.push_back(static_cast<int>(found - kinds_.classes.begin()));
    if (found == kinds_.classes.end())
      kinds_.classes.push_back({channel.shape, std::move(crossed)});
  }

  void list_lines() {
    std::vector<std::map<std::pair<int, int>, int>> lines(kinds_.links.size());
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      for_each_use(channels_[i], [&](std::size_t link, std::size_t kind) {
        const auto number = static_cast<std::size_t>(kind_of_[link]);
        if (static_cast<std::size_t>(kinds_.links[number].links.front()) != link) return;
        ++lines[number][{kinds_.class_of[i], static_cast<int>(kind)}];
      });
    }
    for (std::size_t number = 0; number < lines.size(); ++number) {
      for (const auto& [of, count] : lines[number]) {
        kinds_.links[number].lines.push_back({of.first, of.second, count});
      }
    }
  }

  const std::span<const ChannelFlow> channels_;
  const std::function<double(int)>& rate_;
  const std::size_t first_fabric_;
  FlowKinds kinds_;
  std::vector<double> loads_;         ///< [link]
  std::vector<std::uint64_t> lines_;  ///< [link]
  std::vector<int> kind_of_;          ///< [link]; -1: no load
};

}  // namespace

FlowKinds find_kinds(std::span<const ChannelFlow> channels, const std::function<double(int)>& rate,
                     int first_fabric) {
  return Kinds(channels, rate, first_fabric).run();
}

}  // namespace ringside
