#include "harness/scenario/fold_program.h"

#include <algorithm>
#include <cstdint>
#include <map>
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
  explicit Folder(const Program& program) : program_(program) {}

  std::optional<FoldedProgram> run() {
    for (int rank = 0; rank < program_.ranks; ++rank) colours_.push_back(of_body(rank));
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
  [[nodiscard]] const hangs::RankProgram& own(int rank) const {
    return program_.programs[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] int peer_of(const Step& step) const {
    return group(step.group).ranks[static_cast<std::size_t>(step.peer)];
  }

  [[nodiscard]] Colour of_steps(Colour colour, const std::vector<Step>& steps) const {
    for (const Step& step : steps) {
      colour = mixed_with(colour, static_cast<std::uint64_t>(step.kind));
      colour = mixed_with(colour, static_cast<std::uint64_t>(step.op) << 32 |
                                      static_cast<std::uint64_t>(step.type) << 16 |
                                      static_cast<std::uint64_t>(step.halt) << 8 |
                                      (step.async ? 1U : 0U));
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
      Colour sum = program_.groups[i].ranks.size();  // whatever the order
      for (const int rank : program_.groups[i].ranks) sum += mixed(colour(rank));
      members[i] = sum;
    }
    std::vector<Colour> refined;
    for (int rank = 0; rank < program_.ranks; ++rank) {
      Colour next = colour(rank);
      for (const int number : program_.group_of[static_cast<std::size_t>(rank)]) {
        next = mixed_with(next, number < 0 ? 0 : members[static_cast<std::size_t>(number)]);
      }
      for (const Step& step : own(rank).body) {
        if (names_a_peer(step)) next = mixed_with(next, colour(peer_of(step)));
      }
      refined.push_back(next);
    }
    colours_ = std::move(refined);
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
  }

  [[nodiscard]] int kind(int rank) const { return folded_.kind_of[static_cast<std::size_t>(rank)]; }

  /// Groups of the same kinds are one. returns  false: one sends to its like
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
        if (step.kind == Kind::Call && hangs::is_p2p(step.op) &&
            kind(peer_of(step)) == kind(rank)) {
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
          step.peer = hangs::group_rank(folded_.program.groups[static_cast<std::size_t>(to)],
                                        kind(peer_of(step)));
        }
        step.group = to;
      }
    };
    rename(folded.body);
    for (auto& [iteration, body] : folded.odd) rename(body);
    folded_.program.programs.push_back(std::move(folded));
  }

  const Program& program_;
  std::vector<Colour> colours_;
  std::vector<int> first_of_;
  FoldedProgram folded_;
};

}  // namespace

std::optional<FoldedProgram> fold_program(const hangs::Program& program) {
  return Folder(program).run();
}

}  // namespace ringside
