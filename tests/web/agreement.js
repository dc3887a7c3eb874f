#!/usr/bin/env node
'use strict';
// agreement.js NATIVE PROGRAM.wasm: over the given corpus and the tests' own dumps, the web's program writes what the
// native one does: stdout, stderr, exit status, and the page of --html.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {spawn} = require('node:child_process');
const {Worker, isMainThread, parentPort, workerData} = require('node:worker_threads');

const ROOT = path.resolve(__dirname, '../..');
const {runHere} = require(path.join(ROOT, 'web/page/run.js'));

const [native, program] = process.argv.slice(2).map((one) => path.resolve(one));
const shared = path.resolve(ROOT, process.env.RINGSIDE_SHARED || '../shared');
if (!fs.existsSync(program)) {
  console.log(`skipped: no ${program}: ./run web builds it`);
  process.exit(77);
}
// Two threads take the cases, one after the other, and use one module: what V8 has compiled of it for a case serves the next.
const THREADS = 2;
const folder = isMainThread ? '' : fs.mkdtempSync(path.join(os.tmpdir(), 'ringside-web-'));

const list = (at) => (fs.existsSync(at) ? fs.readdirSync(at).sort().map((name) => path.join(at, name)) : []);
const isFolder = (at) => fs.statSync(at).isDirectory();

/// Each case: the words, in which folder, and what stdin is. Those of one group are run in order, by one thread.
function cases() {
  const all = [];
  const add = (...words) => all.push({words, cwd: ROOT});
  const jobs = [...list(path.join(ROOT, 'tests/hangdetect/invented')), ...list(path.join(ROOT, 'tests/hangdetect/jobs'))];
  const logs = list(path.join(ROOT, 'tests/audit/cases')).filter((one) => one.endsWith('.log'));
  if (!fs.existsSync(path.join(shared, 'corpus'))) {
    if (workerData.isFirst) console.log(`left out: no corpus in ${shared}`);
  } else {
    const corpus = path.join(shared, 'corpus');
    logs.push(...list(path.join(corpus, 'logs')).filter((one) => one.endsWith('.log')));
    for (const name of ['pastes', 'pastes3']) logs.push(...list(path.join(corpus, name)));
    for (const name of ['fr', 'fr-torch', 'hang-pastes', 'hang-pastes3']) jobs.push(...list(path.join(corpus, name)).filter(isFolder));
    for (const one of list(path.join(shared, 'oracle/topologies'))) add('topo', '--on', one);
  }
  for (const one of logs) add('audit', one);
  for (const one of jobs) add('hang', one);
  logs.forEach((one, i) => {
    if (i % 4 === 0) add('audit', '--json', one);
    if (i % 4 === 1) add('hang', one);
    if (i % 4 === 2) add('audit', '--html', path.join(folder, 'page.html'), '--force', one);
    if (i % 4 === 3) add('audit', '--facts', '--threads', '3', one);
  });
  jobs.forEach((one, i) => {
    if (i % 4 === 0) add('hang', '--json', one);
    if (i % 4 === 1) add('hang', '--table', one);
    if (i % 4 === 2) add('hang', '--html', path.join(folder, 'page.html'), '--force', one);
    if (i % 4 === 3) add('audit', one);
  });
  const on = ['--on', 'dgx-h100', '--nodes', '2'];
  for (const line of fs.readFileSync(path.join(__dirname, 'lines.txt'), 'utf8').split('\n')) {
    if (line && !line.startsWith('#')) add(...line.split(' '));
  }
  // stdin: a log, a paste of several ranks, nothing.
  for (const input of [logs[0], logs[logs.length - 1], '/dev/null']) {
    for (const verb of ['audit', 'hang']) all.push({words: [verb, '-'], cwd: ROOT, input});
  }
  const trace = path.join(folder, 'run.rtrace');
  const ofTrace = (...words) => all.push({words, cwd: ROOT, group: 'trace'});
  ofTrace('sim', 'all_reduce', '--bytes', '64M', ...on, '--trace', trace, '--force');
  ofTrace('trace', 'info', trace);
  ofTrace('trace', 'info', '--calls', '--json', trace);
  ofTrace('trace', 'export', '--html', path.join(folder, 'page.html'), '--force', trace);
  ofTrace('trace', 'export', '--perfetto', trace, '-o', '-');
  return all;
}

