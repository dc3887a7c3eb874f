#include "harness/hangs/fault.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/suggest.h"
#include "base/text.h"

namespace ringside::hangs {
namespace {

using Kind = Step::Kind;

/// A call in the program of one rank.
struct Place {
  int rank = 0;
  int iteration = 0;
  std::size_t index = 0;
};

/// Draws where a fault of a class goes, and changes the program there.
class Injector {
 public:
  Injector(Program& program, int first, Random& random)
      : program_(program), first_(first), random_(random) {}

  std::optional<Fault> inject(FaultClass kind) {
    fault_.kind = kind;
    const bool is_done = inject_kind(kind);
    if (!is_done) return std::nullopt;
    std::sort(fault_.culprits.begin(), fault_.culprits.end());
    return fault_;
  }

 private:
  bool inject_kind(FaultClass kind) {
    switch (kind) {
      case FaultClass::MissingRank:
        return halt(Halt::WaitsElsewhere, "meets an exception, catches it and waits elsewhere");
      case FaultClass::DeadRank:
        return die();
      case FaultClass::Straggler:
        return random_.chance(25) ? halt(Halt::GilHeld, "holds the interpreter lock in compute")
                                  : halt(Halt::Busy, "stays in compute");
      case FaultClass::DivergedControlFlow:
        return diverge();
      case FaultClass::OpMismatch:
        return change("calls another operation", is_collective, [this](Step& s) { change_op(s); });
      case FaultClass::ShapeMismatch:
        return change("passes a tensor of another size", is_even, [this](Step& s) {
          s.count = random_.chance(50) ? s.count * 2 : std::max<std::int64_t>(1, s.count / 2 - 64);
        });
      case FaultClass::DtypeMismatch:
        return change("passes another element type", is_sized, [this](Step& s) {
          const bool has_4_bytes = size_of(s.type).value == 4;
          s.type = !has_4_bytes         ? DataType::Float32
                   : random_.chance(50) ? DataType::Float64
                                        : DataType::Bfloat16;
        });
      case FaultClass::RootMismatch:
        return change(
            "names another root", [](const Step& s) { return is_collective(s) && has_root(s.op); },
            [this](Step& s) {
              const auto size = static_cast<std::int64_t>(group_of(s).ranks.size());
              s.peer = static_cast<int>((s.peer + random_.between(1, size - 1)) % size);
            });
      case FaultClass::OrderMismatch:
        return swap(true);
      case FaultClass::DeadlockCycle:
        return random_.chance(30) && cross_transfers() ? true : swap(false);
      case FaultClass::P2pUnmatched:
        return break_transfer();
      case FaultClass::NetworkStall:
        return stall_network();
      case FaultClass::NotAHang:
        fault_.text = "nothing";
        return true;
      case FaultClass::Unknown:
        break;
    }
    return false;
  }

  static bool is_collective(const Step& step) {
    return step.kind == Kind::Call && !is_p2p(step.op) && step.op != Op::Barrier;
  }
  /// Returns whether all members pass equal sizes: an all-to-all may be uneven, and dumps do not contain its splits.
  static bool is_even(const Step& step) { return is_sized(step) && step.op != Op::AllToAll; }
  static bool is_sized(const Step& step) {
    constexpr std::int64_t kLeast = 256;  // elements: half of them are still a tensor
    return is_collective(step) && step.count >= kLeast;
  }

  const Group& group_of(const Step& step) const {
    return program_.groups[static_cast<std::size_t>(step.group)];
  }
  RankProgram& program_of(int rank) { return program_.programs[static_cast<std::size_t>(rank)]; }

  /// Returns a barrier of all ranks that a line of the program calls.
  static Step barrier_at(int site) {
    Step barrier;
    barrier.kind = Kind::Call;
    barrier.op = Op::Barrier;
    barrier.group = 0;
    barrier.count = 1;
    barrier.site = site;
    return barrier;
  }

