// Tests sends and receives that two ranks group differently: programs that succeed with NCCL succeed here, over
// existing connections and over new ones. Ranks are threads.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <vector>

#include "engine/runtime/call_group.h"
#include "engine/runtime/communicator.h"
#include "tests/runtime/ranks.h"
#include "tests/transport/two_ranks.h"

namespace ringside {
namespace {

using Value = std::int32_t;

struct Message {
  int from = 0, to = 0;
  std::int64_t count = 0;
  int number = 0;  // among all messages; it distinguishes the data
};
/// The messages of one rank that begin together. Without any, the group is a sum over all ranks.
using Group = std::vector<Message>;
using Programs = std::vector<std::vector<Group>>;  // [rank]

Value element(const Message& message, std::int64_t i) {
  return static_cast<Value>(1'000'000 * (message.number + 1) + i % 999'983);
}

/// One rank's part of a group: its buffers, and one call for each message.
class GroupCalls {
 public:
  GroupCalls(const Group& group, int rank) : group_(group), rank_(rank) {
    for (const Message& message : group) {
      std::vector<Value>& data = buffers_.emplace_back(static_cast<std::size_t>(message.count), -1);
      if (message.from != rank) continue;
      for (std::int64_t i = 0; i < message.count; ++i) {
        data[static_cast<std::size_t>(i)] = element(message, i);
      }
    }
  }

  [[nodiscard]] std::vector<CollectiveCall> calls() {
    std::vector<CollectiveCall> calls;
    for (std::size_t i = 0; i < group_.size(); ++i) {
      const Message& message = group_[i];
      CollectiveCall& call = calls.emplace_back();
      call.type = DataType::Int32;
      call.count = message.count;
      if (message.from == rank_) {
        call.collective = Collective::Send;
        call.input = buffers_[i].data();
        call.sends = {{Rank{message.to}, 0, message.count}};
      } else {
        call.collective = Collective::Recv;
        call.output = buffers_[i].data();
        call.recvs = {{Rank{message.from}, 0, message.count}};
      }
    }
    return fuse_messages(calls);
  }

  void check() const {
    for (std::size_t i = 0; i < group_.size(); ++i) {
      const Message& message = group_[i];
      std::int64_t wrong = 0;
      for (std::int64_t at = 0; at < message.count; ++at) {
        wrong += buffers_[i][static_cast<std::size_t>(at)] != element(message, at) ? 1 : 0;
      }
      EXPECT_EQ(wrong, 0) << "message " << message.number << " on rank " << rank_;
    }
  }

 private:
  Group group_;
  int rank_;
  std::vector<std::vector<Value>> buffers_;
};

/// returns  the error; empty: none
std::string sum_up(runtime::Communicator& communicator) {
  const Value one = 1;
  Value sum = 0;
  CollectiveCall call;
  call.type = DataType::Int32;
  call.input = &one;
  call.output = &sum;
  call.count = 1;
  const Status done = communicator.run(call);
  EXPECT_TRUE(!done || sum == communicator.nranks());
  return done ? std::string() : done.error().message;
}

struct Way {
  const Transport* transport = nullptr;
  int channels = 1;
  Bytes slot = 4_KiB;
  Seconds timeout{20};
};

/// returns  the first error of each rank; empty: none
std::vector<std::string> run_programs(const Programs& programs, const Way& way) {
  const int n = static_cast<int>(programs.size());
  std::vector<std::string> errors(programs.size());
  const auto root = make_root(n);
  run_ranks(first_ranks(n), [&](int rank) {
    std::string& error = errors[static_cast<std::size_t>(rank)];
    CommunicatorOptions options;
    options.host.table_path = "";
    options.host.transport = way.transport;
    options.settings = {.nchannels = way.channels, .slot = way.slot};
    options.connect_timeout = options.op_timeout = way.timeout;
    const auto made = runtime::Communicator::make(must_join(rank, n, root->id()), options);
    ASSERT_TRUE(made) << made.error().message;
    for (const Group& group : programs[static_cast<std::size_t>(rank)]) {
      if (group.empty()) {
        error = sum_up(**made);
        if (!error.empty()) return;
        continue;
      }
      GroupCalls calls(group, rank);
      for (const CollectiveCall& call : calls.calls()) {
        if (const Status done = (*made)->run(call); !done) {
          error = done.error().message;
          return;
        }
      }
      calls.check();
    }
    if (const Status done = (*made)->finish(); !done) error = done.error().message;
  });
  return errors;
}

std::string to_text(const Programs& programs) {
  std::string text;
  for (std::size_t rank = 0; rank < programs.size(); ++rank) {
    text += fmt::format("rank {}:", rank);
    for (const Group& group : programs[rank]) {
      text += " {";
      for (const Message& one : group) {
        text += fmt::format(" {}: {}->{} {}", one.number, one.from, one.to, one.count);
      }
      text += " }";
    }
    text += "\n";
  }
  return text;
}

/// Returns messages in an order in which they could be sent one after the other, with each rank's messages split into
/// groups at random: both ranks are ready for the first remaining message. There are sums between them.
Programs random_programs(std::mt19937& random) {
  const auto any = [&](int least, int most) {
    return std::uniform_int_distribution(least, most)(random);
  };
  const int n = any(2, 4);
  Programs programs(static_cast<std::size_t>(n));
  std::vector<bool> is_open(static_cast<std::size_t>(n), false);
  const int messages = any(2, 14);
  for (int number = 0; number < messages; ++number) {
    if (any(0, 7) == 0) {
      for (std::vector<Group>& groups : programs) groups.emplace_back();
      is_open.assign(is_open.size(), false);
    }
    // The counts are for lines of 8 B, lines of 128 B, one slot, and more than the connection holds.
    constexpr std::array<std::int64_t, 5> kCounts{1, 20, 300, 1'000, 40'000};
    Message message{.from = any(0, n - 1),
                    .count = kCounts.at(static_cast<std::size_t>(any(0, 4))) + any(0, 3),
                    .number = number};
    message.to = (message.from + any(1, n - 1)) % n;
    for (const int rank : {message.from, message.to}) {
      const auto at = static_cast<std::size_t>(rank);
      std::vector<Group>& groups = programs[at];
      // Two messages in one direction with one peer come one after the other, as in NCCL's kernels.
      const bool is_taken =
          is_open[at] && std::ranges::any_of(groups.back(), [&](const Message& one) {
            return one.from == message.from && one.to == message.to;
          });
      if (!is_open[at] || is_taken) groups.emplace_back();
      groups.back().push_back(message);
      is_open[at] = any(0, 2) != 0;
    }
  }
  for (std::vector<Group>& groups : programs) {
    for (Group& group : groups) std::ranges::shuffle(group, random);
  }
  return programs;
}

class MessageOrder : public testing::TestWithParam<const Transport*> {};

constexpr std::int64_t kMany = 100'000;     // 400 kB: a hundred slots
constexpr std::int64_t kFlood = 5'000'000;  // 20 MB: more than the kernel buffers of a stream

// Runs once over connections that both ranks already have, once over connections that the messages make.
TEST_P(MessageOrder, ARankThatDoesOneAfterTheOtherMeetsOneThatDoesBothAtOnce) {
  const Message there{0, 1, kFlood, 0};
  const Message back{1, 0, kFlood, 1};
  for (const bool is_connected : {true, false}) {
    for (const bool sends_first : {true, false}) {
      SCOPED_TRACE(fmt::format("connected {}, sends first {}", is_connected, sends_first));
      const Group first{sends_first ? there : back};
      const Group then{sends_first ? back : there};
      Programs both{{first, then}, {{there, back}}};
      if (is_connected) {
        for (auto& groups : both) groups.insert(groups.begin(), Group{there, back});
      }
      EXPECT_EQ(run_programs(both, {.transport = GetParam()}), std::vector<std::string>(2));
    }
  }
}

// Over a byte stream, short messages in both directions use one socket.
TEST_P(MessageOrder, ShortMessagesWithOneWayAtATimeMeetARankThatDoesBothAtOnce) {
  const Message there{0, 1, 1, 0};
  const Message back{1, 0, 1, 1};
  for (const Group& first : {Group{there}, Group{back}}) {
    const Group then = first.front().number == 0 ? Group{back} : Group{there};
    const Programs both{{first, then}, {{there, back}}};
    EXPECT_EQ(run_programs(both, {.transport = GetParam()}), std::vector<std::string>(2));
    const Programs other{{{there, back}}, {first, then}};
    EXPECT_EQ(run_programs(other, {.transport = GetParam()}), std::vector<std::string>(2));
  }
}

// Rank 0 sends to both others at once. Rank 2 sends to rank 1 when it has all of rank 0's message, and rank 1 receives
// that message before rank 0's.
TEST_P(MessageOrder, OneBlockedSendOfAGroupDoesNotBlockTheOther) {
  const Message first{0, 1, kMany, 0};
  const Message second{0, 2, kMany, 1};
  const Message across{2, 1, kMany, 2};
  const Programs three{{{first, second}}, {{across}, {first}}, {{second}, {across}}};
  EXPECT_EQ(run_programs(three, {.transport = GetParam()}), std::vector<std::string>(3));
}

TEST_P(MessageOrder, GroupingNeverAddsADeadlock) {
  std::mt19937 random(20261126);
  for (int round = 0; round < 40; ++round) {
    const Programs programs = random_programs(random);
    const Way way{.transport = GetParam(),
                  .channels = std::uniform_int_distribution(1, 2)(random),
                  .slot = round % 2 == 0 ? 4_KiB : 0_B};
    ASSERT_EQ(run_programs(programs, way), std::vector<std::string>(programs.size()))
        << "round " << round << "\n"
        << to_text(programs);
  }
}

// Each rank first sends more than the connection holds: with NCCL both would wait for ever, too.
TEST_P(MessageOrder, RanksThatWaitForEachOtherAreNamed) {
  const Message there{0, 1, kFlood, 0};
  const Message back{1, 0, kFlood, 1};
  const Programs crossed{{{there}, {back}}, {{back}, {there}}};
  const auto errors = run_programs(crossed, {.transport = GetParam(), .timeout = Seconds{0.4}});
  for (const std::string& error : errors) {
    EXPECT_NE(error.find("waited"), std::string::npos) << error;
    EXPECT_EQ(error, errors.front());
  }
}

INSTANTIATE_TEST_SUITE_P(Table, MessageOrder, testing::ValuesIn(joining_transports()),
                         [](const auto& test) { return name_of(test); });

}  // namespace
}  // namespace ringside
