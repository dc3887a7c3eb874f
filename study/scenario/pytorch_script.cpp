#include "study/scenario/pytorch_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/python_string.h"
#include "engine/faults/fault_text.h"
#include "harness/program_run.h"

namespace ringside::study {
namespace {

using hangs::Op;
using hangs::OutlineStep;
using OutlineKind = OutlineStep::Kind;

constexpr std::int64_t kMostScriptElements = 1 << 20;

/// The element type of a call. Types that PyTorch lacks in some releases are represented by one of their size.
const char* torch_type(DataType type) {
  switch (type) {
    case DataType::Int8:
      return "torch.int8";
    case DataType::Uint8:
    case DataType::Float8E4m3:
    case DataType::Float8E5m2:
      return "torch.uint8";
    case DataType::Int32:
    case DataType::Uint32:
      return "torch.int32";
    case DataType::Int64:
    case DataType::Uint64:
      return "torch.int64";
    case DataType::Float16:
      return "torch.float16";
    case DataType::Bfloat16:
      return "torch.bfloat16";
    case DataType::Float64:
      return "torch.float64";
    case DataType::Float32:
      break;
  }
  return "torch.float32";
}

constexpr std::string_view kBegin = R"(
import datetime
import os
import signal
import sys
import time

import torch
import torch.distributed as dist

)";

constexpr std::string_view kGroups = R"(
timeout = datetime.timedelta(seconds=TIMEOUT_S)
dist.init_process_group("gloo", timeout=timeout)
rank = dist.get_rank()
if dist.get_world_size() != RANKS:
    sys.exit(f"this script needs {RANKS} ranks, not {dist.get_world_size()}")
mine = {"world": (dist.group.WORLD, list(range(RANKS)))}  # this rank's groups: by name, with their members
for name, groups in GROUPS.items():
    for members in groups:
        group = dist.new_group(members, timeout=timeout)
        if rank in members:
            mine[name] = (group, members)


def zeros(count, dtype):
    return torch.zeros(count, dtype=dtype)


def begin(on, call):
    """Begins a call of this rank's group. Returns the works; empty: the rank is in no such group."""
    return [call(*mine[on])] if on in mine else []


def wait(*calls):
    """Waits for calls that began together."""
    for works in calls:
        for work in works:
            work.wait()
)";

