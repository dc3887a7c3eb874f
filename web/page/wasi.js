'use strict';
// What the program asks of its system (WASI preview 1), in memory: for the page's worker, and in Node for the tests. Files that
// it is given are read where they lie, a slice at a time; what it writes stays in memory.
//
// A node of the file system is a folder or a file:
//   folder  {entries: Map of name to node}, or {find(name), list()} for one that is looked up on demand
//   file    {size, read(offset, length) -> Uint8Array}; one that was written has {bytes, size}

const ERRNO = {SUCCESS: 0, ACCES: 2, BADF: 8, EXIST: 20, INVAL: 28, ISDIR: 31, LOOP: 32, NOENT: 44, NOSYS: 52, NOTDIR: 54,
  NOTEMPTY: 55, PIPE: 64, ROFS: 69, SPIPE: 70, NOTSUP: 58};
const TYPE = {CHARACTER: 2, FOLDER: 3, FILE: 4, LINK: 7};

/// Thrown when the program ends.
class Exit extends Error {
  constructor(status) {
    super(`exit ${status}`);
    this.status = status;
  }
}

/// A file in memory.
function bytesFile(bytes = new Uint8Array(0)) {
  return {
    bytes,
    size: bytes.length,
    time: 0,
    read(offset, length) {
      return this.bytes.subarray(offset, Math.min(this.size, offset + length));
    },
    write(offset, chunk) {
      const end = offset + chunk.length;
      if (end > this.bytes.length) {
        const grown = new Uint8Array(Math.max(end, 2 * this.bytes.length, 4096));
        grown.set(this.bytes.subarray(0, this.size));
        this.bytes = grown;
      }
      this.bytes.set(chunk, offset);
      this.size = Math.max(this.size, end);
    },
    truncate(size) {
      if (size > this.bytes.length) this.write(size - 1, new Uint8Array(1));
      if (size < this.size) this.bytes.fill(0, size, this.size);
      this.size = size;
    },
  };
}

function folder() {
  return {entries: new Map(), time: 0};
}

const isFolder = (node) => node.entries !== undefined || node.find !== undefined;
const childOf = (node, name) => (node.entries ? node.entries.get(name) : undefined) ?? node.find?.(name);
const namesOf = (node) => [...new Set([...(node.list?.() ?? []), ...(node.entries?.keys() ?? [])])];

