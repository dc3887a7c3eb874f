#include "engine/runtime/communicator.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/calls/failure.h"
#include "tests/runtime/ranks.h"
#include "tests/support/fake_clock.h"

namespace ringside {
namespace {

using Steps = std::vector<std::string>;

/// The instructions for a FakeExecutor, and a record of the calls that it received.
struct Script {
  Steps steps = {};
  std::optional<Error> plan_error = {}, prepare_error = {}, run_error = {};
};

/// Runs nothing, and records the requests that it receives.
class FakeExecutor final : public Executor {
 public:
  FakeExecutor(Script& script, const ExecutorSetup& setup)
      : script_(script), failure_(setup.failure) {}

  [[nodiscard]] Result<Choice> choose(const CollectiveCall&) const override { return Choice{}; }
  Result<CallPlan*> plan(const CollectiveCall& call) override {
    script_.steps.push_back("plan " + std::to_string(call.count));
    if (script_.plan_error) return *script_.plan_error;
    return &plan_;
  }
  Status prepare(CallPlan&) override {
    script_.steps.emplace_back("prepare");
    if (script_.prepare_error) return *script_.prepare_error;
    return {};
  }
  void run(CallPlan&, const CollectiveCall&, std::uint32_t sequence) override {
    script_.steps.push_back("run " + std::to_string(sequence));
  }
  void drain() override {
    script_.steps.emplace_back("drain");
    if (script_.run_error) failure_.set(*script_.run_error);
  }
  void abort() noexcept override { script_.steps.emplace_back("abort"); }
  void set_settings(const CallSettings& settings) override {
    script_.steps.push_back("settings " + std::to_string(settings.nchannels));
  }
  [[nodiscard]] const HostLayout& layout() const override { return layout_; }

 private:
  Script& script_;
  Failure& failure_;
  CallPlan plan_;
  HostLayout layout_;
};

/// A communicator of one rank over a fake executor.
std::unique_ptr<runtime::Communicator> make_alone(Script& script, Clock& clock = real_clock()) {
  auto bootstrap = Bootstrap::join({.nranks = 1, .clock = &clock});
  EXPECT_TRUE(bootstrap);
  auto made = runtime::Communicator::make(
      *std::move(bootstrap), {},
      [&](const ExecutorSetup& setup) -> Result<std::unique_ptr<Executor>> {
        return std::unique_ptr<Executor>(std::make_unique<FakeExecutor>(script, setup));
      });
  EXPECT_TRUE(made) << made.error().message;
  return *std::move(made);
}

TEST(Communicator, HasItsExecutorPlanPrepareRunAndDrainEachCallInOrder) {
  Script script;
  const auto communicator = make_alone(script);
  EXPECT_TRUE(communicator->run({.count = 8}));
  communicator->set_settings({.nchannels = 3});
  EXPECT_TRUE(communicator->run({.count = 9}));
  EXPECT_EQ(script.steps, (Steps{"plan 8", "prepare", "run 1", "drain", "settings 3", "plan 9",
                                 "prepare", "run 2", "drain"}));
}

// Rank 1 comes 5 s late, where a call without progress for 1 s fails: the first call has to connect.
TEST(Communicator, TheFirstCallWaitsForConnectionsByTheLongerTimeout) {
  FakeClock clock;
  const auto root = make_root(2, kPlenty, clock);
  const auto call_late = [&](int rank) {
    CommunicatorOptions options;
    options.host.table_path = "";
    options.op_timeout = Seconds{1};
    options.connect_timeout = Seconds{60};
    const auto made = runtime::Communicator::make(must_join(rank, 2, root->id(), clock), options);
    ASSERT_TRUE(made) << made.error().message;
    if (rank == 1) clock.sleep(std::chrono::seconds(5));
    const int in = rank + 1;
    int out = 0;
    const Status done =
        (*made)->run({.input = &in, .output = &out, .count = 1, .type = DataType::Int32});
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(out, 3);
    EXPECT_TRUE((*made)->finish());
  };
  run_ranks({0, 1}, call_late, clock);
}

TEST(Communicator, ACallThatCannotBePlannedKeepsTheCommunicatorUsable) {
  Script script{.plan_error = Error{ErrorCode::Unsupported, "no such thing"}};
  const auto communicator = make_alone(script);
  const Status refused = communicator->run({.count = 8});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "no such thing");
  script.plan_error = {};
  EXPECT_TRUE(communicator->run({.count = 8}));
  EXPECT_EQ(script.steps, (Steps{"plan 8", "plan 8", "prepare", "run 1", "drain"}));
}

TEST(Communicator, AFailedPreparationBreaksTheCommunicator) {
  Script script{.prepare_error = Error{ErrorCode::PeerGone, "no peer there"}};
  FakeClock clock;
  const Attendance here(clock);
  const auto communicator = make_alone(script, clock);
  for (int i = 0; i < 2; ++i) {
    const Status broken = communicator->run({.count = 8});
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().message, "no peer there");
  }
  // The second call requests nothing; the waits of the first one were ended, as those of all ranks.
  EXPECT_EQ(script.steps, (Steps{"plan 8", "prepare", "abort"}));
}

TEST(Communicator, ReportsARunsFailureAfterDraining) {
  Script script{.run_error = Error{ErrorCode::Timeout, "too late"}};
  FakeClock clock;
  const Attendance here(clock);
  const auto communicator = make_alone(script, clock);
  const Status broken = communicator->run({.count = 8});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "too late");
  EXPECT_EQ(script.steps, (Steps{"plan 8", "prepare", "run 1", "drain", "abort"}));
}

TEST(Communicator, AbortEndsTheExecutorsWaitsAndEveryCallToCome) {
  Script script;
  FakeClock clock;
  const Attendance here(clock);
  const auto communicator = make_alone(script, clock);
  std::jthread([&] { communicator->abort({ErrorCode::Aborted, "enough"}); }).join();
  EXPECT_EQ(script.steps.front(), "abort");
  const Status broken = communicator->run({.count = 8});
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().message, "enough");
}

TEST(Communicator, AnExecutorThatCannotBeMadeIsReported) {
  FakeClock clock;
  const Attendance here(clock);
  auto bootstrap = Bootstrap::join({.nranks = 1, .clock = &clock});
  ASSERT_TRUE(bootstrap);
  const auto made = runtime::Communicator::make(
      *std::move(bootstrap), {}, [](const ExecutorSetup&) -> Result<std::unique_ptr<Executor>> {
        return Error{ErrorCode::System, "no driver"};
      });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "no driver");
}

}  // namespace
}  // namespace ringside
