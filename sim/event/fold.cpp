#include "sim/event/fold.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "base/mixed.h"
#include "engine/collectives/record.h"

namespace ringside {
namespace {

using Colour = std::uint64_t;

/// Hash of a sequence: order matters.
class Sequence {
 public:
  template <typename Value>
  Sequence& add(Value value) {
    if constexpr (std::is_floating_point_v<Value>) {
      return add(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    } else {
      colour_ = mixed_with(colour_, static_cast<Colour>(value));
      return *this;
    }
  }
  [[nodiscard]] Colour colour() const { return colour_; }

 private:
  Colour colour_ = 1;
};

/// Hash of a multiset: order does not matter.
class UnorderedHash {
 public:
  void add(Colour colour) { sum_ += mixed_with(0, colour); }
  [[nodiscard]] Colour colour() const { return sum_; }

 private:
  Colour sum_ = 0;
};

/// Hash of a sequence of chunk numbers. It stores maximal runs of equal stride, so equal sequences have equal hashes
/// however they were recorded.
class ChunkSequence {
 public:
  /// Adds first, first + stride, .. modulo `modulus`: `repeat` numbers.
  void add(std::int32_t first, std::int32_t stride, std::int32_t repeat, std::int32_t modulus) {
    if (repeat_ == 1 && repeat > 0) {
      stride_ = (first - last_ + modulus) % modulus;
      take(first, 1);
      first = next(first, stride, modulus);
      --repeat;
    }
    if (repeat == 0) return;
    const bool goes_on = repeat_ > 1 && (last_ + stride_) % modulus == first;
    if (goes_on && (repeat == 1 || stride == stride_)) {
      return take(static_cast<std::int32_t>((last_ + std::int64_t{stride_} * repeat) % modulus),
                  repeat);
    }
    if (goes_on) {
      take(first, 1);
      first = next(first, stride, modulus);
      --repeat;
    }
    end_run();
    first_ = first;
    stride_ = repeat > 1 ? stride : 0;
    last_ = static_cast<std::int32_t>((first + std::int64_t{stride} * (repeat - 1)) % modulus);
    repeat_ = repeat;
  }

  /// Adds how often the whole sequence repeats.
  void repeats(std::int64_t loops, int turns) { passed_.add(loops).add(turns); }

  [[nodiscard]] Colour colour() const {
    return Sequence(passed_).add(first_).add(stride_).add(repeat_).colour();
  }

 private:
  static std::int32_t next(std::int32_t chunk, std::int32_t stride, std::int32_t modulus) {
    return (chunk + stride) % modulus;
  }
  void take(std::int32_t last, std::int32_t more) {
    last_ = last;
    repeat_ += more;
  }
  void end_run() {
    if (repeat_ > 0) passed_.add(first_).add(stride_).add(repeat_);
    repeat_ = 0;
  }