/// Follows a path from a folder. Returns {node} or {error}; {parent, name} too where the last folder exists.
function lookUp(root, path, follow = true, depth = 0) {
  const trail = [root];
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  for (let i = 0; i < names.length; ++i) {
    const name = names[i];
    const at = trail[trail.length - 1];
    if (name === '..') {
      if (trail.length > 1) trail.pop();
      continue;
    }
    if (!isFolder(at)) return {error: ERRNO.NOTDIR};
    const node = childOf(at, name);
    const isLast = i === names.length - 1;
    if (node === undefined) return isLast ? {error: ERRNO.NOENT, parent: at, name} : {error: ERRNO.NOENT};
    if (node.link !== undefined && (follow || !isLast)) {
      if (depth > 20) return {error: ERRNO.LOOP};
      const rest = names.slice(i + 1).join('/');
      const target = node.link.startsWith('/') ? node.link : `${names.slice(0, i).join('/')}/${node.link}`;
      return lookUp(root, `${target}/${rest}`, follow, depth + 1);
    }
    if (isLast) return {node, parent: at, name};
    trail.push(node);
  }
  return {node: trail[trail.length - 1]};
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/// Runs the program once.
///
/// module    a WebAssembly.Module
/// options   {words, environment, root: folder, input: Uint8Array, onOut(bytes), onError(bytes), onRead(count)}
/// returns   the exit status
/// errors    a WebAssembly.RuntimeError where the program ends by a trap
function run(module, options) {
  const {words, environment = {}, root, input = new Uint8Array(0), onOut, onError, onRead} = options;
  let memory;
  const view = () => new DataView(memory.buffer);
  const bytes = (at, size) => new Uint8Array(memory.buffer, at, size);
  const text = (at, size) => decoder.decode(bytes(at, size));

  let inputAt = 0;
  const stream = (write) => ({kind: 'stream', write});
  const open = new Map([
    [0, {kind: 'input'}],
    [1, stream(onOut)],
    [2, stream(onError)],
    [3, {kind: 'folder', node: root, name: '/'}],
  ]);
  let nextFd = 4;
  const numbers = new Map();  // inodes: each node has one
  const inodeOf = (node) => {
    if (!numbers.has(node)) numbers.set(node, BigInt(numbers.size + 1));
    return numbers.get(node);
  };

  const strings = (list) => list.map((one) => encoder.encode(`${one}\0`));
  const put = (list, pointers, buffer) => {
    for (const one of list) {
      view().setUint32(pointers, buffer, true);
      bytes(buffer, one.length).set(one);
      pointers += 4;
      buffer += one.length;
    }
    return 0;
  };
  const putSizes = (list, count, size) => {
    view().setUint32(count, list.length, true);
    view().setUint32(size, list.reduce((sum, one) => sum + one.length, 0), true);
    return 0;
  };
  const args = strings(['ringside', ...words]);
  const env = strings(Object.entries(environment).map(([name, value]) => `${name}=${value}`));

  const typeOf = (node) => (node.link !== undefined ? TYPE.LINK : isFolder(node) ? TYPE.FOLDER : TYPE.FILE);
  const putStat = (at, node) => {
    const out = view();
    out.setBigUint64(at, 1n, true);
    out.setBigUint64(at + 8, inodeOf(node), true);
    out.setUint8(at + 16, typeOf(node));
    out.setBigUint64(at + 24, 1n, true);
    out.setBigUint64(at + 32, BigInt(isFolder(node) ? 0 : node.size ?? 0), true);
    const time = BigInt(Math.round((node.time ?? 0) * 1e6));
    for (const offset of [40, 48, 56]) out.setBigUint64(at + offset, time, true);
    return 0;
  };
  const vectors = (at, count) => {
    const all = [];
    for (let i = 0; i < count; ++i) {
      all.push([view().getUint32(at + 8 * i, true), view().getUint32(at + 8 * i + 4, true)]);
    }
    return all;
  };
  const readFrom = (node, offset, list) => {
    let total = 0;
    for (const [at, size] of list) {
      if (size === 0) continue;
      const chunk = node.read(offset + total, size);
      bytes(at, chunk.length).set(chunk);
      total += chunk.length;
      if (chunk.length < size) break;
    }
    onRead?.(total);
    return total;
  };
  const writeTo = (node, offset, list) => {
    let total = 0;
    for (const [at, size] of list) {
      node.write(offset + total, bytes(at, size).slice());
      total += size;
    }
    return total;
  };
  const now = (clock) => BigInt(Math.round((clock === 0 ? Date.now() : performance.now()) * 1e6));
  const resolve = (fd, at, size, follow = true) => {
    const folderAt = open.get(fd);
    if (folderAt?.kind !== 'folder') return {error: ERRNO.BADF};
    const path = text(at, size);
    // Linux's names for open files, and one for a file without any other name (posix.c: memfd_create).
    const own = /^\/?proc\/self\/fd\/(\d+|new)$/.exec(path)?.[1];
    if (own === 'new') return {node: bytesFile()};
    const node = own && open.get(Number(own))?.node;
    return node ? {node} : lookUp(folderAt.node, path, follow);
  };

  const system = {
    args_get: (pointers, buffer) => put(args, pointers, buffer),
    args_sizes_get: (count, size) => putSizes(args, count, size),
    environ_get: (pointers, buffer) => put(env, pointers, buffer),
    environ_sizes_get: (count, size) => putSizes(env, count, size),
    clock_res_get: (clock, at) => (view().setBigUint64(at, 1000n, true), 0),
    clock_time_get: (clock, precision, at) => (view().setBigUint64(at, now(clock), true), 0),
    random_get: (at, size) => {
      for (let done = 0; done < size; done += 65536) {
        const part = new Uint8Array(Math.min(65536, size - done));
        globalThis.crypto.getRandomValues(part);
        bytes(at + done, part.length).set(part);
      }
      return 0;
    },
    sched_yield: () => 0,
    proc_exit: (status) => {
      throw new Exit(status);
    },
    poll_oneoff: () => ERRNO.NOSYS,
    fd_close: (fd) => (open.delete(fd) ? 0 : ERRNO.BADF),
    fd_sync: () => 0,
    fd_fdstat_get: (fd, at) => {
      const one = open.get(fd);
      if (!one) return ERRNO.BADF;
      const out = view();
      // A stream is a file of no type that a terminal would have.
      out.setUint8(at, one.kind === 'folder' ? TYPE.FOLDER : one.kind === 'file' ? TYPE.FILE : 0);
      out.setUint16(at + 2, one.flags ?? 0, true);
      out.setBigUint64(at + 8, 0x1fffffffn, true);
      out.setBigUint64(at + 16, 0x1fffffffn, true);
      return 0;
    },
    fd_fdstat_set_flags: () => 0,
    fd_filestat_get: (fd, at) => {
      const one = open.get(fd);
      if (!one) return ERRNO.BADF;
      if (one.node) return putStat(at, one.node);
      bytes(at, 64).fill(0);
      return 0;
    },
    fd_filestat_set_size: (fd, size) => {
      const one = open.get(fd);
      if (!one?.node?.truncate) return ERRNO.BADF;
      one.node.truncate(Number(size));
      return 0;
    },
    fd_filestat_set_times: () => 0,
    fd_prestat_get: (fd, at) => {
      if (fd !== 3) return ERRNO.BADF;
      view().setUint8(at, 0);
      view().setUint32(at + 4, 1, true);
      return 0;
    },
    fd_prestat_dir_name: (fd, at) => (bytes(at, 1).set(encoder.encode('/')), 0),
    fd_read: (fd, at, count, done) => {
      const one = open.get(fd);
      const list = vectors(at, count);
      let total = 0;
      if (one?.kind === 'input') {
        for (const [to, size] of list) {
          const chunk = input.subarray(inputAt, inputAt + size);
          bytes(to, chunk.length).set(chunk);
          inputAt += chunk.length;
          total += chunk.length;
        }
      } else if (one?.kind === 'file') {
        total = readFrom(one.node, one.at, list);
        one.at += total;
      } else {
        return one?.kind === 'folder' ? ERRNO.ISDIR : ERRNO.BADF;
      }
      view().setUint32(done, total, true);
      return 0;
    },
    fd_pread: (fd, at, count, offset, done) => {
      const one = open.get(fd);
      if (one?.kind !== 'file') return ERRNO.SPIPE;
      view().setUint32(done, readFrom(one.node, Number(offset), vectors(at, count)), true);
      return 0;
    },
    fd_write: (fd, at, count, done) => {
      const one = open.get(fd);
      const list = vectors(at, count);
      let total = 0;
      if (one?.kind === 'stream') {
        for (const [from, size] of list) {
          if (size > 0) one.write(bytes(from, size).slice());
          total += size;
        }
      } else if (one?.node?.write) {
        if (one.appends) one.at = one.node.size;
        total = writeTo(one.node, one.at, list);
        one.at += total;
      } else {
        return ERRNO.BADF;
      }
      view().setUint32(done, total, true);
      return 0;
    },
    fd_pwrite: (fd, at, count, offset, done) => {
      const one = open.get(fd);
      if (!one?.node?.write) return ERRNO.BADF;
      view().setUint32(done, writeTo(one.node, Number(offset), vectors(at, count)), true);
      return 0;
    },
    fd_seek: (fd, offset, whence, at) => {
      const one = open.get(fd);
      if (one?.kind !== 'file') return one ? ERRNO.SPIPE : ERRNO.BADF;
      const from = [0, one.at, one.node.size][whence];
      if (from + Number(offset) < 0) return ERRNO.INVAL;
      one.at = from + Number(offset);
      view().setBigUint64(at, BigInt(one.at), true);
      return 0;
    },
    fd_tell: (fd, at) => {
      const one = open.get(fd);
      if (one?.kind !== 'file') return ERRNO.SPIPE;
      view().setBigUint64(at, BigInt(one.at), true);
      return 0;
    },
    fd_readdir: (fd, buffer, size, cookie, used) => {
      const one = open.get(fd);
      if (one?.kind !== 'folder') return ERRNO.NOTDIR;
      one.names ??= ['.', '..', ...namesOf(one.node)];
      let at = 0;
      for (let i = Number(cookie); i < one.names.length && at < size; ++i) {
        const name = encoder.encode(one.names[i]);
        const node = i < 2 ? one.node : childOf(one.node, one.names[i]);
        const entry = new Uint8Array(24 + name.length);
        const fields = new DataView(entry.buffer);
        fields.setBigUint64(0, BigInt(i + 1), true);
        fields.setBigUint64(8, node ? inodeOf(node) : 0n, true);
        fields.setUint32(16, name.length, true);
        fields.setUint8(20, node ? typeOf(node) : 0);
        entry.set(name, 24);
        const part = entry.subarray(0, size - at);
        bytes(buffer + at, part.length).set(part);
        at += part.length;
      }
      view().setUint32(used, at, true);
      return 0;
    },
    path_open: (fd, follow, at, size, flags, rights, inheriting, fdFlags, opened) => {
      const CREATE = 1, FOLDER = 2, EXCLUSIVE = 4, TRUNCATE = 8;
      let {node, error, parent, name} = resolve(fd, at, size, (follow & 1) !== 0);
      if (node === undefined) {
        if (error !== ERRNO.NOENT || parent === undefined || !(flags & CREATE)) return error;
        if (!parent.entries) return ERRNO.ROFS;
        node = bytesFile();
        parent.entries.set(name, node);
      } else if (flags & EXCLUSIVE) {
        return ERRNO.EXIST;
      }
      if (node.link !== undefined) return ERRNO.LOOP;
      const isWriting = (rights & 64n) !== 0n;
      if (isFolder(node)) {
        if (isWriting) return ERRNO.ISDIR;
        open.set(nextFd, {kind: 'folder', node});
      } else {
        if (flags & FOLDER) return ERRNO.NOTDIR;
        if (node.refused) return ERRNO.ACCES;
        if (isWriting && !node.write) {
          // A given file stays as it is: a new one takes its place.
          if (!(flags & TRUNCATE) || !parent?.entries) return ERRNO.ROFS;
          node = bytesFile();
          parent.entries.set(name, node);
        }
        if (flags & TRUNCATE) node.truncate(0);
        open.set(nextFd, {kind: 'file', node, at: 0, appends: (fdFlags & 1) !== 0, flags: fdFlags});
      }
      view().setUint32(opened, nextFd++, true);
      return 0;
    },
    path_filestat_get: (fd, flags, at, size, out) => {
      const {node, error} = resolve(fd, at, size, (flags & 1) !== 0);
      return node === undefined ? error : putStat(out, node);
    },
    path_create_directory: (fd, at, size) => {
      const {node, error, parent, name} = resolve(fd, at, size);
      if (node !== undefined) return ERRNO.EXIST;
      if (parent === undefined) return error;
      if (!parent.entries) return ERRNO.ROFS;
      parent.entries.set(name, folder());
      return 0;
    },
    path_unlink_file: (fd, at, size) => {
      const {node, error, parent, name} = resolve(fd, at, size, false);
      if (node === undefined) return error;
      if (isFolder(node)) return ERRNO.ISDIR;
      return parent.entries?.delete(name) ? 0 : ERRNO.ROFS;
    },
    path_remove_directory: (fd, at, size) => {
      const {node, error, parent, name} = resolve(fd, at, size, false);
      if (node === undefined) return error;
      if (!isFolder(node)) return ERRNO.NOTDIR;
      if (namesOf(node).length > 0) return ERRNO.NOTEMPTY;
      return parent.entries?.delete(name) ? 0 : ERRNO.ROFS;
    },
    path_rename: (fd, at, size, toFd, toAt, toSize) => {
      const from = resolve(fd, at, size, false);
      const to = resolve(toFd, toAt, toSize, false);
      if (from.node === undefined) return from.error;
      if (!from.parent?.entries || !to.parent?.entries) return ERRNO.ROFS;
      from.parent.entries.delete(from.name);
      to.parent.entries.set(to.name, from.node);
      return 0;
    },
    path_readlink: (fd, at, size, buffer, room, used) => {
      const {node, error} = resolve(fd, at, size, false);
      if (node === undefined) return error;
      if (node.link === undefined) return ERRNO.INVAL;
      const target = encoder.encode(node.link).subarray(0, room);
      bytes(buffer, target.length).set(target);
      view().setUint32(used, target.length, true);
      return 0;
    },
  };
  // Whatever else the program is linked with says that there is no such call.
  const imports = {};
  for (const {module: from, name} of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = system[name] ?? (() => ERRNO.NOSYS);
  }
  const instance = new WebAssembly.Instance(module, imports);
  memory = instance.exports.memory;
  try {
    instance.exports._start();
    return 0;
  } catch (ended) {
    if (ended instanceof Exit) return ended.status;
    throw ended;
  }
}

if (typeof module !== 'undefined') module.exports = {run, bytesFile, folder, lookUp};