function runNative({words, cwd, input}) {
  return new Promise((resolve) => {
    const child = spawn(native, words, {cwd, stdio: [input ? fs.openSync(input) : 'ignore', 'pipe', 'pipe'], env: {PATH: process.env.PATH, TZ: 'UTC'}});
    const out = [];
    const error = [];
    child.stdout.on('data', (chunk) => out.push(chunk));
    child.stderr.on('data', (chunk) => error.push(chunk));
    child.on('close', (status, signal) => resolve({status: status ?? signal, out: Buffer.concat(out), error: Buffer.concat(error)}));
  });
}

const page = () => {
  const at = path.join(folder, 'page.html');
  const text = fs.existsSync(at) ? fs.readFileSync(at) : Buffer.alloc(0);
  fs.rmSync(at, {force: true});
  return text;
};

/// What `sim` writes, without the seconds that the simulation took: a JSON member, and the last column of the table.
const withoutTimes = (text) => Buffer.from(text.toString().replace(/"wall_s": [\d.e+-]+/g, '"wall_s": 0').replace(/^( *\d+ .*?) +[\d.]+$/gm, '$1'));

/// Where two texts part: both lines.
function difference(a, b) {
  const left = a.toString().split('\n');
  const right = b.toString().split('\n');
  const at = left.findIndex((line, i) => line !== right[i]);
  const shown = at < 0 ? left.length : at;
  return `line ${shown + 1}\n    native: ${(left[shown] ?? '(end)').slice(0, 300)}\n    web:    ${(right[shown] ?? '(end)').slice(0, 300)}`;
}

/// Runs this thread's share. Returns how many, by verb, and what differs.
async function compareShare({wasm, taken, isFirst}) {
  const next = new Int32Array(taken);  // shared by the threads
  const count = {};
  const differing = [];
  const all = cases();
  const share = [...all.filter((one) => one.group && isFirst)];
  const single = all.filter((one) => !one.group);
  for (;;) {
    const one = share.shift() ?? single[Atomics.add(next, 0, 1)];
    if (one === undefined) break;
    const {words, cwd, input} = one;
    const expected = await runNative(one);
    expected.page = page();
    let found;
    try {
      found = runHere(wasm, words, {cwd, input: input ? fs.readFileSync(input) : undefined});
    } catch (trap) {
      found = {status: `trap: ${trap.stack}`, out: Buffer.alloc(0), error: Buffer.alloc(0)};
    }
    found.page = page();
    if (words[0] === 'sim') [expected.out, found.out] = [expected.out, found.out].map(withoutTimes);
    count[words[0]] = (count[words[0]] ?? 0) + 1;
    const parts = ['out', 'error', 'page'].filter((part) => !expected[part].equals(found[part]));
    if (expected.status === found.status && parts.length === 0) continue;
    const lines = [`ringside ${words.join(' ')}`];
    if (expected.status !== found.status) lines.push(`  status: native ${expected.status}, web ${found.status}`);
    for (const part of parts) lines.push(`  ${part}: ${difference(expected[part], found[part])}`);
    differing.push(lines.join('\n'));
  }
  return {count, differing};
}

async function main() {
  const begin = Date.now();
  const wasm = new WebAssembly.Module(fs.readFileSync(program));
  const taken = new SharedArrayBuffer(4);
  const answers = Array.from({length: THREADS}, (_, i) => new Promise((resolve, reject) => {
    const worker = new Worker(__filename, {argv: [native, program], workerData: {wasm, taken, isFirst: i === 0}});
    worker.on('message', resolve);
    worker.on('error', reject);
  }));
  const counts = {};
  const differing = [];
  for (const answer of await Promise.all(answers)) {
    for (const [verb, number] of Object.entries(answer.count)) counts[verb] = (counts[verb] ?? 0) + number;
    differing.push(...answer.differing);
  }
  for (const text of differing) console.log(text);
  const total = Object.values(counts).reduce((sum, number) => sum + number, 0);
  const verbs = Object.entries(counts).map(([verb, number]) => `${number} ${verb}`).join(', ');
  const {user, system} = process.cpuUsage();
  console.log(`${total - differing.length} of ${total} alike in ${((Date.now() - begin) / 1000).toFixed(0)} s: ${verbs}; ` +
    `the web's program took ${((user + system) / 1e6).toFixed(0)} CPU s`);
  process.exitCode = differing.length > 0 ? 1 : 0;
}

if (isMainThread) {
  main();
} else {
  compareShare(workerData).then((answer) => {
    fs.rmSync(folder, {recursive: true});
    parentPort.postMessage(answer);
  });
}
