import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type CounterOptions,
  createTokenCounter,
  estimateTokenCount,
  type TokenCounter,
} from '#relay/token-counts/token-counter.ts'
import { budget, processCpuMs, startStopwatch } from '#test/support/time-limit.ts'

let counter: TokenCounter | null = null
afterEach(() => counter?.close())

async function start(options: Partial<CounterOptions> = {}): Promise<TokenCounter> {
  counter = createTokenCounter({ waitMs: 20_000, ...options })
  // The vocabulary is loaded by now.
  await counter.of(0).count({ requestBody: null, text: 'x' })
  return counter
}

const KB = 1024
const SMALL = { bytesMax: 80 * KB, lengthMax: 20, userBytesMax: 40 * KB, userLengthMax: 10 }
const question = (content: string, text = '') => ({
  requestBody: Buffer.from(JSON.stringify({ messages: [{ role: 'user', content }] })),
  text,
})

describe('token counter', () => {
  it('counts a request and an answer as the tokenizer does', async () => {
    const { of } = await start()
    const content = 'How are you? 你好，世界。'.repeat(300)
    expect(await of(1).count(question(content, 'Fine, thanks.'))).toMatchObject({
      input: countTokens(content) + 3 + 3,
      output: countTokens('Fine, thanks.'),
    })
    const nothing = { input: 0, output: 0, inputMost: 0 }
    expect(await of(1).count({ requestBody: null, text: '' })).toEqual(nothing)
  })

  it('counts each text of a list for embeddings by itself', async () => {
    const { of } = await start()
    const count = async (request: object) => {
      const requestBody = Buffer.from(JSON.stringify(request))
      return (await of(1).count({ requestBody, text: '', isInputOnly: true })).input
    }
    const texts = ['hello', 'Four words, no more.', '', '你好', ' ', 'many words '.repeat(900)]
    const alone = texts.reduce((sum, text) => sum + countTokens(text), 0)
    expect(await count({ input: texts })).toBe(alone)
    const parts = texts.map((text) => ({ content: { parts: [{ text }] } }))
    expect(await count({ requests: parts })).toBe(alone)
    expect(await count({ input: Array.from({ length: 50_000 }, () => 'hello') })).toBe(50_000)
    expect(await count({ input: 'hello' })).toBe(1)
  })

  it('adds one token for each further text of a chat, such as the role of a message', async () => {
    const { of } = await start()
    const messages = ['Be brief.', 'hello', 'Yes.'].map((content) => ({ role: 'user', content }))
    // Members of other formats don't make the chat cheaper.
    const requestBody = Buffer.from(JSON.stringify({ messages, requests: [], content: {} }))
    const { input } = await of(1).count({ requestBody, text: '' })
    const ofTexts = messages.reduce((sum, { content }) => sum + countTokens(content), 0)
    expect(input).toBe(ofTexts + 3 * 3 + 2 + 3)
  })

  it('counts a text that looks like a special token as plain text', async () => {
    const { of } = await start()
    const { output } = await of(1).count({ requestBody: null, text: '<|endoftext|>' })
    expect(output).toBeGreaterThan(3)
  })

  it('counts 64 000 copies of one character exactly and quickly', async () => {
    const { of } = await start()
    const before = processCpuMs()
    const { input } = await of(1).count(question('的'.repeat(64_000)))
    expect(input / 64_000).toBeCloseTo(1, 2)
    expect(processCpuMs() - before).toBeLessThan(budget(3_000))
  })

  it('returns a rough count at once when a user’s share of the queue is full', async () => {
    const { of, waiting } = await start({ bounds: SMALL })
    const long = question('的'.repeat(12_000))
    const first = of(1).count(long)
    const second = of(1).count(long)
    expect(waiting().bytes).toBe(long.requestBody.length)
    expect(await Promise.race([first, second])).toEqual(estimateTokenCount(long))
    expect((await first).input).toBeLessThan(13_000)
  })

  it('holds nothing once every count is done', async () => {
    const { of, waiting } = await start({ bounds: SMALL })
    const counts = Array.from({ length: 50 }, (_, at) => of(at % 7).count(question('x'.repeat(at))))
    expect(waiting().length).toBeLessThanOrEqual(SMALL.lengthMax)
    await Promise.all(counts)
    expect(waiting()).toEqual({ bytes: 0, length: 0 })
  })

  it('gives a user the same count quickly during another user’s flood of texts', async () => {
    const { of } = await start()
    const own = question('Was it the same? '.repeat(50), 'It was.')
    const alone = await of(1).count(own)
    const hostile = question('a b '.repeat(5 * KB * KB))
    const flood = Array.from({ length: 20 }, () => of(2).count(hostile))
    const before = processCpuMs()
    for (let count = 0; count < 5; count += 1) expect(await of(1).count(own)).toEqual(alone)
    expect(processCpuMs() - before).toBeLessThan(budget(1_500))
    await Promise.all(flood)
  })
})

describe('a count that does not end', () => {
  const program = new URL('./hanging-worker.ts', import.meta.url)
  const endless = question('this never ends')

  it('becomes rough in time, its thread is replaced, and other counts finish', async () => {
    const { of, waiting } = await start({ program, stepMs: 500 })
    const others = [1, 2, 3].map((userId) => of(userId).count(question('and I?')))
    const hung = of(4).count(endless)
    const later = [4, 5, 6].map((userId) => of(userId).count(question('and I?')))
    expect(await hung).toEqual(estimateTokenCount(endless))
    const exact = { input: countTokens('and I?') + 6, output: 0 }
    for (const count of await Promise.all([...others, ...later])) expect(count).toMatchObject(exact)
    expect(waiting()).toEqual({ bytes: 0, length: 0 })
  })

  it('delays others no longer than the time limit and leaves nothing queued', async () => {
    const { of, waiting } = await start({ program, waitMs: 400, stepMs: 60_000 })
    const elapsedMs = startStopwatch()
    const hung = of(1).count(endless)
    const other = question('and I?')
    expect(await Promise.all([hung, of(2).count(other)])).toEqual(
      [endless, other].map(estimateTokenCount),
    )
    expect(elapsedMs()).toBeLessThan(budget(2_000))
    expect(waiting()).toEqual({ bytes: 0, length: 0 })
  })

  it('does not prevent the counter from closing', async () => {
    const { of, close } = await start({ program, stepMs: 60_000 })
    const hung = of(1).count(endless)
    await close()
    expect(await hung).toEqual(estimateTokenCount(endless))
  })
})

it('the token counter returns rough counts when its thread does not start', async () => {
  const program = new URL('data:text/javascript,throw new Error("no start")')
  counter = createTokenCounter({ program })
  const elapsedMs = startStopwatch()
  expect(await counter.of(1).count(question('x'))).toEqual(estimateTokenCount(question('x')))
  expect(elapsedMs()).toBeLessThan(budget(2_900))
})