  Sequence passed_;  ///< the runs that have ended
  std::int32_t first_ = 0, stride_ = 0, last_ = 0,
               repeat_ = 0;  ///< the current run, which may continue
};

// For larger jobs, visiting each task takes longer than folding saves.
constexpr std::int64_t kMostCounts = 1 << 24;

// Chunks of a call whose elements differ by at most this share count as equal.
constexpr double kLittle = 1e-3;

/// Returns the values that determine the length of each loop's first chunk.
std::array<std::int64_t, 9> lengths_of(const ChunkRule& rule) {
  return {static_cast<std::int64_t>(rule.collective),
          rule.part.count,
          rule.chunk,
          rule.chunks,
          rule.grain,
          rule.lane,
          rule.lanes,
          rule.turns,
          static_cast<std::int64_t>(rule.shrinks)};
}

/// Returns whether blocks or transfers have individual lengths.
bool has_own_lengths(const ChunkMap& map) {
  return is_point_to_point(map.rule().collective) || !map.parts().empty();
}

/// Returns whether the chunks of each loop have equal or nearly equal element counts: of equal slices only the last
/// ones can be shorter.
bool is_even(const ChunkMap& map) {
  if (has_own_lengths(map)) return false;
  if (map.rule().collective != Collective::AllReduce) return true;
  std::int64_t all = 0;
  std::int64_t lacking = 0;
  for (std::int64_t loop = 0; loop < map.loops(); ++loop) {
    const ChunkSpan first = map.at(loop, 0);
    const ChunkSpan last = map.at(loop, map.chunks() - 1);
    const std::int64_t there = last.input + last.count - first.input;
    all += there;
    lacking += map.chunks() * first.count - there;
  }
  return static_cast<double>(lacking) <= kLittle * static_cast<double>(all);
}

/// Returns the task's colour: what it does, apart from chunk numbers, because chunks have sizes.
std::optional<Colour> colour_of(const EventTask& task, bool even, std::int64_t& counts) {
  const Program& program = task.program();
  Sequence all;
  all.add(program.loops).add(program.turns).add(task.task.strands.count);
  for (const StepRun& run : program.steps) {
    all.add(static_cast<int>(run.primitive)).add(run.strand).add(run.turn).add(run.repeat);
    all.add(run.from.first).add(run.from.bits).add(run.from_stride);
    all.add(run.to.first).add(run.to.bits).add(run.to_stride);
  }
  if (even) {
    for (const std::int64_t one : lengths_of(task.task.map.rule())) all.add(one);
    return all.colour();
  }
  for (std::int64_t loop = 0; loop < program.loops; ++loop) {
    const int turn = task.task.turn_of(loop);
    for (const StepRun& run : program.steps) {
      if (run.turn != turn) continue;
      counts += run.repeat;
      if (counts > kMostCounts) return std::nullopt;
      for_each_step(program, run, [&](const Step& step) {
        all.add(task.task.map.at(loop, task.chunk(step.chunk)).count);
      });
    }
  }
  return all.colour();
}

/// Groups the ports that each step uses together. A group is named by its first port, because it makes no difference
/// which of its ports a line uses.
std::vector<int> port_kinds(const Program& program, std::size_t ports, bool sends) {
  std::vector<Sequence> steps(ports);
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const StepRun& run = program.steps[i];
    const int stride = sends ? run.to_stride : run.from_stride;
    for_each_port(sends ? run.to : run.from, [&](int first) {
      if (stride == 0) {
        steps[static_cast<std::size_t>(first)].add(i);
        return;
      }
      for (std::int32_t k = 0; k < run.repeat; ++k) {
        steps[static_cast<std::size_t>(first + k * stride)].add(i).add(k);
      }
    });
  }
  std::vector<int> kinds;
  std::unordered_map<Colour, int> first_of;
  for (const Sequence& one : steps) {
    const int port = static_cast<int>(kinds.size());
    kinds.push_back(first_of.try_emplace(one.colour(), port).first->second);
  }
  return kinds;
}

class Folding {
 public:
  explicit Folding(const EventJob& job) : job_(job) {}

  std::optional<EventJob> run() {
    if (!begin(false)) return std::nullopt;
    const std::size_t all = job_.tasks.size() + job_.lines.size() + job_.links.size();
    if (!refine_while([&](std::size_t kinds) { return kinds * 2 <= all; })) return std::nullopt;
    const Classes lines = classes_of(lines_);
    EventJob out = folded(lines);
    for (std::size_t i = 0; i < job_.lines.size(); ++i) {
      out.original_lines.push_back({lines.of[i], job_.lines[i].links});
    }
    return out;
  }

  std::optional<FoldedShape> run_shape() {
    if (!begin(true)) return std::nullopt;
    refine_while([](std::size_t /*kinds*/) { return true; });
    UnorderedHash shape;
    for (const std::vector<Colour>* of : {&tasks_, &lines_}) {
      for (const Colour one : *of) shape.add(one);
    }
    const Classes lines = classes_of(lines_);
    return FoldedShape{folded(lines), lines.of, shape.colour()};
  }

