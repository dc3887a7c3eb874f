#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "base/text.h"
#include "engine/faults/fault_text.h"
#include "harness/scenario/scenario.h"

namespace ringside {
namespace {

using hangs::Outline;
using hangs::OutlineStep;
using OutlineKind = OutlineStep::Kind;

/// In double quotes, as YAML and JSON have it.
std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return all + "\"";
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : " ", ranks[i]);
    if (last > i) text += fmt::format("-{}", ranks[last]);
    i = last + 1;
  }
  return text;
}

class ScenarioWriter {
 public:
  explicit ScenarioWriter(const Scenario& scenario)
      : scenario_(scenario), outline_(scenario.outline) {}

  std::string run() {
    text_ = fmt::format("ringside: scenario/1\nname: {}\n", quoted(scenario_.name));
    if (!scenario_.about.empty()) text_ += fmt::format("about: {}\n", quoted(scenario_.about));
    write_cluster();
    text_ += fmt::format("ranks: {}\nranks_per_host: {}\niterations: {}\n", outline_.ranks,
                         outline_.ranks_per_host, outline_.iterations);
    write_groups();
    text_ += "steps:\n";
    for (std::size_t i = 0; i < outline_.steps.size();) {
      std::size_t end = i + 1;
      while (outline_.steps[i].bundle != 0 && end < outline_.steps.size() &&
             outline_.steps[end].bundle == outline_.steps[i].bundle) {
        ++end;
      }
      const std::span<const OutlineStep> steps(outline_.steps.data() + i, end - i);
      const bool is_group = steps[0].bundle != 0 && steps[0].kind != OutlineKind::Shift;
      text_ += "- " + (is_group ? group_text(steps) : step_text(steps[0])) + "\n";
      i = end;
    }
    write_start();
    write_faults();
    write_expectation();
    return std::move(text_);
  }

 private:
  [[nodiscard]] const std::string& family(int number) const {
    return outline_.families[static_cast<std::size_t>(number)].name;
  }

  void write_cluster() {
    if (scenario_.on.empty()) return;
    text_ += fmt::format("cluster: {{on: {}", quoted(scenario_.on));
    if (scenario_.nodes) text_ += fmt::format(", nodes: {}", *scenario_.nodes);
    if (!scenario_.broken.empty()) text_ += fmt::format(", broken: {}", quoted(scenario_.broken));
    if (!scenario_.set.empty()) {
      text_ += ", set: {";
      for (const std::string& one : scenario_.set) {
        const auto equals = one.find('=');
        text_ += fmt::format("{}{}: {}", &one == scenario_.set.data() ? "" : ", ",
                             one.substr(0, equals), quoted(one.substr(equals + 1)));
      }
      text_ += "}";
    }
    text_ += "}\n";
  }

  void write_groups() {
    if (outline_.families.size() < 2) return;
    text_ += "groups:\n";
    for (std::size_t i = 1; i < outline_.families.size(); ++i) {
      std::vector<std::string> members;
      for (const auto& group : outline_.families[i].members) members.push_back(ranks_text(group));
      text_ += fmt::format("  {}: [{}]\n", outline_.families[i].name, fmt::join(members, ", "));
    }
  }

  [[nodiscard]] std::string place_text(const OutlineStep::Place& place) const {
    return fmt::format("on: {}, at: {}", family(place.family), place.rank);
  }

  [[nodiscard]] std::string only_text(const OutlineStep::Place& place) const {
    return fmt::format("only: {{{}}}", place_text(place));
  }

  [[nodiscard]] std::string step_text(const OutlineStep& step) const {
    switch (step.kind) {
      case OutlineKind::Join: {
        std::vector<std::string> keys;
        if (step.is_of_family) keys.push_back("on: " + family(step.family));
        if (step.stream >= 0) keys.push_back("stream: " + stream(step));
        if (step.at) keys.push_back(only_text(*step.at));
        return keys.empty() ? "join" : fmt::format("join: {{{}}}", fmt::join(keys, ", "));
      }
      case OutlineKind::Synchronize:
        return step.at ? fmt::format("synchronize: {{{}}}", only_text(*step.at)) : "synchronize";
      case OutlineKind::Compute:
      case OutlineKind::Kernel: {
        const char* const word = step.kind == OutlineKind::Compute ? "compute" : "kernel";
        const std::string time = fmt::format("{}ns", step.time.count());
        const std::string order = order_text(step);
        if (!step.at && order.empty()) return fmt::format("{}: {}", word, time);
        return fmt::format("{}: {{time: {}{}{}}}", word, time, order,
                           step.at ? ", " + place_text(*step.at) : std::string());
      }
      case OutlineKind::Call:
      case OutlineKind::Transfer:
      case OutlineKind::Shift:
      case OutlineKind::Rendezvous:
        break;
    }
    return fmt::format("{}{}}}", call_text(step), tail_text(step));
  }

