import { estimateTokens } from '#relay/canonical/answer-text-for-token-count.ts'
import type { CountAnswer, Source } from './count-job.ts'
import { CountQueue, type QueueBounds } from './count-queue.ts'
import { CountWorkerHandle, STEP_BYTES_MAX } from './count-worker-handle.ts'
import { estimateInputTokens } from './estimate-input-tokens.ts'

type CountRequest = {
  readonly requestBody: Uint8Array | null
  /** The text of the answer. */
  readonly text: string
  /**
   * True for embeddings, moderations and reranking. The model writes no answer to these requests,
   * so that they consist only of their texts.
   */
  readonly isInputOnly?: boolean
}

/** Counts the tokens of the calls of one user. */
export type UserTokenCounter = {
  /**
   * Counts the tokens of a request and its answer. Returns an estimate if counting takes too long,
   * the queue is full or the thread fails. Never rejects.
   */
  readonly count: (request: CountRequest) => Promise<CountAnswer>
}

/** Counts tokens in a separate thread. */
export type TokenCounter = {
  readonly of: (userId: number) => UserTokenCounter
  /**
   * Returns the number of waiting jobs and the size of their texts in bytes, including the job that
   * is being counted.
   */
  readonly waiting: () => { readonly bytes: number; readonly length: number }
  readonly close: () => Promise<void>
}

/** The limits on the queue and on the duration of counts. */
export type CounterOptions = {
  readonly bounds: QueueBounds
  readonly waitMs: number
  /**
   * The maximum duration of a step in milliseconds. If a step takes longer, the thread is ended and
   * replaced.
   */
  readonly stepMs: number
  readonly program?: URL
}

const MB = 1024 * 1024
/**
 * The default limits. The memory that one user's jobs may use is enough for the largest possible
 * request.
 */
const DEFAULTS: CounterOptions = {
  bounds: { bytesMax: 128 * MB, lengthMax: 1_024, userBytesMax: 40 * MB, userLengthMax: 128 },
  waitMs: 3_000,
  stepMs: 1_500,
}
/**
 * The maximum time in milliseconds to start the thread. Loading the vocabulary usually takes less
 * than a second.
 */
const START_MS_MAX = 30_000
const IDLE_MS = 60_000
const NOTHING = new Uint8Array(0)

/** A text of a job that has not been sent to the thread completely. */
type UnsentText = { readonly source: Source; readonly bytes: Uint8Array }

type Job = {
  readonly id: number
  readonly userId: number
  readonly bytes: number
  readonly request: CountRequest
  readonly resolve: (answer: CountAnswer) => void
  readonly timer: NodeJS.Timeout
  /**
   * The texts that remain to be sent to the thread. Null before the first step of the job, after
   * the end of the job, and after the thread has been replaced.
   */
  parts: UnsentText[] | null
  isOver: boolean
}

/**
 * Creates a counter that tokenizes in a separate thread, because loading the vocabulary and
 * counting long texts in the main thread would block the event loop. Users are served in rotation,
 * in steps of a few milliseconds. If the queue is full or the wait is too long, the caller gets an
 * estimate.
 */
export function createTokenCounter(options: Partial<CounterOptions> = {}): TokenCounter {
  const counts = new Counts({ ...DEFAULTS, ...options })
  return {
    of: (userId) => ({ count: (request) => counts.count(userId, request) }),
    waiting: () => counts.waiting(),
    close: () => counts.stop(),
  }
}

class Counts {
  private readonly options: CounterOptions
  private readonly queue: CountQueue<Job>
  private thread: CountWorkerHandle | null = null
  private isReady = false
  /** The job of the step that the thread is processing. Null if the thread is idle. */
  private current: Job | null = null
  /** The timer that limits the start of the thread, and later each step. */
  private deadline: NodeJS.Timeout | undefined
  private idleTimer: NodeJS.Timeout | undefined
  private nextId = 1

  constructor(options: CounterOptions) {
    this.options = options
    this.queue = new CountQueue(options.bounds)
  }

