#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <span>

#include "base/one_line.h"
#include "engine/faults/fault_text.h"
#include "harness/scenario/scenario.h"

namespace ringside {
namespace {

using hangs::Outline;
using hangs::OutlineStep;
using OutlineKind = OutlineStep::Kind;

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

/// Every word is written by the emitter, because names and notes come from dumps and must not become keys.
class ScenarioWriter {
 public:
  explicit ScenarioWriter(const Scenario& scenario)
      : scenario_(scenario), outline_(scenario.outline) {}

  std::string run(std::span<const std::string> notes) {
    for (const std::string& note : notes) {
      out_ << YAML::Comment("not known: " + one_line(note)) << YAML::Newline;
    }
    out_ << YAML::BeginMap;
    put("ringside", "scenario/1");
    put("name", one_line(scenario_.name));
    if (!scenario_.about.empty()) put("about", one_line(scenario_.about));
    write_cluster();
    put("ranks", outline_.ranks);
    put("ranks_per_host", outline_.ranks_per_host);
    put("iterations", outline_.iterations);
    write_groups();
    open_list("steps");
    for (std::size_t i = 0; i < outline_.steps.size();) {
      std::size_t end = i + 1;
      while (outline_.steps[i].bundle != 0 && end < outline_.steps.size() &&
             outline_.steps[end].bundle == outline_.steps[i].bundle) {
        ++end;
      }
      const std::span<const OutlineStep> steps(outline_.steps.data() + i, end - i);
      if (steps[0].bundle != 0 && steps[0].kind != OutlineKind::Shift) {
        write_grouped(steps);
      } else {
        write_step(steps[0]);
      }
      i = end;
    }
    out_ << YAML::EndSeq;
    write_start();
    if (!scenario_.faults.faults.empty()) write_faults(out_, scenario_.faults);
    write_expectation();
    out_ << YAML::EndMap;
    RINGSIDE_ASSERT(out_.good(), "{}", out_.GetLastError());
    return std::string(out_.c_str()) + "\n";
  }

 private:
  template <typename T>
  void put(const char* key, const T& value) {
    out_ << YAML::Key << key << YAML::Value << value;
  }
  /// Opens a mapping on one line.
  void open(const char* key) {
    out_ << YAML::Key << key << YAML::Value << YAML::Flow << YAML::BeginMap;
  }
  void close() { out_ << YAML::EndMap; }
  void open_list(const char* key) { out_ << YAML::Key << key << YAML::Value << YAML::BeginSeq; }
  template <typename List>
  void put_list(const char* key, const List& values) {
    out_ << YAML::Key << key << YAML::Value << YAML::Flow << YAML::BeginSeq;
    for (const auto& value : values) out_ << value;
    out_ << YAML::EndSeq;
  }

  [[nodiscard]] const std::string& family(int number) const {
    return outline_.families[static_cast<std::size_t>(number)].name;
  }

  void write_cluster() {
    if (scenario_.on.empty()) return;
    open("cluster");
    put("on", scenario_.on);
    if (scenario_.nodes) put("nodes", *scenario_.nodes);
    if (!scenario_.broken.empty()) put("broken", scenario_.broken);
    if (!scenario_.set.empty()) {
      open("set");
      for (const std::string& one : scenario_.set) {
        const auto equals = one.find('=');
        put(one.substr(0, equals).c_str(), one_line(one.substr(equals + 1)));
      }
      close();
    }
    close();
  }

  void write_groups() {
    if (outline_.families.size() < 2) return;
    out_ << YAML::Key << "groups" << YAML::Value << YAML::BeginMap;
    for (const hangs::Family& one : std::span(outline_.families).subspan(1)) {
      std::vector<std::string> members;
      for (const auto& group : one.members) members.push_back(ranks_text(group));
      put_list(one.name.c_str(), members);
    }
    close();
  }

  void put_place(const OutlineStep::Place& place) {
    put("on", family(place.family));
    put("at", place.rank);
  }

  void put_only(const OutlineStep& step) {
    if (!step.at) return;
    open("only");
    put_place(*step.at);
    close();
  }

  void put_order(const OutlineStep& step) {
    if (step.async) put("async", "yes");
    if (step.stream >= 0) put("stream", outline_.streams[static_cast<std::size_t>(step.stream)]);
  }

