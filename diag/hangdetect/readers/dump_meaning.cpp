#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "diag/hangdetect/readers/dump_builder.h"
#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"

/// What the dictionaries of a dump mean: the half of DumpBuilder that knows the recorder's keys.
namespace ringside::hang {

/// The values of one dictionary by key; Null where absent.
struct DumpBuilder::Fields {
  std::array<Value, kKeyCount> values{};
  std::array<bool, kKeyCount> has{};

  [[nodiscard]] const Value& of(Key key) const { return values[static_cast<std::size_t>(key)]; }
  [[nodiscard]] bool holds(Key key) const { return has[static_cast<std::size_t>(key)]; }
};

std::uint32_t* DumpBuilder::Seen::find(std::uint64_t hash) {
  if (slots.empty()) return nullptr;
  for (std::size_t at = hash & (slots.size() - 1);; at = (at + 1) & (slots.size() - 1)) {
    if (slots[at].second == 0) return nullptr;
    if (slots[at].first == hash) return &slots[at].second;
  }
}

// Numbers are kept plus one: a slot with 0 is free.
void DumpBuilder::Seen::add(std::uint64_t hash, std::uint32_t number) {
  if (2 * (used + 1) > slots.size()) {
    const auto old = std::exchange(slots, {});
    slots.resize(std::max<std::size_t>(64, 2 * old.size()));
    used = 0;
    for (const auto& [other, kept] : old) {
      if (kept != 0) add(other, kept - 1);
    }
  }
  std::size_t at = hash & (slots.size() - 1);
  while (slots[at].second != 0) at = (at + 1) & (slots.size() - 1);
  slots[at] = {hash, number + 1};
  ++used;
}

bool DumpBuilder::understand(Made& made, const Value* pairs, std::size_t count) {
  Fields fields;
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    if (pairs[i].kind != Kind::Text) continue;
    const auto key = texts_[static_cast<std::size_t>(pairs[i].at)].key;
    fields.values[key] = pairs[i + 1];
    fields.has[key] = key != 0;
  }
  if (fields.holds(Key::ProfilingName)) {
    make_call(made, fields);
    return true;
  }
  if (fields.holds(Key::Direction)) {
    make_progress(made, fields);
    return true;
  }
  if (fields.holds(Key::Filename) && fields.holds(Key::Line)) {
    Frame frame{std::string(text_of(fields.of(Key::Name))),
                std::string(text_of(fields.of(Key::Filename))), int_of(fields.of(Key::Line), 0)};
    made.kind = Kind::Frame;
    made.number = static_cast<std::uint32_t>(frames_.size());
    frames_.push_back(std::move(frame));
    frame_hashes_.push_back(
        mix(mix(hash_of(fields.of(Key::Name)), hash_of(fields.of(Key::Filename))),
            static_cast<std::uint64_t>(frames_.back().line)));
    return true;
  }
  if (fields.holds(Key::Ranks) && fields.holds(Key::Name)) {
    make_group(made, fields);
    return true;
  }
  if (fields.holds(Key::LastEnqueued)) {
    made.kind = Kind::Status;
    made.number = static_cast<std::uint32_t>(statuses_.size());
    statuses_.push_back({-1, int_of(fields.of(Key::LastEnqueued), -1),
                         int_of(fields.of(Key::LastStarted), -1),
                         int_of(fields.of(Key::LastCompleted), -1)});
    return true;
  }
  return false;
}