/// A helper of the script, with the word that calls it. Only those that are used are written.
struct Helper {
  std::string_view word;
  std::string_view text;
};
constexpr std::array kHelpers{Helper{"all_reduce", R"(
def all_reduce(on, count, dtype):
    return begin(on, lambda group, members: dist.all_reduce(zeros(count, dtype), group=group, async_op=True))
)"},
                              Helper{"all_gather", R"(
def all_gather(on, count, dtype):
    return begin(
        on,
        lambda group, members: dist.all_gather(
            [zeros(count, dtype) for _ in members], zeros(count, dtype), group=group, async_op=True
        ),
    )
)"},
                              Helper{"reduce_scatter", R"(
def reduce_scatter(on, count, dtype):
    return begin(
        on,
        lambda group, members: dist.reduce_scatter(
            zeros(count, dtype), [zeros(count, dtype) for _ in members], group=group, async_op=True
        ),
    )
)"},
                              Helper{"broadcast", R"(
def broadcast(on, root, count, dtype):
    return begin(
        on, lambda group, members: dist.broadcast(zeros(count, dtype), members[root], group=group, async_op=True)
    )
)"},
                              Helper{"reduce", R"(
def reduce(on, root, count, dtype):
    return begin(on, lambda group, members: dist.reduce(zeros(count, dtype), members[root], group=group, async_op=True))
)"},
                              Helper{"all_to_all", R"(
def all_to_all(on, count, dtype):
    return begin(
        on,
        lambda group, members: dist.all_to_all_single(
            zeros(count * len(members), dtype), zeros(count * len(members), dtype), group=group, async_op=True
        ),
    )
)"},
                              Helper{"barrier", R"(
def barrier(on):
    return begin(on, lambda group, members: dist.barrier(group=group, async_op=True))
)"},
                              Helper{"transfer", R"(
def transfer(on, source, target, count, dtype):
    """Member `source` of the group sends, member `target` receives."""
    group, members = mine.get(on, (None, []))
    place = members.index(rank) if rank in members else -1
    if place == source:
        return [dist.isend(zeros(count, dtype), members[target], group=group)]
    if place == target:
        return [dist.irecv(zeros(count, dtype), members[source], group=group)]
    return []
)"},
                              Helper{"shift", R"(
def shift(on, by, count, dtype):
    """Each member sends to the one that is `by` places further."""
    group, members = mine.get(on, (None, []))
    if rank not in members or by % len(members) == 0:
        return []
    place = members.index(rank)
    return [
        dist.isend(zeros(count, dtype), members[(place + by) % len(members)], group=group),
        dist.irecv(zeros(count, dtype), members[(place - by) % len(members)], group=group),
    ]
)"},
                              Helper{"is_member", R"(
def is_member(on, number):
    """Whether this rank has that number in its group."""
    return on in mine and mine[on][1].index(rank) == number
)"},
                              Helper{"later", R"(
pending = []  # calls that began and were not waited for


def later(*calls):
    pending.extend(calls)
)"},
                              Helper{"stay_away", R"(
def stay_away():
    """Makes no further call, and goes on."""
    while True:
        time.sleep(1)
)"}};

class ScriptWriter {
 public:
  explicit ScriptWriter(const Reproduction& made)
      : made_(made), outline_(made.scenario.outline), ends_(ends_by_site()) {}

  std::string run() {
    const std::string steps = steps_text();
    std::string text = fmt::format(
        "#!/usr/bin/env python3\n"
        "# Written by ringside reproduce: makes the calls of a hung job, on its groups.\n"
        "#\n"
        "#     {}\n"
        "#     torchrun --nproc_per_node {} FILE   (over gloo, where it has the calls{})\n",
        command("FILE"), outline_.ranks, options().empty() ? "" : "; it has no such fault");
    text += kBegin;
    text += fmt::format("ABOUT = {}\n", python_string(made_.scenario.about));
    text += "NOT_KNOWN = [\n";
    for (const std::string& one : made_.unknown)
      text += fmt::format("    {},\n", python_string(one));
    if (has_smaller_counts(made_)) text += fmt::format("    {},\n", python_string(kSmallerCounts));
    text += fmt::format("]\nTIMEOUT_S = 60\nRANKS = {}\n", outline_.ranks);
    text += "GROUPS = {  # by name: the members of each group\n";
    for (const hangs::Family& one : std::span(outline_.families).subspan(1)) {
      text += fmt::format("    {}: {},\n", python_string(one.name), one.members);
    }
    text += "}\n";
    text += kGroups;
    for (const Helper& helper : kHelpers) {
      if (used_.contains(helper.word)) text += fmt::format("\n{}", helper.text);
    }
    text += "\n\n" + steps;
    text += "dist.destroy_process_group()\n";
    return text;
  }

  [[nodiscard]] std::string options() const {
    std::string text;
    for (const Fault& fault : made_.scenario.faults.faults) {
      if (is_link_fault(fault.kind)) {
        text +=
            fmt::format("{}--fault {}", text.empty() ? "" : " ", to_string(as_in_pytorch(fault)));
      }
    }
    return text;
  }

  [[nodiscard]] std::string command(std::string_view file) const {
    return fmt::format("ringside run {} -n {} --timeout 10{}{}", file, outline_.ranks,
                       options().empty() ? "" : " ", options());
  }

 private:
  /// PyTorch names groups by the order in which they are made. A fault whose ranks share no group applies to all: the
  /// name of the evidence matches none, and may be any text.
  [[nodiscard]] Fault as_in_pytorch(Fault fault) const {
    int number = 0;
    for (const hangs::Family& family : outline_.families) {
      for (const std::vector<int>& members : family.members) {
        const bool has_both = std::ranges::count(members, fault.from.value_or(-1)) > 0 &&
                              std::ranges::count(members, fault.to.value_or(-1)) > 0;
        if (family.name == fault.on && has_both) {
          fault.on = fmt::format("{}", number);
          return fault;
        }
        ++number;
      }
    }
    fault.on.clear();
    return fault;
  }

  /// The step before which each rank stops.
  [[nodiscard]] std::map<int, std::vector<const Fault*>> ends_by_site() const {
    std::map<int, std::vector<const Fault*>> ends;
    const hangs::Program program = hangs::make_program(outline_);
    for (const Fault& fault : made_.scenario.faults.faults) {
      if (is_link_fault(fault.kind)) continue;
      const auto& body = program.programs[static_cast<std::size_t>(fault.rank.value_or(0))].body;
      std::int64_t calls = 0;
      int site = static_cast<int>(outline_.steps.size()) - 1;
      for (std::size_t i = 0; i < body.size(); ++i) {
        if (!hangs::begins_call(body, i) || calls++ < fault.call.value_or(0)) continue;
        site = body[i].site;
        break;
      }
      ends[site].push_back(&fault);
    }
    return ends;
  }

  std::string word(std::string_view name) { return std::string(*used_.insert(name).first); }

  [[nodiscard]] std::string family(int number) const {
    return python_string(outline_.families[static_cast<std::size_t>(number)].name);
  }

  std::string end_text(const Fault& fault) {
    switch (fault.kind) {
      case FaultKind::Kill:
        return "os.kill(os.getpid(), signal.SIGKILL)";
      case FaultKind::Stop:
        return "os.kill(os.getpid(), signal.SIGSTOP)";
      default:
        return word("stay_away") + "()";
    }
  }

  std::string call_text(const OutlineStep& step) {
    const bool is_transfer = step.kind == OutlineKind::Transfer;
    const bool is_shift = step.kind == OutlineKind::Shift;
    const bool is_collective = !is_transfer && !is_shift;
    std::int64_t count = fitted_elements(step.count, kMostScriptElements);
    if (is_collective && step.op == Op::AllToAll) {
      // The count is that of a rank's whole input.
      const auto ranks = static_cast<std::int64_t>(
          outline_.families[static_cast<std::size_t>(step.family)].members.front().size());
      count = (count + ranks - 1) / ranks;
    }
    std::string text = word(is_transfer ? "transfer" : is_shift ? "shift" : to_string(step.op));
    text += "(" + family(step.family);
    if (is_transfer || (is_collective && hangs::has_root(step.op))) {
      text += fmt::format(", {}", step.from);
    }
    if (!is_collective) text += fmt::format(", {}", step.to);
    if (!is_collective || step.op != Op::Barrier) {
      text += fmt::format(", {}, {}", count, torch_type(step.type));
    }
    return text + ")";
  }

  std::string condition(const std::optional<OutlineStep::Place>& at) {
    if (!at) return {};
    if (at->family == 0) return fmt::format("if rank == {}:\n", at->rank);
    return fmt::format("if {}({}, {}):\n", word("is_member"), family(at->family), at->rank);
  }

  std::string steps_text() {
    struct Line {
      std::string condition, text;
      bool operator==(const Line&) const = default;
    };
    std::vector<Line> lines;
    const std::vector<OutlineStep>& steps = outline_.steps;
    for (std::size_t i = 0; i < steps.size();) {
      if (const auto ends = ends_.find(static_cast<int>(i)); ends != ends_.end()) {
        for (const Fault* fault : ends->second) {
          lines.push_back(
              {fmt::format("if rank == {}:\n", fault->rank.value_or(0)), end_text(*fault)});
        }
      }
      const OutlineStep& step = steps[i];
      std::string calls;
      if (step.kind == OutlineKind::Synchronize) {
        if (used_.contains("later")) lines.push_back({condition(step.at), "wait(*pending)"});
        ++i;
        continue;
      }
      RINGSIDE_ASSERT(step.kind == OutlineKind::Call || step.kind == OutlineKind::Transfer ||
                          step.kind == OutlineKind::Shift,
                      "step {} of a reproduction is no call", i);
      const std::size_t first = i;
      do {
        calls += (calls.empty() ? "" : ", ") + call_text(steps[i++]);
      } while (i < steps.size() && step.bundle != 0 && steps[i].bundle == step.bundle);
      lines.push_back({condition(steps[first].at),
                       fmt::format("{}({})", steps[first].async ? word("later") : "wait", calls)});
    }
    std::string text;
    for (std::size_t i = 0; i < lines.size();) {
      const std::size_t first = i;
      while (i < lines.size() && lines[i] == lines[first]) ++i;
      const bool is_open = first > 0 && lines[first - 1].condition == lines[first].condition;
      if (!lines[first].condition.empty() && !is_open) text += lines[first].condition;
      std::string indent(lines[first].condition.empty() ? 0 : 4, ' ');
      if (i - first > 1) {
        text += fmt::format("{}for _ in range({}):\n", indent, i - first);
        indent += "    ";
      }
      text += indent + lines[first].text + "\n";
    }
    return text;
  }

  const Reproduction& made_;
  const hangs::Outline& outline_;
  const std::map<int, std::vector<const Fault*>> ends_;
  std::set<std::string_view> used_;
};

}  // namespace

bool has_smaller_counts(const Reproduction& made) {
  return std::ranges::any_of(made.scenario.outline.steps, [](const OutlineStep& step) {
    return fitted_elements(step.count, kMostScriptElements) != step.count;
  });
}

std::string pytorch_script(const Reproduction& made) { return ScriptWriter(made).run(); }

std::string fault_options(const Reproduction& made) { return ScriptWriter(made).options(); }

std::string script_command(const Reproduction& made, std::string_view file) {
  return ScriptWriter(made).command(file);
}

}  // namespace ringside::study
