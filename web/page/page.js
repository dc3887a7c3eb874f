const $ = (id) => document.getElementById(id);

/// Makes an element: properties, then children.
function make(tag, properties = {}, ...children) {
  const one = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'role') one.setAttribute(name, value);
    else one[name] = value;
  }
  one.append(...children);
  return one;
}

// ---- the worker ------------------------------------------------------------------------------------

const workerUrl = URL.createObjectURL(new Blob([WORKER], {type: 'text/javascript'}));
let worker;
let nextId = 0;
const waiting = new Map();
let compiled;  // the WebAssembly.Module, once a worker has made it of PROGRAM

/// Asks the worker; each call has one answer.
function ask(what, message, onProgress) {
  return new Promise((resolve, reject) => {
    const id = ++nextId;
    waiting.set(id, {resolve, reject, onProgress});
    worker.postMessage({id, what, ...message});
  });
}

async function startWorker() {
  worker = new Worker(workerUrl);
  worker.onmessage = ({data}) => {
    const one = waiting.get(data.id);
    if (!one) return;
    if (data.progress) return one.onProgress?.(data.progress);
    waiting.delete(data.id);
    if (data.failed !== undefined) one.reject(new Error(data.failed));
    else one.resolve(data.done);
  };
  worker.onerror = (problem) => {
    for (const one of waiting.values()) one.reject(new Error(problem.message));
    waiting.clear();
  };
  ({compiled} = await ask('start', compiled ? {compiled} : {packed: PROGRAM}));
}

class Cancelled extends Error {}

let ready = startWorker();

/// Ends what runs: the worker with it, and a new one takes its place.
function cancel() {
  worker.terminate();
  for (const one of waiting.values()) one.reject(new Cancelled('cancelled'));
  waiting.clear();
  ready = startWorker();
}

// ---- files -----------------------------------------------------------------------------------------

let given = [];    // {path, blob, kind}: what the user gave, archives unpacked
let written = [];  // {path, blob}: what commands wrote

