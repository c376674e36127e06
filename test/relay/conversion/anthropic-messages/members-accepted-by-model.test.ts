import { describe, expect, it } from 'vitest'
import type { CanonicalRequest, Sampling, Thinking } from '#relay/canonical/canonical-request.ts'
import { modelRules } from '#relay/conversion/anthropic-messages/members-accepted-by-model.ts'
import { writeRequest } from '#relay/conversion/anthropic-messages/write-request.ts'
import { canonicalRequest, textPart } from './canonical-values.ts'

const write = (members: Partial<CanonicalRequest>) =>
  writeRequest(canonicalRequest(members), { default: 4096, max: null })

describe('the rules for a model', () => {
  it.each([
    ['claude-3-opus-20240229', false, false],
    ['claude-3-5-sonnet-20241022', false, false],
    ['claude-3-7-sonnet-latest', true, false],
    ['claude-opus-4-20250514', true, false],
    ['eu.anthropic.claude-sonnet-4-5-20250929-v1:0', true, false],
    ['claude-opus-4-6', true, true],
    ['anthropic/claude-4.7-opus', false, true],
    ['claude-opus-4-8@20260528', false, true],
    ['claude-sonnet-5', false, true],
    ['claude-mythos-preview', false, true],
    ['deepseek-v4', true, false],
  ])('follow from its name: %s', (model, acceptsBudget, acceptsAdaptive) => {
    expect(modelRules(model)).toMatchObject({ acceptsBudget, acceptsAdaptive })
  })
})

describe('writing thinking', () => {
  const budget = (tokens: number): Thinking => ({ kind: 'budget', tokens })
  const enabled = (tokens: number) => ({ type: 'enabled', budget_tokens: tokens })

  it.each<[string, Thinking, unknown, string[]]>([
    ['claude-sonnet-4-5', budget(2000), enabled(2000), []],
    ['claude-sonnet-4-5', budget(10), enabled(1024), ['thinking.tokens']],
    ['claude-sonnet-4-5', budget(9000), enabled(3800), ['thinking.tokens']],
    ['claude-sonnet-4-5', budget(0), { type: 'disabled' }, []],
    ['claude-sonnet-4-5', { kind: 'effort', effort: 'high' }, enabled(3200), []],
    ['claude-sonnet-4-5', { kind: 'effort', effort: 'minimal' }, enabled(1024), []],
    ['claude-sonnet-4-5', { kind: 'adaptive' }, enabled(2000), []],
    ['claude-3-5-haiku', budget(2000), undefined, ['thinking']],
    ['claude-3-5-haiku', { kind: 'off' }, undefined, []],
    ['claude-opus-4-6', budget(2000), enabled(2000), []],
    ['claude-opus-5', budget(2000), { type: 'adaptive' }, ['thinking.tokens']],
    ['claude-opus-5', { kind: 'off' }, { type: 'disabled' }, []],
    ['claude-opus-5-5', { kind: 'off' }, undefined, ['thinking']],
    ['anthropic.claude-fable-5-1', { kind: 'off' }, undefined, ['thinking']],
    ['claude-sonnet-5-5', { kind: 'off' }, { type: 'disabled' }, []],
  ])('for %s: %o', (model, thinking, written, losses) => {
    const { value, losses: found } = write({ model, thinking })
    expect({ thinking: value.thinking, losses: found }).toEqual({ thinking: written, losses })
  })

  it.each([
    ['claude-opus-4-6', 'xhigh', 'high'],
    ['claude-opus-5', 'minimal', 'low'],
  ] as const)('has an effort that %s knows for %s', (model, effort, written) => {
    expect(write({ model, thinking: { kind: 'effort', effort } })).toMatchObject({
      value: { thinking: { type: 'adaptive' }, output_config: { effort: written } },
      losses: ['thinking.effort'],
    })
  })

  it('is left out if the output limit has no room for it', () => {
    const { value, losses } = write({ outputTokensMax: 1024, thinking: budget(2000) })
    expect(value).not.toHaveProperty('thinking')
    expect(losses).toEqual(['thinking'])
  })

  it('is left out if a tool is forced', () => {
    const tools = [{ name: 't', description: '', schema: { type: 'object' }, isStrict: null }]
    const { value, losses } = write({
      tools,
      toolChoice: { kind: 'required' },
      thinking: budget(2000),
    })
    expect(value).not.toHaveProperty('thinking')
    expect(losses).toEqual(['thinking'])
  })

  it.each([
    ['claude-sonnet-4-5', ['thinking']],
    ['claude-opus-5', ['thinking.tokens']],
  ])('of %s needs thinking before the last calls only for a budget', (model, losses) => {
    const call = { kind: 'tool-call', id: 'x', name: 't', argumentsJson: '{}' } as const
    const answer = {
      kind: 'tool-result',
      callId: 'x',
      name: 't',
      parts: [],
      isError: false,
    } as const
    const messages = [
      { role: 'user' as const, parts: [textPart('a')] },
      { role: 'assistant' as const, parts: [call] },
      { role: 'user' as const, parts: [answer] },
    ]
    expect(write({ model, messages, thinking: budget(2000) }).losses).toEqual(losses)
  })
})

