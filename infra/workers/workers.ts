import cluster, { type Worker } from 'node:cluster'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { abortable } from '../abortable.ts'
import { createGathering } from './gathering.ts'
import type { Metrics, ToPrimary, ToWorker } from './messages.ts'

export type Workers = {
  /** Where they listen, all on one port. */
  readonly url: string
  /** Resolves once all have exited. Said again with a shorter grace, it shortens the first. */
  readonly drain: (graceMs: number) => Promise<void>
}

type Options = {
  readonly count: number
  /** Theirs alone: never on a command line, which every user of the machine can read. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log: Logger
  /** Aborted, it ends a start under way. */
  readonly signal: AbortSignal
  readonly tell: (line: string) => void
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
 * Starts `count` processes on the port of `environment` and keeps them: one that dies is replaced,
 * at once and then ever more slowly. Resolves when all serve; rejects with `WorkerFailed`, and none
 * left, when one can't start.
 */
export async function startWorkers(options: Options): Promise<Workers> {
  cluster.setupPrimary({ exec: PROGRAM, args: [] })
  const crew = new Crew(options)
  const names = Array.from({ length: options.count }, (_, index) => `worker-${index + 1}`)
  try {
    const [url = ''] = await abortable(
      Promise.all(names.map((name) => crew.start(name, PAUSE_MS))),
      options.signal,
    )
    crew.keep(names)
    return { url, drain: (graceMs) => crew.drain(graceMs) }
  } catch (error) {
    await crew.end()
    throw error
  }
}

class Crew {
  private readonly options: Options
  private readonly live = new Map<string, Worker>()
  private readonly told = new Set<string>()
  private readonly gathering: ReturnType<typeof createGathering>
  private isKept = false

  constructor(options: Options) {
    this.options = options
    this.gathering = createGathering(this.live, options.ownMetrics)
  }

  /** Resolves with its address once it serves. `pauseMs`: before another, should it die young. */
  start(name: string, pauseMs: number): Promise<string> {
    const startedAt = performance.now()
    const worker = cluster.fork(this.options.environment)
    this.live.set(name, worker)
    return new Promise((served, failed) => {
      worker.on('message', (message: ToPrimary) => {
        if (message.type === 'ready') served(message.url)
        else if (message.type === 'failed') failed(new WorkerFailed(message.message))
        else this.hear(name, worker, message)
      })
      // What could not be sent to one that is about to exit.
      worker.on('error', () => {})
      worker.on('exit', (code, signal) => {
        this.live.delete(name)
        const { pid } = worker.process
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
  }

  async end(): Promise<void> {
    this.isKept = false
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

  private hear(name: string, worker: Worker, message: ToPrimary): void {
    if (message.type === 'tell' && !this.told.has(message.line)) {
      this.told.add(message.line)
      this.options.tell(message.line)
    }
    if (message.type === 'metrics-own') this.gathering.take(name, message)
    if (message.type === 'metrics-asked') {
      const { question } = message
      void this.gathering.everybodys().then((text) => {
        send(worker, { type: 'metrics-text', question, text })
      })
    }
  }

  private kill(): void {
    for (const worker of this.live.values()) worker.process.kill('SIGKILL')
  }

  private async allGone(): Promise<void> {
    const running = [...this.live.values()]
    await Promise.all(running.map((worker) => new Promise((gone) => worker.once('exit', gone))))
  }
}

export function send(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message)
}
