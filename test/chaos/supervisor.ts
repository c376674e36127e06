import { type ChildProcess, spawn } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Restarts the product whenever it dies, until `stop` is called. */
export class Supervisor {
  readonly #folder: string
  readonly #environment: Readonly<Record<string, string>>
  #child: ChildProcess | null = null
  #isStopping = false
  #whenReady: Promise<void> = Promise.resolve()
  readonly faults: string[] = []
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
        ready()
      })
    })
    child.stderr.on('data', (bytes: Buffer) => this.faults.push(String(bytes)))
    child.on('exit', (code) => {
      rmSync(this.#pidFile, { force: true })
      if (code !== null && code !== 0) this.faults.push(`exit ${code}`)
      if (!this.#isStopping) void this.start()
    })
    return this.#whenReady
  }

  get whenReady(): Promise<void> {
    return this.#whenReady
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
