import type { Socket } from 'node:net'
import type { Registry } from 'prom-client'
import { readConfig } from '../config/read-config.ts'
import { type Running, startProduct } from '../start.ts'
import { describeStartError } from '../start-error.ts'
import { createHandedListener, type HandedListener } from './connection-dispatcher.ts'
import type { Siblings, ToPrimary, ToWorker } from './messages.ts'

type Own = { registry: Registry | null; running: Running | null; listener: HandedListener | null }

/**
 * One of the processes that `startWorkers` keeps: serves the connections that the primary hands to
 * it and does as that says, with which it ends.
 */
async function work(): Promise<void> {
  process.on('disconnect', () => process.exit(1))
  // Meant for the primary, which says what to do; a terminal sends them to everybody.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, () => {})
  const answers = new Map<number, (text: string) => void>()
  const own: Own = { registry: null, running: null, listener: null }
  process.on('message', (message: ToWorker, socket?: Socket) => {
    switch (message.type) {
      case 'connection':
        return take(own.listener, socket)
      case 'drain':
        return void drain(own.running, message.graceMs)
      case 'metrics-wanted':
        return void report(own.registry, message.question)
      case 'metrics-text':
        answers.get(message.question)?.(message.text)
        answers.delete(message.question)
    }
  })
  try {
    const siblings = siblingsBy(answers, own)
    const printLine = (line: string) => say({ type: 'print-line', line })
    own.running = await startProduct(readConfig(process.env), printLine, siblings)
    say({ type: 'ready' })
  } catch (error) {
    process.send?.({ type: 'failed', message: describeStartError(error) }, () => process.exit(1))
  }
}

const say = (message: ToPrimary): void => void process.send?.(message)

/** Had it begun to read before, its primary could hand it to another worker half read. */
function take(listener: HandedListener | null, socket: Socket | undefined): void {
  process.send?.({ type: 'taken' } satisfies ToPrimary, () => {
    if (listener === null) socket?.destroy()
    else if (socket !== undefined) listener.enter(socket)
  })
}

let isStopping = false

async function drain(running: Running | null, graceMs: number): Promise<void> {
  if (isStopping) return running?.hurry(graceMs)
  isStopping = true
  await running?.stop(graceMs)
  process.exit(0)
}

async function report(registry: Registry | null, question: number): Promise<void> {
  const metrics = (await registry?.getMetricsAsJSON()) ?? []
  say({ type: 'metrics-own', question, metrics })
}

function siblingsBy(answers: Map<number, (text: string) => void>, own: Own): Siblings {
  let questions = 0
  return {
    join: (registry) => {
      own.registry = registry
    },
    metrics: () =>
      new Promise((resolve) => {
        questions += 1
        answers.set(questions, resolve)
        say({ type: 'metrics-asked', question: questions })
      }),
    shareListener: async (app) => {
      await app.ready()
      own.listener = createHandedListener(app.server, () => say({ type: 'closed' }))
      return own.listener
    },
  }
}

await work()