  count(userId: number, request: CountRequest): Promise<CountAnswer> {
    return new Promise((resolve) => {
      const id = this.nextId
      this.nextId += 1
      const bytes = (request.requestBody?.length ?? 0) + request.text.length
      const timer = setTimeout(() => this.finish(job, null), this.options.waitMs)
      const state = { parts: null, isOver: false }
      const job: Job = { id, userId, bytes, request, resolve, timer, ...state }
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
    const thread = this.detachThread()
    for (const job of this.queue.all()) this.finish(job, null)
    await thread?.end()
  }

  /** Completes a job. If `counted` is null, the result of the job is an estimate. */
  private finish(job: Job, counted: CountAnswer | null): void {
    if (job.isOver) return
    job.isOver = true
    clearTimeout(job.timer)
    this.queue.remove(job)
    if (counted === null && job.parts !== null) this.thread?.drop(job.id)
    job.parts = null
    job.resolve(counted ?? estimateTokenCount(job.request))
  }

  /** Sends the next step to the thread, unless the thread is busy or still starting. */
  private sendNextStep(): void {
    if (this.current !== null || this.queue.length === 0) return
    const thread = this.openThread()
    const job = this.isReady ? this.queue.next() : null
    if (job === null) return
    this.current = job
    const part = nextPartOf(job)
    this.limitTime(this.options.stepMs, () => this.replaceThread())
    const { isInputOnly = false } = job.request
    const isLast = job.parts?.length === 0
    thread.work(part.bytes, { job: job.id, isInputOnly, source: part.source, isLast })
  }

  private openThread(): CountWorkerHandle {
    clearTimeout(this.idleTimer)
    this.idleTimer = setTimeout(() => void this.stop(), IDLE_MS)
    this.idleTimer.unref()
    if (this.thread !== null) return this.thread
    const thread = new CountWorkerHandle(this.options.program, {
      onReady: () => {
        this.isReady = true
        this.onStepDone(null)
      },
      onReply: (answer) => this.onStepDone(answer),
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

  private onStepDone(answer: CountAnswer | null): void {
    clearTimeout(this.deadline)
    const { current } = this
    this.current = null
    if (current !== null && answer !== null) this.finish(current, answer)
    this.sendNextStep()
  }

  /**
   * Replaces a thread that is stuck or has ended. The current job gets an estimate. The new thread
   * counts all other jobs from the beginning.
   */
  private replaceThread(): void {
    const failed = this.current
    const thread = this.detachThread()
    if (failed !== null) this.finish(failed, null)
    void thread?.end()
    this.sendNextStep()
  }

  private detachThread(): CountWorkerHandle | null {
    clearTimeout(this.deadline)
    const { thread } = this
    this.thread = null
    this.isReady = false
    this.current = null
    for (const job of this.queue.all()) job.parts = null
    return thread
  }
}

/**
 * Returns the next text that is sent to the thread. The text is empty if the thread has all text
 * and only needs to continue counting.
 */
function nextPartOf(job: Job): UnsentText {
  job.parts ??= partsOf(job.request)
  const part = job.parts.shift()
  if (part === undefined) return { source: 'answer', bytes: NOTHING }
  const bytes = part.bytes.subarray(0, STEP_BYTES_MAX)
  const rest = part.bytes.subarray(STEP_BYTES_MAX)
  if (rest.length > 0) job.parts.unshift({ ...part, bytes: rest })
  return { ...part, bytes }
}

const partsOf = ({ requestBody, text }: CountRequest): UnsentText[] => [
  ...(requestBody === null ? [] : [{ source: 'request', bytes: requestBody } as const]),
  ...(text === '' ? [] : [{ source: 'answer', bytes: Buffer.from(text) } as const]),
]

/** Estimates the tokens of a request and its answer from their lengths, without a tokenizer. */
export const estimateTokenCount = ({ requestBody, text }: CountRequest): CountAnswer => ({
  input: requestBody === null ? 0 : estimateInputTokens(requestBody),
  output: estimateTokens(text),
  inputMost: requestBody?.length ?? 0,
})
