#include "sim/flow/alike_job.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mixed.h"

namespace ringside {
namespace {

class Joining {
 public:
  Joining(std::span<const ChannelFlow> channels, const std::function<double(int)>& rate)
      : channels_(channels), rate_(rate) {}

  std::optional<EventJob> run() {
    if (!begin()) return std::nullopt;
    for (;;) {
      distinguish_links();
      const std::size_t before = classes_.size();
      if (!distinguish_channels()) return std::nullopt;
      if (classes_.size() == before) break;
    }
    count_lines();
    merge_links();
    for (std::size_t number = 0; number < classes_.size(); ++number) add(number);
    return std::move(job_);
  }

 private:
  /// Channels with equal traffic: the first of them represents all.
  struct Class {
    std::size_t first = 0;
    std::int64_t channels = 0;
    /// [kind of line]: kinds of the crossed links, ascending
    std::vector<std::vector<int>> crossed = {};
  };
  /// Number of lines of each kind on each link of a kind.
  using Users = std::map<std::pair<int, int>, int>;  ///< by class and kind of line

  template <typename Visit>
  static void for_each_link(const ChannelFlow& channel, std::size_t line, const Visit& visit) {
    for (std::uint32_t at = channel.first[line]; at < channel.first[line + 1]; ++at) {
      visit(static_cast<std::size_t>(channel.links[at]));
    }
  }

  bool begin() {
    std::map<const FlowShape*, int> known;
    std::size_t links = 0;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const ChannelFlow& channel = channels_[i];
      const auto place = known.try_emplace(channel.shape.get(), static_cast<int>(known.size()));
      class_of_.push_back(place.first->second);
      if (place.second) classes_.push_back({.first = i});
      if (channel.shape->job.is_even != channels_.front().shape->job.is_even) return false;
      const auto most = std::ranges::max_element(channel.links);
      if (most != channel.links.end()) links = std::max(links, static_cast<std::size_t>(*most) + 1);
    }
    kind_of_.resize(links);
    return true;
  }

  /// Distinguishes links by their rates and by the lines that use them. The hash is a sum, so it does not depend on
  /// the order.
  void distinguish_links() {
    std::vector<std::uint64_t> lines(kind_of_.size());
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const ChannelFlow& channel = channels_[i];
      const std::uint64_t of_class = mixed_with(1, static_cast<std::uint64_t>(class_of_[i]));
      for (std::size_t line = 0; line < channel.kinds.size(); ++line) {
        const std::uint64_t colour =
            mixed_with(of_class, static_cast<std::uint64_t>(channel.kinds[line]));
        for_each_link(channel, line, [&](std::size_t link) { lines[link] += colour; });
      }
    }
    std::map<std::pair<std::uint64_t, double>, int> known;
    first_of_.clear();
    for (std::size_t link = 0; link < lines.size(); ++link) {
      kind_of_[link] = -1;
      if (lines[link] == 0) continue;
      const auto [place, is_new] = known.try_emplace({lines[link], rate_(static_cast<int>(link))},
                                                     static_cast<int>(first_of_.size()));
      kind_of_[link] = place->second;
      if (is_new) first_of_.push_back(link);
    }
  }

