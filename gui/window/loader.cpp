#include "gui/window/loader.h"

#include <chrono>
#include <utility>

namespace ringside::gui {

Loader::~Loader() { end(); }

void Loader::end() {
  is_unwanted_ = true;
  if (opened_.valid()) opened_.wait();
  is_unwanted_ = false;
}

void Loader::start(std::string what, Open open) {
  end();
  what_ = std::move(what);
  done_ = 0;
  part_.reset();
  opened_ = std::async(std::launch::async, [this, open = std::move(open)] {
    return open(
        [this](double share) {
          done_ = share;
          return !is_unwanted_;
        },
        [this](std::shared_ptr<const Document> part) {
          const std::lock_guard lock(mutex_);
          part_ = std::move(part);
        });
  });
}

std::shared_ptr<const Document> Loader::poll_part() {
  const std::lock_guard lock(mutex_);
  return std::exchange(part_, nullptr);
}

std::optional<Opened> Loader::poll() {
  if (!opened_.valid() || opened_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return std::nullopt;
  what_.clear();
  return opened_.get();
}

}  // namespace ringside::gui