 private:
  static std::size_t at(std::int32_t number) { return static_cast<std::size_t>(number); }

  /// each_is_even  a loop's chunks count as equal to its first chunk unless they have individual lengths
  /// returns       false: no tasks can be equal
  bool begin(bool each_is_even) {
    std::map<std::array<std::int64_t, 9>, bool> known;
    const auto is_task_even = [&](const EventTask& task) {
      const ChunkMap& map = task.task.map;
      if (each_is_even || has_own_lengths(map)) return !has_own_lengths(map);
      const auto [place, is_new] = known.try_emplace(lengths_of(map.rule()));
      if (is_new) place->second = is_even(map);
      return place->second;
    };
    is_even_ = std::ranges::all_of(job_.tasks, is_task_even);
    std::int64_t counts = 0;
    for (const EventTask& task : job_.tasks) {
      const auto colour = colour_of(task, is_even_, counts);
      if (!colour) return false;
      tasks_.push_back(*colour);
    }
    // Finds the task and the port of each end.
    owners_.resize(job_.ends.size());
    for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
      const auto own = [&](const std::vector<std::int32_t>& ends, const std::vector<int>& kinds) {
        for (std::size_t port = 0; port < ends.size(); ++port) {
          if (ends[port] >= 0) owners_[at(ends[port])] = {i, kinds[port]};
        }
      };
      const Program& program = job_.tasks[i].program();
      own(job_.tasks[i].send, port_kinds(program, job_.tasks[i].send.size(), true));
      own(job_.tasks[i].recv, port_kinds(program, job_.tasks[i].recv.size(), false));
    }
    lines_.resize(job_.lines.size());
    links_.resize(job_.links.size());
    return true;
  }

  [[nodiscard]] Colour of_ends(const std::vector<std::int32_t>& ends) const {
    UnorderedHash all;
    for (const std::int32_t end : ends) {
      const auto& [task, port] = owners_[at(end)];
      all.add(Sequence().add(tasks_[task]).add(port).colour());
    }
    return all.colour();
  }

  /// Refines until the number of colours no longer grows.
  /// returns  false: `goes_on` returned false once
  template <typename GoesOn>
  bool refine_while(const GoesOn& goes_on) {
    for (std::size_t kinds = 0;;) {
      refine();
      const std::size_t now = count_kinds();
      if (!goes_on(now)) return false;
      if (now == kinds) return true;
      kinds = now;
    }
  }

  /// Combines each colour with the colours of everything that it touches.
  void refine() {
    for (std::size_t i = 0; i < job_.lines.size(); ++i) {
      const EventLine& line = job_.lines[i];
      UnorderedHash links;
      for (const LinkUse& use : line.uses) links.add(links_[at(use.link)]);
      lines_[i] = Sequence()
                      .add(line.latency)
                      .add(line.efficiency)
                      .add(line.rate)
                      .add(line.is_group)
                      .add(of_ends(line.senders))
                      .add(of_ends(line.receivers))
                      .add(links.colour())
                      .colour();
    }
    std::vector<UnorderedHash> users(job_.links.size());
    for (std::size_t i = 0; i < job_.lines.size(); ++i) {
      for (const LinkUse& use : job_.lines[i].uses) users[at(use.link)].add(lines_[i]);
    }
    for (std::size_t i = 0; i < job_.links.size(); ++i) {
      links_[i] = Sequence().add(job_.links[i].value).add(users[i].colour()).colour();
    }
    for (std::size_t i = 0; i < job_.tasks.size(); ++i) {
      Sequence all;
      all.add(tasks_[i]);
      const auto add = [&](const std::vector<std::int32_t>& ends) {
        UnorderedHash lines;
        for (const std::int32_t end : ends) {
          if (end < 0) continue;
          lines.add(Sequence()
                        .add(owners_[at(end)].second)
                        .add(lines_[at(job_.ends[at(end)].line)])
                        .colour());
        }
        all.add(lines.colour());
      };
      add(job_.tasks[i].send);
      add(job_.tasks[i].recv);
      tasks_[i] = all.colour();
    }
  }

