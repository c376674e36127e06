import { roughTokens } from '#relay/canonical/delivered-text.ts'
import type { CountAnswer, Source } from './count-job.ts'
import { CountQueue, type QueueBounds } from './count-queue.ts'
import { CountThread, STEP_BYTES_MAX } from './count-thread.ts'
import { roughInput } from './rough-input.ts'

export type CountQuestion = { readonly requestBody: Uint8Array | null; readonly text: string }

/** Counts the texts of one user. */
export type UserTokenCounter = {
  /** Never fails and is never waited for longer than its bound: then the count is rough. */
  readonly count: (question: CountQuestion) => Promise<CountAnswer>
}

export type TokenCounter = {
  readonly of: (userId: number) => UserTokenCounter
  /** What waits to be counted, the counts under way included. */
  readonly waiting: () => { readonly bytes: number; readonly length: number }
  readonly close: () => Promise<void>
}

export type CounterOptions = {
  readonly bounds: QueueBounds
  /** How long a count is waited for at most. */
  readonly waitMs: number
  /** A step of the thread that takes longer ends the thread. */
  readonly stepMs: number
  /** The thread's program; for tests. */
  readonly program?: URL
}

const MB = 1024 * 1024
/** One user's share holds the largest request there can be. */
const DEFAULTS: CounterOptions = {
  bounds: { bytesMax: 128 * MB, lengthMax: 1_024, userBytesMax: 40 * MB, userLengthMax: 128 },
  waitMs: 3_000,
  stepMs: 1_500,
}
/** Loading the vocabulary takes less than a second on an idle machine. */
const START_MS_MAX = 30_000
const IDLE_MS = 60_000
const NOTHING = new Uint8Array(0)

/** Bytes that are still to be handed to the thread. */
type Part = { readonly source: Source; readonly bytes: Uint8Array }

type Job = {
  readonly id: number
  readonly userId: number
  readonly bytes: number
  readonly question: CountQuestion
  readonly resolve: (answer: CountAnswer) => void
  readonly timer: NodeJS.Timeout
  /** null: the thread does not know of the job. */
  parts: Part[] | null
  isOver: boolean
}

/**
 * Counts tokens in a thread of its own, started when first needed: loading the vocabulary takes
 * longer than the loop may stand still, and so may counting a long text. Users take turns, by steps
 * of some milliseconds. A count that finds the queue full or waits too long is rough.
 */
export function createTokenCounter(options: Partial<CounterOptions> = {}): TokenCounter {
  const counts = new Counts({ ...DEFAULTS, ...options })
  return {
    of: (userId) => ({ count: (question) => counts.count(userId, question) }),
    waiting: () => counts.waiting(),
    close: () => counts.stop(),
  }
}

class Counts {
  private readonly options: CounterOptions
  private readonly queue: CountQueue<Job>
  private thread: CountThread | null = null
  private isReady = false
  /** The job whose step the thread is at. */
  private current: Job | null = null
  /** Of the thread's start, then of its current step. */
  private deadline: NodeJS.Timeout | undefined
  private idleTimer: NodeJS.Timeout | undefined
  private nextId = 1

  constructor(options: CounterOptions) {
    this.options = options
    this.queue = new CountQueue(options.bounds)
  }

  count(userId: number, question: CountQuestion): Promise<CountAnswer> {
    return new Promise((resolve) => {
      const id = this.nextId
      this.nextId += 1
      const bytes = (question.requestBody?.length ?? 0) + question.text.length
      const timer = setTimeout(() => this.finish(job, null), this.options.waitMs)
      const state = { parts: null, isOver: false }
      const job: Job = { id, userId, bytes, question, resolve, timer, ...state }
      for (const evicted of this.queue.add(job)) this.finish(evicted, null)
      this.sendNextStep()
    })
  }

  waiting(): { bytes: number; length: number } {
    const { bytes, length } = this.queue
    return { bytes, length }
  }

  async stop(): Promise<void> {
    clearTimeout(this.idleTimer)
    const thread = this.takeThread()
    for (const job of this.queue.all()) this.finish(job, null)
    await thread?.end()
  }

  /** `counted` null: roughly. */
  private finish(job: Job, counted: CountAnswer | null): void {
    if (job.isOver) return
    job.isOver = true
    clearTimeout(job.timer)
    this.queue.remove(job)
    if (counted === null && job.parts !== null) this.thread?.drop(job.id)
    job.parts = null
    job.resolve(counted ?? roughCount(job.question))
  }

  /** Unless the thread is at a step already, or still starts. */
  private sendNextStep(): void {
    if (this.current !== null || this.queue.length === 0) return
    const thread = this.openThread()
    const job = this.isReady ? this.queue.next() : null
    if (job === null) return
    this.current = job
    const part = nextPartOf(job)
    this.limitTime(this.options.stepMs, () => this.replaceThread())
    thread.work(job.id, part.source, part.bytes, job.parts?.length === 0)
  }

  private openThread(): CountThread {
    clearTimeout(this.idleTimer)
    this.idleTimer = setTimeout(() => void this.stop(), IDLE_MS)
    this.idleTimer.unref()
    if (this.thread !== null) return this.thread
    const thread = new CountThread(this.options.program, {
      onReady: () => {
        this.isReady = true
        this.stepIsOver(null)
      },
      onReply: (answer) => this.stepIsOver(answer),
      onLost: () => (this.isReady ? this.replaceThread() : void this.stop()),
    })
    this.thread = thread
    this.limitTime(START_MS_MAX, () => void this.stop())
    return thread
  }

  private limitTime(ms: number, onLate: () => void): void {
    clearTimeout(this.deadline)
    this.deadline = setTimeout(onLate, ms)
    this.deadline.unref()
  }

  private stepIsOver(answer: CountAnswer | null): void {
    clearTimeout(this.deadline)
    const { current } = this
    this.current = null
    if (current !== null && answer !== null) this.finish(current, answer)
    this.sendNextStep()
  }

  /** The job that it was at is counted roughly, the others from their beginning. */
  private replaceThread(): void {
    const failed = this.current
    const thread = this.takeThread()
    if (failed !== null) this.finish(failed, null)
    void thread?.end()
    this.sendNextStep()
  }

  private takeThread(): CountThread | null {
    clearTimeout(this.deadline)
    const { thread } = this
    this.thread = null
    this.isReady = false
    this.current = null
    for (const job of this.queue.all()) job.parts = null
    return thread
  }
}

/** What the thread gets next of a job: nothing once it has everything and only counts. */
function nextPartOf(job: Job): Part {
  job.parts ??= partsOf(job.question)
  const part = job.parts.shift()
  if (part === undefined) return { source: 'answer', bytes: NOTHING }
  const bytes = part.bytes.subarray(0, STEP_BYTES_MAX)
  const rest = part.bytes.subarray(STEP_BYTES_MAX)
  if (rest.length > 0) job.parts.unshift({ ...part, bytes: rest })
  return { ...part, bytes }
}

const partsOf = ({ requestBody, text }: CountQuestion): Part[] => [
  ...(requestBody === null ? [] : [{ source: 'request', bytes: requestBody } as const]),
  ...(text === '' ? [] : [{ source: 'answer', bytes: Buffer.from(text) } as const]),
]

/** Without a vocabulary. */
export const roughCount = ({ requestBody, text }: CountQuestion): CountAnswer => ({
  input: requestBody === null ? 0 : roughInput(requestBody),
  output: roughTokens(text),
})
