#include "diag/facts/schema.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.h"
#include "diag/facts/exit_status.h"
#include "diag/job/completion_meaning.h"
#include "diag/logparse/cursor.h"
#include "diag/logparse/torch_lines.h"
#include "diag/logparse/wrappers.h"

namespace ringside::facts {
namespace {

constexpr std::array kActivities = {
    std::string_view{"collective"}, std::string_view{"transfer"},
    std::string_view{"group"},      std::string_view{"store"},
    std::string_view{"barrier"},    std::string_view{"gpu_wait"},
    std::string_view{"data"},       std::string_view{"checkpoint"},
    std::string_view{"load"},       std::string_view{"compile"},
    std::string_view{"lock"},       std::string_view{"filesystem"},
    std::string_view{"network"},    std::string_view{"garbage_collection"},
    std::string_view{"debugger"},   std::string_view{"exit"},
    std::string_view{"evaluate"},   std::string_view{"compute"},
    std::string_view{"stopped"},    std::string_view{"unknown"}};
constexpr std::array kDeathCauses = {
    std::string_view{"unknown"},     std::string_view{"signal"},     std::string_view{"exit_code"},
    std::string_view{"host_memory"}, std::string_view{"gpu_memory"}, std::string_view{"gpu_fault"},
    std::string_view{"exception"},   std::string_view{"node"},       std::string_view{"evicted"},
    std::string_view{"cancelled"},   std::string_view{"abort"}};
constexpr std::array kLinkStates = {
    std::string_view{"down"},      std::string_view{"flapped"}, std::string_view{"retry_exceeded"},
    std::string_view{"reset"},     std::string_view{"refused"}, std::string_view{"unreachable"},
    std::string_view{"timed_out"}, std::string_view{"closed"},  std::string_view{"slow"}};
constexpr std::array kCallStates = {std::string_view{"enqueued"},  std::string_view{"started"},
                                    std::string_view{"completed"}, std::string_view{"timed_out"},
                                    std::string_view{"failed"},    std::string_view{"unknown"}};
constexpr std::array kDomains = {
    std::string_view{"unknown"},      std::string_view{"program"},
    std::string_view{"memory"},       std::string_view{"gpu"},
    std::string_view{"driver"},       std::string_view{"shared_memory"},
    std::string_view{"network"},      std::string_view{"rdma"},
    std::string_view{"bootstrap"},    std::string_view{"store"},
    std::string_view{"filesystem"},   std::string_view{"launcher"},
    std::string_view{"scheduler"},    std::string_view{"library"},
    std::string_view{"configuration"}};
constexpr std::array kSeverities = {std::string_view{"info"}, std::string_view{"warning"},
                                    std::string_view{"error"}};
constexpr std::array kFields = {std::string_view{"operation"}, std::string_view{"size"},
                                std::string_view{"dtype"},     std::string_view{"root"},
                                std::string_view{"order"},     std::string_view{"count"},
                                std::string_view{"peer"}};
constexpr std::array kBases = {std::string_view{"observed"}, std::string_view{"reported"},
                               std::string_view{"person"}};

constexpr std::array kReporters = {
    std::string_view{"process"},     std::string_view{"peers"},
    std::string_view{"launcher"},    std::string_view{"scheduler"},
    std::string_view{"kubernetes"},  std::string_view{"process_table"},
    std::string_view{"gpu_tool"},    std::string_view{"timer"},
    std::string_view{"ras"},         std::string_view{"watchdog"},
    std::string_view{"barrier"},     std::string_view{"desync"},
    std::string_view{"analyser"},    std::string_view{"stall_inspector"},
    std::string_view{"coordinator"}, std::string_view{"rendezvous"},
    std::string_view{"start"},       std::string_view{"creation"},
    std::string_view{"id_wait"},     std::string_view{"time_outs"},
    std::string_view{"engine"},      std::string_view{"library"},
    std::string_view{"transport"}};
static_assert(kReporters.size() == static_cast<std::size_t>(Reporter::Transport) + 1);

constexpr const auto& names_of(Activity) { return kActivities; }
constexpr const auto& names_of(DeathCause) { return kDeathCauses; }
constexpr const auto& names_of(LinkState) { return kLinkStates; }
constexpr const auto& names_of(CallState) { return kCallStates; }
constexpr const auto& names_of(Domain) { return kDomains; }
constexpr const auto& names_of(Severity) { return kSeverities; }
constexpr const auto& names_of(Field) { return kFields; }
constexpr const auto& names_of(Basis) { return kBases; }
constexpr const auto& names_of(Reporter) { return kReporters; }

template <typename Enum>
std::string_view name_of(Enum value) {
  return names_of(value)[static_cast<std::size_t>(value)];
}

/// Visits the fields of each type, by the names that the catalogue uses. One visitor sets a field, another prints all.
template <typename V>
void visit_own(Member& f, V& v) {
  v("group", f.group);
  v("size", f.size);
  v("ranks", f.ranks);
  v("missing", f.missing);
  v("count", f.count);
  v("started", f.has_started);
  v("joined", f.has_joined);
  v("left", f.has_left);
}
template <typename V>
void visit_own(Call& f, V& v) {
  v("state", f.state);
  v("group", f.group);
  v("seq", f.sequence);
  v("op", f.operation);
  v("input", f.input_count);
  v("output", f.output_count);
  v("shape", f.shape);
  v("dtype", f.dtype);
  v("label", f.label);
  v("step", f.step);
  v("tag", f.tag);
  v("root", f.root);
  v("peer", f.peer);
  v("enqueued", f.last_enqueued);
  v("completed", f.last_completed);
  v("waited_us", f.waited_us);
}
template <typename V>
void visit_own(Blocked& f, V& v) {
  v("activity", f.activity);
  v("op", f.operation);
  v("group", f.group);
  v("peer", f.peer);
  v("where", f.where);
}
template <typename V>
void visit_own(Busy& f, V& v) {
  v("activity", f.activity);
  v("what", f.what);
  v("where", f.where);
}
template <typename V>
void visit_own(Mismatch& f, V& v) {
  v("field", f.field);
  v("ranks", f.ranks);
  v("expected", f.expected);
  v("actual", f.actual);
}
template <typename V>
void visit_own(Died& f, V& v) {
  v("cause", f.cause);
  v("code", f.code);
  v("program", f.program);
  v("reason", f.reason);
  v("consequence", f.is_consequence);
  v("presumed", f.is_presumed);
  v("first", f.is_first);
  v("ranks", f.ranks);
}
template <typename V>
void visit_own(Progress& f, V& v) {
  v("step", f.step);
  v("steps", f.steps);
  v("finished", f.has_finished);
  v("serving", f.is_serving);
  v("restarting", f.is_restarting);
  v("claimed_hang", f.is_claimed_hang);
}
template <typename V>
void visit_own(LinkFault& f, V& v) {
  v("state", f.state);
  v("peer", f.peer);
  v("peer_host", f.peer_host);
  v("code", f.code);
  v("what", f.what);
}
template <typename V>
void visit_own(Transport& f, V& v) {
  v("medium", f.medium);
  v("gpudirect", f.has_gpudirect);
  v("channels", f.channels);
}
template <typename V>
void visit_own(Setting& f, V& v) {
  v("name", f.name);
  v("value", f.value);
  v("scope", f.scope);
}
template <typename V>
void visit_own(Capability& f, V& v) {
  v("name", f.name);
  v("value", f.value);
}
template <typename V>
void visit_own(Measurement& f, V& v) {
  v("name", f.name);
  v("collective", f.collective);
  v("bytes", f.bytes);
  v("value", f.value);
  v("ranks", f.ranks);
}
template <typename V>
void visit_own(Warning& f, V& v) {
  v("domain", f.domain);
  v("severity", f.severity);
  v("id", f.id);
  v("code", f.code);
  v("meaning", f.meaning);
  v("location", f.location);
  v("peer", f.peer);
  v("consequence", f.is_consequence);
}

template <typename T>
concept HasGroup = requires(T& fact) {
  fact.group;
};

template <typename T, typename V>
void visit_fields(T& fact, V& visitor) {
  Subject& subject = fact.subject;
  visitor("rank", subject.rank);
  visitor("local_rank", subject.local_rank);
  visitor("pid", subject.pid);
  visitor("host", subject.host);
  visitor("process", subject.process);
  visitor("device", subject.device);
  if constexpr (!HasGroup<T>) visitor("group", subject.group);
  visitor("group_rank", subject.group_rank);
  visitor("basis", fact.basis);
  visitor("reporter", fact.reporter);
  visit_own(fact, visitor);
}

template <typename Integer>
bool parse_integer(std::string_view text, Integer& value) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  return error == std::errc() && end == text.data() + text.size();
}

class Setter {
 public:
  Setter(std::string_view field, std::string_view value) : field_(field), value_(value) {}