const quoted = (word) => (/^[\w@%+=:,.\/-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
const commandText = (words) => ['ringside', ...words.map(quoted)].join(' ');

function sizeText(bytes) {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let unit = 0;
  while (bytes >= 1024 && unit < 3) {
    bytes /= 1024;
    ++unit;
  }
  return `${bytes < 10 && unit > 0 ? bytes.toFixed(1) : Math.round(bytes)} ${units[unit]}`;
}

function showGiven() {
  const bytes = given.reduce((sum, one) => sum + one.blob.size, 0);
  $('given').textContent = given.length === 0 ? '' :
      `${given.length === 1 ? given[0].path : `${given.length} files`}, ${sizeText(bytes)}`;
  $('diagnose').disabled = given.length === 0 && $('paste').value.trim() === '';
  $('clear').disabled = $('diagnose').disabled;
}

function give(files) {
  const added = new Set(files.map((one) => one.path));
  given = [...given.filter((one) => !added.has(one.path)), ...files];
  showGiven();
}

/// Adds files, archives unpacked, and diagnoses all that is given.
function take(files) {
  if (files.length === 0) return;
  return busily(async () => {
    give((await ask('unpack', {files})).files);
    await diagnoseGiven();
  });
}

/// The files of a dropped entry, folders with all that is in them.
async function filesOf(entry, path = '') {
  const at = path + entry.name;
  if (entry.isFile) {
    const blob = await new Promise((resolve, reject) => entry.file(resolve, reject));
    return [{path: at, blob}];
  }
  const reader = entry.createReader();
  const all = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return all;
    for (const one of some) all.push(...(await filesOf(one, `${at}/`)));
  }
}

/// The same of a handle, which Chromium needs in a page from a file: there it opens no file of an entry.
async function filesOfHandle(handle, path = '') {
  const at = path + handle.name;
  if (handle.kind === 'file') return [{path: at, blob: await handle.getFile()}];
  const all = [];
  for await (const one of handle.values()) all.push(...(await filesOfHandle(one, `${at}/`)));
  return all;
}

/// Takes what was dropped or pasted. The browser shows it during the event alone: all is asked for before the first wait.
async function takeTransfer(transfer) {
  const items = [...transfer.items].filter(({kind}) => kind === 'file').map((item) => ({
    file: item.getAsFile(),
    entry: item.webkitGetAsEntry?.(),
    handle: item.getAsFileSystemHandle?.().catch(() => null),
  }));
  const all = [];
  try {
    for (const {file, entry, handle} of items) {
      if (!entry?.isDirectory) all.push({path: file.name, blob: file});
      else all.push(...((await handle) ? await filesOfHandle(await handle) : await filesOf(entry)));
    }
  } catch (problem) {
    return busily(() => Promise.reject(new Error(`the files cannot be read: ${problem.message}`)));
  }
  return take(all);
}

// ---- answers ---------------------------------------------------------------------------------------

let answers = [];  // {name, words, status, out, error, page, pictures, files}

/// Runs one command line and returns its answer, with texts.
async function runCommand(words) {
  const files = [...given, ...written].map(({path, blob}) => ({path, blob}));
  const used = given.filter((one) => words.some((word) => one.path === word || one.path.startsWith(`${word}/`)));
  const total = used.reduce((sum, one) => sum + one.blob.size, 0);
  const done = await ask('run', {words, files, total}, ({done, total}) => {
    if (total > 0) $('progress').value = Math.min(1, done / total);
    $('doing').textContent = `${commandText(words)}: ${sizeText(done)} read`;
  });
  written = [...written.filter((one) => !done.written.some((other) => other.path === one.path)),
    ...done.written.map(({path, blob}) => ({path, blob: new Blob([blob])}))];
  return {name: words[0], words, status: done.status, out: await done.out.text(), error: await done.error.text(),
    files: done.written.map(({path}) => path)};
}

const fileText = (path) => written.find((one) => one.path === path)?.blob.text() ?? Promise.resolve('');

/// The text of a file that a command wrote for the page, which the user did not ask for.
async function pageText(path) {
  const text = await fileText(path);
  written = written.filter((one) => one.path !== path);
  return text;
}

let turn = 0;

/// Runs `work` with the progress shown, in place of what runs already; what goes wrong is said.
async function busily(work) {
  if (!$('busy').hidden) cancel();
  const mine = ++turn;
  $('answer').hidden = false;
  $('busy').hidden = false;
  $('progress').removeAttribute('value');
  $('doing').textContent = '';
  answers = [];
  showAnswers();
  try {
    await ready;
    await work();
  } catch (problem) {
    if (!(problem instanceof Cancelled)) answers.push({name: 'problem', words: [], status: 3, out: '', error: problem.message, files: []});
  }
  if (mine !== turn) return;
  $('busy').hidden = true;
  showAnswers();
  $('answer-title').focus();
}

/// The names to give to a verb: the folders and files that lie on top.
const topNames = (files) => [...new Set(files.map((one) => one.path.split('/')[0]))].sort()
    .map((name) => (name.startsWith('-') ? `./${name}` : name));

async function report(verb, names) {
  const page = `${verb}-report.html`;
  const answer = await runCommand([verb, '--html', page, '--force', ...names]);
  // As it would be asked for at a prompt.
  answer.words = [verb, ...names];
  answer.error = answer.error.replace(/^note: the page is in .*\n/m, '');
  if (answer.files.includes(page)) answer.page = await pageText(page);
  return answer;
}

/// A verdict begins with its kind. Without one, what audit found comes first.
const isHang = (answer) => answer.status === 1 && !answer.out.startsWith('unknown');

async function playTrace(path) {
  const page = `${path.replaceAll('/', '_')}.html`;
  const answer = await runCommand(['trace', 'export', '--html', page, '--force', path]);
  answer.name = 'replay';
  answer.words = ['trace', 'export', '--html', page, path];
  answer.isReplay = true;
  if (answer.files.includes(page)) answer.page = await pageText(page);
  return answer;
}

/// Runs the verbs that what is given calls for.
async function diagnoseGiven() {
  const kind = (wanted) => given.filter((one) => one.kind === wanted);
  const job = topNames(kind('job'));
  if (job.length > 0) {
    const hang = await report('hang', job);
    const audit = await report('audit', job);
    answers.push(...(isHang(hang) ? [hang, audit] : [audit, hang]));
    showAnswers();
  }
  for (const {path} of kind('trace')) answers.push(await runCommand(['trace', 'info', path]), await playTrace(path));
  for (const {path} of kind('host')) answers.push(await runCommand(['topo', '--on', path]));
}

function diagnose() {
  const text = $('paste').value;
  if (text.trim() !== '') give([{path: 'paste.txt', blob: new Blob([text]), kind: 'job'}]);
  return busily(diagnoseGiven);
}

/// Runs what the command field holds.
function runLine(line) {
  const words = [...line.matchAll(/'((?:[^'])*)'|"([^"]*)"|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);
  if (words[0] === 'ringside') words.shift();
  if (words.length === 0) return;
  return busily(async () => {
    const answer = await runCommand(words);
    answers.push(answer);
    for (const path of answer.files) {
      if (path.endsWith('.svg')) answer.pictures = [...(answer.pictures ?? []), {path, text: await fileText(path)}];
      else if (path.endsWith('.html')) answer.page = await fileText(path);
      else if (path.endsWith('.rtrace')) answers.push(await playTrace(path));
    }
    if (answer.out.startsWith('<svg') || answer.out.startsWith('<?xml version="1.0"') && answer.out.includes('<svg'))
      answer.pictures = [{path: 'picture.svg', text: answer.out}];
  });
}

