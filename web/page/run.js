#!/usr/bin/env node
'use strict';
// run.js PROGRAM.wasm WORDS...: the web's program on this machine's files, as `ringside WORDS...`.

const fs = require('node:fs');
const {run} = require('./wasi.js');
const {hostFolder} = require('./host_folder.js');

/// Runs it in the folder. Returns {status, out, error}: what it wrote, as Buffers.
function runHere(module, words, {cwd = process.cwd(), input} = {}) {
  const host = hostFolder();
  const out = [];
  const error = [];
  try {
    const status = run(module, {
      words,
      environment: {PWD: cwd, TZ: 'UTC'},
      root: host.root,
      input,
      onOut: (chunk) => out.push(chunk),
      onError: (chunk) => error.push(chunk),
    });
    host.keep();
    return {status, out: Buffer.concat(out), error: Buffer.concat(error)};
  } finally {
    host.close();
  }
}

module.exports = {runHere};

if (require.main === module) {
  const [program, ...words] = process.argv.slice(2);
  const input = process.stdin.isTTY ? new Uint8Array(0) : new Uint8Array(words.includes('-') ? fs.readFileSync(0) : 0);
  const {status, out, error} = runHere(new WebAssembly.Module(fs.readFileSync(program)), words, {input});
  fs.writeSync(1, out);
  fs.writeSync(2, error);
  process.exitCode = status;
}