  void write_step(const OutlineStep& step) {
    switch (step.kind) {
      case OutlineKind::Join:
        if (!step.is_of_family && step.stream < 0 && !step.at) {
          out_ << "join";
          return;
        }
        return write_alone("join", [&] {
          if (step.is_of_family) put("on", family(step.family));
          put_order(step);
          put_only(step);
        });
      case OutlineKind::Synchronize:
        if (!step.at) {
          out_ << "synchronize";
          return;
        }
        return write_alone("synchronize", [&] { put_only(step); });
      case OutlineKind::Compute:
      case OutlineKind::Kernel:
        return write_work(step.kind == OutlineKind::Compute ? "compute" : "kernel", step);
      case OutlineKind::Call:
      case OutlineKind::Transfer:
      case OutlineKind::Shift:
      case OutlineKind::Rendezvous:
        return write_alone(word_of(step), [&] {
          put_call(step);
          put_order(step);
          put_only(step);
        });
    }
  }

  /// Writes `- word: {...}`.
  template <typename Body>
  void write_alone(const char* word, const Body& body) {
    out_ << YAML::BeginMap;
    open(word);
    body();
    close();
    close();
  }

  void write_work(const char* word, const OutlineStep& step) {
    const std::string time = fmt::format("{}ns", step.time.count());
    if (step.at || step.async || step.stream >= 0) {
      return write_alone(word, [&] {
        put("time", time);
        put_order(step);
        if (step.at) put_place(*step.at);
      });
    }
    out_ << YAML::BeginMap;
    put(word, time);
    close();
  }

  /// Values that the calls have in common are written once.
  void write_grouped(std::span<const OutlineStep> steps) {
    write_alone("grouped", [&] {
      open_list("calls");
      for (const OutlineStep& step : steps) write_alone(word_of(step), [&] { put_call(step); });
      out_ << YAML::EndSeq;
      put_order(steps.front());
      put_only(steps.front());
    });
  }

  static const char* word_of(const OutlineStep& step) {
    return step.kind == OutlineKind::Transfer     ? "transfer"
           : step.kind == OutlineKind::Shift      ? "send_recv"
           : step.kind == OutlineKind::Rendezvous ? "rendezvous"
                                                  : to_string(step.op);
  }

  void put_call(const OutlineStep& step) {
    put("on", family(step.family));
    if (step.kind == OutlineKind::Transfer) {
      put("from", step.from);
      put("to", step.to);
    }
    if (step.kind == OutlineKind::Shift) put("by", step.to);
    const bool is_call = step.kind == OutlineKind::Call;
    if (is_call && hangs::has_root(step.op)) put("root", step.from);
    if (step.kind != OutlineKind::Rendezvous && !(is_call && step.op == hangs::Op::Barrier)) {
      put("count", step.count);
      put("type", to_string(step.type));
    }
  }

  void write_start() {
    if (scenario_.watchdog) put("watchdog", fmt::format("{}s", scenario_.watchdog->count()));
    if (!scenario_.absent.empty()) put_list("absent", scenario_.absent);
  }

  void write_expectation() {
    const Expectation& expect = scenario_.expect;
    if (!expect.outcome) return;
    out_ << YAML::Key << "expect" << YAML::Value << YAML::BeginMap;
    if (!expect.findings.empty()) put_list("findings", expect.findings);
    if (*expect.outcome == Expectation::Outcome::Finished) {
      write_finished(expect);
    } else {
      open("hang");
      put_list("kind", expect.kinds);
      if (expect.culprits) put_list("culprits", *expect.culprits);
      if (expect.call) {
        open("call");
        if (!expect.call->call.empty()) put("call", expect.call->call);
        if (!expect.call->on.empty()) put("on", expect.call->on);
        if (expect.call->number) put("number", *expect.call->number);
        close();
      }
      close();
    }
    close();
  }

  void write_finished(const Expectation& expect) {
    if (!expect.at_least && !expect.at_most && expect.busbw.empty()) return put("finished", "yes");
    open("finished");
    if (expect.at_least) put("at_least", fmt::format("{}s", expect.at_least->count()));
    if (expect.at_most) put("at_most", fmt::format("{}s", expect.at_most->count()));
    if (!expect.busbw.empty()) {
      open_list("busbw");
      for (const ExpectedBusbw& one : expect.busbw) {
        out_ << YAML::BeginMap;
        put("call", one.call);
        put("on", one.on);
        if (one.at_least) put("at_least", fmt::format("{}GB/s", one.at_least->value / 1e9));
        if (one.at_most) put("at_most", fmt::format("{}GB/s", one.at_most->value / 1e9));
        close();
      }
      out_ << YAML::EndSeq;
    }
    close();
  }

  const Scenario& scenario_;
  const Outline& outline_;
  YAML::Emitter out_;
};

}  // namespace

std::string to_yaml(const Scenario& scenario, std::span<const std::string> unknown) {
  return ScenarioWriter(scenario).run(unknown);
}

}  // namespace ringside
