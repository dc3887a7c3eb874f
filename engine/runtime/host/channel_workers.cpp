#include "engine/runtime/host/channel_workers.h"

#include "base/assert.h"

namespace ringside {

ChannelWorkers::~ChannelWorkers() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begin_.notify_all();
}

void ChannelWorkers::begin(int nchannels, const Work& work) {
  RINGSIDE_ASSERT(nchannels >= 1 && !is_shared_, "{} channels, {}", nchannels,
                  is_shared_ ? "others unfinished" : "none unfinished");
  for (int channel = static_cast<int>(threads_.size()) + 1; channel < nchannels; ++channel) {
    threads_.emplace_back([this, channel] { serve(channel); });
  }
  if (nchannels > 1) {
    const std::lock_guard lock(mutex_);
    is_shared_ = true;
    work_ = &work;
    nchannels_ = nchannels;
    busy_ = nchannels - 1;
    ++round_;
    begin_.notify_all();
  }
  work(0);
}

void ChannelWorkers::finish() {
  if (!is_shared_) return;
  is_shared_ = false;
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void ChannelWorkers::serve(int channel) {
  std::unique_lock lock(mutex_);
  std::uint64_t seen = 0;
  for (;;) {
    begin_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    if (channel >= nchannels_) continue;
    const Work& work = *work_;
    lock.unlock();
    work(channel);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace ringside
