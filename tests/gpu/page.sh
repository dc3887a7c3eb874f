# shellcheck shell=bash disable=SC2154,SC2034  # variables of run.sh
# Sourced by run.sh: the page, from what the stages have left in $logs so far.

# target WHAT PATTERN: a row that says whether all tests of these names have passed.
target() {
  local passed bad left verdict=met
  passed=$(count passed "$2") bad=$(count_bad "$2") left=$(count left "$2")
  [[ $passed == 0 ]] && verdict="not run"
  [[ $left != 0 ]] && verdict="not all run"
  [[ $bad != 0 ]] && verdict=missed
  echo "| $1 | $passed passed, $bad failed, $(count skipped "$2") skipped, $left not run | all | $verdict |"
}

# verdict: one line. Sets `status`.
verdict() {
  local bad left missed words=()
  bad=$(count_bad) left=$(count left)
  [[ $bad != 0 ]] && words+=("tests that failed: $bad")
  [[ -s $logs/wrong.txt ]] && words+=("other errors: $(wc -l < "$logs/wrong.txt")")
  status=1
  if [[ $stage != finished ]]; then
    echo "unfinished: stage \"$stage\" is running, or ended run.sh${words[*]:+; so far $(join '; ' "${words[@]}")}"
  elif ((${#words[@]})); then
    echo "FAILED: $(join '; ' "${words[@]}")"
  elif [[ $left != 0 ]]; then
    echo "incomplete: tests that no time was left for: $left$(awk '$2 == "left" && NF > 3 {print " (" $1 " was running)"}' "$logs/results.txt" | paste -sd' '); what ran is fine"
  else
    status=0
    missed=$(bars | grep -c -E '\| (missed|not run) \|$')
    echo "passed$([[ $missed != 0 ]] && echo ", but $missed of the target rates are missed or not measured")"
  fi
}
join() {
  local between=$1 joined=$2 word
  for word in "${@:3}"; do joined+=$between$word; done
  echo "$joined"
}
# The last row of each bar: the tables write one before they measure it, and one behind that.
bars() {
  [[ -s $logs/bars.md ]] || echo "| rates | the tables have none | | not run |"
  awk -F'|' '!($2 in row) {order[++n] = $2} {row[$2] = $0} END {for (i = 1; i <= n; i++) print row[order[i]]}' "$logs/bars.md"
}
# Text that a cell of a table can hold.
cells() { tr -d '\r' | tr '|' ' ' | cut -c1-300; }

write_page() {
  local line
  line=$(verdict) # in a subshell: the status is set by finish()
  {
    echo "# ${name:-GPU}"
    echo
    echo "\`tests/gpu/run.sh\` wrote this page in $((SECONDS - begin)) s. All ranks share one GPU; except where a table says \"processes\", they also share one launch (engine/cuda/README.md)."
    echo
    echo "**Verdict: $line**"
    echo
    echo "| what | |"
    echo "|---|---|"
    echo "| compute capability | $capability |"
    echo "| driver | $driver |"
    echo "| the program reports | ${facts:-} |"
    echo "| nvcc | $(nvcc --version 2> /dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p') |"
    echo "| commit | $commit |"
    echo "| clocks (graphics, memory) | $(timeout -k 2 "$(share 1)" nvidia-smi --query-gpu=clocks.gr,clocks.mem --format=csv,noheader 2> /dev/null | head -1) |"
    echo "| tests | $(count passed) passed, $(count_bad) failed, $(count skipped) skipped, $(count left) not run |"
    cat "$logs/sanitizer.md" 2> /dev/null
    awk '$2 == "skipped" {$1 = $2 = $3 = ""; print}' "$logs/results.txt" | sort | uniq -c | sort -rn | head -5 |
      cells | sed -E 's/^ *([0-9]+) +(.*)/| skipped | \1 x \2 |/'
    if [[ $(count_bad) != 0 || -s $logs/wrong.txt ]]; then
      echo
      echo "## What is wrong"
      echo
      cells < "$logs/wrong.txt" | sed 's/^/- /'
      awk '$2 ~ /^(failed|crashed|hung)$/ {name = $1; result = $2; $1 = $2 = $3 = ""; sub(/^ */, ""); print "- " name " " result ": " $0}' "$logs/results.txt" | head -60 | cells
      [[ -s $logs/alone.txt ]] && { echo; echo "Run again, each in a process of its own:"; echo; sed 's/^/- /' "$logs/alone.txt" | head -60 | cells; }
    fi
    echo
    echo "## Targets for one H200"
    echo
    echo "| figure or tests | measured | target | verdict |"
    echo "|---|---|---|---|"
    target "every collective, algorithm, protocol of float32, bfloat16, float16, float8 on 2, 4, 8 ranks: the hosts' bits" \
      'CudaBits.EveryCollectiveAlgorithmAndProtocol'
    target "every type and operation: the hosts' bits" 'CudaBits.EveryTypeAndOperation'
    bars
    target "a rank that dies or hangs in a kernel: all ranks end within the time-out and report the rank that they waited for" \
      'ARankThatDoesNotCome|AWaitThatWillNotEnd|AnAbortEnds|ARankThatIsKilled|AnAbortOfOneRank|ARankThatDiesInAKernel'
    echo "| \`ringside hang\` names that rank from the dumps of such a job | | named | not part of this run: tests/cuda/hang_test.cpp checks it without a GPU |"
    cat "$logs/tables.md"
  } > "$page.next"
  mv "$page.next" "$page"
}