  /// Draws a call of any rank for which `fits` returns true, late enough for some history and not in the last
  /// iteration.
  std::optional<Place> draw(const std::function<bool(const Step&)>& fits) {
    Place place;
    const int last = program_.programs[0].iterations - 1;
    place.iteration =
        static_cast<int>(random_.between(std::min(last, first_), std::max(last - 1, first_)));
    place.iteration = std::min(place.iteration, last);
    constexpr int kAttempts = 20;  // ranks that may have no such call
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      place.rank = static_cast<int>(random_.below(program_.ranks));
      const std::vector<Step>& body = program_of(place.rank).body;
      std::vector<std::size_t> found;
      for (std::size_t i = 0; i < body.size(); ++i) {
        // Sends and receives that begin together count as one call.
        if (begins_call(body, i) && group_of(body[i]).ranks.size() > 1 && fits(body[i])) {
          found.push_back(i);
        }
      }
      if (found.empty()) continue;
      place.index = random_.pick(found);
      return place;
    }
    return std::nullopt;
  }

  /// Returns the number that the call at the place would have in its group without a fault.
  int seq_at(const Place& place, const Step& call) {
    const std::vector<Step>& body = program_of(place.rank).body;
    const auto count_to = [&](std::size_t end) {
      int count = 0;
      for (std::size_t i = 0; i < end; ++i) {
        count += begins_call(body, i) && body[i].group == call.group &&
                 is_p2p(body[i].op) == is_p2p(call.op);
      }
      return count;
    };
    return count_to(body.size()) * place.iteration + count_to(place.index) + 1;
  }

  void set_culprit(const Place& place, const Step& call, const std::string& text) {
    fault_.text = text;
    fault_.culprits = {place.rank};
    fault_.iteration = place.iteration;
    fault_.group = call.group;
    fault_.seq = seq_at(place, call);
    fault_.is_p2p = is_p2p(call.op);
  }

  /// Returns the separate body that the rank runs in that iteration only.
  std::vector<Step>& odd_body(const Place& place) {
    return program_of(place.rank).odd_body(place.iteration);
  }

  static std::size_t first_of_bundle(const std::vector<Step>& body, std::size_t index) {
    while (index > 0 && body[index].bundle != 0 && body[index - 1].bundle == body[index].bundle) {
      --index;
    }
    return index;
  }

  static std::vector<Step>::iterator at(std::vector<Step>& body, std::size_t index) {
    return body.begin() + static_cast<std::ptrdiff_t>(index);
  }

  bool halt(Halt how, const std::string& text) {
    const auto place = draw([](const Step&) { return true; });
    if (!place) return false;
    halt_at(*place, how, text);
    return true;
  }

  /// Stops the rank before everything that begins with the call.
  void halt_at(Place place, Halt how, const std::string& text) {
    place.index = first_of_bundle(program_of(place.rank).body, place.index);
    const Step call = program_of(place.rank).body[place.index];
    const std::vector<int> before = fault_.culprits;
    set_culprit(place, call, text);
    fault_.culprits.insert(fault_.culprits.end(), before.begin(), before.end());
    fault_.halt = how;
    std::vector<Step>& body = odd_body(place);
    body.resize(place.index);
    Step end;
    end.kind = Kind::Halt;
    end.halt = how;
    end.site = call.site;
    body.push_back(end);
  }

  bool die() {
    struct Death {
      Halt halt;
      const char* text;
    };
    constexpr std::array kDeaths{Death{Halt::Killed, "is killed by SIGKILL"},
                                 Death{Halt::Stopped, "is stopped by SIGSTOP"},
                                 Death{Halt::Exited, "leaves with exit code 1"}};
    const Death death = random_.pick(kDeaths);
    auto place = draw([](const Step&) { return true; });
    if (!place) return false;
    halt_at(*place, death.halt, death.text);
    if (program_.ranks >= 8 && random_.chance(15)) {
      // Two ranks of one host at once: one common cause.
      const int other = place->rank ^ 1;
      const auto has_that_call = [&] {
        const std::vector<Step>& body = program_of(other).body;
        return place->index < body.size() && body[place->index].kind == Kind::Call;
      };
      if (other < program_.ranks && has_that_call()) {
        place->rank = other;
        halt_at(*place, death.halt, death.text);
      }
    }
    return true;
  }

