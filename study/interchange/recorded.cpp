#include "study/interchange/recorded.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "base/one_line.h"
#include "base/pytorch_types.h"
#include "base/wording.h"

namespace ringside::study {

int RecordedGroup::index_of(int rank) const {
  const auto found = std::ranges::lower_bound(members, rank);
  return found == members.end() || *found != rank ? -1 : static_cast<int>(found - members.begin());
}

bool RecordedCall::is_same(const RecordedCall& other) const {
  return group == other.group && number == other.number && step.kind == other.step.kind &&
         step.op == other.step.op && step.count == other.step.count &&
         step.type == other.step.type && step.from == other.step.from && step.to == other.step.to;
}

std::size_t RecordedRank::set_length(std::size_t first) const {
  std::size_t end = first + 1;
  while (calls[first].is_of_set && end < calls.size() && calls[end].is_of_set &&
         calls[end].group == calls[first].group && calls[end].sequence == calls[first].sequence) {
    ++end;
  }
  return end - first;
}

void RecordedJob::note(const std::string& text) {
  constexpr int kLongest = 200;
  constexpr std::size_t kMost = 256;  // each unsupported name makes one
  if (unknown.size() >= kMost) return;
  std::string line = cut(one_line(text), kLongest);
  if (std::ranges::find(unknown, line) == unknown.end()) unknown.push_back(std::move(line));
}

int RecordedJob::group_of(const std::string& name, const std::string& description,
                          std::vector<int> members) {
  std::ranges::sort(members);
  members.erase(std::unique(members.begin(), members.end()), members.end());
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i].name == name && groups[i].members == members) return static_cast<int>(i);
  }
  groups.push_back({name, description, std::move(members)});
  return static_cast<int>(groups.size()) - 1;
}

std::optional<hangs::Op> program_op(hang::Op op) {
  using hangs::Op;
  switch (op) {
    case hang::Op::AllReduce:
      return Op::AllReduce;
    case hang::Op::Broadcast:
      return Op::Broadcast;
    case hang::Op::Reduce:
      return Op::Reduce;
    case hang::Op::AllGather:
      return Op::AllGather;
    case hang::Op::ReduceScatter:
      return Op::ReduceScatter;
    case hang::Op::AllToAll:
      return Op::AllToAll;
    case hang::Op::Barrier:
      return Op::Barrier;
    case hang::Op::Send:
      return Op::Send;
    case hang::Op::Recv:
      return Op::Recv;
    case hang::Op::Gather:
    case hang::Op::Scatter:
    case hang::Op::Coalesced:
    case hang::Op::Other:
      break;
  }
  return std::nullopt;
}

std::optional<DataType> program_type(const std::string& text) {
  const std::string first = text.substr(0, text.find_first_of("->,"));
  if (first == "Bool") return DataType::Uint8;  // one byte an element
  return type_of_pytorch(first);
}

std::string word_of(const std::string& text) {
  std::string word;
  for (const char c : text.substr(0, 32)) {
    const auto byte = static_cast<unsigned char>(c);
    word += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return word.empty() ? "group" : word;
}

}  // namespace ringside::study
