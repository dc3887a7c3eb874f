'use strict';
// A headless Chromium, driven through its pipe: no port is opened, nothing is installed.

const {spawn} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

class Chromium {
  static async start(program) {
    const one = new Chromium();
    one.folder = fs.mkdtempSync(path.join(os.tmpdir(), `ringside-chromium-${process.pid}-`));
    one.child = spawn(program, ['--headless=new', '--remote-debugging-pipe', '--no-sandbox', '--disable-gpu', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', `--user-data-dir=${one.folder}`, 'about:blank'],
    {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
    one.waiting = new Map();
    one.listeners = [];
    one.next = 0;
    let rest = '';
    one.child.stdio[4].setEncoding('utf8').on('data', (chunk) => {
      const parts = (rest + chunk).split('\0');
      rest = parts.pop();
      for (const part of parts) one.take(JSON.parse(part));
    });
    one.child.on('exit', () => one.waiting.forEach(({reject}) => reject(new Error('Chromium ended'))));
    const {targetId} = await one.call('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await one.call('Target.attachToTarget', {targetId, flatten: true});
    one.session = sessionId;
    for (const domain of ['Page', 'Runtime', 'Network']) await one.call(`${domain}.enable`);
    return one;
  }

  take(message) {
    if (message.id === undefined) return this.listeners.forEach((listener) => listener(message));
    const {resolve, reject} = this.waiting.get(message.id);
    this.waiting.delete(message.id);
    if (message.error) reject(new Error(message.error.message));
    else resolve(message.result);
  }

  /// shape  session: null for the browser as a whole
  call(method, params = {}, session = this.session) {
    return new Promise((resolve, reject) => {
      const id = ++this.next;
      this.waiting.set(id, {resolve, reject});
      this.child.stdio[3].write(`${JSON.stringify({id, method, params, sessionId: session ?? undefined})}\0`);
    });
  }

  /// CPU seconds of all the browser's processes.
  async cpuSeconds() {
    const {processInfo} = await this.call('SystemInfo.getProcessInfo', {}, null);
    return processInfo.reduce((sum, one) => sum + one.cpuTime, 0);
  }

  on(listener) {
    this.listeners.push(listener);
  }

  /// The value of an expression in the page; promises are awaited.
  async value(expression) {
    const {result, exceptionDetails} = await this.call('Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true});
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  async until(expression, seconds = 60) {
    for (const end = Date.now() + 1000 * seconds; Date.now() < end;) {
      if (await this.value(expression)) return;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`still not so after ${seconds} s: ${expression}`);
  }

  async open(url) {
    const loaded = new Promise((resolve) => this.on(({method}) => method === 'Page.loadEventFired' && resolve()));
    await this.call('Page.navigate', {url});
    await loaded;
  }

  /// Drops files and folders, as a user does.
  async drop(paths, selector) {
    const {x, y} = await this.value(`(() => { const at = document.querySelector(${JSON.stringify(selector)}); at.scrollIntoView({block: 'center'});
      const box = at.getBoundingClientRect();
      return {x: box.x + box.width / 2, y: box.y + box.height / 2}; })()`);
    const data = {items: [], files: paths, dragOperationsMask: 1};
    for (const type of ['dragEnter', 'dragOver', 'drop']) await this.call('Input.dispatchDragEvent', {type, x, y, data});
  }

  /// A key, with the editing command that the system gives it.
  async key(key, commands = [], modifiers = 0) {
    const code = {Enter: 13, ArrowDown: 40, ArrowRight: 39, Tab: 9, c: 67, v: 86, a: 65}[key];
    await this.call('Input.dispatchKeyEvent', {type: 'keyDown', key, windowsVirtualKeyCode: code, modifiers, commands,
      text: key === 'Enter' ? '\r' : undefined});
    await this.call('Input.dispatchKeyEvent', {type: 'keyUp', key, windowsVirtualKeyCode: code, modifiers});
  }

  async picture(file, width, height, scheme) {
    await this.call('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: width < 600});
    await this.call('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]});
    await new Promise((resolve) => setTimeout(resolve, 1000));  // a replay draws itself anew
    const {data} = await this.call('Page.captureScreenshot', {format: 'png'});
    fs.writeFileSync(file, Buffer.from(data, 'base64'));
    await this.call('Emulation.clearDeviceMetricsOverride');
  }

  async stop() {
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
    await new Promise((resolve) => setTimeout(resolve, 100));
    fs.rmSync(this.folder, {recursive: true, force: true, maxRetries: 5});
  }
}

module.exports = {Chromium};
