#include "harness/scenario/fold_program.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/mixed.h"

namespace ringside {
namespace {

using hangs::Group;
using hangs::Program;
using hangs::Step;
using Kind = hangs::Step::Kind;
using Colour = std::uint64_t;

bool names_a_peer(const Step& step) {
  return step.kind == Kind::Call && (hangs::is_p2p(step.op) || hangs::has_root(step.op));
}

class Folder {
 public:
  Folder(const Program& program, const std::vector<int>& like,
         const hangs::PathClassOf& path_class_of)
      : program_(program), like_(like), path_class_of_(path_class_of) {
    if (!like_.empty()) return;
    like_.resize(static_cast<std::size_t>(program.ranks));
    std::iota(like_.begin(), like_.end(), 0);
  }

  std::optional<FoldedProgram> run() {
    look_at_bodies();
    for (std::size_t kinds = 0; kinds < count();) {
      kinds = count();
      refine();
    }
    number_kinds();
    if (!add_groups()) return std::nullopt;
    for (const int rank : first_of_) add_program(rank);
    return std::move(folded_);
  }

 private:
  [[nodiscard]] const Group& group(int number) const {
    return program_.groups[static_cast<std::size_t>(number)];
  }
  /// Returns the program of the rank that represents this rank; group numbers in it are those of the representative.
  [[nodiscard]] const hangs::RankProgram& own(int rank) const {
    return program_.programs[static_cast<std::size_t>(like_[static_cast<std::size_t>(rank)])];
  }
  /// The peer that a call names: a rank in the group, or a distance from the rank's own place.
  struct Named {
    int family = 0;
    int place = 0;
    bool is_relative = false;
    bool has_path = false;  ///< whether the call sends data to it on a path
    auto operator<=>(const Named&) const = default;
  };
  [[nodiscard]] Named named_by(int rank, const Step& step) const {
    const Group& own = group(step.group);
    if (!step.is_shift) return {own.family, step.peer, false, hangs::is_p2p(step.op)};
    const int self = hangs::group_rank(own, like_[static_cast<std::size_t>(rank)]);
    const auto size = static_cast<int>(own.ranks.size());
    return {own.family, (step.peer - self + size) % size, true, false};
  }
  [[nodiscard]] int peer_of(int rank, const Named& named) const {
    const Group& own = group(
        program_.group_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(named.family)]);
    std::size_t place = static_cast<std::size_t>(named.place);
    if (named.is_relative) place += static_cast<std::size_t>(hangs::group_rank(own, rank));
    return own.ranks[place % own.ranks.size()];
  }
  [[nodiscard]] int peer_of(int rank, const Step& step) const {
    return peer_of(rank, named_by(rank, step));
  }

  /// The peers that a body's calls name, without duplicates, and the peer of each call.
  struct Peers {
    std::vector<Named> places;
    std::vector<std::size_t> calls;
    std::map<std::vector<Colour>, Colour> known;  ///< colours of the peers -> colour of all calls
  };

  void look_at_bodies() {
    std::map<int, Colour> bodies;
    for (int rank = 0; rank < program_.ranks; ++rank) {
      const auto [body, is_new] = bodies.try_emplace(like_[static_cast<std::size_t>(rank)]);
      if (is_new) {
        body->second = of_body(rank);
        Peers& peers = peers_[body->first];
        std::map<Named, std::size_t> numbers;
        for (const Step& step : own(rank).body) {
          if (!names_a_peer(step)) continue;
          const Named named = named_by(rank, step);
          const auto [number, is_first] = numbers.try_emplace(named, peers.places.size());
          if (is_first) peers.places.push_back(named);
          peers.calls.push_back(number->second);
        }
      }
      colours_.push_back(body->second);
      path_classes_.push_back(path_classes_from(rank, peers_[body->first].places));
    }
  }

  /// Returns the paths from the rank to each peer; empty if the program has no paths.
  [[nodiscard]] std::vector<int> path_classes_from(int rank,
                                                   const std::vector<Named>& places) const {
    std::vector<int> path_classes;
    if (!path_class_of_) return path_classes;
    for (const Named& named : places) {
      path_classes.push_back(named.has_path ? path_class_of_(rank, peer_of(rank, named)) : -1);
    }
    return path_classes;
  }

  /// Returns the colour of all peers in the order of the calls; cached, because it takes long and is the same for many
  /// ranks.
  Colour of_peers(int rank) {
    Peers& peers = peers_[like_[static_cast<std::size_t>(rank)]];
    std::vector<Colour> colours;
    const std::vector<int>& path_classes = path_classes_[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < peers.places.size(); ++i) {
      const Colour peer = colour(peer_of(rank, peers.places[i]));
      const bool has_path = i < path_classes.size() && path_classes[i] >= 0;
      colours.push_back(has_path ? mixed_with(peer, static_cast<std::uint64_t>(path_classes[i]))
                                 : peer);
    }
    const auto found = peers.known.find(colours);
    if (found != peers.known.end()) return found->second;
    Colour all = 1;
    for (const std::size_t number : peers.calls) all = mixed_with(all, colours[number]);
    peers.known.emplace(std::move(colours), all);
    return all;
  }

