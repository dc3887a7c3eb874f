#include "tests/cuda/fibres.h"

#include <sched.h>
#include <ucontext.h>

#include <cstddef>
#include <utility>

#include "trace/clock.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace ringside {
namespace {

constexpr std::size_t kStack = 256 << 10;

}  // namespace

struct Fibres::Fibre {
  Fibres* owner = nullptr;
  std::function<void()> body;
  std::unique_ptr<std::byte[]> stack;
  ucontext_t context = {};
  bool has_ended = false;
  // The address sanitizer must be informed of each change of stacks.
  void* fake_stack = nullptr;
  const void* bottom = nullptr;
  std::size_t size = 0;
};

Fibres::Fibres(std::uint64_t seed, Company company)
    : company_(company), random_(seed), main_(std::make_unique<Fibre>()) {}
Fibres::~Fibres() = default;

void Fibres::add(std::function<void()> body) {
  auto fibre = std::make_unique<Fibre>();
  fibre->owner = this;
  fibre->body = std::move(body);
  fibre->stack = std::make_unique_for_overwrite<std::byte[]>(kStack);
  fibre->bottom = fibre->stack.get();
  fibre->size = kStack;
  ::getcontext(&fibre->context);
  fibre->context.uc_stack.ss_sp = fibre->stack.get();
  fibre->context.uc_stack.ss_size = kStack;
  // makecontext() passes only 32-bit numbers.
  const auto address = reinterpret_cast<std::uintptr_t>(fibre.get());
  ::makecontext(&fibre->context, reinterpret_cast<void (*)()>(&Fibres::enter), 2,
                static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  alive_.push_back(fibre.get());
  fibres_.push_back(std::move(fibre));
}

void Fibres::enter(unsigned high, unsigned low) {
  auto* self =
      reinterpret_cast<Fibre*>(static_cast<std::uintptr_t>(high) << 32 | std::uintptr_t{low});
#ifdef __SANITIZE_ADDRESS__
  Fibre& main = *self->owner->main_;
  __sanitizer_finish_switch_fiber(nullptr, &main.bottom, &main.size);
#endif
  self->body();
  self->has_ended = true;
  self->owner->yield();
}

void Fibres::switch_to(Fibre& fibre) {
  Fibre* const from = current_ == nullptr ? main_.get() : current_;
  current_ = &fibre == main_.get() ? nullptr : &fibre;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(from->has_ended ? nullptr : &from->fake_stack, fibre.bottom,
                                 fibre.size);
#endif
  ::swapcontext(&from->context, &fibre.context);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(from->fake_stack, nullptr, nullptr);
#endif
}

void Fibres::yield() { switch_to(*main_); }

std::int64_t Fibres::now_ns() const {
  return company_ == Company::None ? static_cast<std::int64_t>(turns_ + 1) * 1000
                                   : trace_now().count();
}

void Fibres::pause() {
  // The other processes need the cores, but a system call in each turn would take longer than the turn.
  if (company_ == Company::Processes && turns_ % 16 == 0) ::sched_yield();
  yield();
}

bool Fibres::run(std::uint64_t most_turns) {
  while (!alive_.empty() && turns_ < most_turns) {
    ++turns_;
    const std::size_t next = random_() % alive_.size();
    switch_to(*alive_[next]);
    if (alive_[next]->has_ended) {
      alive_[next] = alive_.back();
      alive_.pop_back();
    }
  }
  return alive_.empty();
}

}  // namespace ringside
