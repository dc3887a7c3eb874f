#!/usr/bin/env node
'use strict';
// agreement.js NATIVE PROGRAM.wasm: over the given corpus and the tests' own dumps, the web's program writes what the
// native one does: stdout, stderr, exit status, and the page of --html.

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const {spawn} = require('node:child_process');

const ROOT = path.resolve(__dirname, '../..');
const {runHere} = require(path.join(ROOT, 'web/page/run.js'));

const [native, program] = process.argv.slice(2).map((one) => path.resolve(one));
const shared = path.resolve(ROOT, process.env.RINGSIDE_SHARED || '../shared');
if (!fs.existsSync(program)) {
  console.log(`skipped: no ${program}: ./run web builds it`);
  process.exit(77);
}
const wasm = new WebAssembly.Module(fs.readFileSync(program));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ringside-web-'));

const list = (at) => (fs.existsSync(at) ? fs.readdirSync(at).sort().map((name) => path.join(at, name)) : []);
const isFolder = (at) => fs.statSync(at).isDirectory();

/// Each case: the words, and in which folder.
function cases() {
  const all = [];
  const add = (...words) => all.push({words, cwd: ROOT});
  const jobs = [...list(path.join(ROOT, 'tests/hangdetect/invented')), ...list(path.join(ROOT, 'tests/hangdetect/jobs'))];
  const logs = list(path.join(ROOT, 'tests/audit/cases')).filter((one) => one.endsWith('.log'));
  if (!fs.existsSync(path.join(shared, 'corpus'))) {
    console.log(`left out: no corpus in ${shared}`);
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
  const trace = path.join(folder, 'run.rtrace');
  all.push({words: ['sim', 'all_reduce', '--bytes', '64M', ...on, '--trace', trace], cwd: ROOT, makes: trace});
  for (const words of [['info', trace], ['info', '--calls', '--json', trace], ['export', '--html', path.join(folder, 'page.html'), '--force', trace],
    ['export', '--perfetto', trace, '-o', '-']]) add('trace', ...words);
  return all;
}

function runNative({words, cwd}) {
  return new Promise((resolve) => {
    const child = spawn(native, words, {cwd, stdio: ['ignore', 'pipe', 'pipe'], env: {PATH: process.env.PATH, TZ: 'UTC'}});
    const out = [];
    const error = [];
    child.stdout.on('data', (chunk) => out.push(chunk));
    child.stderr.on('data', (chunk) => error.push(chunk));
    child.on('close', (status) => resolve({status, out: Buffer.concat(out), error: Buffer.concat(error)}));
  });
}

const page = () => {
  const at = path.join(folder, 'page.html');
  const text = fs.existsSync(at) ? fs.readFileSync(at) : Buffer.alloc(0);
  fs.rmSync(at, {force: true});
  return text;
};

/// Where two texts part: both lines.
function difference(a, b) {
  const left = a.toString().split('\n');
  const right = b.toString().split('\n');
  const at = left.findIndex((line, i) => line !== right[i]);
  const shown = at < 0 ? left.length : at;
  return `line ${shown + 1}\n    native: ${(left[shown] ?? '(end)').slice(0, 300)}\n    web:    ${(right[shown] ?? '(end)').slice(0, 300)}`;
}

async function main() {
  const all = cases();
  let failed = 0;
  const count = {};
  for (const one of all) {
    const {words, cwd} = one;
    const expected = await runNative(one);
    expected.page = page();
    let found;
    try {
      found = runHere(wasm, words, {cwd});
    } catch (trap) {
      found = {status: `trap: ${trap.stack}`, out: Buffer.alloc(0), error: Buffer.alloc(0)};
    }
    found.page = page();
    count[words[0]] = (count[words[0]] ?? 0) + 1;
    const parts = ['out', 'error', 'page'].filter((part) => !expected[part].equals(found[part]));
    if (expected.status === found.status && parts.length === 0) continue;
    ++failed;
    console.log(`ringside ${words.join(' ')}`);
    if (expected.status !== found.status) console.log(`  status: native ${expected.status}, web ${found.status}`);
    for (const part of parts) console.log(`  ${part}: ${difference(expected[part], found[part])}`);
  }
  fs.rmSync(folder, {recursive: true});
  const counts = Object.entries(count).map(([verb, number]) => `${number} ${verb}`).join(', ');
  console.log(`${all.length - failed} of ${all.length} alike: ${counts}`);
  process.exitCode = failed ? 1 : 0;
}

main();
