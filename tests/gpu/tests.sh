# shellcheck shell=bash disable=SC2154  # variables of run.sh
# Sourced by run.sh: runs programs of GoogleTest so that no test takes others with it, and keeps each test's result.
#
# $logs/results.txt has a line for each test: NAME RESULT PROGRAM REASON, where RESULT is passed, skipped, failed, crashed, hung or left
# (no time was left). $logs/tests.log has the whole output.

# results_of PROGRAM LOG: what GoogleTest prints, as lines of results. A test without a result is `open`. Behind the first failure there
# are none: with --gtest_fail_fast the rest is skipped.
results_of() {
  awk -v program="$(basename "$1")" '
    function name_in(line) { sub(/^.*\] /, "", line); sub(/[ ,].*$/, "", line); return line }
    failed { next }
    /\[ RUN      \] / { open = name_in($0); reason = ""; next }
    function ends(result) { sub(/^Failed /, "", reason); print open, result, program, reason; open = ""; takes = 0 }
    /: Skipped$/ || /: Failure$/ { if (reason == "") takes = 5; next }
    /\[       OK \] .* ms\)$/ { ends("passed") }
    /\[  SKIPPED \] .* ms\)$/ { ends("skipped") }
    /\[  FAILED  \] .* ms\)$/ { ends("failed"); failed = 1 }
    takes-- > 0 { sub(/^ */, ""); reason = (reason == "" ? $0 : reason " " $0) }
    END { if (open != "") print open, "open", program }' "$2"
}

# tests_in PROGRAM FILTER: names, one a line.
tests_in() { timeout -k 2 "$(share 3)" "$1" --gtest_filter="$2" --gtest_list_tests 2> /dev/null | awk '/^[^ ].*\.( |$)/ {suite = $1} /^ / {print suite $1}'; }

# run_tests SECONDS PROGRAM FILTER: one process runs the tests. A test that fails may leave the GPU's context broken, and one that
# crashes or hangs ends the process, so a fresh process continues with the tests behind it.
run_tests() {
  local until=$((SECONDS + $1)) program=$2 log=$logs/this.log pending=$logs/pending outcome how word is_over=no
  tests_in "$program" "$3" > "$pending"
  [[ -s $pending ]] || wrong "$(basename "$program") has no tests $3"
  while [[ -s $pending ]] && ((SECONDS < until)); do
    echo "--gtest_filter=$(paste -sd: "$pending")" > "$logs/flags"
    : > "$log"
    bounded $((until - SECONDS)) "$quiet" "$log" "$program" --gtest_fail_fast --gtest_flagfile="$logs/flags"
    outcome=$?
    cat "$log" >> "$logs/tests.log"
    results_of "$program" "$log" > "$logs/here"
    if [[ $why == "not done"* || $why == "no time"* ]]; then
      # The stage's time is up, for which this test need not be at fault.
      sed -i -E 's/^([^ ]+) open (.*)/\1 left \2 was running/' "$logs/here"
    else
      how=$(ending "$outcome") word=crashed
      [[ $how == *:* ]] && word=${how%%:*} how=${how#*: }
      sed -i -E "s/^([^ ]+) open (.*)/\1 $word \2 $how/" "$logs/here"
      if [[ $outcome != 0 ]] && ! grep -q -E '^[^ ]+ (failed|crashed|hung)' "$logs/here"; then
        wrong "$(basename "$program"), outside of its tests: $how"
        is_over=yes
      elif [[ ! -s $logs/here ]]; then
        wrong "$(basename "$program") runs none of the tests that it lists: $how"
      fi
    fi
    cat "$logs/here" >> "$logs/results.txt"
    [[ -s $logs/here ]] || break
    awk 'NR == FNR {done[$1]; next} !($1 in done)' "$logs/here" "$pending" > "$pending.next" && mv "$pending.next" "$pending"
    [[ $is_over == no ]] || break
  done
  sed "s/\$/ left $(basename "$program")/" "$pending" >> "$logs/results.txt"
}

# run_alone PROGRAM: once more each test that has not passed, by itself: what passes alone was the victim of another test, or fails
# now and then.
run_alone() {
  local name outcome reason
  while read -r name; do
    (($(left) > limit / 3)) || { echo "$name alone: no time was left" >> "$logs/alone.txt"; continue; }
    echo "== $name" >> "$logs/alone.log"
    bounded "$quiet" "$quiet" "$logs/alone.log" "$1" --gtest_filter="$name"
    outcome=$?
    if [[ $outcome == 0 ]]; then reason="passes"; elif [[ $outcome == 1 ]]; then reason="fails"; else reason=$(ending "$outcome"); fi
    echo "$name alone: $reason" >> "$logs/alone.txt"
  done < <(awk -v program="$(basename "$1")" '$3 == program && $2 ~ /^(failed|crashed|hung)$/ {print $1}' "$logs/results.txt")
}

# count RESULT [PATTERN]: tests with that result whose name matches.
count() { awk -v result="$1" -v pattern="${2:-.}" '$2 == result && $1 ~ pattern' "$logs/results.txt" | wc -l; }
# count_bad [PATTERN]
count_bad() { awk -v pattern="${1:-.}" '$2 ~ /^(failed|crashed|hung)$/ && $1 ~ pattern' "$logs/results.txt" | wc -l; }
