import type { Registry } from 'prom-client'
import { readConfig } from '../config/read-config.ts'
import { explainStart } from '../explain-start.ts'
import { type Running, startProduct } from '../start.ts'
import type { ToPrimary, ToWorker } from './messages.ts'
import type { Siblings } from './siblings.ts'

/**
 * One of the processes that `startWorkers` keeps: serves the shared port and obeys the primary,
 * with which it ends.
 */
async function work(): Promise<void> {
  process.on('disconnect', () => process.exit(1))
  // Meant for the primary, which says what to do; a terminal sends them to everybody.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, () => {})
  const answers = new Map<number, (text: string) => void>()
  const own: { registry: Registry | null; running: Running | null } = {
    registry: null,
    running: null,
  }
  process.on('message', (message: ToWorker) => {
    switch (message.type) {
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
    const siblings = siblingsBy(answers, (registry) => {
      own.registry = registry
    })
    const tell = (line: string) => say({ type: 'tell', line })
    own.running = await startProduct(readConfig(process.env), tell, siblings)
    say({ type: 'ready', url: own.running.url })
  } catch (error) {
    process.send?.({ type: 'failed', message: explainStart(error) }, () => process.exit(1))
  }
}

const say = (message: ToPrimary): void => void process.send?.(message)

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

function siblingsBy(
  answers: Map<number, (text: string) => void>,
  join: Siblings['join'],
): Siblings {
  let questions = 0
  return {
    join,
    metrics: () =>
      new Promise((resolve) => {
        questions += 1
        answers.set(questions, resolve)
        say({ type: 'metrics-asked', question: questions })
      }),
  }
}

await work()
