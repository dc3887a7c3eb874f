#pragma once

#include <string>

#include "engine/runtime/bootstrap/bootstrap.h"
#include "engine/runtime/bootstrap/peers.h"
#include "engine/runtime/calls/executor.h"

namespace ringside {

/// The common part of executors that pass calls to another library, which chooses how to run them: run() returns when
/// the call is done, so there is nothing to prepare, to set or to wait for.
class WholeCallExecutor : public Executor {
 public:
  Result<CallPlan*> plan(const CollectiveCall& call) override {
    RINGSIDE_TRY(plan_.choice, choose(call));
    plan_.call = call;
    plan_.bytes = call_bytes(call.collective, shape_of(call), setup_.bootstrap.nranks());
    plan_.event.rank = to_int(setup_.bootstrap.rank());
    plan_.event.collective = call.collective;
    return &plan_;
  }
  Status prepare(CallPlan& /*plan*/) override { return {}; }
  void drain() override {}
  void set_settings(const CallSettings& /*settings*/) override {}
  [[nodiscard]] const HostLayout& layout() const override { return layout_; }

 protected:
  /// library  its name, for HostLayout::transport
  WholeCallExecutor(const ExecutorSetup& setup, std::string library) : setup_(setup) {
    layout_.local_ranks = setup.bootstrap.nranks();
    layout_.transport = std::move(library);
  }
  /// Returns the choice of a call that the library takes. The library does not report more.
  [[nodiscard]] static Choice choice_of(const CollectiveCall& call) {
    Choice choice;
    choice.collective = call.collective;
    return choice;
  }

  const ExecutorSetup setup_;

 private:
  HostLayout layout_;
  CallPlan plan_;
};

}  // namespace ringside