  /// returns  false: lines of one kind in one channel use links of different kinds
  bool distinguish_channels() {
    std::map<std::pair<int, std::vector<std::vector<int>>>, int> known;
    std::vector<Class> classes;
    std::vector<int> crossed;
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const ChannelFlow& channel = channels_[i];
      std::vector<std::vector<int>> all(channel.shape->job.lines.size());
      for (std::size_t line = 0; line < channel.kinds.size(); ++line) {
        crossed.clear();
        for_each_link(channel, line, [&](std::size_t link) { crossed.push_back(kind_of_[link]); });
        std::ranges::sort(crossed);
        std::vector<int>& of_kind = all[static_cast<std::size_t>(channel.kinds[line])];
        if (of_kind.empty()) of_kind = crossed;
        if (of_kind != crossed) return false;
      }
      const auto [place, is_new] =
          known.try_emplace({class_of_[i], std::move(all)}, static_cast<int>(classes.size()));
      if (is_new) classes.push_back({.first = i, .crossed = place->first.second});
      class_of_[i] = place->second;
      ++classes[static_cast<std::size_t>(place->second)].channels;
    }
    classes_ = std::move(classes);
    return true;
  }

  void count_lines() {
    users_.resize(first_of_.size());
    for (std::size_t i = 0; i < channels_.size(); ++i) {
      const ChannelFlow& channel = channels_[i];
      for (std::size_t line = 0; line < channel.kinds.size(); ++line) {
        for_each_link(channel, line, [&](std::size_t link) {
          const auto kind = static_cast<std::size_t>(kind_of_[link]);
          if (first_of_[kind] == link) ++users_[kind][{class_of_[i], channel.kinds[line]}];
        });
      }
    }
  }

  /// Among links that carry the same lines, the slowest represents all.
  void merge_links() {
    std::map<Users, int> known;
    for (std::size_t kind = 0; kind < users_.size(); ++kind) {
      const BytesPerSecond rate{rate_(static_cast<int>(first_of_[kind]))};
      const auto [place, is_new] =
          known.try_emplace(users_[kind], static_cast<int>(job_.links.size()));
      if (is_new) job_.links.push_back(rate);
      BytesPerSecond& narrowest = job_.links[static_cast<std::size_t>(place->second)];
      narrowest.value = std::min(narrowest.value, rate.value);
      merged_.push_back(place->second);
    }
  }

  /// Appends the tasks, lines and ends of a class.
  void add(std::size_t number) {
    const Class& one = classes_[number];
    const EventJob& shape = channels_[one.first].shape->job;
    const auto lines = static_cast<std::int32_t>(job_.lines.size());
    const auto ends = static_cast<std::int32_t>(job_.ends.size());
    const auto moved = [ends](std::vector<std::int32_t>& of) {
      for (std::int32_t& end : of) end = end < 0 ? end : end + ends;
    };
    for (EventTask task : shape.tasks) {
      moved(task.send);
      moved(task.recv);
      task.copies *= one.channels;
      job_.tasks.push_back(std::move(task));
    }
    for (LineEnd end : shape.ends) {
      end.line += lines;
      job_.ends.push_back(end);
    }
    for (std::size_t kind = 0; kind < shape.lines.size(); ++kind) {
      EventLine& line = job_.lines.emplace_back(shape.lines[kind]);
      moved(line.senders);
      moved(line.receivers);
      line.copies *= one.channels;
      const std::pair key{static_cast<int>(number), static_cast<int>(kind)};
      for (const int crossed : one.crossed[kind]) {
        const int link = merged_[static_cast<std::size_t>(crossed)];
        const bool is_there = std::ranges::any_of(
            line.uses, [link](const LinkUse& other) { return other.link == link; });
        // If a route uses several equal links, each has the same rate.
        if (!is_there)
          line.uses.push_back({link, users_[static_cast<std::size_t>(crossed)].at(key)});
      }
    }
    job_.is_folded = true;
    job_.is_even = shape.is_even;
  }

  const std::span<const ChannelFlow> channels_;
  const std::function<double(int)>& rate_;
  EventJob job_;
  std::vector<int> class_of_;  ///< [channel]
  std::vector<Class> classes_;
  std::vector<int> kind_of_;           ///< [link]; -1: no line uses it
  std::vector<std::size_t> first_of_;  ///< [kind of link]
  std::vector<Users> users_;           ///< [kind of link]: users of each link
  std::vector<int> merged_;            ///< [kind of link]: link of the job that represents it
};

}  // namespace

std::optional<EventJob> join_alike(std::span<const ChannelFlow> channels,
                                   const std::function<double(int)>& rate) {
  return Joining(channels, rate).run();
}

}  // namespace ringside