  [[nodiscard]] const std::string& stream(const OutlineStep& step) const {
    return outline_.streams[static_cast<std::size_t>(step.stream)];
  }

  [[nodiscard]] std::string order_text(const OutlineStep& step) const {
    std::string text;
    if (step.async) text += ", async: yes";
    if (step.stream >= 0) text += ", stream: " + stream(step);
    return text;
  }

  /// What a group's calls have in common.
  [[nodiscard]] std::string tail_text(const OutlineStep& step) const {
    return order_text(step) + (step.at ? ", " + only_text(*step.at) : std::string());
  }

  [[nodiscard]] std::string group_text(std::span<const OutlineStep> steps) const {
    std::vector<std::string> calls;
    for (const OutlineStep& step : steps) calls.push_back(call_text(step) + "}");
    return fmt::format("grouped: {{calls: [{}]{}}}", fmt::join(calls, ", "),
                       tail_text(steps.front()));
  }

  /// Up to what a group's calls have in common.
  [[nodiscard]] std::string call_text(const OutlineStep& step) const {
    const char* const word = step.kind == OutlineKind::Transfer     ? "transfer"
                             : step.kind == OutlineKind::Shift      ? "send_recv"
                             : step.kind == OutlineKind::Rendezvous ? "rendezvous"
                                                                    : to_string(step.op);
    std::string text = fmt::format("{}: {{on: {}", word, family(step.family));
    if (step.kind == OutlineKind::Transfer)
      text += fmt::format(", from: {}, to: {}", step.from, step.to);
    if (step.kind == OutlineKind::Shift) text += fmt::format(", by: {}", step.to);
    const bool is_call = step.kind == OutlineKind::Call;
    if (is_call && hangs::has_root(step.op)) text += fmt::format(", root: {}", step.from);
    if (step.kind != OutlineKind::Rendezvous && !(is_call && step.op == hangs::Op::Barrier)) {
      text += fmt::format(", count: {}, type: {}", step.count, to_string(step.type));
    }
    return text;
  }

  void write_start() {
    if (scenario_.watchdog) text_ += fmt::format("watchdog: {}s\n", scenario_.watchdog->count());
    if (!scenario_.absent.empty()) {
      text_ += fmt::format("absent: [{}]\n", fmt::join(scenario_.absent, ", "));
    }
  }

  void write_faults() {
    if (scenario_.faults.faults.empty()) return;
    // A plan of faults is a document of its own: without its first line its keys are ours.
    const std::string plan = to_yaml(scenario_.faults);
    text_ += plan.substr(plan.find('\n') + 1);
  }

  void write_expectation() {
    const Expectation& expect = scenario_.expect;
    if (!expect.outcome) return;
    text_ += "expect:\n";
    if (!expect.findings.empty()) {
      text_ += fmt::format("  findings: [{}]\n", fmt::join(expect.findings, ", "));
    }
    if (*expect.outcome == Expectation::Outcome::Finished) {
      text_ += "  finished: ";
      std::vector<std::string> bounds;
      if (expect.at_least) bounds.push_back(fmt::format("at_least: {}s", expect.at_least->count()));
      if (expect.at_most) bounds.push_back(fmt::format("at_most: {}s", expect.at_most->count()));
      if (!expect.busbw.empty()) bounds.push_back(busbw_text(expect.busbw));
      text_ += bounds.empty() ? "yes\n" : fmt::format("{{{}}}\n", fmt::join(bounds, ", "));
      return;
    }
    text_ += fmt::format("  hang: {{kind: [{}]", fmt::join(expect.kinds, ", "));
    if (expect.culprits)
      text_ += fmt::format(", culprits: [{}]", fmt::join(*expect.culprits, ", "));
    if (expect.call) text_ += ", call: " + expected_call_text(*expect.call);
    text_ += "}\n";
  }

  static std::string expected_call_text(const ExpectedCall& call) {
    std::vector<std::string> keys;
    if (!call.call.empty()) keys.push_back("call: " + call.call);
    if (!call.on.empty()) keys.push_back("on: " + call.on);
    if (call.number) keys.push_back(fmt::format("number: {}", *call.number));
    return fmt::format("{{{}}}", fmt::join(keys, ", "));
  }

  static std::string busbw_text(const std::vector<ExpectedBusbw>& all) {
    std::vector<std::string> texts;
    for (const ExpectedBusbw& one : all) {
      std::string text = fmt::format("{{call: {}, on: {}", one.call, one.on);
      if (one.at_least) text += fmt::format(", at_least: {}GB/s", one.at_least->value / 1e9);
      if (one.at_most) text += fmt::format(", at_most: {}GB/s", one.at_most->value / 1e9);
      texts.push_back(text + "}");
    }
    return fmt::format("busbw: [{}]", fmt::join(texts, ", "));
  }

  const Scenario& scenario_;
  const Outline& outline_;
  std::string text_;
};

}  // namespace

std::string to_yaml(const Scenario& scenario) { return ScenarioWriter(scenario).run(); }

}  // namespace ringside
