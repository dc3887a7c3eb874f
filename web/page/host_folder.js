'use strict';
// The machine's files as a folder of wasi.js, for Node. What the program writes stays in memory until keep() writes it.

const fs = require('node:fs');
const path = require('node:path');

function hostFile(where, stat) {
  let fd = -1;
  return {
    size: stat.size,
    time: stat.mtimeMs,
    read(offset, length) {
      if (fd < 0) fd = fs.openSync(where, 'r');
      const room = new Uint8Array(length);
      return room.subarray(0, fs.readSync(fd, room, 0, length, offset));
    },
    close() {
      if (fd >= 0) fs.closeSync(fd);
      fd = -1;
    },
  };
}

/// Returns {root, close, keep}: the folder, and what ends and what writes.
function hostFolder(where = '/') {
  const files = [];
  const nodeOf = (at) => {
    let stat;
    try {
      stat = fs.lstatSync(at);
    } catch {
      return undefined;
    }
    if (stat.isSymbolicLink()) return {link: fs.readlinkSync(at), time: stat.mtimeMs};
    if (stat.isDirectory()) return folderOf(at, stat);
    const file = hostFile(at, stat);
    files.push(file);
    return file;
  };
  const folders = [];
  const folderOf = (at, stat) => {
    const known = new Map();
    const one = {
      at,
      time: stat?.mtimeMs ?? 0,
      entries: new Map(),
      find(name) {
        if (!known.has(name)) known.set(name, nodeOf(path.join(at, name)));
        return known.get(name);
      },
      list() {
        return fs.readdirSync(at);
      },
    };
    folders.push(one);
    return one;
  };
  return {
    root: folderOf(where),
    close: () => files.forEach((file) => file.close()),
    keep() {
      for (const {at, entries} of folders) {
        for (const [name, node] of entries) {
          if (node.bytes) fs.writeFileSync(path.join(at, name), node.read(0, node.size));
        }
      }
    },
  };
}

module.exports = {hostFolder};
