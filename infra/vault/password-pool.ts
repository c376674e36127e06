import { Worker } from 'node:worker_threads'
import { HASH_COSTS } from './password-hash.ts'
import type { PasswordJob } from './password-worker.ts'
import { type Vault, VaultBusy } from './port.ts'

const WORKERS = 2
const QUEUE_MAX = 32

type Waiting = {
  readonly job: PasswordJob
  readonly done: (answer: unknown) => void
  readonly failed: (error: Error) => void
}

/**
 * Creates functions that hash passwords on two separate threads. In libuv's thread pool, a flood of
 * logins would delay the DNS queries of every call to a provider.
 */
export function createPasswordPool(): Pick<Vault, 'hashPassword' | 'verifyPassword'> {
  const queue: Waiting[] = []
  const idle: Worker[] = []
  let started = 0

  const start = (): Worker => {
    started += 1
    const worker = new Worker(new URL('./password-worker.ts', import.meta.url))
    worker.unref()
    return worker
  }
  const next = (): void => {
    if (queue.length === 0) return
    const worker = idle.pop() ?? (started < WORKERS ? start() : null)
    const waiting = worker === null ? undefined : queue.shift()
    if (worker !== null && waiting !== undefined) run(worker, waiting)
  }
  const run = (worker: Worker, { job, done, failed }: Waiting): void => {
    const finish = (): void => {
      worker.off('message', onAnswer)
      worker.off('error', onError)
      worker.unref()
    }
    const onAnswer = (answer: unknown): void => {
      finish()
      idle.push(worker)
      done(answer)
      next()
    }
    const onError = (error: unknown): void => {
      finish()
      started -= 1
      failed(error instanceof Error ? error : new Error('a password worker failed'))
      next()
    }
    worker.on('message', onAnswer)
    worker.on('error', onError)
    worker.ref()
    worker.postMessage(job)
  }
  const ask = <T>(job: PasswordJob): Promise<T> =>
    new Promise((done, failed) => {
      if (queue.length >= QUEUE_MAX) return failed(new VaultBusy())
      queue.push({ job, done: done as (answer: unknown) => void, failed })
      next()
    })
  return {
    hashPassword: (password) => ask({ kind: 'hash', password, costs: HASH_COSTS }),
    verifyPassword: (password, hash) => ask({ kind: 'verify', password, hash }),
  }
}
