import { describe, expect, it } from 'vitest'
import { JsonMemberFilter, type MemberRule } from '#relay/batches/filter-json-members.ts'

const RULES = new Map<string, MemberRule>([
  ['id', { text: '"ours"' }],
  ['answer', 'enter'],
  ['answer/model', { text: '"m"' }],
  ['answer/data', 'pass'],
  ['usage', 'short'],
])
const filterOf = (bytesMax = 1_000) =>
  new JsonMemberFilter((path) => RULES.get(path) ?? 'drop', bytesMax)

const TEXT = [
  '{ "id" : {"x":"}"} , "dropped":[{"usage":1},"]\\\\"],"answer":{"model":"\\"theirs",',
  '"other":-1.5e3,"data":[1, "a\\"]}", {"model":"inner"}],"last":null} ,',
  '"usage": {"n":[2]},"z":0}\r',
].join('')
const SHOWN = {
  id: 'ours',
  answer: { model: 'm', data: [1, 'a"]}', { model: 'inner' }] },
  usage: { n: [2] },
}

describe('the members of a JSON object', () => {
  it('are passed on by their rules, wherever the object is cut', () => {
    for (let cut = 0; cut <= TEXT.length; cut += 1) {
      const filter = filterOf()
      const [head, tail] = [TEXT.slice(0, cut), TEXT.slice(cut)].map((part) => Buffer.from(part))
      const shown = `${filter.push(head as Buffer)}${filter.push(tail as Buffer)}`
      expect([JSON.parse(shown), filter.isOver], `${cut}`).toEqual([SHOWN, true])
    }
  })

  it('need no more memory than allowed, however many there are', () => {
    const filter = filterOf()
    const repeated = `"usage":"${'x'.repeat(20)}","answer":{},`
    const shown = filter.push(Buffer.from(`{${repeated.repeat(1_000)}"id":1}`)).toString()
    expect(shown.length).toBeLessThan(1_100)
    expect(JSON.parse(shown)).toMatchObject({ id: 'ours' })
    const long = filterOf(10 ** 9)
    const value = `{"usage":"${'x'.repeat(100_000)}","id":1,"${'y'.repeat(300)}":1}`
    expect(long.push(Buffer.from(value)).toString()).toBe('{"id":"ours"}')
  })

  it('can be read before the object ends', () => {
    const filter = filterOf()
    const begun = filter.push(Buffer.from('{"usage":1,"answer":{"model":"a","data'))
    expect(JSON.parse(`${begun}${filter.closing}`)).toEqual({ usage: 1, answer: { model: 'm' } })
    expect(filter.isOver).toBe(false)
  })

  it.each(['[1]', '1', '{1}', '{"a"}', '{"a":1]', '}{'])('are none in %j', (json) => {
    const filter = filterOf()
    filter.push(Buffer.from(json))
    expect(filter.isOver).toBe(false)
  })

  it.each([
    ['answer', '"d\\u0061ta":1', { data: 1 }],
    ['answer', '"\\u0064\\u0061\\u0074\\u0061":1', { data: 1 }],
    ['answer', '"\\u006Dodel":"theirs"', { model: 'm' }],
    ['answer', '"d\\\\u0061ta":1,"d\\nata":1', {}],
    ['\\u0061nswer', '"data":1', { data: 1 }],
  ])('have the same rules under escaped names: %s, %s', (name, members, shown) => {
    const json = filterOf()
      .push(Buffer.from(`{"${name}":{${members}}}`))
      .toString()
    expect(JSON.parse(json)).toEqual({ answer: shown })
  })

  it('with invalid escapes in their names are read as fast as any others', () => {
    const timeOf = (member: string) => {
      const chunk = Buffer.from(`{${member.repeat(50_000)}`)
      const times = [1, 2, 3, 4, 5].map(() => {
        const start = performance.now()
        filterOf().push(chunk)
        return performance.now() - start
      })
      return Math.min(...times)
    }
    for (const name of ['\\x', '\\u00', '\\n\t']) {
      expect(timeOf(`"${name}":1,`), name).toBeLessThan(4 * timeOf('"abc":1,'))
    }
  })
})