  [[nodiscard]] SetResult result() const { return result_; }

  template <typename T>
  void operator()(std::string_view name, T& field) {
    if (name != field_) return;
    result_ = read(field) ? SetResult::Set : SetResult::BadValue;
  }

 private:
  bool read(int& field) const { return parse_integer(value_, field); }
  bool read(std::int64_t& field) const { return parse_integer(value_, field); }
  bool read(double& field) const {
    const auto [end, error] = std::from_chars(value_.data(), value_.data() + value_.size(), field);
    return error == std::errc() && end == value_.data() + value_.size();
  }
  bool read(bool& field) const {
    field = value_ != "0";
    return true;
  }
  bool read(std::string& field) const {
    field = value_;
    return true;
  }
  bool read(std::vector<int>& field) const {
    constexpr std::size_t kMost = 1 << 16;
    field = logs::parse_rank_list(value_);
    if (field.size() > kMost) field.clear();
    return !field.empty();
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  bool read(Enum& field) const {
    const auto& names = names_of(field);
    const auto found = std::find(names.begin(), names.end(), value_);
    if (found == names.end()) return false;
    field = static_cast<Enum>(found - names.begin());
    return true;
  }

  std::string_view field_, value_;
  SetResult result_ = SetResult::UnknownField;
};

/// Appends ` name=value` for fields that differ from an empty fact's.
class Printer {
 public:
  explicit Printer(std::string& text) : text_(text) {}

