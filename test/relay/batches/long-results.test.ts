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

  it.each(['{}', '[]', '[{}]'])('is never parsed if it is of many values: %s', async (value) => {
    async function* results() {
      const count = Math.ceil((8 * 1024 * 1024) / (value.length + 1))
      const data = Array(count).fill(value).join(',')
      yield Buffer.from(`${HEAD}"usage":{"a":1},"data":[${data}]}}}`)
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

  it('does not show the provider’s model under an escaped name', async () => {
    const text = await shownOf(HEAD, '"m\\u006fdel":"theirs","\\ud800":1,"é":2}}}')
    expect(JSON.parse(text).response.body).toEqual({ model: 'm', '\ud800': 1, é: 2 })
  })

  it('is billed by its usage under an escaped name', async () => {
    const results = outlinedResults(pieces(HEAD, '"us\\u0061ge":{"a":1}}}}'), ANSWER)
    const [result] = (await arrayOf(results)) as LongResult[]
    expect(JSON.parse(result?.outline ?? '').response.body).toEqual({ model: 'm', usage: { a: 1 } })
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