void DumpBuilder::make_call(Made& made, const Fields& fields) {
  made.kind = Kind::Call;
  made.number = static_cast<std::uint32_t>(dump_.calls.size());
  Call call;
  // Clamped so that the difference of two never overflows, whatever the file holds: 4e18 ns is the year 2096.
  constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;
  call.created_ns = std::clamp<std::int64_t>(int_of(fields.of(Key::TimeCreated), 0), 0, kLatest);
  // The very first format kept microseconds, of 16 digits; nanoseconds since 1970 have 19.
  if (call.created_ns < kLatest / 1000) call.created_ns *= 1000;
  const std::int64_t record = int_of(fields.of(Key::RecordId), -1);
  call.record = record >= 0 ? static_cast<std::uint64_t>(record) : dump_.calls.size();
  call.signature = signature_of(fields);
  if (fields.holds(Key::IsP2p)) {
    call.is_p2p = int_of(fields.of(Key::IsP2p), 0) != 0;
  } else {
    // Not from Names: other threads are adding to it.
    const Op op = parse_op(text_of(fields.of(Key::ProfilingName))).op;
    call.is_p2p = op == Op::Send || op == Op::Recv;
  }
  Key counter = call.is_p2p ? Key::P2pSeqId : Key::CollectiveSeqId;
  if (!fields.holds(counter)) counter = Key::SeqId;
  call.sequence = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(int_of(fields.of(counter), 0), 0, 0xFFFFFFFF));
  call.stack = stack_of(fields.of(Key::Frames));
  call.group = group_of(fields);
  call.pg = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(int_of(fields.of(Key::PgId), -1), -1, 0x7FFFFFFF));
  const std::string_view state = text_of(fields.of(Key::State));
  const bool is_retired = int_of(fields.of(Key::Retired), 0) != 0;
  if (state == "completed") {
    call.state = CallState::Completed;
  } else if (is_retired) {
    call.state =
        int_of(fields.of(Key::TimeCompleted), 0) > 0 ? CallState::Completed : CallState::Retired;
  } else {
    call.state = state == "started" ? CallState::Started : CallState::Scheduled;
  }
  dump_.timeout_ms = std::max(dump_.timeout_ms, int_of(fields.of(Key::Timeout), 0));
  const std::string_view name = text_of(fields.of(Key::ProfilingName));
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos)
    note_completion(name.substr(0, colon), call);
  dump_.calls.push_back(call);
}

/// source  PyTorch 2.14 and 2.15, FlightRecorderHook: it retires an entry when the call returns, which is when it is
///         issued, unless the backend pushes completions (nccl2). ProcessGroupNCCL, XCCL and Gloo record themselves.
void DumpBuilder::note_completion(std::string_view backend, const Call& call) {
  if (backend == "nccl" || backend == "gloo" || backend == "xccl") return;
  auto hook = std::find_if(hooks_.begin(), hooks_.end(),
                           [&](const Hook& known) { return known.backend == backend; });
  constexpr std::size_t kMostHooks = 64;
  if (hook == hooks_.end()) {
    if (hooks_.size() == kMostHooks) return;
    hook = hooks_.insert(hook, {std::string(backend), {}, false});
  }
  if (call.state == CallState::Completed) hook->knows_completion = true;
  if (call.state == CallState::Retired && !call.is_p2p) hook->retired.push_back(dump_.calls.size());
}

void DumpBuilder::mark_issued_calls() {
  for (const Hook& hook : hooks_) {
    if (hook.knows_completion) continue;
    for (const std::size_t place : hook.retired) dump_.calls[place].state = CallState::Issued;
  }
  hooks_.clear();
}

void DumpBuilder::make_progress(Made& made, const Fields& fields) {
  const auto whole = [&](Key key) {
    return static_cast<int>(std::clamp<std::int64_t>(int_of(fields.of(key), -1), -1, 0x7FFFFFFF));
  };
  made.kind = Kind::Progress;
  std::string connection(text_of(fields.of(Key::Protocol)));
  connection +=
      "/" + std::to_string(whole(Key::SlotSize)) + "/" + std::to_string(whole(Key::Index));
  dump_.progress.push_back(
      {std::string(text_of(fields.of(Key::ProcessGroup))), whole(Key::Channel),
       std::move(connection), whole(Key::Peer), text_of(fields.of(Key::Direction)) == "send",
       static_cast<std::uint64_t>(std::max<std::int64_t>(0, int_of(fields.of(Key::Messages), 0))),
       int_of(fields.of(Key::Waiting), 0) != 0});
}

