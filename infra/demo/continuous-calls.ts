const QUESTIONS = [
  'Summarise the last quarter in three lines.',
  'What does an append-only ledger make easy?',
  'Write a haiku about exact change.',
  'Explain backpressure to a river.',
  'List five names for a friendly robot.',
]

type Shape = { readonly model: string; readonly stream: boolean }

const SHAPES: readonly Shape[] = [
  { model: 'sim-small', stream: true },
  { model: 'sim-small', stream: false },
  { model: 'sim-large', stream: true },
  { model: 'sim-small', stream: true },
  { model: 'sim-large', stream: false },
  { model: 'unsteady-cut', stream: true },
  { model: 'sim-small', stream: true },
  { model: 'unsteady-down', stream: false },
]

/** Sends about one call per second: streaming calls, non-streaming calls and calls that fail. */
export function startContinuousCalls(
  url: string,
  tokens: readonly { readonly key: string }[],
): { stop(): void } {
  let count = 0
  const call = async () => {
    const shape = SHAPES[count % SHAPES.length] as Shape
    const token = tokens[count % tokens.length]
    const content = QUESTIONS[count % QUESTIONS.length]
    count += 1
    try {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token?.key}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ ...shape, messages: [{ role: 'user', content }] }),
      })
      await response.arrayBuffer()
    } catch {
      // The error is ignored, because the demo interrupts some streams on purpose.
    }
  }
  const timer = setInterval(() => void call(), 1_200)
  timer.unref()
  void call()
  return { stop: () => clearInterval(timer) }
}
