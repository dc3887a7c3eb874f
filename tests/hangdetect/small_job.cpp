#include "tests/hangdetect/small_job.h"

#include <algorithm>

#include "diag/hangdetect/readers/dump_keys.h"
#include "diag/hangdetect/readers/op_name.h"
#include "diag/hangdetect/verdict/decide.h"

namespace ringside::hang {

SmallJob::SmallJob(int ranks)
    : dumps_(static_cast<std::size_t>(ranks)), is_lost_(dumps_.size(), false) {
  for (int rank = 0; rank < ranks; ++rank) {
    dumps_[static_cast<std::size_t>(rank)].rank = rank;
    dumps_[static_cast<std::size_t>(rank)].path = "dump_" + std::to_string(rank);
  }
}

int SmallJob::add_group(const std::string& name, std::vector<int> members,
                        const std::string& description) {
  for (const int rank : members) {
    dumps_[static_cast<std::size_t>(rank)].groups.push_back({name, description, members});
  }
  groups_.push_back({name, description, std::move(members),
                     std::vector<std::uint32_t>(dumps_.size(), 0),
                     std::vector<std::uint32_t>(dumps_.size(), 0)});
  return static_cast<int>(groups_.size()) - 1;
}

void SmallJob::call(int rank, int group, const std::string& name, std::uint64_t count,
                    bool is_done) {
  const auto r = static_cast<std::size_t>(rank);
  GroupState& state = groups_[static_cast<std::size_t>(group)];
  const OpText op = parse_op(name);
  Call call;
  call.is_p2p = op.op == Op::Send || op.op == Op::Recv;
  call.sequence = ++(call.is_p2p ? state.transfers : state.collectives)[r];
  call.record = dumps_[r].calls.size();
  call.created_ns = now_ns_ += 1'000'000;
  call.pg = group;
  const bool is_gloo = op.backend == "gloo";
  call.state = !is_done  ? CallState::Scheduled
               : is_gloo ? CallState::Retired
                         : CallState::Completed;
  call.group = names_->add_group(hash_text(state.name), [&] {
    return GroupName{state.name, state.description};
  });
  call.signature = names_->add_signature(mix(hash_text(name), count), [&] {
    Signature made;
    made.op = op.op;
    made.name = op.name;
    made.backend = op.backend;
    made.source = op.source;
    made.target = op.target;
    made.types = "Float";
    made.input_count = made.output_count = count;
    made.inputs = made.outputs = "[[" + std::to_string(count) + "]]";
    return made;
  });
  dumps_[r].calls.push_back(call);
}

void SmallJob::all_call(int group, const std::string& name, std::uint64_t count, int times) {
  for (int i = 0; i < times; ++i) {
    for (const int rank : groups_[static_cast<std::size_t>(group)].members) {
      call(rank, group, name, count, true);
    }
  }
}

void SmallJob::batch(int rank, int group, const std::vector<std::string>& names,
                     std::uint64_t count) {
  std::uint32_t& number =
      groups_[static_cast<std::size_t>(group)].transfers[static_cast<std::size_t>(rank)];
  const std::uint32_t before = number;
  for (const std::string& name : names) {
    number = before;
    call(rank, group, name, count);
  }
}

void SmallJob::lose(int rank) { is_lost_[static_cast<std::size_t>(rank)] = true; }

std::vector<RankDump> SmallJob::dumps_left() const {
  std::vector<RankDump> left;
  for (std::size_t i = 0; i < dumps_.size(); ++i) {
    if (!is_lost_[i]) left.push_back(dumps_[i]);
  }
  return left;
}

Verdict SmallJob::verdict(const LogFacts& facts) const {
  const std::vector<RankDump> left = dumps_left();
  Job job(*names_, left, {}, static_cast<int>(dumps_.size()));
  for (const auto& [rank, notes] : notes_) job.rank(rank).notes = notes;
  return decide(job, facts);
}

Examination SmallJob::examination() && {
  Examination all;
  all.dumps = dumps_left();
  all.names = std::move(names_);
  all.job =
      std::make_unique<Job>(*all.names, all.dumps, all.later, static_cast<int>(dumps_.size()));
  all.wait_state = wait_state_of(*all.job);
  all.verdict = decide(*all.job, {});
  return all;
}

}  // namespace ringside::hang
