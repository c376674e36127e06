import { describe, expect, it } from 'vitest'
import { ConversionError } from '#relay/canonical/canonical-request.ts'
import { convertCall } from '#relay/conversion/convert-call.ts'
import type { ProviderFormatName } from '#relay/conversion/format-conversion.ts'
import { OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import type { ConvertedFormatName } from '#relay/dialects/wire-format.ts'
import {
  GENERATION_MEMBERS,
  MEMBERS,
  REQUESTS,
  SHORT_REQUESTS,
  VALUES_OF_CALLER,
} from './requests-with-all-members.ts'

const UNKNOWN = 'unknownmember'
const VALUE = 'planted-value'
const PROVIDERS: readonly ProviderFormatName[] = ['chat', 'responses', 'messages', 'gemini']

type Planted = { readonly place: string; readonly body: object }

/** Returns the request once for each of its objects, with an unknown member in that object. */
function withUnknownMember(value: object, place = '', key = ''): readonly Planted[] {
  if (VALUES_OF_CALLER.has(key)) return []
  const inner = Object.entries(value).flatMap(([name, member]) => {
    if (typeof member !== 'object' || member === null) return []
    const at = Array.isArray(value) ? `${place}[${name}]` : `${place}.${name}`
    return withUnknownMember(member, at, name).map(({ place: of, body }) => ({
      place: of,
      body: Array.isArray(value) ? value.with(Number(name), body) : { ...value, [name]: body },
    }))
  })
  return Array.isArray(value) ? inner : [{ place, body: { ...value, [UNKNOWN]: VALUE } }, ...inner]
}

type Outcome = { readonly body: string; readonly losses: readonly string[] } | 'refused'

function converted(from: ConvertedFormatName, format: ProviderFormatName, body: object): Outcome {
  const target = { format, model: 'm', outputTokensMax: 4_096, vendor: OPENAI }
  try {
    const path = { model: 'm', isStream: false }
    const written = convertCall(from, Buffer.from(JSON.stringify(body)), path, target)
    return { body: written.body.toString('utf8'), losses: written.losses }
  } catch (error) {
    if (error instanceof ConversionError) return 'refused'
    throw error
  }
}

/** Reports whether an unknown member is neither refused nor carried nor named as lost. */
function isForgotten(from: ConvertedFormatName, format: ProviderFormatName, body: object): boolean {
  const outcome = converted(from, format, body)
  if (outcome === 'refused' || outcome.body.includes(VALUE)) return false
  return !outcome.losses.some((loss) => loss.includes(UNKNOWN))
}

const FORMATS = Object.keys(REQUESTS) as ConvertedFormatName[]

/** Values that can't be converted to a text or a number, alone and in a list. */
const NO_TEXTS = [{ toString: 1 }, [{ toString: 1 }]]

/** Returns the value once for each place in it, with `replacement` at that place. */
function replacedAtEachPlace(value: unknown, replacement: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [replacement]
  const inner = Object.entries(value).flatMap(([name, member]) =>
    replacedAtEachPlace(member, replacement).map((one) =>
      Array.isArray(value) ? value.with(Number(name), one) : { ...value, [name]: one },
    ),
  )
  return [replacement, ...inner]
}

describe.each(FORMATS)('a value without a text in a request of the format %s', (from) => {
  const isShort = (name: ConvertedFormatName): name is keyof typeof MEMBERS => name in MEMBERS
  const generationConfig = { ...GENERATION_MEMBERS }
  const more = isShort(from) ? { ...SHORT_REQUESTS[from], ...MEMBERS[from] } : {}
  const requests = [REQUESTS[from], more, { ...REQUESTS[from], generationConfig }]

  it.each(PROVIDERS)('causes no fault on the way to the format %s', (format) => {
    const isObject = (body: unknown): body is object => !Array.isArray(body)
    for (const request of requests) {
      for (const value of NO_TEXTS) {
        for (const body of replacedAtEachPlace(request, value).filter(isObject)) {
          converted(from, format, body)
        }
      }
    }
  })
})

describe.each(FORMATS)('a member that no conversion of the format %s knows', (from) => {
  const planted = withUnknownMember(REQUESTS[from])

  it('belongs to a request that can be converted without it', () => {
    for (const format of PROVIDERS) {
      expect(converted(from, format, REQUESTS[from])).not.toBe('refused')
    }
    expect(planted.length).toBeGreaterThan(1)
  })

  it.each(PROVIDERS.filter((format) => format !== from))(
    'is never dropped silently on the way to the format %s, wherever it is',
    (format) => {
      const forgotten = planted.filter(({ body }) => isForgotten(from, format, body))
      expect(forgotten.map(({ place }) => place)).toEqual([])
    },
  )
})

describe.each(Object.keys(MEMBERS) as (keyof typeof MEMBERS)[])(
  'a documented member of the format %s',
  (from) => {
    it.each(PROVIDERS.filter((format) => format !== from))(
      'is refused, carried or named on the way to the format %s',
      (format) => {
        const outcomeOf = (members: object) =>
          JSON.stringify(converted(from, format, { ...SHORT_REQUESTS[from], ...members }))
        const without = outcomeOf({})
        const forgotten = (members: object, wrap: (members: object) => object) =>
          Object.entries(members).flatMap(([name, value]) =>
            outcomeOf(wrap({ [name]: value })) === without ? [name] : [],
          )
        expect(forgotten(MEMBERS[from], (members) => members)).toEqual([])
        if (from !== 'gemini') return
        const wrap = (generationConfig: object) => ({ generationConfig })
        expect(forgotten(GENERATION_MEMBERS, wrap)).toEqual([])
      },
    )
  },
)

it('the path of an unknown member with a long name is cut', () => {
  const outcome = converted('chat', 'messages', {
    model: 'm',
    messages: [{ role: 'user', content: 'Hi', ['m'.repeat(99_999)]: 1 }],
    ['n'.repeat(99_999)]: 1,
  })
  if (outcome === 'refused') throw new Error(outcome)
  expect(outcome.losses).toHaveLength(2)
  for (const loss of outcome.losses) expect(loss.length).toBeLessThanOrEqual(256)
})
