#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <string>

#include "gui/model/open.h"

namespace ringside::gui {

/// Opens one thing at a time beside the window, which goes on meanwhile.
class Loader {
 public:
  ~Loader();

  /// Ends what was being opened before.
  void start(std::string what, std::function<Opened(const OnProgress&)> open);

  [[nodiscard]] const std::string& what() const {
    return what_;
  }  ///< empty: nothing is being opened
  [[nodiscard]] double done() const { return done_; }

  /// What was opened, once; nothing before that.
  std::optional<Opened> poll();

 private:
  void end();
  std::string what_;
  std::atomic<double> done_{0};
  std::atomic<bool> is_unwanted_{false};
  std::future<Opened> opened_;
};

}  // namespace ringside::gui
