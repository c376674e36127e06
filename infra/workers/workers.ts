import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { abortable } from '../abortable.ts'
import { createGathering } from './collect-metrics.ts'
import { ConnectionDispatcher } from './connection-dispatcher.ts'
import type { Metrics, ToPrimary, ToWorker } from './messages.ts'

export type Workers = {
  /** Where all are reached, on one port. */
  readonly url: string
  /** Resolves once all have exited. Said again with a shorter grace, it shortens the first. */
  readonly drain: (graceMs: number) => Promise<void>
}

type Options = {
  readonly count: number
  readonly port: number
  readonly host: string
  /** Theirs alone: never on a command line, which every user of the machine can read. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log: Logger
  /** Aborted, it ends a start under way. */
  readonly signal: AbortSignal
  readonly printLine: (line: string) => void
  readonly ownMetrics: () => Promise<Metrics>
}

/** A worker can't start. The message is what it said itself, in words for an operator. */
export class WorkerFailed extends Error {
  readonly isExplained = true
}

const PROGRAM = join(import.meta.dirname, 'worker-program.ts')
const PAUSE_MS = 100
const PAUSE_MS_MAX = 10_000
/** One that lived so long did not die of its start. */
const STEADY_MS = 30_000
/** After a drain's grace, for books and pools to be closed; less than the primary has itself. */
const EXIT_WITHIN_MS = 12_000

/**
 * Starts `count` processes that serve one port and keeps them: one that dies is replaced, at once
 * and then ever more slowly. Resolves when all serve; rejects, and none is left, when the port is
 * taken or, with `WorkerFailed`, one can't start.
 */
export async function startWorkers(options: Options): Promise<Workers> {
  const crew = new Crew(options)
  const names = Array.from({ length: options.count }, (_, index) => `worker-${index + 1}`)
  try {
    await abortable(Promise.all(names.map((name) => crew.start(name, PAUSE_MS))), options.signal)
    const url = await crew.listener.open(options.port, options.host)
    crew.keep(names)
    return { url, drain: (graceMs) => crew.drain(graceMs) }
  } catch (error) {
    await crew.end()
    throw error
  }
}

class Crew {
  readonly listener = new ConnectionDispatcher()
  private readonly options: Options
  private readonly live = new Map<string, ChildProcess>()
  private readonly told = new Set<string>()
  private readonly gathering: ReturnType<typeof createGathering>
  private isKept = false

  constructor(options: Options) {
    this.options = options
    this.gathering = createGathering(this.live, options.ownMetrics)
  }

  /** Resolves once it serves. `pauseMs`: before another, should it die young. */
  start(name: string, pauseMs: number): Promise<void> {
    const startedAt = performance.now()
    const worker = fork(PROGRAM, { env: this.options.environment })
    this.live.set(name, worker)
    return new Promise((served, failed) => {
      worker.on('message', (message: ToPrimary) => {
        if (message.type === 'ready') served()
        if (message.type === 'failed') failed(new WorkerFailed(message.message))
        this.hear(name, worker, message)
      })
      // What could not be sent to one that is about to exit.
      worker.on('error', () => {})
      worker.on('exit', (code, signal) => {
        this.live.delete(name)
        const { pid } = worker
        failed(new WorkerFailed(`${name} ended with ${signal ?? code} before it served`))
        if (!this.isKept) return
        this.options.log.error({ worker: name, pid, code, signal }, 'a worker died')
        this.replace(name, performance.now() - startedAt > STEADY_MS ? PAUSE_MS : pauseMs)
      })
    })
  }

  /** From now on whoever dies is replaced. */
  keep(names: readonly string[]): void {
    this.isKept = true
    for (const name of names) if (!this.live.has(name)) this.replace(name, PAUSE_MS)
  }

  async drain(graceMs: number): Promise<void> {
    this.isKept = false
    for (const worker of this.live.values()) send(worker, { type: 'drain', graceMs })
    const late = setTimeout(() => this.kill(), graceMs + EXIT_WITHIN_MS)
    await this.allGone()
    clearTimeout(late)
    this.listener.close()
  }

  async end(): Promise<void> {
    this.isKept = false
    this.listener.close()
    this.kill()
    await this.allGone()
  }

  private replace(name: string, pauseMs: number): void {
    const { log } = this.options
    setTimeout(() => {
      if (!this.isKept) return
      this.start(name, Math.min(pauseMs * 2, PAUSE_MS_MAX)).then(
        () => log.warn({ worker: name }, 'a worker serves in its place'),
        (error: Error) => log.error({ worker: name, reason: error.message }, 'no worker yet'),
      )
    }, pauseMs)
  }

  private hear(name: string, worker: ChildProcess, message: ToPrimary): void {
    switch (message.type) {
      case 'ready':
        return this.listener.admit(worker)
      case 'taken':
        return this.listener.taken(worker)
      case 'closed':
        return this.listener.dismiss(worker)
      case 'print-line':
        return this.tellOnce(message.line)
      case 'metrics-own':
        return this.gathering.take(name, message)
      case 'metrics-asked':
        return void this.answerMetrics(worker, message.question)
    }
  }

  private tellOnce(line: string): void {
    if (this.told.has(line)) return
    this.told.add(line)
    this.options.printLine(line)
  }

  private async answerMetrics(worker: ChildProcess, question: number): Promise<void> {
    send(worker, { type: 'metrics-text', question, text: await this.gathering.everybodys() })
  }

  private kill(): void {
    for (const worker of this.live.values()) worker.kill('SIGKILL')
  }

  private async allGone(): Promise<void> {
    const running = [...this.live.values()]
    await Promise.all(running.map((worker) => new Promise((gone) => worker.once('exit', gone))))
  }
}

function send(worker: ChildProcess, message: ToWorker): void {
  if (worker.connected) worker.send(message)
}
