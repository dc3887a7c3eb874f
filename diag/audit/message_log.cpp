#include "diag/audit/message_log.h"

#include <algorithm>

namespace ringside::audit {

using namespace logs;  // most names below are its record types

namespace {

/// Messages of which every rank's line affects the verdict; of other messages, the first lines suffice.
constexpr std::size_t kKeptOfRanks = 100'000;
constexpr std::size_t kKeptOfOthers = 1'024;
constexpr std::size_t kKeptOfNews = 64;
constexpr std::size_t kKeptBytes = std::size_t{32} << 20;

std::size_t most_of(MessageId id) {
  switch (id) {
    case MessageId::WatchdogTimeout:
    case MessageId::WatchdogStatus:
    case MessageId::DumpSignal:
    case MessageId::TorchrunSummary:
    case MessageId::ChildFailed:
    case MessageId::SlurmTaskEnded:
    case MessageId::GroupClosed:
    case MessageId::IbCompletion:
    case MessageId::IbAsyncEvent:
      return kKeptOfRanks;
    case MessageId::IbDevice:  // each rank prints all ports of its host
      return kKeptOfOthers;
    default:
      return facts_of(id).weight == 'I' ? kKeptOfNews : kKeptOfOthers;
  }
}

}  // namespace

Record KeptMessage::record() const {
  Record record = record_;
  record.line = line_;
  return record;
}

std::string_view KeptMessage::argument(std::string_view name) const {
  return message_argument(record(), name);
}

std::int64_t KeptMessage::number(std::string_view name, std::int64_t otherwise) const {
  return message_number(record(), name, otherwise);
}

void MessageLog::take(const Record& record) {
  const MessageId id = record.as<Message>().id;
  const auto index = static_cast<std::size_t>(id);
  if (index >= by_id_.size()) by_id_.resize(index + 1);
  MessageLines& lines = by_id_[index];
  if (lines.most == 0) lines.most = most_of(id);
  lines.evidence.add(record.place, record.speaker, record.line);
  if (lines.processes.empty() || lines.processes.back() != record.speaker) {
    if (lines.processes.size() < kKeptOfRanks) lines.processes.push_back(record.speaker);
  }
  if (lines.kept.size() < lines.most && bytes_ < kKeptBytes) {
    lines.kept.emplace_back(record, record.speaker);
    bytes_ += sizeof(KeptMessage) + record.line.size();
  }
}

void MessageLog::append(MessageLog&& later, const std::vector<std::uint32_t>& process_of_speaker) {
  if (later.by_id_.size() > by_id_.size()) by_id_.resize(later.by_id_.size());
  for (std::size_t i = 0; i < later.by_id_.size(); ++i) {
    MessageLines& from = later.by_id_[i];
    if (from.evidence.empty()) continue;
    from.evidence.renumber(process_of_speaker);
    by_id_[i].evidence.append(from.evidence);
    for (const std::uint32_t speaker : from.processes) {
      by_id_[i].processes.push_back(process_of_speaker[speaker]);
    }
    const std::size_t most = most_of(static_cast<MessageId>(i));
    for (KeptMessage& kept : from.kept) {
      if (by_id_[i].kept.size() >= most) break;
      kept.set_process(process_of_speaker[kept.process()]);
      by_id_[i].kept.push_back(std::move(kept));
    }
  }
}

const MessageLines& MessageLog::operator[](MessageId id) const {
  static const MessageLines kNothing;
  const auto index = static_cast<std::size_t>(id);
  return index < by_id_.size() ? by_id_[index] : kNothing;
}

std::vector<const KeptMessage*> MessageLog::kept_lines() const {
  std::vector<const KeptMessage*> lines;
  for (const MessageLines& one : by_id_) {
    for (const KeptMessage& message : one.kept) lines.push_back(&message);
  }
  std::stable_sort(lines.begin(), lines.end(), [](const KeptMessage* a, const KeptMessage* b) {
    return a->place() < b->place();
  });
  return lines;
}

}  // namespace ringside::audit
