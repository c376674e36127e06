import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { AggregatorRegistry } from 'prom-client'
import { abortable } from '../reject-on-abort.ts'
import { ConnectionDispatcher } from './connection-dispatcher.ts'
import type { Metrics, ToPrimary, ToWorker } from './worker-messages.ts'

export type Workers = {
  readonly url: string
  /**
   * Stops the workers. Resolves when all workers have exited. A second call with a shorter grace
   * period shortens the wait.
   */
  readonly drain: (graceMs: number) => Promise<void>
}

type Options = {
  readonly count: number
  readonly port: number
  readonly host: string
  /**
   * The environment of the workers. The environment contains the secrets, because any user of the
   * machine can read a command line.
   */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly log: Logger
  readonly signal: AbortSignal
  readonly printLine: (line: string) => void
  readonly ownMetrics: () => Promise<Metrics>
}

/** Thrown when a worker can't start. The message is for the operator. */
class WorkerFailed extends Error {
  readonly isExplained = true
}

const PROGRAM = join(import.meta.dirname, 'worker-program.ts')
const PAUSE_MS = 100
const PAUSE_MS_MAX = 10_000
/**
 * The time in milliseconds after which a running worker counts as stable. A stable worker that dies
 * is replaced after the shortest pause.
 */
const STABLE_AFTER_MS = 30_000
/**
 * The maximum time in milliseconds, after the grace period, for a worker to exit. This time is
 * shorter than the time limit of the primary process.
 */
const EXIT_WITHIN_MS = 12_000

/**
 * Starts `count` processes on one port. A process that dies is replaced, first after the shortest
 * pause and then after growing pauses. Rejects if the port is in use, or if a worker can't start
 * (`WorkerFailed`). After a rejection, all workers have ended.
 */
export async function startWorkers(options: Options): Promise<Workers> {
  const pool = new WorkerPool(options)
  const names = Array.from({ length: options.count }, (_, index) => `worker-${index + 1}`)
  try {
    await abortable(Promise.all(names.map((name) => pool.start(name, PAUSE_MS))), options.signal)
    const url = await pool.listener.open(options.port, options.host)
    pool.startReplacing(names)
    return { url, drain: (graceMs) => pool.drain(graceMs) }
  } catch (error) {
    await pool.end()
    throw error
  }
}

class WorkerPool {
  readonly listener = new ConnectionDispatcher()
  private readonly options: Options
  private readonly live = new Map<string, ChildProcess>()
  private readonly printed = new Set<string>()
  private readonly collector: ReturnType<typeof createMetricsCollector>
  private isReplacing = false

  constructor(options: Options) {
    this.options = options
    this.collector = createMetricsCollector(this.live, options.ownMetrics)
  }

  /**
   * Starts a worker. If the worker dies before it counts as stable, its replacement starts after
   * `pauseMs`.
   */
  start(name: string, pauseMs: number): Promise<void> {
    const startedAt = performance.now()
    const worker = fork(PROGRAM, { env: this.options.environment })
    this.live.set(name, worker)
    return new Promise((served, failed) => {
      worker.on('message', (message: ToPrimary) => {
        if (message.type === 'ready') served()
        if (message.type === 'failed') failed(new WorkerFailed(message.message))
        this.handleMessage(name, worker, message)
      })
      // This event occurs if a message is sent to a worker that is exiting. The error is ignored,
      // because the end of the worker is handled separately.
      worker.on('error', () => {})
      worker.on('exit', (code, signal) => {
        this.live.delete(name)
        const { pid } = worker
        failed(new WorkerFailed(`${name} ended with ${signal ?? code} before it served`))
        if (!this.isReplacing) return
        this.options.log.error({ worker: name, pid, code, signal }, 'a worker process died')
        this.replace(name, performance.now() - startedAt > STABLE_AFTER_MS ? PAUSE_MS : pauseMs)
      })
    })
  }

  /** From now on, replaces every worker that dies. */
  startReplacing(names: readonly string[]): void {
    this.isReplacing = true
    for (const name of names) if (!this.live.has(name)) this.replace(name, PAUSE_MS)
  }

  async drain(graceMs: number): Promise<void> {
    this.isReplacing = false
    for (const worker of this.live.values()) send(worker, { type: 'drain', graceMs })
    const late = setTimeout(() => this.kill(), graceMs + EXIT_WITHIN_MS)
    await this.waitForExits()
    clearTimeout(late)
    this.listener.close()
  }