void DumpBuilder::make_group(Made& made, const Fields& fields) {
  made.kind = Kind::Group;
  made.number = static_cast<std::uint32_t>(dump_.groups.size());
  GroupConfig group;
  group.name = text_of(fields.of(Key::Name));
  group.description = text_of(fields.of(Key::Description));
  std::string_view text = text_of(fields.of(Key::Ranks));  // "[0, 1, 2]"
  while (!text.empty()) {
    const std::size_t digit = text.find_first_of("0123456789");
    if (digit == std::string_view::npos) break;
    text.remove_prefix(digit);
    const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
    const auto rank = parse_whole(text.substr(0, end));
    if (rank && *rank < 0x7FFFFFFF) group.ranks.push_back(static_cast<int>(*rank));
    text.remove_prefix(end);
  }
  std::size_t count = 0;
  const Value* items = items_of(fields.of(Key::Ranks), count);
  for (std::size_t i = 0; i < count; ++i) {
    group.ranks.push_back(
        static_cast<int>(std::clamp<std::int64_t>(int_of(items[i], -1), -1, 0x7FFFFFFF)));
  }
  dump_.groups.push_back(std::move(group));
}

// The dictionary around others: the document itself, pg_status by number, pg_config by name.
void DumpBuilder::take_parent(const Value* pairs, std::size_t count) {
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    const Value value = resolved(pairs[i + 1]);
    if (value.kind == Kind::Status) {
      const std::int64_t pg = int_of(pairs[i], -1);
      statuses_[static_cast<std::size_t>(value.at)].pg =
          static_cast<std::int32_t>(std::clamp<std::int64_t>(pg, -1, 0x7FFFFFFF));
    }
    if (pairs[i].kind != Kind::Text) continue;
    switch (static_cast<Key>(texts_[static_cast<std::size_t>(pairs[i].at)].key)) {
      case Key::Version:
        is_dump_ = true;
        dump_.version = text_of(value);
        break;
      case Key::Entries:
        is_dump_ = true;
        break;
      case Key::NcclVersion:
      case Key::CommLibVersion:
        dump_.library = text_of(value);
        break;
      case Key::Reason:
        dump_.reason = text_of(value);
        break;
      case Key::ReasonGroup:
        dump_.reason_group = text_of(value);
        break;
      case Key::AskedAt: {
        constexpr std::int64_t kLatest = 4'000'000'000'000'000'000;  // the year 2096
        dump_.known_until_ns = std::clamp<std::int64_t>(int_of(value, 0), 0, kLatest);
        break;
      }
      case Key::PgConfig:
        take_numbered_groups(value);
        break;
      default:
        break;
    }
  }
}

// Before 2.0: {0: [0, 1, 2, 3]}, without names.
void DumpBuilder::take_numbered_groups(const Value& groups) {
  std::size_t count = 0;
  const Value* pairs = items_of(groups, count);
  for (std::size_t i = 0; i + 1 < count; i += 2) {
    if (pairs[i + 1].kind != Kind::List) continue;
    GroupConfig group;
    group.name = std::to_string(int_of(pairs[i], -1));
    std::size_t size = 0;
    const Value* ranks = items_of(pairs[i + 1], size);
    for (std::size_t k = 0; k < size; ++k) {
      group.ranks.push_back(
          static_cast<int>(std::clamp<std::int64_t>(int_of(ranks[k], -1), -1, 0x7FFFFFFF)));
    }
    dump_.groups.push_back(std::move(group));
  }
}

std::uint64_t DumpBuilder::hash_of_lists(const Value& value, int depth) {
  std::size_t count = 0;
  const Value* items = items_of(value, count);
  std::uint64_t hash = count;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_list = items[i].kind == Kind::List;
    if (is_list && depth == 0) continue;
    hash = mix(hash, is_list ? hash_of_lists(items[i], depth - 1)
                             : static_cast<std::uint64_t>(int_of(items[i], 0)) + hash_of(items[i]));
  }
  return hash;
}

std::string DumpBuilder::lists_as_text(const Value& value, std::uint64_t& elements) {
  constexpr std::size_t kShown = 64;  // of what is printed; the hash has seen all
  std::size_t count = 0;
  const Value* tensors = items_of(value, count);
  std::string text = "[";
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t size = 0;
    const Value* lengths = items_of(tensors[i], size);
    std::uint64_t product = 1;
    if (i < kShown) text += i == 0 ? "[" : ", [";
    for (std::size_t k = 0; k < size; ++k) {
      const auto length =
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, int_of(lengths[k], 0)));
      if (__builtin_mul_overflow(product, length, &product)) product = ~std::uint64_t{0};
      if (i < kShown && k < kShown) text += (k == 0 ? "" : ", ") + std::to_string(length);
    }
    if (i < kShown) text += "]";
    elements += product;
  }
  return text + "]";
}

