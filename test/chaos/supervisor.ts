import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { killTree } from '../support/process-tree.ts'

/** Restarts the product whenever it dies, until `stop` is called. */
export class Supervisor {
  readonly #folder: string
  readonly #environment: Readonly<Record<string, string>>
  #child: ChildProcess | null = null
  #isStopping = false
  #whenReady: Promise<void> = Promise.resolve()
  readonly faults: string[] = []
  /** The times at which the product became ready, was killed or ended, in Unix milliseconds. */
  readonly changes: { readonly at: number; readonly isUp: boolean }[] = []
  starts = 0

  constructor(folder: string, environment: Readonly<Record<string, string>>) {
    this.#folder = folder
    this.#environment = environment
  }

  start(): Promise<void> {
    this.starts += 1
    const child = spawn(process.execPath, ['infra/main.ts'], {
      env: { ...process.env, ...this.#environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.#whenReady = new Promise((ready) => {
      child.stdout.on('data', (bytes: Buffer) => {
        if (!String(bytes).includes('is ready')) return
        writeFileSync(this.#pidFile, String(child.pid))
        this.changes.push({ at: Date.now(), isUp: true })
        ready()
      })
    })
    child.stderr.on('data', (bytes: Buffer) => this.faults.push(String(bytes)))
    child.on('exit', (code) => {
      rmSync(this.#pidFile, { force: true })
      this.changes.push({ at: Date.now(), isUp: false })
      if (code !== null && code !== 0) this.faults.push(`exit ${code}`)
      if (!this.#isStopping) void this.start()
    })
    return this.#whenReady
  }

  get whenReady(): Promise<void> {
    return this.#whenReady
  }

  /** Kills all processes of the product with SIGKILL. Resolves when the product has ended. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === null) throw new Error('the product was not started')
    const ended = once(child, 'exit')
    // A caller can notice the kill long before the end of the process is reported.
    this.changes.push({ at: Date.now(), isUp: false })
    killTree(child.pid ?? 0)
    await ended
  }

  /**
   * Returns true if the product served during the whole time, so that a call in this time had no
   * reason to fail.
   */
  wasUp(from: number, to: number): boolean {
    const before = this.changes.findLast(({ at }) => at <= from)
    const isUnchanged = !this.changes.some(({ at }) => at > from && at <= to)
    return before?.isUp === true && isUnchanged
  }

  /** Stops the product with SIGTERM, without a restart. */
  async stop(): Promise<number | null> {
    this.#isStopping = true
    const child = this.#child
    if (child === null || child.exitCode !== null) return child?.exitCode ?? null
    return new Promise((ended) => {
      child.on('exit', (code) => ended(code))
      child.kill('SIGTERM')
    })
  }

  get #pidFile(): string {
    return join(this.#folder, 'product.pid')
  }
}