  async end(): Promise<void> {
    this.isReplacing = false
    this.listener.close()
    this.kill()
    await this.waitForExits()
  }

  private replace(name: string, pauseMs: number): void {
    const { log } = this.options
    setTimeout(() => {
      if (!this.isReplacing) return
      this.start(name, Math.min(pauseMs * 2, PAUSE_MS_MAX)).then(
        () => log.warn({ worker: name }, 'the replacement worker serves'),
        (error: Error) =>
          log.error(
            { worker: name, reason: error.message },
            'the replacement worker failed to start',
          ),
      )
    }, pauseMs)
  }

  private handleMessage(name: string, worker: ChildProcess, message: ToPrimary): void {
    switch (message.type) {
      case 'ready':
        return this.listener.add(worker)
      case 'accepted':
        return this.listener.accepted(worker)
      case 'closed':
        return this.listener.remove(worker)
      case 'print-line':
        return this.printOnce(message.line)
      case 'process-metrics':
        return this.collector.receive(name, message)
      case 'all-metrics-request':
        return void this.answerMetrics(worker, message.requestId)
    }
  }

  private printOnce(line: string): void {
    if (this.printed.has(line)) return
    this.printed.add(line)
    this.options.printLine(line)
  }

  private async answerMetrics(worker: ChildProcess, requestId: number): Promise<void> {
    send(worker, { type: 'all-metrics', requestId, text: await this.collector.collectAll() })
  }

  private kill(): void {
    for (const worker of this.live.values()) worker.kill('SIGKILL')
  }

  private async waitForExits(): Promise<void> {
    const running = [...this.live.values()]
    await Promise.all(running.map((worker) => new Promise((exited) => worker.once('exit', exited))))
  }
}

function send(worker: ChildProcess, message: ToWorker): void {
  if (worker.connected) worker.send(message)
}

type MetricsCollector = {
  /**
   * Returns the metrics of the primary process and of every worker that responds in time, as one
   * text.
   */
  readonly collectAll: () => Promise<string>
  readonly receive: (name: string, answer: ProcessMetrics) => void
}

type ProcessMetrics = Extract<ToPrimary, { readonly type: 'process-metrics' }>

const METRICS_MS_MAX = 2_000

function createMetricsCollector(
  live: ReadonlyMap<string, ChildProcess>,
  ownMetrics: () => Promise<Metrics>,
): MetricsCollector {
  const waiting = new Map<number, (name: string, metrics: Metrics) => void>()
  let requests = 0
  const request = (requestId: number): Promise<Map<string, Metrics>> =>
    new Promise((done) => {
      const answers = new Map<string, Metrics>()
      const requested = [...live.values()].filter((worker) => worker.connected)
      const finish = (): void => {
        clearTimeout(late)
        waiting.delete(requestId)
        done(answers)
      }
      const late = setTimeout(finish, METRICS_MS_MAX)
      waiting.set(requestId, (name, metrics) => {
        answers.set(name, metrics)
        if (answers.size >= requested.length) finish()
      })
      const message: ToWorker = { type: 'process-metrics-request', requestId }
      for (const worker of requested) worker.send(message)
    })
  return {
    receive: (name, { requestId, metrics }) => waiting.get(requestId)?.(name, metrics),
    collectAll: async () => {
      requests += 1
      const [own, theirs] = await Promise.all([ownMetrics(), request(requests)])
      return mergeMetrics(new Map([['primary', own], ...theirs]))
    },
  }
}

/**
 * Merges the metrics of several processes, with the label `process` on each sample. Values are not
 * added up, because positions, ages and versions have no meaningful sum.
 */
function mergeMetrics(byProcess: ReadonlyMap<string, Metrics>): Promise<string> {
  const labelled = [...byProcess].map(([process, metrics]) =>
    metrics.map((metric) => ({
      ...metric,
      // No two samples have equal labels, so `sum` keeps each sample unchanged.
      aggregator: 'sum' as const,
      values: metric.values.map((value) => ({ ...value, labels: { ...value.labels, process } })),
    })),
  )
  return AggregatorRegistry.aggregate(labelled).metrics()
}
