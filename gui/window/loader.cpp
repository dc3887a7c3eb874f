#include "gui/window/loader.h"

#include <chrono>

namespace ringside::gui {

Loader::~Loader() { end(); }

void Loader::end() {
  is_unwanted_ = true;
  if (opened_.valid()) opened_.wait();
  is_unwanted_ = false;
}

void Loader::start(std::string what, std::function<Opened(const OnProgress&)> open) {
  end();
  what_ = std::move(what);
  done_ = 0;
  opened_ = std::async(std::launch::async, [this, open = std::move(open)] {
    return open([this](double share) {
      done_ = share;
      return !is_unwanted_;
    });
  });
}

std::optional<Opened> Loader::poll() {
  if (!opened_.valid() || opened_.wait_for(std::chrono::seconds(0)) != std::future_status::ready)
    return std::nullopt;
  what_.clear();
  return opened_.get();
}

}  // namespace ringside::gui