/// What to paste into an issue.
function markdown(answer) {
  const text = `$ ${commandText(answer.words)}\n${answer.out}${answer.error}`.trimEnd();
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map((m) => m[0].length + 1)));
  return `**ringside ${answer.name}** (${COMMANDS.version}, exit status ${answer.status})\n\n${fence}text\n${text}\n${fence}\n`;
}

async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page from a file may not use the clipboard: a selected field may.
    const area = make('textarea', {value: text});
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  button.textContent = 'Copied';
  setTimeout(() => (button.textContent = before), 1500);
}

function saveLink(path, blob) {
  return make('a', {href: URL.createObjectURL(blob), download: path.split('/').pop(), textContent: `Save ${path}`});
}

function panelOf(answer) {
  const copied = make('button', {type: 'button', textContent: 'Copy as Markdown'});
  copied.onclick = () => copy(markdown(answer), copied);
  const row = make('div', {className: 'row'}, make('code', {textContent: `$ ${commandText(answer.words)}`}),
    make('span', {textContent: `exit status ${answer.status}`}), copied);
  const parts = [row];
  if (answer.page) {
    row.append(saveLink(`${answer.name}.html`, new Blob([answer.page], {type: 'text/html'})));
    // Scripts of the replay alone, in an origin of its own; a report has none.
    const frame = make('iframe', {title: `${answer.name}: ${answer.isReplay ? 'replay' : 'report'}`, srcdoc: answer.page});
    frame.setAttribute('sandbox', answer.isReplay ? 'allow-scripts' : '');
    parts.push(frame);
  }
  for (const {path, text} of answer.pictures ?? []) {
    const blob = new Blob([text], {type: 'image/svg+xml'});
    parts.push(make('img', {src: URL.createObjectURL(blob), alt: `${path}: picture of ${commandText(answer.words)}`}));
    row.append(saveLink(path, blob));
  }
  for (const {path, blob} of written.filter((one) => answer.files.includes(one.path) && !/\.(svg|html)$/.test(one.path))) {
    row.append(saveLink(path, blob));
  }
  if (answer.error) parts.push(make('pre', {className: 'error', textContent: answer.error, tabIndex: 0, role: 'alert'}));
  if (answer.out && !answer.pictures?.some(({text}) => text === answer.out)) {
    const text = make('pre', {textContent: answer.out, tabIndex: 0});
    text.setAttribute('aria-label', `text of ringside ${answer.name}`);
    parts.push(answer.page ? make('details', {open: false}, make('summary', {textContent: 'As text'}), text) : text);
  }
  return parts;
}

let shown = 0;

function showAnswers(index = 0) {
  shown = index;
  $('tabs').replaceChildren(...answers.map((answer, i) => {
    const tab = make('button', {type: 'button', textContent: answer.name, role: 'tab', id: `tab-${i}`, tabIndex: i === shown ? 0 : -1,
      'aria-selected': String(i === shown), 'aria-controls': 'panel'});
    tab.onclick = () => showAnswers(i);
    tab.onkeydown = ({key}) => {
      const step = {ArrowRight: 1, ArrowLeft: -1}[key];
      if (!step) return;
      showAnswers((i + step + answers.length) % answers.length);
      $(`tab-${shown}`).focus();
    };
    return tab;
  }));
  $('panel').setAttribute('aria-labelledby', `tab-${shown}`);
  $('panel').replaceChildren(...(answers[shown] ? panelOf(answers[shown]) : []));
}

// ---- completion ------------------------------------------------------------------------------------

