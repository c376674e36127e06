import { Worker } from 'node:worker_threads'
import type { CountAnswer, Source } from './count-job.ts'

/** The maximum number of text bytes that one step passes to the thread. */
export const STEP_BYTES_MAX = 128 * 1024

/** A message to the thread: a step of a job, or the instruction to drop a job. */
export type CountStep =
  | {
      readonly kind: 'work'
      readonly job: number
      /** True if the model writes no answer to the request (see `CountRequest`). */
      readonly isInputOnly: boolean
      /**
       * The origin of the text in the first `length` bytes of the shared memory: the request's JSON
       * or the answer.
       */
      readonly source: Source
      readonly length: number
      /**
       * True if the thread has all bytes of the job after this step. The thread then begins or
       * continues to count.
       */
      readonly isLast: boolean
    }
  | { readonly kind: 'drop'; readonly job: number }

/**
 * The thread's reply. `'ready'` means that the thread has started. Null means that the job needs
 * more steps.
 */
export type CountReply = CountAnswer | null | 'ready'

type ThreadEvents = {
  readonly onReady: () => void
  readonly onReply: (answer: CountAnswer | null) => void
  /** Called when the thread has ended unexpectedly. The state of all its jobs is lost. */
  readonly onLost: () => void
}

/**
 * The maximum heap of the thread in MB. The heap contains the tokenizer's vocabulary and the
 * excerpts of all jobs. A thread that exceeds this heap ends, but the process continues.
 */
const HEAP_MB_MAX = 256
const PROGRAM = new URL('./count-worker.ts', import.meta.url)

/**
 * The worker thread that tokenizes. The constructor starts it, and the methods send messages to it.
 * The bytes of each step are passed through a small shared memory, so that the thread never holds a
 * copy of a whole request.
 */
export class CountWorkerHandle {
  private readonly scratch = new Uint8Array(new SharedArrayBuffer(STEP_BYTES_MAX))
  private readonly worker: Worker
  private hasEnded = false

  constructor(program: URL = PROGRAM, { onReady, onReply, onLost }: ThreadEvents) {
    this.worker = new Worker(program, {
      workerData: this.scratch.buffer,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
    })
    this.worker.unref()
    this.worker.on('message', (reply: CountReply) => {
      if (this.hasEnded) return
      if (reply === 'ready') onReady()
      else onReply(reply)
    })
    const lost = (): void => {
      if (this.hasEnded) return
      this.hasEnded = true
      onLost()
    }
    this.worker.on('error', lost)
    this.worker.on('exit', lost)
  }

  /**
   * Sends one step of at most `STEP_BYTES_MAX` bytes. The thread must be ready and must not be
   * processing another step.
   */
  work(bytes: Uint8Array, step: Omit<CountStep & { kind: 'work' }, 'kind' | 'length'>): void {
    this.scratch.set(bytes)
    this.post({ ...step, kind: 'work', length: bytes.length })
  }

  drop(job: number): void {
    this.post({ kind: 'drop', job })
  }

  /** Ends the thread immediately, even during a step. */
  async end(): Promise<void> {
    this.hasEnded = true
    await this.worker.terminate().catch(() => {})
  }

  private post(step: CountStep): void {
    this.worker.postMessage(step)
  }
}