std::string DumpBuilder::types_as_text(const Value& value) {
  std::size_t count = 0;
  const Value* items = items_of(value, count);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view type = text_of(items[i]);
    if (i > 0 && type == text_of(items[i - 1])) continue;
    if (text.size() > 256) break;
    text += (text.empty() ? "" : ",") + std::string(type);
  }
  return text;
}

std::uint32_t DumpBuilder::signature_of(const Fields& fields) {
  std::uint64_t hash = hash_of(fields.of(Key::ProfilingName));
  for (const Key key : {Key::InputSizes, Key::OutputSizes, Key::InputTypes, Key::OutputTypes}) {
    hash = mix(hash, hash_of_lists(fields.of(key), 1));
  }
  const bool has_root = fields.holds(Key::Root);
  const std::int64_t root = has_root ? int_of(fields.of(Key::Root), -1) : -1;
  if (has_root) hash = mix(hash, static_cast<std::uint64_t>(root));
  if (const std::uint32_t* seen = signatures_.find(hash)) return *seen - 1;
  const std::uint32_t number = names_.add_signature(hash, [&] {
    const OpText op = parse_op(text_of(fields.of(Key::ProfilingName)));
    Signature made;
    made.op = op.op;
    made.name = op.name;
    made.backend = op.backend;
    made.source = op.source;
    made.target = op.target;
    made.root = static_cast<int>(std::clamp<std::int64_t>(root, -1, kMostRanks));
    made.inputs = lists_as_text(fields.of(Key::InputSizes), made.input_count);
    made.outputs = lists_as_text(fields.of(Key::OutputSizes), made.output_count);
    made.types = types_as_text(fields.of(Key::InputTypes));
    const std::string out = types_as_text(fields.of(Key::OutputTypes));
    if (made.types.empty()) made.types = out;
    if (!out.empty() && out != made.types) made.types += "->" + out;
    return made;
  });
  signatures_.add(hash, number);
  return number;
}

std::uint32_t DumpBuilder::stack_of(const Value& frames) {
  std::size_t count = 0;
  const Value* items = items_of(frames, count);
  if (count == 0) return 0;
  std::uint64_t hash = count;
  for (std::size_t i = 0; i < count; ++i) {
    const Value frame = resolved(items[i]);
    if (frame.kind == Kind::Frame) {
      hash = mix(hash, frame_hashes_[static_cast<std::size_t>(frame.at)]);
    }
  }
  if (const std::uint32_t* seen = stacks_.find(hash)) return *seen - 1;
  const std::uint32_t number = names_.add_stack(hash, [&] {
    constexpr std::size_t kDeepest = 512;
    Stack stack;
    for (std::size_t i = 0; i < count && i < kDeepest; ++i) {
      const Value value = resolved(items[i]);
      if (value.kind != Kind::Frame) continue;
      const Frame& frame = frames_[static_cast<std::size_t>(value.at)];
      if (!use(frame.function.size() + frame.file.size())) break;
      stack.push_back(frame);
    }
    return stack;
  });
  stacks_.add(hash, number);
  return number;
}

std::uint32_t DumpBuilder::group_of(const Fields& fields) {
  std::size_t count = 0;
  const Value* pair = items_of(fields.of(Key::ProcessGroup), count);
  const std::int64_t pg = int_of(fields.of(Key::PgId), 0);
  const std::uint64_t hash = count == 0 ? mix(1, static_cast<std::uint64_t>(pg))
                                        : mix(hash_of(pair[0]), count > 1 ? hash_of(pair[1]) : 0);
  if (const std::uint32_t* seen = groups_.find(hash)) return *seen - 1;
  const std::uint32_t number = names_.add_group(hash, [&]() -> GroupName {
    if (count == 0) return {std::to_string(pg), ""};
    return {std::string(text_of(pair[0])), count > 1 ? std::string(text_of(pair[1])) : ""};
  });
  groups_.add(hash, number);
  return number;
}

}  // namespace ringside::hang