  [[nodiscard]] std::size_t count_kinds() const {
    std::size_t all = 0;
    for (const std::vector<Colour>* of : {&tasks_, &lines_, &links_}) {
      std::vector<Colour> sorted = *of;
      std::ranges::sort(sorted);
      all += sorted.size() - std::ranges::size(std::ranges::unique(sorted));
    }
    return all;
  }

  /// The classes, numbered in the order of their colours.
  struct Classes {
    std::vector<std::int32_t> of = {};      ///< [member]: its class
    std::vector<std::size_t> first = {};    ///< [class]: its first member
    std::vector<std::int64_t> copies = {};  ///< [class]: number of members
  };

  static Classes classes_of(const std::vector<Colour>& colours) {
    std::vector<Colour> known = colours;
    std::ranges::sort(known);
    const auto repeated = std::ranges::unique(known);
    known.erase(repeated.begin(), repeated.end());
    Classes classes;
    classes.first.assign(known.size(), colours.size());
    classes.copies.assign(known.size(), 0);
    for (std::size_t i = 0; i < colours.size(); ++i) {
      const auto number =
          static_cast<std::size_t>(std::ranges::lower_bound(known, colours[i]) - known.begin());
      classes.of.push_back(static_cast<std::int32_t>(number));
      classes.first[number] = std::min(classes.first[number], i);
      ++classes.copies[number];
    }
    return classes;
  }

  [[nodiscard]] EventJob folded(const Classes& lines) const {
    const Classes tasks = classes_of(tasks_);
    const Classes links = classes_of(links_);
    EventJob out;
    out.is_folded = true;
    out.is_even = is_even_;
    for (const std::size_t first : links.first) out.links.push_back(job_.links[first]);
    for (std::size_t i = 0; i < tasks.first.size(); ++i) {
      EventTask& task = out.tasks.emplace_back(job_.tasks[tasks.first[i]]);
      task.copies = tasks.copies[i];
      task.send.assign(task.send.size(), -1);
      task.recv.assign(task.recv.size(), -1);
    }
    const std::vector<std::map<std::int32_t, int>> users = users_of(lines, links);
    for (std::size_t i = 0; i < lines.first.size(); ++i) {
      const EventLine& original = job_.lines[lines.first[i]];
      EventLine line;
      line.latency = original.latency;
      line.efficiency = original.efficiency;
      line.rate = original.rate;
      line.first_sender = original.first_sender;
      line.is_group = original.is_group;
      line.copies = lines.copies[i];
      const auto number = static_cast<std::int32_t>(i);
      for (const LinkUse& use : original.uses) {
        const std::int32_t link = links.of[at(use.link)];
        const bool is_there = std::ranges::any_of(
            line.uses, [&](const LinkUse& other) { return other.link == link; });
        // If a route uses several equal links, each has the same rate.
        if (!is_there) line.uses.push_back({link, users[at(link)].at(number)});
      }
      out.lines.push_back(std::move(line));
    }
    for (std::size_t i = 0; i < tasks.first.size(); ++i) {
      const EventTask& original = job_.tasks[tasks.first[i]];
      EventTask& task = out.tasks[i];
      join(original.send, lines, tasks, true, task.send, out);
      join(original.recv, lines, tasks, false, task.recv, out);
    }
    return out;
  }

  /// Returns how many lines of each kind one link of each kind carries.
  [[nodiscard]] std::vector<std::map<std::int32_t, int>> users_of(const Classes& lines,
                                                                  const Classes& links) const {
    std::vector<bool> is_first(job_.links.size());
    for (const std::size_t first : links.first) is_first[first] = true;
    std::vector<std::map<std::int32_t, int>> users(links.first.size());
    for (std::size_t i = 0; i < job_.lines.size(); ++i) {
      for (const LinkUse& use : job_.lines[i].uses) {
        if (is_first[at(use.link)]) ++users[at(links.of[at(use.link)])][lines.of[i]];
      }
    }
    return users;
  }

