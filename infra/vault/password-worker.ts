import { parentPort } from 'node:worker_threads'
import { type HashCosts, hashNow, verifyNow } from './password-hash.ts'

export type PasswordJob =
  | { readonly kind: 'hash'; readonly password: string; readonly costs: HashCosts }
  | { readonly kind: 'verify'; readonly password: string; readonly hash: string }

parentPort?.on('message', (job: PasswordJob) => {
  const answer =
    job.kind === 'hash' ? hashNow(job.password, job.costs) : verifyNow(job.password, job.hash)
  parentPort?.postMessage(answer)
})
