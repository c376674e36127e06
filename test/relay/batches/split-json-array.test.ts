import { describe, expect, it } from 'vitest'
import { readGeminiBatch } from '#relay/batches/gemini-batches.ts'
import { JsonArraySplitter, UnsplittableJson } from '#relay/batches/split-json-array.ts'

const RULES = {
  paths: ['batch/inputConfig/requests', 'output/requests'],
  dropped: ['echo'],
  elementBytesMax: 200,
  restBytesMax: 400,
}

function split(json: string, cut: number) {
  const splitter = new JsonArraySplitter(RULES)
  const bytes = Buffer.from(json)
  const chunks = [bytes.subarray(0, cut), bytes.subarray(cut)]
  const elements = chunks.flatMap((chunk) => splitter.push(chunk)).map(String)
  return { elements, rest: splitter.rest.toString(), hasArray: splitter.hasArray }
}

const ELEMENTS = ['{"a":"] } \\" \\\\"}', '{"batch":{"inputConfig":{"requests":[{"x":1}]}}}']
const JSON_TEXT = [
  '{"echo":[{"batch":{"inputConfig":{"requests":[{"planted":1}]}}}],',
  '"name":"batch\\"","other":{"requests":[{"kept":1}]},"batch": {"x":[1,{"y":[]}],',
  `"input_config":{"requests" : [ ${ELEMENTS[0]} ,\n${ELEMENTS[1]}] , "z":"]"}},`,
  '"output":{"requests":[{"second":1}]}}',
].join('')

describe('an array of a JSON document', () => {
  it('is split into its elements, wherever the document is cut', () => {
    const whole = split(JSON_TEXT, 0)
    expect(whole.elements).toEqual(ELEMENTS)
    expect(JSON.parse(whole.rest)).toEqual({
      ...{ echo: [], name: 'batch"', other: { requests: [{ kept: 1 }] } },
      batch: { x: [1, { y: [] }], input_config: { requests: [], z: ']' } },
      output: { requests: [] },
    })
    for (let cut = 1; cut < JSON_TEXT.length; cut += 1) {
      const { elements, rest } = split(JSON_TEXT, cut)
      expect([elements, JSON.parse(rest)]).toEqual([ELEMENTS, JSON.parse(whole.rest)])
    }
  })

  it('is known to exist if it is empty', () => {
    expect(split('{"output":{"requests":[ ]}}', 5)).toMatchObject({ elements: [], hasArray: true })
    expect(split('{"output":{}}', 5)).toMatchObject({ elements: [], hasArray: false })
  })

  it.each([
    '{"output":{"requests":[1]}}',
    '{"output":{"requests":["a"]}}',
    '{"output":{"requests":[[{}]]}}',
    `{"output":{"requests":[{"a":"${'x'.repeat(300)}"}]}}`,
    `{"a":"${'x'.repeat(500)}"}`,
    '['.repeat(100),
  ])('is refused in %j', (json) => {
    expect(() => split(json, 3)).toThrow(UnsplittableJson)
  })

  it('is found in a time that long keys around many other arrays do not multiply', async () => {
    const body = Buffer.from(`${`{"${'a_b'.repeat(20)}":`.repeat(60)}[${'[],'.repeat(19_000)}`)
    const before = process.cpuUsage()
    expect(await readGeminiBatch(body, 'm')).toMatchObject({ code: 'json_incomplete' })
    // It takes 5 ms, and took 4 s when the path was built from all keys for each array.
    const { user, system } = process.cpuUsage(before)
    expect(user + system).toBeLessThan(1_000_000)
  })
})