  bool diverge() {
    switch (random_.below(6)) {
      case 0:
      case 1:
        return skip(is_collective, "skips one collective and continues");
      case 2:
        return repeat(is_collective);
      case 3:
        return change_batches();
      case 4:
        return call_alone();
      default:
        return skip_new_group();
    }
  }

  bool skip(const std::function<bool(const Step&)>& fits, const std::string& text) {
    const auto place = draw(fits);
    if (!place) return false;
    const Step call = program_of(place->rank).body[place->index];
    set_culprit(*place, call, text);
    std::vector<Step>& body = odd_body(*place);
    const auto first = at(body, place->index);
    body.erase(first, first + static_cast<std::ptrdiff_t>(bundle_length(body, place->index)));
    return true;
  }

  /// Skips one of the sends and receives that begin together.
  bool skip_part() {
    const auto place = draw([](const Step& step) { return is_p2p(step.op) && step.bundle != 0; });
    if (!place) return false;
    std::vector<Step>& body = odd_body(*place);
    const auto parts = static_cast<std::int64_t>(bundle_length(body, place->index));
    const std::size_t part = place->index + static_cast<std::size_t>(random_.below(parts));
    set_culprit(*place, body[part], "skips one transfer of several that begin together");
    body.erase(at(body, part));
    return true;
  }

  bool repeat(const std::function<bool(const Step&)>& fits) {
    const auto place = draw(fits);
    if (!place) return false;
    const Step call = program_of(place->rank).body[place->index];
    set_culprit(*place, call, "makes one call twice");
    ++fault_.seq;
    std::vector<Step>& body = odd_body(*place);
    const auto first = at(body, place->index);
    std::vector<Step> again(first,
                            first + static_cast<std::ptrdiff_t>(bundle_length(body, place->index)));
    for (Step& step : again)
      step.bundle = -step.bundle;  // the copy begins separately from the first
    body.insert(first, again.begin(), again.end());
    return true;
  }

  bool change_batches() {
    Place place;
    place.rank = static_cast<int>(random_.below(program_.ranks));
    RankProgram& own = program_of(place.rank);
    const bool is_more = random_.chance(50);
    place.iteration = is_more ? own.iterations : own.iterations - 1;
    const auto first = std::find_if(own.body.begin(), own.body.end(),
                                    [](const Step& s) { return is_collective(s); });
    if (first == own.body.end()) return false;
    place.index = static_cast<std::size_t>(first - own.body.begin());
    set_culprit(place, *first,
                is_more ? "has more batches than the others" : "has fewer batches than the others");
    own.iterations += is_more ? 1 : -1;
    // All ranks call the barrier that ends training, so a rank that finishes early waits there.
    const Step barrier = barrier_at(static_cast<int>(program_.sites.size()) - 1);
    if (!is_more) {
      for (RankProgram& each : program_.programs) {
        each.odd[each.iterations] = {barrier};
        ++each.iterations;
      }
    }
    return true;
  }

  bool call_alone() {
    const auto place = draw(is_collective);
    if (!place) return false;
    const Step barrier = barrier_at(program_of(place->rank).body[place->index].site);
    set_culprit(*place, barrier, "alone calls a barrier when saving a checkpoint");
    std::vector<Step>& body = odd_body(*place);
    body.insert(at(body, place->index), barrier);
    return true;
  }

  bool skip_new_group() {
    const auto place = draw(is_collective);
    if (!place || program_.ranks < 3) return false;
    const Step call = program_of(place->rank).body[place->index];
    set_culprit(*place, call, "does not call new_group");
    fault_.is_group_missing = true;
    // The first step of the iteration, the same line for all ranks.
    Step create;
    create.kind = Kind::Rendezvous;
    create.group = 0;
    for (int rank = 0; rank < program_.ranks; ++rank) {
      if (rank == place->rank) continue;
      std::vector<Step>& body = odd_body({rank, place->iteration, 0});
      body.insert(body.begin(), create);
    }
    return true;
  }

  bool change(const std::string& text, const std::function<bool(const Step&)>& fits,
              const std::function<void(Step&)>& edit) {
    const auto place = draw(fits);
    if (!place) return false;
    const Step call = program_of(place->rank).body[place->index];
    set_culprit(*place, call, text);
    edit(odd_body(*place)[place->index]);
    return true;
  }