  [[nodiscard]] Colour of_steps(Colour colour, const std::vector<Step>& steps) const {
    for (const Step& step : steps) {
      colour = mixed_with(colour, static_cast<std::uint64_t>(step.kind));
      colour = mixed_with(colour, static_cast<std::uint64_t>(step.op) << 32 |
                                      static_cast<std::uint64_t>(step.type) << 16 |
                                      static_cast<std::uint64_t>(step.halt) << 8 |
                                      (step.is_shift ? 2U : 0U) | (step.async ? 1U : 0U));
      colour = mixed_with(colour, static_cast<std::uint64_t>(step.bundle) << 32 |
                                      static_cast<std::uint32_t>(step.stream));
      colour = mixed_with(
          colour, step.group < 0 ? 0 : static_cast<std::uint64_t>(group(step.group).family) + 1);
      colour = mixed_with(colour, static_cast<std::uint64_t>(step.count));
      colour = mixed_with(colour, static_cast<std::uint64_t>(step.time.count()));
    }
    return colour;
  }

  [[nodiscard]] Colour of_body(int rank) const {
    Colour colour = of_steps(static_cast<Colour>(own(rank).iterations), own(rank).body);
    for (const auto& [iteration, body] : own(rank).odd) {
      colour = of_steps(mixed_with(colour, static_cast<std::uint64_t>(iteration)), body);
    }
    return colour;
  }

  [[nodiscard]] std::size_t count() const {
    return std::set<Colour>(colours_.begin(), colours_.end()).size();
  }

  void refine() {
    std::vector<Colour> members(program_.groups.size());
    for (std::size_t i = 0; i < members.size(); ++i) {
      Colour sum = program_.groups[i].ranks.size();  // a sum, so the order does not matter
      for (const int rank : program_.groups[i].ranks) sum += mixed(colour(rank));
      members[i] = sum;
    }
    std::vector<Colour> refined;
    for (int rank = 0; rank < program_.ranks; ++rank) {
      Colour next = colour(rank);
      for (const int number : program_.group_of[static_cast<std::size_t>(rank)]) {
        next = mixed_with(next, number < 0 ? 0 : members[static_cast<std::size_t>(number)]);
      }
      refined.push_back(mixed_with(next, of_peers(rank)));
    }
    colours_ = std::move(refined);
    for (auto& [rank, peers] : peers_) peers.known.clear();
  }

  [[nodiscard]] Colour colour(int rank) const { return colours_[static_cast<std::size_t>(rank)]; }

  void number_kinds() {
    std::unordered_map<Colour, int> kinds;
    for (int rank = 0; rank < program_.ranks; ++rank) {
      const auto [place, is_new] = kinds.try_emplace(colour(rank), static_cast<int>(kinds.size()));
      if (is_new) first_of_.push_back(rank);
      folded_.kind_of.push_back(place->second);
    }
    Program& program = folded_.program;
    program.ranks = static_cast<int>(first_of_.size());
    program.ranks_per_host = program_.ranks_per_host;
    program.sites = program_.sites;
    program.families = program_.families;
    program.streams = program_.streams;
  }

  [[nodiscard]] int kind(int rank) const { return folded_.kind_of[static_cast<std::size_t>(rank)]; }

  /// Merges groups of the same kind.
  /// returns  false: a rank sends to an equal rank without receiving from it in the same call
  bool add_groups() {
    std::map<std::pair<int, std::vector<int>>, int> known;
    for (const int rank : first_of_) {
      std::vector<int> groups;
      for (const int number : program_.group_of[static_cast<std::size_t>(rank)]) {
        if (number < 0) {
          groups.push_back(-1);
          continue;
        }
        std::vector<int> kinds;
        for (const int member : group(number).ranks) kinds.push_back(kind(member));
        std::ranges::sort(kinds);
        kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
        const auto [place, is_new] = known.try_emplace(
            {group(number).family, kinds}, static_cast<int>(folded_.program.groups.size()));
        if (is_new) {
          Group one = group(number);
          one.ranks = kinds;
          folded_.program.groups.push_back(std::move(one));
          folded_.group_of.push_back(number);
        }
        groups.push_back(place->second);
      }
      folded_.program.group_of.push_back(std::move(groups));
      for (const Step& step : own(rank).body) {
        if (step.kind == Kind::Call && hangs::is_p2p(step.op) && step.bundle == 0 &&
            kind(peer_of(rank, step)) == kind(rank)) {
          return false;
        }
      }
    }
    return true;
  }

  void add_program(int rank) {
    hangs::RankProgram folded = own(rank);
    const auto rename = [&](std::vector<Step>& body) {
      for (Step& step : body) {
        if (step.group < 0) continue;
        const auto family = static_cast<std::size_t>(group(step.group).family);
        const int to = folded_.program.group_of[static_cast<std::size_t>(kind(rank))][family];
        if (names_a_peer(step)) {
          const Named named = named_by(rank, step);
          if (named.has_path && path_class_of_)
            step.path_class = path_class_of_(rank, peer_of(rank, named));
          step.peer = hangs::group_rank(folded_.program.groups[static_cast<std::size_t>(to)],
                                        kind(peer_of(rank, step)));
        }
        step.group = to;
      }
    };
    rename(folded.body);
    for (auto& [iteration, body] : folded.odd) rename(body);
    folded_.program.programs.push_back(std::move(folded));
  }

  const Program& program_;
  std::vector<int> like_;
  const hangs::PathClassOf& path_class_of_;
  std::vector<std::vector<int>> path_classes_;  ///< [rank][peer of its body]
  std::map<int, Peers> peers_;                  ///< by the rank whose body it is
  std::vector<Colour> colours_;
  std::vector<int> first_of_;
  FoldedProgram folded_;
};

}  // namespace

std::optional<FoldedProgram> fold_program(const hangs::Program& program,
                                          const std::vector<int>& like,
                                          const hangs::PathClassOf& path_class_of) {
  return Folder(program, like, path_class_of).run();
}

}  // namespace ringside
