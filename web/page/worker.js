'use strict';
// The page's worker: runs the program on the files that the page sends, off the page's thread. wasi.js and lzma.js precede it.

let program;  // the WebAssembly.Module

// Bytes that are read of a file at a time: a file of any size is never in memory as a whole. Each slice is a question to the
// browser's process, so that a file that is read to its end is asked for in larger ones.
const SMALLEST_SLICE = 1 << 20, LARGEST_SLICE = 16 << 20;

/// A file of the user's as one of wasi.js.
function blobFile(blob) {
  const reader = new FileReaderSync();
  let begin = 0;
  let held = new Uint8Array(0);
  let slice = SMALLEST_SLICE;
  return {
    size: blob.size,
    time: blob.lastModified ?? 0,
    read(offset, length) {
      if (offset < begin || offset + Math.min(length, blob.size - offset) > begin + held.length) {
        slice = offset > begin && offset <= begin + held.length ? Math.min(2 * slice, LARGEST_SLICE) : SMALLEST_SLICE;
        begin = offset;
        held = new Uint8Array(reader.readAsArrayBuffer(blob.slice(offset, offset + Math.max(length, slice))));
      }
      return held.subarray(offset - begin, offset - begin + length);
    },
  };
}

/// The names in a path. Those of an archive lead nowhere else.
const namesOfPath = (path) => path.split('/').filter((name) => name !== '' && name !== '.' && name !== '..');

/// Files by path as folders of wasi.js.
function treeOf(files) {
  const root = folder();
  root.entries.set('tmp', folder());
  for (const {path, blob} of files) {
    const names = namesOfPath(path);
    const last = names.pop();
    let at = root;
    for (const name of names) {
      if (!at.entries.get(name)?.entries) at.entries.set(name, folder());
      at = at.entries.get(name);
    }
    at.entries.set(last, blob instanceof Uint8Array ? bytesFile(blob) : blobFile(blob));
  }
  return root;
}

/// What the program has written: files in memory that were not given.
function writtenIn(root, given, path = '') {
  const all = [];
  for (const [name, node] of root.entries) {
    const at = path === '' ? name : `${path}/${name}`;
    if (node.entries) all.push(...writtenIn(node, given, at));
    else if (node.bytes && !given.has(at)) all.push({path: at, blob: node.read(0, node.size).slice()});
  }
  return all;
}

/// Runs one command line. Returns {status, out, error, written}; out and error are Blobs.
function runWords({words, files, total}, report) {
  const out = [];
  const error = [];
  let done = 0;
  let next = 0;
  const root = treeOf(files);
  let status;
  try {
    status = run(program, {
      words,
      environment: {PWD: '/', TZ: 'UTC', TMPDIR: '/tmp'},
      root,
      onOut: (chunk) => out.push(chunk),
      onError: (chunk) => error.push(chunk),
      onRead(count) {
        done += count;
        const now = performance.now();
        if (now < next) return;
        next = now + 50;
        report({done, total});
      },
    });
  } catch (trap) {
    error.push(new TextEncoder().encode(`error: the program ended: ${trap.message}\nhelp:  the installed ringside reads more than a page can hold\n`));
    status = 3;
  }
  return {status, out: new Blob(out), error: new Blob(error), written: writtenIn(root, new Set(files.map((one) => one.path)))};
}

/// Unpacks a tar: each file a slice of it. Knows ustar, GNU's long names and pax's paths.
async function untar(blob) {
  const files = [];
  const text = (bytes) => new TextDecoder().decode(bytes).replace(/\0.*$/s, '');
  let longName = '';
  for (let at = 0; at + 512 <= blob.size;) {
    const head = new Uint8Array(await blob.slice(at, at + 512).arrayBuffer());
    if (head.every((byte) => byte === 0)) break;
    // Sizes of 8 GiB and more are binary.
    const size = head[124] & 0x80 ? head.slice(125, 136).reduce((sum, byte) => sum * 256 + byte, 0) : parseInt(text(head.slice(124, 136)), 8) || 0;
    const type = String.fromCharCode(head[156]);
    const content = blob.slice(at + 512, at + 512 + size);
    const prefix = text(head.slice(257, 262)) === 'ustar' ? text(head.slice(345, 500)) : '';
    const name = longName || (prefix ? `${prefix}/` : '') + text(head.slice(0, 100));
    longName = '';
    if (type === 'L') longName = text(new Uint8Array(await content.arrayBuffer()));
    else if (type === 'x') longName = /^\d+ path=(.*)$/m.exec(await content.text())?.[1] ?? '';
    else if (type === '0' || type === '\0') files.push({path: name, blob: content});
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return files;
}

const isTar = async (blob) => blob.size >= 512 && (await blob.slice(257, 262).text()) === 'ustar';

/// Replaces archives by what they hold.
async function unpacked(files) {
  const all = [];
  for (const one of files) {
    let {blob} = one;
    const base = one.path.replace(/\.(tar|tgz|tzst|tar\.gz|tar\.zst)$/i, '');
    if (/\.(tgz|tzst|tar\.gz|tar\.zst)$/i.test(one.path)) {
      blob = runWords({words: ['--decompress', one.path], files: [one]}, () => {}).out;
    }
    if (await isTar(blob)) all.push(...(await untar(blob)).map((inner) => ({path: `${base}/${inner.path}`, blob: inner.blob})));
    else all.push(one);
  }
  return all;
}

/// What a file is, by its first bytes: trace, host (an XML or a cluster's file), or evidence of a job.
async function kindOf(blob) {
  const head = await blob.slice(0, 4096).text();
  if (head.slice(1, 8) === 'RTRACE\n') return 'trace';
  if (/^\s*(<\?xml[^>]*>\s*)?(<!DOCTYPE[^>]*>\s*)?<(system|topology)\b/.test(head)) return 'host';
  if (/^ringside: (host|cluster)\//m.test(head)) return 'host';
  return 'job';
}

const handlers = {
  start: async ({packed, compiled}) => {
    program = compiled ?? await WebAssembly.compile(unpackLzma(Uint8Array.from(atob(packed), (c) => c.charCodeAt(0))));
    return {compiled: program};
  },
  run: (request, report) => runWords(request, report),
  unpack: async ({files}) => {
    const all = [];
    for (const {path, blob} of await unpacked(files)) all.push({path: namesOfPath(path).join('/'), blob, kind: await kindOf(blob)});
    return {files: all.filter(({path}) => path !== '')};
  },
};

onmessage = async ({data}) => {
  const answer = (message) => postMessage({id: data.id, ...message});
  try {
    answer({done: await handlers[data.what](data, (progress) => answer({progress}))});
  } catch (problem) {
    answer({failed: String(problem.message ?? problem)});
  }
};