  void change_op(Step& step) {
    constexpr std::array kOps{Op::AllReduce, Op::AllGather, Op::ReduceScatter, Op::Broadcast,
                              Op::Reduce};
    const Op before = step.op;
    while (step.op == before) step.op = random_.pick(kOps);
    step.peer = 0;
  }

  /// Swaps two consecutive calls, of one group or of two.
  bool swap(bool is_same_group) {
    const auto next_call = [](const std::vector<Step>& body, std::size_t i) {
      for (++i; i < body.size() && body[i].kind == Kind::Compute; ++i) {
      }
      return i;
    };
    const std::vector<Step>* body = nullptr;
    const auto place = draw([&](const Step& step) {
      // draw() returns a step of one rank's body, so the next step is found by its address.
      for (const RankProgram& own : program_.programs) {
        if (&step >= own.body.data() && &step < own.body.data() + own.body.size()) body = &own.body;
      }
      const std::size_t next = next_call(*body, static_cast<std::size_t>(&step - body->data()));
      if (next >= body->size() || (*body)[next].kind != Kind::Call) return false;
      const Step& other = (*body)[next];
      if (is_p2p(step.op) || is_p2p(other.op)) return false;
      if (is_same_group) return other.group == step.group && !agree(step, other);
      return other.group != step.group && !step.async && !other.async;
    });
    if (!place) return false;
    const Step call = program_of(place->rank).body[place->index];
    set_culprit(*place, call, "makes two calls in reversed order");
    std::vector<Step>& odd = odd_body(*place);
    std::swap(odd[place->index], odd[next_call(odd, place->index)]);
    return true;
  }

  /// Makes a rank send first to the peer from which it should first receive, or the reverse.
  bool cross_transfers() {
    const auto place = draw([](const Step& step) { return is_p2p(step.op) && step.bundle == 0; });
    if (!place) return false;
    const std::vector<Step>& body = program_of(place->rank).body;
    const Step call = body[place->index];
    for (std::size_t i = place->index + 1; i < body.size(); ++i) {
      if (body[i].kind != Kind::Call || !is_p2p(body[i].op) || body[i].bundle != 0) continue;
      if (body[i].group == call.group && body[i].peer == call.peer && body[i].op != call.op) {
        set_culprit(*place, call, "sends and receives in reversed order");
        std::vector<Step>& odd = odd_body(*place);
        std::swap(odd[place->index], odd[i]);
        return true;
      }
    }
    return false;
  }

  bool break_transfer() {
    const auto is_transfer = [](const Step& step) { return is_p2p(step.op); };
    if (has_bundles() && random_.chance(30) && skip_part()) return true;
    if (random_.chance(35)) return repeat(is_transfer);
    return skip(is_transfer, "skips one transfer and continues");
  }

  [[nodiscard]] bool has_bundles() const {
    return std::any_of(program_.sites.begin(), program_.sites.end(),
                       [](const OutlineStep& line) { return line.bundle != 0; });
  }

  bool stall_network() {
    const auto place = draw(is_sized);
    if (!place) return false;
    const Step call = program_of(place->rank).body[place->index];
    set_culprit(*place, call, "the network carries no more data of one call");
    fault_.culprits.clear();
    fault_.network = {fault_.group, fault_.seq};
    return true;
  }

  Program& program_;
  int first_;  ///< iteration from which the fault may occur
  Random& random_;
  Fault fault_;
};

}  // namespace

Result<FaultClass> parse_fault_class(std::string_view text) {
  const std::vector<std::string_view> names(kHangClassNames.begin(),
                                            kHangClassNames.begin() + kFaultClasses);
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    return Error{ErrorCode::InvalidArgument, "unknown class '" + std::string(text) + "'",
                 suggestion(text, names)};
  }
  return static_cast<FaultClass>(found - names.begin());
}

std::optional<Fault> inject(Program& program, FaultClass kind, int first, Random& random) {
  return Injector(program, first, random).inject(kind);
}

}  // namespace ringside::hangs
