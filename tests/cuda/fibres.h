#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace ringside {

/// Many threads of control on one thread, which switch where they call yield(), in an order drawn from a seed: the
/// result is the same in each run, and no time passes.
class Fibres {
 public:
  /// None: fibres wait only for other fibres. Processes: they also wait for other processes; then time passes, and
  /// waiting fibres yield the core.
  enum class Company { None, Processes };

  explicit Fibres(std::uint64_t seed, Company company = Company::None);
  ~Fibres();
  Fibres(const Fibres&) = delete;
  Fibres& operator=(const Fibres&) = delete;

  /// Must be called before run().
  void add(std::function<void()> body);

  /// Runs until all fibres have ended.
  ///
  /// most_turns  gives up after so many turns in all, as some fibres wait for something that does not come
  /// returns     whether all have ended
  bool run(std::uint64_t most_turns);

  /// Called by a fibre: lets others run.
  void yield();

  /// True once in `one_in` times, drawn from the seed.
  bool draws(unsigned one_in) { return random_() % one_in == 0; }

  [[nodiscard]] std::uint64_t turns() const { return turns_; }

  /// Returns the time in ns. Without other processes, a turn counts as a microsecond.
  [[nodiscard]] std::int64_t now_ns() const;

  /// Called by a fibre that waits.
  void pause();

 private:
  struct Fibre;
  static void enter(unsigned high, unsigned low);
  void switch_to(Fibre& fibre);

  const Company company_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Fibre>> fibres_;
  std::vector<Fibre*> alive_;
  std::unique_ptr<Fibre> main_;
  Fibre* current_ = nullptr;
  std::uint64_t turns_ = 0;
};

}  // namespace ringside
