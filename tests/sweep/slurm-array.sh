#!/usr/bin/env bash
# slurm-array.sh RINGSIDE FOLDER: a sweep of 50 points as an array of 4 tasks, on the Slurm of two nodes that
# tests/launchers/slurm.sh makes of this machine; a task's worker is killed in the middle. Every point must be there, and none
# done twice. Status 77: something is missing, and the last line says what.
set -euo pipefail

if [[ ${1:-} != --inside ]]; then
  command -v sqlite3 >/dev/null || {
    echo "skipped: no sqlite3: apt-get install sqlite3"
    exit 77
  }
  here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
  exec "$here/../launchers/slurm.sh" "$here/slurm-array.sh" --inside "$(realpath "$1")" "$(realpath -m "$2")"
fi
ringside=$2
folder=$3

rm -rf "$folder"
mkdir -p "$folder"
cat >"$folder/fifty.yaml" <<'YAML'
ringside: sweep/1
name: fifty
clusters: {two: {on: dgx-h100, nodes: 2}}
workloads: {8B: {ddp: {model: llama3-8b, sequence: 512, gpu: h100, efficiency: 0.5, data: 16}}}
vary: ['workload.bucket_cap_mb=10,20,30,40,50', 'nics=1,2,4,6,8', 'nccl=2.27,2.30']
YAML
cat >"$folder/job.sh" <<JOB
#!/bin/bash
exec "$ringside" sweep "$folder/fifty.yaml" -o "$folder/results"
JOB

# ask SQL: one number; 0 while the results are not there.
ask() {
  sqlite3 -cmd '.timeout 10000' "$folder/results/results.sqlite" "$1" 2>/dev/null || echo 0
}

job=$(sbatch --parsable --array=1-4 --cpus-per-task=1 --output="$folder/task-%a.out" "$folder/job.sh")
killed=no
for _ in $(seq 2400); do
  if [[ $killed == no ]]; then
    finished=$(ask 'select count(result) from points')
    working='select pid from workers where id in (select worker from points where result is null and worker not null) limit 1'
    if ((finished >= 10 && finished < 45)) && victim=$(ask "$working") && ((victim > 1)) && kill -9 "$victim"; then
      killed=yes
      echo "killed a worker after $finished points"
    fi
  fi
  [[ -n $(squeue -h -j "$job") ]] || break
  sleep 0.1
done

all=$(ask 'select count(*) from points')
finished=$(ask 'select count(result) from points')
workers=$(ask 'select count(distinct worker) from attempts')
attempts=$(ask 'select count(*) from attempts')
pages=$(find "$folder" -name index.html | wc -l)
echo "points $all, finished $finished, tasks that worked $workers, attempts $attempts, pages $pages"
# A point that the killed one was at is begun again; no other is.
[[ $killed == yes && $all == 50 && $finished == 50 && $workers == 4 && $attempts -le 51 && $pages == 1 ]]
