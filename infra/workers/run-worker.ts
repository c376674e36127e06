import type { Socket } from 'node:net'
import type { Registry } from 'prom-client'
import { readConfig } from '../config/read-config.ts'
import { type Running, startProduct } from '../start.ts'
import { describeStartError } from '../start-error.ts'
import {
  acceptConnection,
  createWorkerListener,
  type WorkerListener,
} from './connection-dispatcher.ts'
import type { Siblings, ToPrimary, ToWorker } from './worker-messages.ts'

type WorkerState = {
  registry: Registry | null
  running: Running | null
  listener: WorkerListener | null
}

/** Runs a worker process for `startWorkers`. The worker ends when the primary process ends. */
export async function runWorker(): Promise<void> {
  process.on('disconnect', () => process.exit(1))
  // The primary may have ended while this process loaded its modules.
  if (!process.connected) process.exit(1)
  // A terminal sends signals to all processes, but only the primary handles them.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, () => {})
  const answers = new Map<number, (text: string) => void>()
  const state: WorkerState = { registry: null, running: null, listener: null }
  process.on('message', (message: ToWorker, socket?: Socket) => {
    switch (message.type) {
      case 'connection':
        return acceptConnection(state.listener, socket, confirmConnection)
      case 'drain':
        return void drain(state.running, message.graceMs)
      case 'process-metrics-request':
        return void report(state.registry, message.requestId)
      case 'all-metrics':
        answers.get(message.requestId)?.(message.text)
        answers.delete(message.requestId)
    }
  })
  try {
    const siblings = createSiblings(answers, state)
    const printLine = (line: string) => send({ type: 'print-line', line })
    state.running = await startProduct(readConfig(process.env), printLine, { siblings })
    send({ type: 'ready' })
  } catch (error) {
    process.send?.({ type: 'failed', message: describeStartError(error) }, () => process.exit(1))
  }
}

const send = (message: ToPrimary): void => void process.send?.(message)

const confirmConnection = (done: () => void): void =>
  void process.send?.({ type: 'accepted' } satisfies ToPrimary, done)

let isStopping = false

async function drain(running: Running | null, graceMs: number): Promise<void> {
  if (isStopping) return running?.hurry(graceMs)
  isStopping = true
  await running?.stop(graceMs)
  process.exit(0)
}

async function report(registry: Registry | null, requestId: number): Promise<void> {
  const metrics = (await registry?.getMetricsAsJSON()) ?? []
  send({ type: 'process-metrics', requestId, metrics })
}

function createSiblings(
  answers: Map<number, (text: string) => void>,
  state: WorkerState,
): Siblings {
  let requests = 0
  return {
    join: (registry) => {
      state.registry = registry
    },
    metrics: () =>
      new Promise((resolve) => {
        requests += 1
        answers.set(requests, resolve)
        send({ type: 'all-metrics-request', requestId: requests })
      }),
    shareListener: async (app) => {
      await app.ready()
      state.listener = createWorkerListener(app.server, () => send({ type: 'closed' }))
      return state.listener
    },
  }
}
