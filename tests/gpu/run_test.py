#!/usr/bin/env python3
"""Runs run.sh with stand-ins for nvidia-smi, compute-sanitizer and the programs, and looks at the page.

    run_test.py STANDIN [CASE..]             tests that pass, fail, crash, hang and are deaf to SIGTERM: seconds
    run_test.py STANDIN --fibres DIR         the tests on fibres (ringside_cuda_test, ..) in place of those on a GPU: minutes

STANDIN is ringside_gpu_standin.
"""
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
STANDIN = None
FIBRES = None

SMI = """#!/bin/bash
case $* in
  -L) echo 'GPU 0: NVIDIA H200' ;;
  *clocks.gr*) echo '1980 MHz, 3201 MHz' ;;
  *) echo 'NVIDIA H200, 9.0, 575.57' ;;
esac
"""
NO_SMI = """#!/bin/bash
echo "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
exit 9
"""
SANITIZER = """#!/bin/bash
tool=$2
shift 4
echo '========= COMPUTE-SANITIZER'
[[ $RINGSIDE_STANDIN_SANITIZER == "$tool" ]] && { echo '========= Invalid __global__ read'; exit 9; }
exec "$@"
"""
TABLES = """#!/bin/bash
case $1 in
  --facts)
    [[ $RINGSIDE_STANDIN_TABLES == closed ]] && { echo 'error: no GPU: out of memory' >&2; exit 3; }
    [[ $RINGSIDE_STANDIN_TABLES == stuck ]] && sleep 100
    ls -l /proc/$PPID/fd >&2
    echo 'NVIDIA H200, sm_90' ;;
  --processes) echo '## two processes' ;;
  *)
    echo '| 1 GiB | | 80 % | not run |' > "$1"
    [[ $RINGSIDE_STANDIN_TABLES == crash ]] && kill -SEGV $$
    [[ $RINGSIDE_STANDIN_TABLES == fail ]] && { echo '| 8 | failed: time-out | |'; exit 1; }
    [[ $RINGSIDE_STANDIN_TABLES == wrong ]] && exit 1
    [[ $RINGSIDE_STANDIN_TABLES == deaf ]] && { trap '' TERM; while :; do sleep 1; done; }
    echo '| 1 GiB | 91.0 % | 80 % | met |' >> "$1"
    echo '## four ranks' ;;
esac
"""


# A test on fibres that takes a second, and what happens to the program at it.
AT = "Ranks/CudaBits.EveryCollectiveAlgorithmAndProtocolGivesTheHostsBits/8"
FIBRE_PROGRAM = r"""#!/bin/bash
[[ $* == *--gtest_list_tests* ]] && exec PROGRAM "$@"
[[ $RINGSIDE_STANDIN == deaf ]] && trap '' TERM
log=$(readlink /proc/$$/fd/1)
PROGRAM "$@" &
pid=$!
while kill -0 $pid 2> /dev/null; do
  sleep 0.02
  grep -q -F '[ RUN      ] AT' "$log" || continue
  [[ $RINGSIDE_STANDIN == crash ]] && kill -SEGV $pid
  [[ $RINGSIDE_STANDIN == hang || $RINGSIDE_STANDIN == deaf ]] && kill -STOP $pid
done
wait $pid
status=$?
if [[ $RINGSIDE_STANDIN == fail ]] && grep -q -F '[       OK ] AT' "$log"; then
  sed -i 's|^.       OK . AT|[  FAILED  ] AT|' "$log"
  status=1
fi
exit $status
"""


class Page:
    def __init__(self, out, seconds, folder):
        self.status, self.output, self.seconds = out.returncode, out.stdout, seconds
        path = folder / "out/page.md"
        self.text = path.read_text() if path.exists() else ""
        self.files = sorted(one.name for one in (folder / "out").iterdir())
        with tarfile.open(folder / "out/logs.tgz") as logs:
            self.logs = {one.name: logs.extractfile(one).read().decode(errors="replace") for one in logs if one.isfile()}

    @property
    def verdict(self):
        return re.search(r"\*\*Verdict: (.*)\*\*", self.text).group(1)

    def row(self, begin):
        return next(line for line in self.text.splitlines() if line.startswith("| " + begin))


class RunTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix=f"gpu_run_{os.getpid()}_"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.binaries = self.folder / "binaries"
        for name in ("tools", "binaries", "dev"):
            (self.folder / name).mkdir()
        self.put("tools/nvidia-smi", SMI)
        self.put("tools/compute-sanitizer", SANITIZER)
        self.put("binaries/ringside_gpu_page", TABLES)
        (self.binaries / "COMMIT").write_text("abc1234\n")
        (self.folder / "dev/nvidia0").touch()
        if FIBRES is None:
            (self.binaries / "ringside_gpu_test").symlink_to(STANDIN)
            # The one that has to do something else than to pass is the other one.
            self.put("binaries/ringside_gpu_processes_test", f"#!/bin/bash\nunset RINGSIDE_STANDIN\nexec {STANDIN} \"$@\"\n")
        else:
            self.put("binaries/ringside_gpu_test", FIBRE_PROGRAM.replace("PROGRAM", f"{FIBRES}/ringside_cuda_test").replace("AT", AT))
            (self.binaries / "ringside_gpu_processes_test").symlink_to(FIBRES / "ringside_cuda_processes_test")

    def put(self, path, text):
        (self.folder / path).write_text(text)
        (self.folder / path).chmod(0o755)

    def begin(self, seconds, **variables):
        environment = dict(os.environ, PATH=f"{self.folder}/tools:{os.environ['PATH']}", RINGSIDE_GPU_BINARIES=str(self.binaries),
                           RINGSIDE_GPU_SECONDS=str(seconds), RINGSIDE_GPU_DEVICES=str(self.folder / "dev"), **variables)
        # With this process run.sh ends, too, however this one ends, and with run.sh its programs.
        return subprocess.Popen(["setpriv", "--pdeathsig", "TERM", HERE / "run.sh", self.folder / "out"], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def run_page(self, seconds=60, **variables):
        began = time.monotonic()
        process = self.begin(seconds, **variables)
        process.stdout_text = process.communicate()[0]
        process.stdout = process.stdout_text
        page = Page(process, time.monotonic() - began, self.folder)
        self.assertEqual(page.files, ["logs.tgz", "page.md"] if page.text else ["logs.tgz"])
        return page

    def begin_tests(self, **variables):
        """returns  run.sh, whose first test does what RINGSIDE_STANDIN says"""
        process = self.begin(60, **variables)
        for line in process.stdout:
            if line.rstrip().endswith(" s: tests"):
                break
        time.sleep(0.5)
        return process

    def assert_ends(self, path):
        """All processes whose command line has that path."""
        for _ in range(100):
            left = subprocess.run(["pgrep", "-f", str(path)], stdout=subprocess.PIPE, text=True, check=False).stdout
            if not left:
                return
            time.sleep(0.1)
        self.fail(f"not ended: {left}")

    def assert_complete(self, page):
        """Each stage has left what it leaves."""
        self.assertRegex(page.row("the program reports"), "sm_90")
        self.assertIn("## four ranks", page.text)
        self.assertIn("## two processes", page.text)
        self.assertRegex(page.row("compute-sanitizer racecheck"), "no problem found")
        self.assertRegex(page.row("commit"), "abc1234")
        self.assertIn("met", page.row("1 GiB"))
        self.assertNotIn("unfinished", page.verdict)


class StandIns(RunTest):
    # 6 tests and 2 of the grid of the one, of the other all but Ipc's of the grid. One of each is skipped.
    def test_passing(self):
        page = self.run_page()
        self.assert_complete(page)
        self.assertEqual((page.status, page.verdict), (0, "passed"), page.text)
        self.assertRegex(page.row("tests"), r"13 passed, 0 failed, 2 skipped, 0 not run")
        self.assertRegex(page.row("every type and operation"), "2 passed.*met")
        self.assertRegex(page.row("skipped"), "2 x needs 4 GPUs")
        # What takes longest comes last.
        self.assertRegex(page.logs["logs/results.txt"].splitlines()[-1], "CudaProcessGrid.* ringside_gpu_processes_test")

    def test_failing(self):
        page = self.run_page(RINGSIDE_STANDIN="fail")
        self.assert_complete(page)
        self.assertEqual((page.status, page.verdict), (1, "FAILED: tests that failed: 1"))
        self.assertIn("- CudaMiddle.DoesAsRequested failed: 3 wrong   elements", page.text)
        self.assertIn("- CudaMiddle.DoesAsRequested alone: fails", page.text)
        self.assertRegex(page.row("tests"), r"12 passed, 1 failed, 2 skipped, 0 not run")

    def test_an_illegal_access_fails_no_other_test(self):
        page = self.run_page(RINGSIDE_STANDIN="break_context")
        self.assert_complete(page)
        self.assertEqual((page.status, page.verdict), (1, "FAILED: tests that failed: 1"), page.text)
        self.assertRegex(page.row("tests"), r"12 passed, 1 failed, 2 skipped, 0 not run")
        # Only once, since no test runs in the process behind it.
        self.assertEqual(page.logs["logs/tests.log"].count("an illegal memory access"), 1)

    def test_a_victim_of_other_tests_passes_alone(self):
        page = self.run_page(RINGSIDE_STANDIN="fail_in_company")
        self.assertEqual((page.status, page.verdict), (1, "FAILED: tests that failed: 1"), page.text)
        self.assertIn("- CudaMiddle.FailsInCompanyAlone alone: passes", page.text)

    def test_crashing(self):
        page = self.run_page(RINGSIDE_STANDIN="crash")
        self.assert_complete(page)
        self.assertEqual((page.status, page.verdict), (1, "FAILED: tests that failed: 1"), page.text)
        self.assertIn("- CudaMiddle.DoesAsRequested crashed: signal 11 (SIGSEGV)", page.text)
        self.assertRegex(page.row("tests"), r"12 passed, 1 failed, 2 skipped, 0 not run")

    def test_leaving_in_the_middle_is_no_success(self):
        page = self.run_page(RINGSIDE_STANDIN="exit")
        self.assertEqual((page.status, page.verdict), (1, "FAILED: tests that failed: 1"), page.text)
        self.assertIn("- CudaMiddle.DoesAsRequested crashed: ended with status 0", page.text)

    def test_a_program_that_fails_behind_its_tests(self):
        page = self.run_page(RINGSIDE_STANDIN="exit_badly")
        self.assert_complete(page)
        self.assertEqual((page.status, page.verdict), (1, "FAILED: other errors: 1"), page.text)
        self.assertIn("- ringside_gpu_test, outside of its tests: ended with status 9", page.text)

    def test_a_child_that_is_left_behind_is_killed(self):
        page = self.run_page(RINGSIDE_STANDIN="leave_child")
        self.assertEqual((page.status, page.verdict), (0, "passed"), page.text)
        self.assert_ends(self.binaries)

    def hang(self, what):
        page = self.run_page(seconds=40, RINGSIDE_STANDIN=what)
        self.assert_complete(page)
        self.assertEqual((page.status, page.verdict), (1, "FAILED: tests that failed: 1"), page.text)
        self.assertIn("- CudaMiddle.DoesAsRequested hung: no output for 3 s", page.text)
        self.assertIn("- CudaMiddle.DoesAsRequested alone: hung", page.text)
        self.assertRegex(page.row("tests"), r"12 passed, 1 failed, 2 skipped, 0 not run")

    def test_hanging(self):
        self.hang("hang")

    def test_deaf_to_sigterm(self):
        self.hang("deaf")

    def test_what_prints_for_ever_takes_no_more_than_its_stage(self):
        page = self.run_page(seconds=20, RINGSIDE_STANDIN="chatter")
        self.assertEqual(page.status, 1, page.text)
        self.assertRegex(page.verdict, r"^incomplete: .*: 6 \(CudaMiddle.DoesAsRequested was running\); what ran is fine")
        self.assertIn("## two processes", page.text)

    def test_a_gpu_that_does_not_open_fails_the_page(self):
        page = self.run_page(RINGSIDE_STANDIN_TABLES="closed")
        self.assertEqual((page.status, page.verdict), (1, "FAILED: other errors: 1"), page.text)
        self.assertRegex(page.text, r"- the GPU does not open \(ended with status 3\): error: no GPU: out of memory")
        self.assertNotIn("ringside_gpu_test", page.output)

    def test_a_gpu_that_does_not_answer_fails_the_page(self):
        page = self.run_page(RINGSIDE_STANDIN_TABLES="stuck")
        self.assertEqual((page.status, page.verdict), (1, "FAILED: other errors: 1"), page.text)
        self.assertRegex(page.text, r"- the GPU does not open \(hung: (not done after|no output for) 6 s")

    def test_tables_that_crash_leave_the_tests(self):
        page = self.run_page(RINGSIDE_STANDIN_TABLES="crash")
        self.assertEqual((page.status, page.verdict), (1, "FAILED: other errors: 1"), page.text)
        self.assertIn("- tables: crashed: signal 11 (SIGSEGV)", page.text)
        self.assertRegex(page.row("1 GiB"), "not run")
        self.assertRegex(page.row("tests"), r"13 passed")

    def test_a_size_that_fails_is_named(self):
        page = self.run_page(RINGSIDE_STANDIN_TABLES="fail")
        self.assertEqual(page.status, 1)
        self.assertIn("- tables:   8   failed: time-out", page.text)
        self.assertIn("## two processes", page.text)

    def test_wrong_elements_in_a_table(self):
        page = self.run_page(RINGSIDE_STANDIN_TABLES="wrong")
        self.assertEqual((page.status, page.verdict), (1, "FAILED: other errors: 1"), page.text)
        self.assertIn("- tables: wrong elements", page.text)

    def test_tables_deaf_to_sigterm_leave_the_tests(self):
        page = self.run_page(RINGSIDE_STANDIN_TABLES="deaf")
        self.assertEqual((page.status, page.verdict), (1, "FAILED: other errors: 1"), page.text)
        self.assertRegex(page.row("tests"), r"13 passed")

    def test_what_the_sanitizer_finds(self):
        page = self.run_page(RINGSIDE_STANDIN_SANITIZER="racecheck")
        self.assertEqual((page.status, page.verdict), (1, "FAILED: other errors: 1"), page.text)
        self.assertRegex(page.text, r"- compute-sanitizer racecheck, status 9: ========= Invalid __global__ read")
        self.assertRegex(page.row("compute-sanitizer memcheck"), "no problem found")

    def test_a_program_without_tests_is_no_success(self):
        self.put("binaries/ringside_gpu_processes_test", "#!/bin/bash\n")
        page = self.run_page()
        self.assertEqual((page.status, page.verdict), (1, "FAILED: other errors: 2"), page.text)
        self.assertIn("- ringside_gpu_processes_test has no tests -*CudaProcessGrid*", page.text)

    def test_tests_that_no_time_is_left_for_are_no_success(self):
        slow = "#!/bin/bash\n[[ $* == *list_tests* ]] || for i in {1..40}; do echo; sleep 0.2; done\n"
        self.put("binaries/ringside_gpu_processes_test", f"{slow}unset RINGSIDE_STANDIN\nexec {STANDIN} \"$@\"\n")
        page = self.run_page(seconds=12)
        self.assertEqual(page.status, 1, page.text)
        self.assertRegex(page.verdict, "^incomplete: tests that no time was left for: [0-9]+; what ran is fine")

    def test_the_driver_stays_open_between_programs(self):
        page = self.run_page()
        self.assertIn(str(self.folder / "dev/nvidia0"), page.logs["logs/facts.log"])

    def test_without_nvidia_smi_or_driver_it_cannot_run(self):
        self.put("tools/nvidia-smi", NO_SMI)
        page = self.run_page()
        self.assertEqual(page.status, 3)
        self.assertIn("nvidia-smi: NVIDIA-SMI has failed", page.output)
        self.assertEqual(page.text, "")

    def test_an_nvidia_smi_that_does_not_answer(self):
        self.put("tools/nvidia-smi", "#!/bin/bash\nexec sleep 100\n")
        page = self.run_page()
        self.assertEqual(page.status, 3)
        self.assertIn("nvidia-smi: no answer within 3 s", page.output)

    # No signal that is sent to run.sh reaches a program that has a process group of its own.
    def test_a_page_is_there_when_it_is_ended_itself(self):
        process = self.begin_tests(RINGSIDE_STANDIN="deaf")
        process.send_signal(signal.SIGTERM)
        process.stdout = process.communicate()[0]
        page = Page(process, 0, self.folder)
        self.assertEqual(page.status, 1)
        self.assertTrue(page.verdict.startswith('unfinished: stage "tests"'), page.verdict)
        self.assertIn("CudaMiddle.DoesAsRequested", page.logs["logs/this.log"])
        self.assert_ends(self.binaries)

    def test_no_program_outlives_it_when_it_is_killed(self):
        process = self.begin_tests(RINGSIDE_STANDIN="deaf")
        process.kill()
        process.communicate()
        self.assert_ends(self.folder)

    def test_no_program_outlives_this_test(self):
        test = subprocess.Popen([sys.executable, __file__, STANDIN, "StandIns.test_deaf_to_sigterm"], stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL, env=dict(os.environ, TMPDIR=str(self.folder)))
        while subprocess.run(["pgrep", "-f", f"{self.folder}/gpu_run.*gtest_fail_fast"], stdout=subprocess.DEVNULL, check=False).returncode:
            self.assertIsNone(test.poll())
            time.sleep(0.1)
        test.kill()
        test.wait()
        self.assert_ends(f"{self.folder}/gpu_run")

    def test_the_page_is_written_though_nobody_reads_the_output(self):
        process = self.begin_tests()
        process.stdout.close()
        process.wait()
        self.assertIn("**Verdict: passed**", (self.folder / "out/page.md").read_text())

    def test_what_prints_without_end_does_not_fill_the_disk(self):
        page = self.run_page(RINGSIDE_STANDIN="flood")
        self.assert_complete(page)
        self.assertEqual((page.status, page.verdict), (1, "FAILED: tests that failed: 1"), page.text)
        self.assertIn("- CudaMiddle.DoesAsRequested hung: more than 50 MB of output", page.text)
        self.assertLess(len(page.logs["logs/tests.log"]), 60_000_000)

    def test_a_program_that_does_not_list_its_tests(self):
        self.put("binaries/ringside_gpu_processes_test", "#!/bin/bash\nexec sleep 1000\n")
        page = self.run_page()
        self.assert_complete(page)
        self.assertEqual((page.status, page.verdict), (1, "FAILED: other errors: 2"), page.text)

    def test_a_program_that_runs_no_test(self):
        self.put("binaries/ringside_gpu_processes_test",
                 f'#!/bin/bash\n[[ $* == *list_tests* ]] || exit 0\nexec {STANDIN} "$@"\n')
        page = self.run_page()
        self.assertEqual((page.status, page.verdict), (1, "FAILED: other errors: 2"), page.text)
        self.assertIn("- ringside_gpu_processes_test runs none of the tests that it lists: ended with status 0", page.text)

    def test_a_wrong_command_line(self):
        for arguments, seconds in ((["--help"], "60"), (["a", "b"], "60"), (["out"], "0"), (["out"], "8m")):
            done = subprocess.run([HERE / "run.sh", *arguments], cwd=self.folder, stderr=subprocess.DEVNULL, check=False,
                                  env=dict(os.environ, RINGSIDE_GPU_SECONDS=seconds))
            self.assertEqual(done.returncode, 2, (arguments, seconds))

    def test_a_folder_of_other_files_is_kept(self):
        (self.folder / "out/logs").mkdir(parents=True)
        (self.folder / "out/logs/mine").touch()
        process = self.begin(60)
        self.assertIn("not from run.sh", process.communicate()[0])
        self.assertEqual(process.returncode, 3)
        self.assertTrue((self.folder / "out/logs/mine").exists())


class OnFibres(RunTest):
    """In the time that a GPU is given. A machine that is busy with something else may need more: RINGSIDE_GPU_SECONDS."""

    SECONDS = int(os.environ.get("RINGSIDE_GPU_SECONDS", 460))

    def setUp(self):
        if FIBRES is None:
            self.skipTest("without --fibres")
        super().setUp()

    def run_fibres(self, what):
        page = self.run_page(seconds=self.SECONDS, RINGSIDE_STANDIN=what)
        print(f"{what}: {page.seconds:.0f} s", file=sys.stderr)
        self.assert_complete(page)
        return page

    def test_passing(self):
        page = self.run_fibres("pass")
        self.assertEqual((page.status, page.verdict), (0, "passed"), page.text)
        self.assertRegex(page.row("every collective"), "3 passed, 0 failed, 0 skipped, 0 not run.*met")

    def assert_found(self, what, how):
        page = self.run_fibres(what)
        self.assertEqual((page.status, page.verdict), (1, "FAILED: tests that failed: 1"), page.text)
        self.assertIn(f"- {AT} {how}", page.text)
        self.assertRegex(page.row("every collective"), "2 passed, 1 failed, 0 skipped, 0 not run.*missed")
        self.assertRegex(page.row("a rank that dies"), "met")

    def test_failing(self):
        self.assert_found("fail", "failed")

    def test_crashing(self):
        self.assert_found("crash", "crashed: signal 11 (SIGSEGV)")

    def test_hanging(self):
        self.assert_found("hang", "hung: no output for ")

    def test_deaf_to_sigterm(self):
        self.assert_found("deaf", "hung: no output for ")


if __name__ == "__main__":
    STANDIN = Path(sys.argv.pop(1)).resolve()
    if sys.argv[1:2] == ["--fibres"]:
        FIBRES = Path(sys.argv[2]).resolve()
        sys.argv[1:] = sys.argv[3:] or ["OnFibres"]
    unittest.main(verbosity=2)
