import { Worker } from 'node:worker_threads'
import type { CountAnswer, Source } from './count-job.ts'

/** The most that is handed over in one step, in bytes. */
export const STEP_BYTES_MAX = 128 * 1024

export type CountStep =
  | {
      readonly kind: 'work'
      readonly job: number
      /** What the first `length` bytes of the shared memory are a piece of. */
      readonly source: Source
      readonly length: number
      /** Nothing more will be handed over: count. */
      readonly isLast: boolean
    }
  | { readonly kind: 'drop'; readonly job: number }

/** To a step; null: there is more to do. */
export type CountReply = CountAnswer | null | 'ready'

type ThreadEvents = {
  readonly onReady: () => void
  readonly onReply: (answer: CountAnswer | null) => void
  /** It ended by itself, and everything that it knew is gone. */
  readonly onLost: () => void
}

/** Room for the vocabulary and the excerpts of all jobs; beyond it the thread alone ends. */
const HEAP_MB_MAX = 256
const PROGRAM = new URL('./count-worker.ts', import.meta.url)

/**
 * The thread that tokenizes. It takes one step at a time, and the bytes of a step pass through one
 * small piece of shared memory, so that the thread never holds a copy of a request.
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

  /** `bytes`: at most `STEP_BYTES_MAX`. Only when it is ready and at no other step. */
  work(job: number, source: Source, bytes: Uint8Array, isLast: boolean): void {
    this.scratch.set(bytes)
    this.post({ kind: 'work', job, source, length: bytes.length, isLast })
  }

  drop(job: number): void {
    this.post({ kind: 'drop', job })
  }

  /** At once, also in the middle of a step. */
  async end(): Promise<void> {
    this.hasEnded = true
    await this.worker.terminate().catch(() => {})
  }

  private post(step: CountStep): void {
    this.worker.postMessage(step)
  }
}