  /// Adds the ends of a task that represents others, on the representing lines. If equal lines use several of its
  /// ports, the one representing line has an end at each port.
  void join(const std::vector<std::int32_t>& ends, const Classes& lines, const Classes& tasks,
            bool sends, std::vector<std::int32_t>& mine, EventJob& out) const {
    for (std::size_t port = 0; port < ends.size(); ++port) {
      if (ends[port] < 0) continue;
      const LineEnd& end = job_.ends[at(ends[port])];
      const std::int32_t number = lines.of[at(end.line)];
      mine[port] = static_cast<std::int32_t>(out.ends.size());
      out.ends.push_back({.line = number,
                          .peer = end.peer,
                          .weight = alike_on(end.line, ends[port], tasks, sends)});
      EventLine& line = out.lines[at(number)];
      (sends ? line.senders : line.receivers).push_back(mine[port]);
    }
  }

  /// Returns how many ends of the line belong to the same kind of task and port as this end.
  [[nodiscard]] std::int32_t alike_on(std::int32_t line, std::int32_t end, const Classes& tasks,
                                      bool sends) const {
    const auto kind_of = [&](std::int32_t one) {
      const auto& [task, port] = owners_[at(one)];
      return std::pair{tasks.of[task], port};
    };
    const EventLine& original = job_.lines[at(line)];
    return static_cast<std::int32_t>(
        std::ranges::count(sends ? original.senders : original.receivers, kind_of(end), kind_of));
  }

  const EventJob& job_;
  bool is_even_ = false;
  std::vector<Colour> tasks_, lines_, links_;
  std::vector<std::pair<std::size_t, int>> owners_;  ///< [end]: task and kind of port
};

}  // namespace

bool do_chunks_fit(const EventJob& job) {
  std::vector<ChunkSequence> chunks(job.ends.size());
  for (const EventTask& task : job.tasks) {
    const Program& program = task.program();
    const auto note = [&](const std::vector<std::int32_t>& ends, int port, const StepRun& run,
                          std::int32_t first, std::int32_t repeat) {
      chunks[static_cast<std::size_t>(ends[static_cast<std::size_t>(port)])].add(
          task.chunk(first), run.stride, repeat, program.chunks);
    };
    const auto note_side = [&](const std::vector<std::int32_t>& ends, Ports ports, int port_stride,
                               const StepRun& run) {
      const bool is_one_end = port_stride == 0;
      for_each_port(ports, [&](int port) {
        if (is_one_end) return note(ends, port, run, run.first_chunk, run.repeat);
        std::int64_t chunk = run.first_chunk;
        for (std::int32_t i = 0; i < run.repeat; ++i) {
          note(ends, port + i * port_stride, run, static_cast<std::int32_t>(chunk), 1);
          chunk = (chunk + run.stride) % program.chunks;
        }
      });
    };
    for (const StepRun& run : program.steps) {
      note_side(task.recv, run.from, run.from_stride, run);
      note_side(task.send, run.to, run.to_stride, run);
    }
    for (const std::vector<std::int32_t>* ends : {&task.send, &task.recv}) {
      for (const std::int32_t end : *ends) {
        if (end < 0) continue;
        chunks[static_cast<std::size_t>(end)].repeats(program.loops, task.task.map.rule().turns);
      }
    }
  }
  return std::ranges::all_of(job.lines, [&](const EventLine& line) {
    const Colour due = chunks[static_cast<std::size_t>(line.senders.front())].colour();
    const auto is_due = [&](std::int32_t end) {
      return chunks[static_cast<std::size_t>(end)].colour() == due;
    };
    return std::ranges::all_of(line.senders, is_due) && std::ranges::all_of(line.receivers, is_due);
  });
}

std::optional<EventJob> fold(const EventJob& job) { return Folding(job).run(); }

std::optional<FoldedShape> fold_shape(const EventJob& job) { return Folding(job).run_shape(); }

}  // namespace ringside