/// What can stand where the last word of the line is: [word, what it is].
function completionsOf(line) {
  const words = line.split(/\s+/);
  const last = words.pop();
  let command = COMMANDS;
  for (const word of words) {
    command = command.below.find((one) => one.name.split(' ').pop() === word) ?? command;
  }
  if (command.below.length > 0 && !last.startsWith('-')) {
    return command.below.map((one) => [one.name.split(' ').pop(), one.summary]).filter(([name]) => name.startsWith(last));
  }
  const option = command.options.find((one) => one.value && one.names.includes(words[words.length - 1]));
  if (option) {
    const values = option.names.includes('--on') ? PRESETS : option.choices;
    return values.filter((one) => one.startsWith(last)).map((one) => [one, `${option.names.at(-1)}: ${option.what}`]);
  }
  const files = [...given, ...written].map((one) => [one.path, sizeText(one.blob.size)]);
  const options = command.options.flatMap((one) => one.names.filter((name) => name.startsWith('--')).map((name) => [name, one.what]));
  return (last.startsWith('-') ? options : last === '' ? [...files, ...options] : files).filter(([name]) => name.startsWith(last));
}

let chosen = -1;

function showCompletions() {
  const list = completionsOf($('command').value);
  chosen = -1;
  $('completions').replaceChildren(...list.map(([word, what], i) => {
    const item = make('li', {role: 'option', id: `completion-${i}`, 'aria-selected': 'false'}, make('b', {textContent: word}), make('span', {textContent: what}));
    item.onmousedown = (event) => {
      event.preventDefault();
      complete(i);
    };
    return item;
  }));
  openCompletions(list.length > 0);
}

function openCompletions(isOpen) {
  $('completions').hidden = !isOpen;
  $('command').setAttribute('aria-expanded', String(isOpen));
  if (!isOpen) $('command').removeAttribute('aria-activedescendant');
}

function complete(i) {
  const word = $('completions').children[i].firstChild.textContent;
  $('command').value = `${$('command').value.replace(/\S*$/, '')}${word} `;
  $('command').focus();
  showCompletions();
}

function choose(i) {
  const items = $('completions').children;
  items[chosen]?.setAttribute('aria-selected', 'false');
  chosen = (i + items.length) % items.length;
  items[chosen].setAttribute('aria-selected', 'true');
  items[chosen].scrollIntoView({block: 'nearest'});
  $('command').setAttribute('aria-activedescendant', items[chosen].id);
}

// ---- events ----------------------------------------------------------------------------------------

$('version').textContent = COMMANDS.version;
$('paste').oninput = showGiven;
$('diagnose').onclick = diagnose;
$('cancel').onclick = cancel;
$('pick-files').onclick = () => $('files').click();
$('pick-folder').onclick = () => $('folder').click();
$('files').onchange = $('folder').onchange = ({target}) => {
  const files = [...target.files].map((blob) => ({path: blob.webkitRelativePath || blob.name, blob}));
  target.value = '';
  take(files);
};
$('clear').onclick = () => {
  given = [];
  written = [];
  $('paste').value = '';
  showGiven();
};
addEventListener('dragover', (event) => {
  event.preventDefault();
  $('drop').classList.add('over');
});
addEventListener('dragleave', () => $('drop').classList.remove('over'));
addEventListener('drop', (event) => {
  event.preventDefault();
  $('drop').classList.remove('over');
  takeTransfer(event.dataTransfer);
});
addEventListener('paste', (event) => {
  if (event.clipboardData.files.length > 0) {
    event.preventDefault();
    takeTransfer(event.clipboardData);
  } else if (!['INPUT', 'TEXTAREA'].includes(event.target.tagName)) {
    $('paste').value = event.clipboardData.getData('text/plain');
    showGiven();
    diagnose();
  } else if (event.target === $('paste') && $('paste').value === '') {
    setTimeout(diagnose);  // once the text is in it
  }
});
$('command-form').onsubmit = (event) => {
  event.preventDefault();
  openCompletions(false);
  runLine($('command').value);
};
$('command').oninput = showCompletions;
$('command').onblur = () => openCompletions(false);
$('command').onkeydown = (event) => {
  const isOpen = !$('completions').hidden;
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    if (!isOpen) showCompletions();
    if (!$('completions').hidden) choose(event.key === 'ArrowDown' ? chosen + 1 : Math.max(chosen, 0) - 1);
  } else if (isOpen && (event.key === 'Enter' || event.key === 'Tab') && chosen >= 0) {
    event.preventDefault();
    complete(chosen);
  } else if (event.key === 'Escape') {
    openCompletions(false);
  }
};

for (const {title, files, command} of EXAMPLES) {
  const button = make('button', {type: 'button', textContent: title});
  button.onclick = () => {
    if (command) {
      $('command').value = command;
      return runLine(command);
    }
    $('clear').onclick();
    return take(Object.entries(files).map(([path, text]) =>
      ({path, blob: new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))])})));
  };
  (command ? $('questions') : $('examples')).append(button);
}