  void operator()(std::string_view name, int value) { number(name, value); }
  void operator()(std::string_view name, std::int64_t value) {
    // 0 means that the source stated no code.
    if (name != "code" || value != 0) number(name, value);
  }
  void operator()(std::string_view name, double value) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    put(name, {digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  void operator()(std::string_view name, bool value) {
    if (value) put(name, "1");
  }
  void operator()(std::string_view name, const std::string& value) {
    if (value.empty()) return;
    const bool is_plain = value.find_first_of(" ;'=") == std::string::npos;
    put(name, is_plain ? value : "'" + value + "'");
  }
  void operator()(std::string_view name, const std::vector<int>& value) {
    if (value.empty()) return;
    std::string list;
    for (const int rank : value) list += (list.empty() ? "" : ",") + std::to_string(rank);
    put(name, list);
  }
  void operator()(std::string_view name, Basis value) {
    if (value == Basis::Person) put(name, name_of(value));
  }
  void operator()(std::string_view name, Reporter value) {
    // These follow from the row's program.
    if (value > Reporter::Scheduler) put(name, name_of(value));
  }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void operator()(std::string_view name, Enum value) { put(name, name_of(value)); }

 private:
  void number(std::string_view name, std::int64_t value) {
    if (value != -1) put(name, std::to_string(value));
  }
  void put(std::string_view name, std::string_view value) {
    text_ += ' ';
    text_ += name;
    text_ += '=';
    text_ += value;
  }

  std::string& text_;
};

constexpr std::string_view kTypes[] = {
    "member",     "call",      "blocked", "busy",       "mismatch",    "died",   "progress",
    "link_fault", "transport", "setting", "capability", "measurement", "warning"};
static_assert(std::size(kTypes) == std::variant_size_v<AnyFact>);

template <std::size_t... I>
AnyFact make_alternative(std::size_t type, std::index_sequence<I...>) {
  AnyFact fact;
  ((type == I ? (void)fact.emplace<I>() : (void)0), ...);
  return fact;
}

void set_exit(Died& death, const ExitStatus& status) {
  if (status.cause != DeathCause::Unknown) death.cause = status.cause;
  death.code = status.code;
}

/// Sets the state of a connection from the text of its errno.
void set_error(LinkFault& fault, std::string_view error) {
  struct Text {
    std::string_view words;
    LinkState state;
    std::int64_t code;
  };
  static constexpr std::array kTexts = {Text{"refused", LinkState::Refused, 111},
                                        Text{"reset", LinkState::Reset, 104},
                                        Text{"no route", LinkState::Unreachable, 113},
                                        Text{"unreachable", LinkState::Unreachable, 101},
                                        Text{"timed out", LinkState::TimedOut, 110},
                                        Text{"timeout", LinkState::TimedOut, 110},
                                        Text{"broken pipe", LinkState::Closed, 32},
                                        Text{"closed", LinkState::Closed, 0},
                                        Text{"is down", LinkState::Down, 0}};
  const std::string small = lower_case(error);
  fault.what = error;
  for (const Text& one : kTexts) {
    if (small.find(one.words) == std::string::npos) continue;
    fault.state = one.state;
    fault.code = one.code;
    return;
  }
}

/// Sets several fields by one name.  returns  nullopt: it is the name of a single field
std::optional<SetResult> set_compound(AnyFact& fact, std::string_view field,
                                      std::string_view value) {
  if (field == "time") {
    std::int64_t time_us = 0;
    if (logs::read_time(value, time_us) == 0) return SetResult::BadValue;
    base_of(fact).time_us = time_us;
    return SetResult::Set;
  }
  if (auto* death = std::get_if<Died>(&fact); death != nullptr) {
    std::optional<ExitStatus> status;
    if (field == "exit") {
      std::int64_t code = 0;
      if (!parse_integer(value, code)) return SetResult::BadValue;
      status = status_of_code(code);
    } else if (field == "how") {
      status = status_of_words(value);
    } else if (field == "signal") {
      status = status_of_signal(value);
    } else {
      return std::nullopt;
    }
    if (!status) return SetResult::BadValue;
    set_exit(*death, *status);
    return SetResult::Set;
  }
  if (auto* call = std::get_if<Call>(&fact); call != nullptr && field == "work") {
    const logs::TorchWork work = logs::parse_work(value);
    if (work.sequence < 0 && work.operation.empty()) return SetResult::BadValue;
    call->sequence = work.sequence;
    call->operation = canonical_operation(work.operation);
    call->shape = work.tensor_shape;
    call->input_count = work.numel_in;
    call->output_count = work.numel_out;
    return SetResult::Set;
  }
  if (auto* call = std::get_if<Call>(&fact); call != nullptr && field == "op") {
    call->operation = canonical_operation(value);
    return SetResult::Set;
  }
  if (auto* call = std::get_if<Call>(&fact); call != nullptr && field == "waited_ms") {
    std::int64_t ms = 0;
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 1000;
    if (!parse_integer(value, ms) || ms < 0 || ms > kMost) return SetResult::BadValue;
    call->waited_us = ms * 1000;
    return SetResult::Set;
  }
  if (auto* fault = std::get_if<LinkFault>(&fact); fault != nullptr && field == "error") {
    set_error(*fault, value);
    return SetResult::Set;
  }
  if (auto* fault = std::get_if<LinkFault>(&fact); fault != nullptr && field == "wc") {
    if (!parse_integer(value, fault->code)) return SetResult::BadValue;
    const bool is_retry =
        fault->code == job::kRetriesExhausted || fault->code == job::kReceiverNotReady;
    fault->state = is_retry                       ? LinkState::RetryExceeded
                   : fault->code == job::kFlushed ? LinkState::Closed
                                                  : LinkState::Down;
    return SetResult::Set;
  }
  return std::nullopt;
}

}  // namespace

std::optional<AnyFact> make_fact(std::string_view type) {
  const auto* const found = std::find(std::begin(kTypes), std::end(kTypes), type);
  if (found == std::end(kTypes)) return std::nullopt;
  return make_alternative(static_cast<std::size_t>(found - std::begin(kTypes)),
                          std::make_index_sequence<std::variant_size_v<AnyFact>>());
}

SetResult set_field(AnyFact& fact, std::string_view field, std::string_view value) {
  value = logs::trimmed(value);
  if (value.empty()) return SetResult::Set;
  if (const auto set = set_compound(fact, field, value)) return *set;
  Setter setter(field, value);
  std::visit([&](auto& one) { visit_fields(one, setter); }, fact);
  return setter.result();
}

std::string to_text(const AnyFact& fact) {
  std::string text(kTypes[fact.index()]);
  AnyFact copy = fact;  // the same list of fields serves readers and writers
  Printer printer(text);
  std::visit([&](auto& one) { visit_fields(one, printer); }, copy);
  return text;
}

void add_fact(Facts& facts, AnyFact fact) {
  std::visit(
      [&](auto& one) {
        list_of<std::remove_cvref_t<decltype(one)>>(facts).push_back(std::move(one));
      },
      fact);
}

Fact& base_of(AnyFact& fact) {
  return std::visit([](auto& one) -> Fact& { return one; }, fact);
}

std::string_view to_string(Activity activity) { return name_of(activity); }
std::string_view to_string(DeathCause cause) { return name_of(cause); }
std::string_view to_string(LinkState state) { return name_of(state); }
std::string_view to_string(CallState state) { return name_of(state); }
std::string_view to_string(Domain domain) { return name_of(domain); }
std::string_view to_string(Severity severity) { return name_of(severity); }
std::string_view to_string(Field field) { return name_of(field); }

}  // namespace ringside::facts
