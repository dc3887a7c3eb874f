#include "diag/audit/live_audit.h"

#include "diag/audit/shard.h"
#include "diag/logparse/follow_logs.h"

namespace ringside::audit {

using namespace logs;  // most names below are its record types

struct LiveAudit::Impl {
  Shard shard;
  std::unique_ptr<LogFollower> follower;
};

LiveAudit::LiveAudit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LiveAudit::~LiveAudit() = default;

Result<std::unique_ptr<LiveAudit>> LiveAudit::make(const std::vector<std::string>& arguments) {
  auto impl = std::make_unique<Impl>();
  RINGSIDE_TRY(impl->follower, LogFollower::make(arguments, impl->shard));
  return std::unique_ptr<LiveAudit>(new LiveAudit(std::move(impl)));
}

Bytes LiveAudit::poll() { return impl_->follower->poll(); }

void LiveAudit::finish() { impl_->follower->finish(); }

bool LiveAudit::is_over() const { return impl_->follower->is_over(); }

const LogFiles& LiveAudit::files() const { return impl_->follower->files(); }

Audit LiveAudit::judge() const {
  Audit audit;
  audit.files = impl_->follower->files();
  audit.parsed = impl_->follower->report();
  std::vector<std::unique_ptr<Shard>> shards;
  shards.push_back(std::make_unique<Shard>(impl_->shard));  // a copy, because joining consumes it
  join_and_judge(std::move(shards), audit);
  return audit;
}

}  // namespace ringside::audit
