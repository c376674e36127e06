import { describe, expect, it } from 'vitest'
import {
  type LongPiece,
  type LongResult,
  MalformedResult,
  outlinedResults,
  type ResultRendering,
  renderedResults,
} from '#relay/batches/long-results.ts'
import { rulesOfLongOpenAiResult } from '#relay/batches/openai-batches.ts'

const MIB = 1024 * 1024
const ANSWER = 'response/body'
const HEAD = '{"custom_id":"a","response":{"status_code":200,"body":{"model":"m",'
const RENDERING: ResultRendering = {
  answerPath: ANSWER,
  render: () => null,
  rulesOfLong: (outline) =>
    rulesOfLongOpenAiResult(outline, 'output', () => ({ model: 'm', isBilled: true })),
  renderUnshown: () => null,
}
/** A piece with so many small members that reading it at once would take long. */
const MANY = Buffer.from(`${HEAD}${'"":1,'.repeat(400_000)}`)

async function* pieces(...all: (string | Buffer)[]): AsyncGenerator<LongPiece> {
  for (const [at, piece] of all.entries()) {
    yield { piece: Buffer.from(piece as string), isLast: at === all.length - 1 }
  }
}

async function arrayOf<One>(yielded: AsyncIterable<One>): Promise<One[]> {
  const all: One[] = []
  for await (const one of yielded) all.push(one)
  return all
}

/** Returns what `work` yields, and how often the event loop did other work in the meantime. */
async function counted<One>(work: AsyncIterable<One>): Promise<{ all: One[]; turns: number }> {
  let turns = 0
  let next = setImmediate(function count() {
    turns += 1
    next = setImmediate(count)
  })
  const all = await arrayOf(work)
  clearImmediate(next)
  return { all, turns }
}

const shownOf = async (...all: string[]) =>
  (await arrayOf(renderedResults(pieces(...all), RENDERING))).map(({ data }) => data).join('')

describe('a long result', () => {
  it('blocks the event loop neither when it is billed nor when it is shown', async () => {
    const slices = Math.floor(MANY.length / (64 * 1024))
    const outlined = await counted(outlinedResults(pieces(MANY, '"z":1}}}'), ANSWER))
    const [result] = outlined.all as LongResult[]
    expect(JSON.parse(result?.outline ?? '')).toMatchObject({ custom_id: 'a' })
    expect(outlined.turns).toBeGreaterThanOrEqual(slices)
    const shown = await counted(renderedResults(pieces(MANY, '"z":1}}}'), RENDERING))
    expect(shown.turns).toBeGreaterThanOrEqual(2 * slices)
    expect(Math.max(...shown.all.map(({ data }) => data.length))).toBeLessThan(128 * 1024)
    const { response } = JSON.parse(shown.all.map(({ data }) => data).join(''))
    expect(response.body).toEqual({ '': 1, model: 'm', z: 1 })
  })

  it.each<[string, (at: number) => string, string]>([
    ['objects', () => '{}', '[]'],
    ['lists', () => '[]', '[]'],
    ['objects in lists', () => '[{}]', '[]'],
    ['numbers', () => '1', '[]'],
    ['short texts', (at) => `"${at.toString(36)}"`, '[]'],
    ['short names', (at) => `"${at.toString(36)}":1`, '{}'],
  ])('is never parsed if it is of many %s', async (_, valueAt, brackets) => {
    async function* results() {
      const data = Array.from({ length: 300_000 }, (_value, at) => valueAt(at)).join(',')
      const [open, close] = brackets
      const rest = `"filler":"${'x'.repeat(MIB)}","data":${open}${data}${close}`
      yield Buffer.from(`${HEAD}"usage":{"a":1},${rest}}}}`)
      yield Buffer.from('{"custom_id":"b"}')
    }
    const [wide, usual] = await arrayOf(outlinedResults(results(), ANSWER))
    const { outline, received } = wide as LongResult
    expect(JSON.parse(outline ?? '').response.body).toEqual({ model: 'm', usage: { a: 1 } })
    expect(usual?.toString()).toBe('{"custom_id":"b"}')
    const render = () => 'usual'
    const shown = await arrayOf(renderedResults(results(), { ...RENDERING, render }))
    const bytes = shown.reduce((sum, { data }) => sum + data.length, 0)
    expect(bytes).toBeGreaterThan(0.99 * received.bytes)
    expect(shown.at(-1)).toEqual({ data: 'usual', isLast: true })
  })

  it('is parsed if it has few values, whatever its texts contain', async () => {
    const numbers = Array.from({ length: 200_000 }, (_value, at) => at)
    const text = `${'"\\,:{['.repeat(400_000)}`
    const result = Buffer.from(JSON.stringify({ custom_id: 'a', numbers, text }))
    async function* results() {
      yield result
    }
    expect((await arrayOf(outlinedResults(results(), ANSWER)))[0]).toBe(result)
  })

  it('does not show the provider’s model under an escaped name', async () => {
    const text = await shownOf(HEAD, '"m\\u006fdel":"theirs","\\ud800":1,"é":2}}}')
    expect(JSON.parse(text).response.body).toEqual({ model: 'm', '\ud800': 1, é: 2 })
  })

  it('is billed by its usage under an escaped name', async () => {
    const results = outlinedResults(pieces(HEAD, '"us\\u0061ge":{"a":1}}}}'), ANSWER)
    const [result] = (await arrayOf(results)) as LongResult[]
    expect(JSON.parse(result?.outline ?? '').response.body).toEqual({ model: 'm', usage: { a: 1 } })
  })

  it('is replaced as a whole if it is withheld, and the next one is shown', async () => {
    async function* results() {
      yield* pieces(`${HEAD}"z":1`, ',"y":1', '}}}')
      yield* pieces(`${HEAD}"y":1`, '}}}')
    }
    const renderWithheld = async (outline: string, beginning: Buffer) => {
      expect(outline).toContain('"custom_id":"a"')
      return beginning.includes('"z"') ? 'withheld' : null
    }
    const all = await arrayOf(renderedResults(results(), { ...RENDERING, renderWithheld }))
    expect(all[0]).toEqual({ data: 'withheld', isLast: true })
    const rest = all.slice(1).map(({ data }) => data)
    expect(JSON.parse(rest.join('')).response.body).toEqual({ model: 'm', y: 1 })
  })

  it.each(['"usage":,"z":1', '"usage": ,"z":1', '"z":1,"usage":'])(
    'has no member without a value: %s',
    async (members) => {
      const results = outlinedResults(pieces(HEAD, `${members}}}}`), ANSWER)
      const [result] = (await arrayOf(results)) as LongResult[]
      expect(JSON.parse(result?.outline ?? '').response.body).toEqual({ model: 'm' })
      const shown = JSON.parse(await shownOf(HEAD, `${members}}}}`))
      expect(shown.response.body).toEqual({ model: 'm', z: 1 })
    },
  )

  it.each(['"data":[1,', '"data":1]}}', '"data":1}}'])(
    'ends with an error if it is shown and other bytes were billed: %s',
    async (rest) => {
      await expect(shownOf(HEAD, rest)).rejects.toThrow(MalformedResult)
    },
  )
})

it('many malformed results block the event loop neither when billed nor when shown', async () => {
  async function* results() {
    for (let line = 0; line < 10_000; line += 1) yield Buffer.from('{x')
  }
  const outlined = await counted(outlinedResults(results(), ANSWER))
  const shown = await counted(renderedResults(results(), RENDERING))
  for (const { turns } of [outlined, shown]) expect(turns).toBeGreaterThanOrEqual(30)
})
