import { Worker } from 'node:worker_threads'
import { roughTokens } from './delivered-text.ts'
import { roughInput } from './rough-input.ts'

export type CountQuestion = { readonly requestBody: Uint8Array | null; readonly text: string }
export type CountAnswer = { readonly input: number; readonly output: number }

export type TokenCounter = {
  /** Never fails and is never waited for longer than its bound: then the count is rough. */
  readonly count: (question: CountQuestion) => Promise<CountAnswer>
  readonly close: () => Promise<void>
}

const WAIT_MS_MAX = 3_000
const IDLE_MS = 60_000

type Waiting = { readonly resolve: (answer: CountAnswer) => void; readonly timer: NodeJS.Timeout }

/**
 * Counts tokens in a thread of its own, started when first needed: loading the vocabulary takes
 * longer than the loop may stand still, and so may counting a long text.
 */
export function createTokenCounter(): TokenCounter {
  const waiting = new Map<number, Waiting & { readonly question: CountQuestion }>()
  let worker: Worker | null = null
  let nextId = 1
  let idle: NodeJS.Timeout | undefined

  const answer = (id: number, counted: CountAnswer | null): void => {
    const entry = waiting.get(id)
    if (entry === undefined) return
    waiting.delete(id)
    clearTimeout(entry.timer)
    entry.resolve(counted ?? roughCount(entry.question))
  }
  const stop = async (): Promise<void> => {
    clearTimeout(idle)
    const stopping = worker
    worker = null
    for (const id of [...waiting.keys()]) answer(id, null)
    await stopping?.terminate()
  }
  const open = (): Worker => {
    if (worker !== null) return worker
    const opened = new Worker(new URL('./token-count-worker.ts', import.meta.url))
    opened.unref()
    opened.on('message', ({ id, input, output }: CountAnswer & { id: number }) =>
      answer(id, { input, output }),
    )
    opened.on('error', () => void stop())
    worker = opened
    return opened
  }
  return {
    count: (question) =>
      new Promise((resolve) => {
        const id = nextId
        nextId += 1
        const timer = setTimeout(() => answer(id, null), WAIT_MS_MAX)
        waiting.set(id, { resolve, timer, question })
        clearTimeout(idle)
        idle = setTimeout(() => void stop(), IDLE_MS)
        idle.unref()
        open().postMessage({ id, ...question })
      }),
    close: stop,
  }
}

/** Without a vocabulary. */
export const roughCount = ({ requestBody, text }: CountQuestion): CountAnswer => ({
  input: requestBody === null ? 0 : roughInput(requestBody),
  output: roughTokens(text),
})
