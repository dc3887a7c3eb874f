#include "diag/facts/reader.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "diag/facts/call_lines.h"
#include "diag/facts/identity.h"
#include "diag/facts/line_owner.h"
#include "diag/facts/record_facts.h"
#include "diag/facts/spec.h"
#include "diag/facts/step_lines.h"
#include "diag/job/job_words.h"
#include "diag/job/line_rank.h"
#include "diag/logparse/host_records.h"
#include "diag/logparse/line_parser.h"
#include "diag/logparse/message.h"
#include "diag/logparse/paste.h"

namespace ringside::facts {
namespace {

using logs::Record;
using logs::RecordKind;

constexpr std::size_t kShown = 400;  // characters of a line that a fact stores
constexpr std::size_t kMostFacts = 1 << 18;
constexpr std::uint32_t kKeptLines = 40;  // maximum lines for which `keep` holds

/// Returns the spec of a row of the catalogue.
Spec parsed(std::string_view text) {
  Result<Spec> spec = Spec::parse(text);
  RINGSIDE_ASSERT(spec.has_value(), "spec '{}': {}", text, spec.error().message);
  return *std::move(spec);
}

const std::vector<Spec>& specs() {
  static const std::vector<Spec> kSpecs = [] {
    std::vector<Spec> all;
    for (const logs::Row& row : logs::catalogue_rows()) all.push_back(parsed(row.spec));
    return all;
  }();
  return kSpecs;
}

struct MessageSpec {
  std::string_view id, program;
  Spec spec;
};

/// The meanings of the messages in diag/logparse/catalogue.
const std::map<std::uint16_t, MessageSpec>& message_specs() {
  static const std::map<std::uint16_t, MessageSpec> kSpecs = [] {
    std::map<std::uint16_t, MessageSpec> all;
    std::string_view program;
    for (const logs::RowEntry& entry : logs::row_entries()) {
      if (entry.kind == logs::RowEntry::Kind::Program) program = entry.id;
      if (entry.kind == logs::RowEntry::Kind::Message)
        all[entry.message] = {entry.id, program, parsed(entry.spec)};
    }
    return all;
  }();
  return kSpecs;
}

/// A source file, and the part of the stack to which it belongs.
struct SourceFile {
  std::string_view name;
  Domain domain = Domain::Unknown;
};

const std::vector<SourceFile>& source_files() {
  static const std::vector<SourceFile> kFiles = [] {
    std::vector<SourceFile> all;
    for (const logs::RowEntry& entry : logs::row_entries()) {
      if (entry.kind != logs::RowEntry::Kind::Place) continue;
      AnyFact fact = Warning();
      set_field(fact, "domain", entry.spec);
      all.push_back({entry.id, std::get<Warning>(fact).domain});
    }
    return all;
  }();
  return kFiles;
}

/// Returns where in its program a line was written: NCCL's own place, otherwise a source file that the line names.
std::string location_of(const Record& record) {
  if (const std::string_view place = logs::location(record); !place.empty())
    return std::string(place);
  for (const SourceFile& file : source_files()) {
    const std::size_t at = record.line.find(file.name);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = record.line.substr(at);
    return std::string(rest.substr(0, rest.find_first_of(" ])>,'")));
  }
  return {};
}

Domain domain_of(std::string_view location) {
  for (const SourceFile& file : source_files()) {
    if (location.find(file.name) != std::string_view::npos) return file.domain;
  }
  return Domain::Unknown;
}

bool is_of_communication(Domain domain) {
  return domain == Domain::Network || domain == Domain::Rdma || domain == Domain::Bootstrap ||
         domain == Domain::Store || domain == Domain::Library || domain == Domain::Launcher;
}

/// Returns whether the text may match a row. Other lines were read field by field and contain nothing else.
bool may_match(const Record& record) {
  switch (record.kind) {
    case RecordKind::Message:
      return record.level != logs::Level::Info ||
             logs::facts_of(record.as<logs::Message>().id).weight != 'I';
    case RecordKind::Unknown:
    case RecordKind::Continuation:
    case RecordKind::Fragment:
    case RecordKind::Text:
    case RecordKind::PythonError:
    case RecordKind::BenchmarkRank:
      return true;
    default:
      return false;
  }
}

/// Returns whether the lines of a program are about other processes: those of a launcher, a scheduler or the kernel.
bool reports_others(std::string_view program) {
  const auto entries = logs::row_entries();
  return std::any_of(entries.begin(), entries.end(), [&](const logs::RowEntry& entry) {
    return entry.kind == logs::RowEntry::Kind::Program && entry.id == program &&
           entry.spec == "reporter";
  });
}

/// Returns the reporter of the lines of a program.
Reporter reporter_of(std::string_view program) {
  if (program == "torchrun" || program == "mpi" || program == "deepspeed" || program == "ray")
    return Reporter::Launcher;
  return program == "slurm" ? Reporter::Scheduler : Reporter::Process;
}

/// Returns whether the line lacks a field that the fact needs.
bool lacks_need(const Spec::Part& part, const FieldValue& value_of) {
  return std::any_of(part.assignments.begin(), part.assignments.end(),
                     [&](const Spec::Assignment& one) {
                       return one.field == "needs" && filled(one.value, value_of).empty();
                     });
}

bool is_harmless(const Spec& spec) {
  return std::any_of(spec.parts().begin(), spec.parts().end(), [](const Spec::Part& part) {
    return std::any_of(
        part.assignments.begin(), part.assignments.end(),
        [](const Spec::Assignment& one) { return one.field == "severity" && one.value == "info"; });
  });
}

/// Returns whether facts_of_record() makes facts of this kind.
bool may_state(RecordKind kind) {
  return kind == RecordKind::CommEvent || kind == RecordKind::Environment ||
         kind == RecordKind::LibraryVersion || kind == RecordKind::NetworkInUse ||
         kind == RecordKind::NetDevices || kind == RecordKind::BootstrapInterface ||
         kind == RecordKind::GdrOfHca || kind == RecordKind::Xid ||
         kind == RecordKind::BenchmarkAverage;
}

bool may_state_failure(RecordKind kind) {
  return kind == RecordKind::Xid || kind == RecordKind::BenchmarkAverage;
}

bool is_failure(std::string_view type) {
  return type == "died" || type == "warning" || type == "progress";
}

/// Returns whether any part states something that Scope::Failures keeps.
bool has_failure(const Spec& spec) {
  return std::any_of(spec.parts().begin(), spec.parts().end(), [](const Spec::Part& part) {
    return is_failure(part.type) || part.type == "keep" || part.type == "forget";
  });
}

/// A call belongs to the group of its line's prefix, unless it names another group.
void inherit_group(AnyFact& fact) {
  std::visit(
      [](auto& one) {
        if constexpr (requires { one.group; }) {
          if (one.group.empty()) one.group = one.subject.group;
        }
      },
      fact);
}

void fill_source(Fact& fact, const Record& record) {
  if (fact.time_us == 0) fact.time_us = record.time_us;
  fact.source.text = record.line.substr(0, kShown);
  fact.source.place = record.place;
}

constexpr std::string_view kPerson = "person";

/// Returns whether a line has no prefix of a program, a launcher or a logger, like lines that people write.
bool is_plain(const Record& record) {
  return record.kind == RecordKind::Text && record.text_at == 0 && record.line.front() != '[';
}

/// Returns whether the fact names a process, a rank or a host.
bool is_named(AnyFact& fact) {
  const Subject& subject = base_of(fact).subject;
  const auto* death = std::get_if<Died>(&fact);
  return subject.rank >= 0 || subject.local_rank >= 0 || subject.pid >= 0 ||
         !subject.host.empty() || !subject.process.empty() ||
         std::holds_alternative<Member>(fact) || std::holds_alternative<Mismatch>(fact) ||
         (death != nullptr && !death->ranks.empty());
}

/// Returns the subject that the spec names, otherwise the owner of the line. A launcher on a host reports processes of
/// that host.
Subject subject_for(const Spec::Part& part, const Subject& owner, bool& is_reported) {
  is_reported = part.has_field("rank") || part.has_field("ranks") || part.has_field("local_rank") ||
                part.has_field("pid") || part.has_field("process") || part.has_field("host");
  if (!is_reported) return owner;
  Subject subject;
  const bool is_of_host = part.has_field("local_rank") || part.has_field("pid");
  if (is_of_host && !part.has_field("host")) subject.host = owner.host;
  return subject;
}

}  // namespace

void FactReader::take(const Record& record, const logs::Speaker& speaker) {
  ++facts_.lines;
  emitted_ = 0;
  if (++kept_lines_ > kKeptLines && !kept_.empty()) kept_.clear();
  if (may_state(record.kind)) {
    const bool may_fail = may_state_failure(record.kind);
    if (!may_fail && (scope_ == Scope::Failures || is_repeated(record))) return;
    std::vector<AnyFact> facts;
    facts_of_record(record, owner_of(record, speaker), facts);
    for (AnyFact& fact : facts) {
      if (may_fail) {
        add(std::move(fact), record);
      } else {
        fill_source(base_of(fact), record);
        add_fact(facts_, std::move(fact));
      }
    }
    return;
  }
  const bool is_message = record.kind == RecordKind::Message;
  const bool may_be_row = may_match(record);
  if (!may_be_row && !is_message) return;  // most lines of a log
  has_died_ = has_warned_ = is_harmless_ = false;
  matches_.clear();
  if (may_be_row) find_rows(record);
  if (is_message && !is_harmless_) take_message(record, speaker);
  if (!may_be_row) return;
  take_rows(record, speaker);
  if (record.kind == RecordKind::PythonError && !has_died_ && !has_warned_) {
    const auto& error = record.as<logs::PythonError>();
    Died death;
    death.subject = owner_of(record, speaker);
    death.cause = DeathCause::Exception;
    death.reason = std::string(error.type) + ": " + std::string(error.text.substr(0, kShown));
    add(std::move(death), record);
    ++emitted_;
  }
  const bool is_plain_text =
      record.kind == RecordKind::Text || record.kind == RecordKind::Continuation;
  if (is_plain_text) take_identity(record, speaker);
  if (is_plain_text && emitted_ == 0) take_step(record, speaker);
  if (record.kind == RecordKind::Text && emitted_ == 0 && record.text().starts_with("ERROR "))
    take_logged_error(record, speaker);
  if (!is_message && emitted_ == 0) ++facts_.unread;
}

/// Returns whether the same process has written the same text before.
bool FactReader::is_repeated(const Record& record) {
  const auto text = std::hash<std::string_view>()(record.text());
  const std::uint64_t by =
      (std::uint64_t{record.speaker} << 8) | static_cast<std::uint64_t>(record.kind);
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // spreads small numbers over all bits
  return stated_.size() >= kMostFacts || !stated_.insert(text ^ (by * kOdd)).second;
}

void FactReader::take_message(const Record& record, const logs::Speaker& speaker) {
  const auto found =
      message_specs().find(static_cast<std::uint16_t>(record.as<logs::Message>().id));
  if (found == message_specs().end()) return;
  const Spec& spec = found->second.spec;
  if (scope_ == Scope::Failures && (!has_failure(spec) || is_harmless(spec))) return;
  const FieldValue value_of = [&](std::string_view name) {
    const std::string_view value = logs::message_argument(record, name);
    if (!value.empty()) return value;
    const auto kept = kept_.find(name);
    return kept == kept_.end() ? std::string_view() : std::string_view(kept->second);
  };
  emit(spec, {found->second.id, found->second.program}, record, owner_of(record, speaker),
       value_of);
}

/// Reads a step of the program from a line that no row matches.
void FactReader::take_step(const Record& record, const logs::Speaker& speaker) {
  constexpr std::size_t kLongest = 400;
  const StepLine step = read_step(lower_case(record.text().substr(0, kLongest)));
  if (step.step < 0 || is_of_transfer(record.text())) return;
  Progress progress;
  progress.subject = owner_of(record, speaker);
  progress.step = step.step;
  progress.steps = step.steps;
  ++emitted_;
  add(std::move(progress), record);
}

/// `rank 3: pid 21004, 0000:4c:00.0`, `(Worker pid=48222, ip=10.1.0.7) rank 5 of 8`: the process or GPU of a rank.
void FactReader::take_identity(const Record& record, const logs::Speaker& speaker) {
  const std::optional<ProcessLine> line = read_process_line(record.line);
  const int local = speaker.pid >= 0 ? job::rank_before_text(record.text()) : -1;
  if (!line && local < 0) return;
  Member member;
  member.subject = owner_of(record, speaker);
  if (line) {
    member.subject.rank = line->rank;
    if (line->pid >= 0) member.subject.pid = line->pid;
    member.subject.device = line->device;
  } else {
    member.subject.rank = local;
  }
  add(std::move(member), record);
}

/// `ERROR 01-14 02:19:27 engine.py:366] ..`: the level is too short a text for a row.
void FactReader::take_logged_error(const Record& record, const logs::Speaker& speaker) {
  Warning warning;
  warning.subject = owner_of(record, speaker);
  warning.row = warning.id = "logged_error";
  warning.severity = Severity::Error;
  warning.domain = Domain::Program;
  warning.is_general = true;
  warning.meaning = "a logger reports an error";
  ++emitted_;
  add(std::move(warning), record);
}

/// Finds the rows of a line. A row that marks a harmless form suppresses a message's or code's usual meaning.
void FactReader::find_rows(const Record& record) {
  const bool is_of_nccl = record.level != logs::Level::None;
  logs::RowMatcher::of_catalogue().match(is_of_nccl ? record.text() : record.line, matches_);
  is_harmless_ = std::any_of(matches_.begin(), matches_.end(), [](const logs::RowMatch& match) {
    return is_harmless(specs()[match.row]) && !logs::catalogue_rows()[match.row].is_general;
  });
}

void FactReader::take_rows(const Record& record, const logs::Speaker& speaker) {
  if (matches_.empty()) return;
  const Subject owner = owner_of(record, speaker);
  for (const bool is_general : {false, true}) {
    for (const logs::RowMatch& match : matches_) {
      const logs::Row& row = logs::catalogue_rows()[match.row];
      if (row.is_general != is_general || (is_general && is_harmless_)) continue;
      if (row.program == kPerson && !is_plain(record)) continue;
      const FieldValue value_of = [&](std::string_view name) {
        for (const logs::Captured& field : match.fields) {
          if (field.name == name && !field.value.empty()) return field.value;
        }
        const auto kept = kept_.find(name);
        return kept == kept_.end() ? std::string_view() : std::string_view(kept->second);
      };
      emit(specs()[match.row], {row.id, row.program, row.is_general}, record, owner, value_of);
    }
  }
}

void FactReader::emit(const Spec& spec, const Emitter& by, const Record& record,
                      const Subject& owner, const FieldValue& value_of) {
  for (const Spec::Part& part : spec.parts()) {
    if (part.type == "forget") {
      kept_.clear();
      continue;
    }
    if (part.type == "keep") {
      kept_lines_ = 0;
      for (const Spec::Assignment& one : part.assignments)
        kept_[std::string(one.field)] = filled(one.value, value_of);
      continue;
    }
    if (lacks_need(part, value_of)) continue;
    if (scope_ == Scope::Failures && !is_failure(part.type)) {
      ++emitted_;
      continue;
    }
    AnyFact fact = *make_fact(part.type);
    Fact& base = base_of(fact);
    bool is_void = false;
    bool is_reported = false;
    base.subject = subject_for(part, owner, is_reported);
    if (!is_reported && std::holds_alternative<Died>(fact) && reports_others(by.program)) {
      // The process that reports the end of a process is another one.
      is_reported = true;
      base.subject = Subject();
      base.subject.host = owner.host;
      base.subject.process = owner.process;
    }
    base.basis = is_reported ? Basis::Reported : Basis::Observed;
    base.reporter = reporter_of(by.program);
    base.row = by.id;
    for (const Spec::Assignment& one : part.assignments) {
      if (one.field == "needs") continue;
      const SetResult result = set_field(fact, one.field, filled(one.value, value_of));
      // `exit code 0` is not a death.
      is_void = is_void || (one.field == "exit" && result == SetResult::BadValue);
    }
    if (is_void) continue;
    // If the line contains none of the names that the row looks for, the program's line is about itself.
    if (is_reported && !reports_others(by.program) && !is_named(fact)) {
      base.subject = owner;
      base.basis = Basis::Observed;
    }
    if (part.has_field("reporter")) base.basis = Basis::Reported;
    inherit_group(fact);
    if (auto* warning = std::get_if<Warning>(&fact); warning != nullptr) {
      if (warning->id.empty()) warning->id = by.id;
      warning->program = by.program;
      warning->is_general = by.is_general;
      if (warning->location.empty()) warning->location = location_of(record);
      const Domain place = domain_of(warning->location);
      if ((warning->is_general || warning->domain == Domain::Unknown) && place != Domain::Unknown)
        warning->domain = place;
      // A result of NCCL in an exception shows where it was seen, not what failed.
      has_warned_ =
          has_warned_ || is_of_communication(warning->domain) || warning->code.starts_with("nccl");
    }
    has_died_ = has_died_ || std::holds_alternative<Died>(fact);
    ++emitted_;
    add(std::move(fact), record);
  }
}

void FactReader::add(AnyFact fact, const Record& record) {
  // A browser or a database that the kernel kills is not a rank.
  const auto* death = std::get_if<Died>(&fact);
  if (death != nullptr && job::is_other_program(death->program)) return;
  Fact& base = base_of(fact);
  fill_source(base, record);
  // Steps differ only in their number, so only the first and the last of one subject are kept.
  const auto* progress = std::get_if<Progress>(&fact);
  std::string key;
  if (progress != nullptr) {
    Progress alike = *progress;
    alike.step = alike.steps = -1;
    key = to_text(alike);
  } else {
    key = to_text(fact);
  }
  key += ' ';
  key += base.row;
  const auto found = known_.find(key);
  if (found == known_.end()) {
    if (known_.size() >= kMostFacts) return;
    const std::size_t index = progress != nullptr ? facts_.progress.size() : facts_.warnings.size();
    known_.emplace(std::move(key), Known{index, index});
    add_fact(facts_, std::move(fact));
    return;
  }
  Known& known = found->second;
  if (progress != nullptr) {
    const std::uint64_t times = facts_.progress[known.last].times;
    if (known.last == known.index) {
      known.last = facts_.progress.size();
      facts_.progress.push_back(*progress);
    } else {
      facts_.progress[known.last] = *progress;
    }
    facts_.progress[known.last].times = times + 1;
    return;
  }
  if (std::holds_alternative<Warning>(fact)) {
    Warning& first = facts_.warnings[known.index];
    ++first.times;
    first.last_time_us = std::max(first.last_time_us, base.time_us);
  }
}

job::ProcessRanks settle(Facts& facts, const WhereFunction& where, job::ProcessRanks known) {
  const auto name = [&](auto& list) {
    for (auto& fact : list) {
      if (fact.source.file.empty())
        std::tie(fact.source.file, fact.source.line) = where(fact.source.place);
    }
  };
  each_list(facts, name);
  return resolve_ranks(facts, std::move(known));
}

void append(Facts& facts, Facts&& more) {
  facts.lines += more.lines;
  facts.unread += more.unread;
  const auto move_list = [&]<typename T>(std::vector<T>& from) {
    auto& to = list_of<T>(facts);
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  each_list(more, move_list);
}

Facts facts_of_text(std::string_view text, const std::string& name) {
  class Sink : public logs::RecordSink {
   public:
    explicit Sink(FactReader& reader) : reader_(reader) {}
    void take(std::span<const Record> records, const logs::SpeakerTable& speakers) override {
      for (const Record& record : records) reader_.take(record, speakers[record.speaker]);
    }

   private:
    FactReader& reader_;
  };
  Facts facts;
  FactReader reader(facts);
  Sink sink(reader);
  logs::LineParser parser(sink);
  parser.begin(0, 0, name);
  for (const logs::RestoredLine& line : logs::restore_paste(text)) {
    if (line.is_gap) continue;
    parser.parse_restored(line, line.text.find('\r') != std::string::npos);
  }
  parser.finish();
  settle(facts, [&](logs::Place place) {
    return std::pair(name, static_cast<std::int64_t>(place.line) + 1);
  });
  return facts;
}

}  // namespace ringside::facts