describe('writing sampling parameters', () => {
  const sampled = (
    model: string,
    sampling: Partial<Sampling>,
    thinking: Thinking | null = null,
  ) => {
    const request = { model, thinking, sampling: { ...canonicalRequest({}).sampling, ...sampling } }
    const { value, losses } = write(request)
    const { temperature, top_p, top_k } = value
    return [temperature, top_p, top_k, losses]
  }
  const thinking: Thinking = { kind: 'budget', tokens: 2000 }

  it.each<[string, unknown[], unknown[]]>([
    [
      'all for older models',
      sampled('claude-3-5-haiku', { temperature: 0.5, topP: 0.9, topK: 4 }),
      [0.5, 0.9, 4, []],
    ],
    [
      'not the two that exclude each other',
      sampled('claude-sonnet-4-5', { temperature: 0.5, topP: 0.9 }),
      [0.5, undefined, undefined, ['sampling.topP']],
    ],
    [
      'at most a temperature of 1',
      sampled('claude-sonnet-4-5', { temperature: 1.5 }),
      [1, undefined, undefined, ['sampling.temperature']],
    ],
    [
      'none for recent models, where the default is not a loss',
      sampled('claude-opus-5', { temperature: 1, topP: 1, topK: 4 }),
      [undefined, undefined, undefined, ['sampling.topK']],
    ],
    [
      'few while the model thinks',
      sampled('claude-sonnet-4-5', { temperature: 0.5, topP: 0.95, topK: 4 }, thinking),
      [undefined, 0.95, undefined, ['sampling.temperature', 'sampling.topK']],
    ],
    [
      'all for models of other makers that think',
      sampled('glm-5', { temperature: 0.5, topP: 0.9 }, thinking),
      [0.5, 0.9, undefined, []],
    ],
  ])('writes %s', (_, written, expected) => {
    expect(written).toEqual(expected)
  })
})

describe('writing a schema for the answer', () => {
  it('moves constraints that are not supported to the description', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        age: { type: 'integer', minimum: 0, description: 'In years.' },
        tags: { type: 'array', items: { type: 'string', pattern: '^a' }, minItems: 1 },
        pet: { oneOf: [{ type: 'object', properties: {} }, { type: 'null' }] },
      },
      required: ['age'],
    }
    const { value, losses } = write({
      answerFormat: { kind: 'schema', name: 'person', schema, isStrict: true },
    })
    expect(value.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: {
            age: { type: 'integer', description: 'In years.\n\nConstraints: {"minimum":0}' },
            tags: {
              type: 'array',
              items: { type: 'string', description: 'Constraints: {"pattern":"^a"}' },
              minItems: 1,
            },
            pet: {
              anyOf: [
                { type: 'object', properties: {}, additionalProperties: false },
                { type: 'null' },
              ],
            },
          },
          required: ['age'],
          additionalProperties: false,
        },
      },
    })
    expect(losses).toEqual(['answerFormat.schema (constraints)'])
  })

  it('survives a schema of any depth', () => {
    let schema: Record<string, unknown> = { type: 'string', minLength: 1 }
    for (let depth = 0; depth < 5000; depth += 1) schema = { type: 'array', items: schema }
    const answerFormat = { kind: 'schema', name: 'deep', schema, isStrict: null } as const
    expect(() => write({ answerFormat })).not.toThrow()
  })
})
