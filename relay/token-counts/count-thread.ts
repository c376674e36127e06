import { Worker } from 'node:worker_threads'
import type { CountAnswer, Source } from './count-job.ts'

/** The maximum number of bytes that are passed in one step. */
export const STEP_BYTES_MAX = 128 * 1024

export type CountStep =
  | {
      readonly kind: 'work'
      readonly job: number
      /** The text to which the first `length` bytes of the shared memory belong. */
      readonly source: Source
      readonly length: number
      /** True when no more bytes follow, so that the thread counts. */
      readonly isLast: boolean
    }
  | { readonly kind: 'drop'; readonly job: number }

/** The reply to a step. It is null while there is more to do. */
export type CountReply = CountAnswer | null | 'ready'

type ThreadEvents = {
  readonly onReady: () => void
  readonly onReply: (answer: CountAnswer | null) => void
  /** Called when the thread ended unexpectedly; its state is lost. */
  readonly onLost: () => void
}

/**
 * The heap for the vocabulary and the excerpts of all jobs. If it is exceeded, only the thread
 * ends.
 */
const HEAP_MB_MAX = 256
const PROGRAM = new URL('./count-worker.ts', import.meta.url)

/**
 * The thread that tokenizes. It handles one step at a time, and the bytes of a step pass through
 * one small piece of shared memory, so that the thread never holds a copy of a request.
 */
export class CountThread {
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

  /** Sends one step of at most `STEP_BYTES_MAX` bytes. The thread must be ready and idle. */
  work(job: number, source: Source, bytes: Uint8Array, isLast: boolean): void {
    this.scratch.set(bytes)
    this.post({ kind: 'work', job, source, length: bytes.length, isLast })
  }

  drop(job: number): void {
    this.post({ kind: 'drop', job })
  }

  /** Ends the thread at once, even during a step. */
  async end(): Promise<void> {
    this.hasEnded = true
    await this.worker.terminate().catch(() => {})
  }

  private post(step: CountStep): void {
    this.worker.postMessage(step)
  }
}
