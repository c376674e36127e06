import { expect, it } from 'vitest'
import { isRelayError } from '#relay/canonical/relay-error.ts'
import { ANTHROPIC_MESSAGES } from '#relay/dialects/anthropic-messages/messages-format.ts'
import { BEDROCK_ENVELOPE } from '#relay/providers/clouds/bedrock-access.ts'

const MEMBERS = [
  ['model', '"claude-opus-5"'],
  ['stream', 'true'],
  ['messages', '[{"role":"user","content":"\\u0041 {\\"model\\":1}"}]'],
  ['max_tokens', '64'],
  ['anthropic_version', '"2023-06-01"'],
  ['speed', '"fast"'],
] as const

type Entry = (typeof MEMBERS)[number]

function permutations(entries: readonly Entry[]): Entry[][] {
  if (entries.length < 2) return [[...entries]]
  return entries.flatMap((first, at) =>
    permutations(entries.toSpliced(at, 1)).map((rest) => [first, ...rest]),
  )
}

function sent(text: string, model: string, overrides: ReadonlyMap<string, string>): string {
  const request = ANTHROPIC_MESSAGES.readRequest(Buffer.from(text), null)
  if (isRelayError(request)) throw new Error(request.code)
  const change = { model, forcesUsage: true, overrides, allowed: new Set<string>() }
  const envelope = BEDROCK_ENVELOPE
  const { body } = ANTHROPIC_MESSAGES.upstreamBody(request, { ...change, envelope })
  return body.toString('utf8')
}

const SPACED: readonly (readonly [string, string])[] = [
  ['', ''],
  ['\n  ', ' '],
]

it.each(SPACED)('is exact for every order of the members, with the spaces %j', (before, after) => {
  const version = ['anthropic_version', '"bedrock-2023-05-31"'] as const
  for (const entries of permutations(MEMBERS)) {
    const text = `{${entries.map(([name, value]) => `${before}"${name}":${after}${value}`)}}`
    const plain = sent(text, 'claude-opus-5', new Map())
    const kept = entries.filter(([name]) => ['messages', 'max_tokens'].includes(name))
    expect(Object.entries(JSON.parse(plain))).toEqual(
      [version, ...kept].map(([name, value]) => [name, JSON.parse(value)]),
    )
    // Kept members keep their bytes.
    for (const [name, value] of kept) expect(plain).toContain(`"${name}":${after}${value}`)
    const overrides = new Map([
      ['max_tokens', '32'],
      ['anthropic_beta', '["effort-2025-11-24"]'],
      ['model', '"other"'],
    ])
    expect(JSON.parse(sent(text, 'mapped', overrides))).toEqual({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['effort-2025-11-24'],
      messages: [{ role: 'user', content: 'A {"model":1}' }],
      max_tokens: 32,
    })
  }
})
