import { parentPort, workerData } from 'node:worker_threads'
import { CountJob } from './count-job.ts'
import type { CountReply, CountStep } from './count-worker-handle.ts'

/**
 * The maximum duration of a counting step in milliseconds. Jobs of other users wait while a step
 * runs.
 */
const STEP_MS = 4

const scratch = new Uint8Array(workerData as SharedArrayBuffer)
const jobs = new Map<number, CountJob>()

const reply = (reply: CountReply): void => parentPort?.postMessage(reply)

parentPort?.on('message', (step: CountStep) => {
  if (step.kind === 'drop') jobs.delete(step.job)
  else reply(process(step))
})
reply('ready')

function process(step: CountStep & { kind: 'work' }): CountReply {
  const { job, isInputOnly, source, length, isLast } = step
  const countJob = jobs.get(job) ?? new CountJob(isInputOnly)
  jobs.set(job, countJob)
  countJob.feed(source, scratch, length)
  if (!isLast) return null
  const until = performance.now() + STEP_MS
  const answer = countJob.count(() => performance.now() > until)
  if (answer !== null) jobs.delete(job)
  return answer
}
