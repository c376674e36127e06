import { describe, expect, it } from 'vitest'
import { type AdapterTarget, adaptRequest } from '#relay/adapters/adapt-request-to-model.ts'
import { type AdapterOptions, NO_ADAPTERS } from '#relay/adapters/read-claude-and-gemini-options.ts'
import type { Thinking } from '#relay/canonical/canonical-request.ts'
import { OPEN_ROUTER, OPENAI } from '#relay/conversion/openai-chat/chat-extensions-of-provider.ts'
import { scanObject } from '#relay/dialects/scan-request-object.ts'
import type { ChatRequest, FormatName } from '#relay/dialects/wire-format.ts'

const requestOf = (name: FormatName, value: object, model = 'm'): ChatRequest => {
  const body = Buffer.from(JSON.stringify(value))
  return { format: { name }, body, members: scanObject(body), model } as unknown as ChatRequest
}
const BUDGET: Thinking = { kind: 'budget', tokens: 6000 }
const target = (fields: Partial<AdapterTarget> = {}): AdapterTarget => ({
  model: 'claude-sonnet-4-5',
  thinking: null,
  outputTokensMax: 10_000,
  vendor: OPENAI,
  overrides: new Map(),
  setsParameters: true,
  ...fields,
})
const gemini = (fields: Partial<AdapterOptions['gemini']>): AdapterOptions => ({
  ...NO_ADAPTERS,
  gemini: { ...NO_ADAPTERS.gemini, ...fields },
})

function adapted(request: ChatRequest, to = target(), options = NO_ADAPTERS) {
  const adaptation = adaptRequest(request, to, options)
  if (adaptation === null) return null
  const { overrides, removed, losses } = adaptation
  const set = Object.fromEntries([...overrides].map(([key, text]) => [key, JSON.parse(text)]))
  return { set, removed: [...removed], losses }
}

it('nothing acts on requests without a suffix and without settings', () => {
  for (const name of ['chat', 'messages', 'responses', 'gemini'] as const) {
    expect(adapted(requestOf(name, { model: 'm' }))).toBeNull()
  }
})

describe('thinking in Anthropic’s format', () => {
  it('is set with its budget, without the sampling that the model then refuses', () => {
    const sampling = { temperature: 0.3, top_p: 0.9, top_k: 5 }
    const request = requestOf('messages', { ...sampling, thinking: { type: 'disabled' } })
    expect(adapted(request, target({ thinking: BUDGET }))).toEqual({
      set: { thinking: { type: 'enabled', budget_tokens: 6000 } },
      removed: ['temperature', 'top_p', 'top_k'],
      losses: ['temperature', 'top_p', 'top_k'],
    })
  })

  it('is adaptive for models without budgets', () => {
    const to = target({ model: 'claude-opus-4-8', thinking: { kind: 'adaptive' } })
    expect(adapted(requestOf('messages', {}), to)?.set).toEqual({ thinking: { type: 'adaptive' } })
  })

  it.each([
    ['a tool is forced', { tool_choice: { type: 'any' } }, 10_000],
    ['the limit is too small', {}, 1024],
  ])('is reported as a loss if %s', (_, body, outputTokensMax) => {
    const to = target({ thinking: BUDGET, outputTokensMax })
    expect(adapted(requestOf('messages', body), to)).toEqual({
      set: {},
      removed: [],
      losses: ['thinking'],
    })
  })

  it('is left to a channel that overrides it', () => {
    const overrides = new Map([['thinking', '{"type":"disabled"}']])
    const set = adapted(requestOf('messages', {}), target({ thinking: BUDGET, overrides }))?.set
    expect(set).toEqual({ thinking: { type: 'disabled' } })
  })
})

describe('the system prompt of a channel in Anthropic’s format', () => {
  const block = (text: string) => ({ type: 'text', text })
  const added = (system: unknown, override: unknown) => {
    const overrides = new Map([['system', JSON.stringify(override)]])
    const body = system === undefined ? {} : { system }
    return adapted(requestOf('messages', body), target({ overrides }))?.set.system
  }

  it('comes after the blocks of the caller', () => {
    const own = [{ ...block('own'), cache_control: { type: 'ephemeral' } }, block('more')]
    expect(added(own, 'added')).toEqual([...own, block('added')])
    expect(added('own', [block('a'), block('b')])).toEqual([block('own'), block('a'), block('b')])
  })

  it('is the only one if the caller has none', () => {
    for (const system of ['', []]) expect(added(system, 'added')).toEqual([block('added')])
    expect(added(undefined, 'added')).toBe('added')
    expect(added(null, 'added')).toBe('added')
    expect(added([block('own')], '')).toEqual([block('own')])
  })
})

describe('thinking in OpenAI’s formats', () => {
  const HIGH: Thinking = { kind: 'effort', effort: 'high' }

  it('names a loss as the format does', () => {
    const to = target({ thinking: BUDGET, model: 'gpt-5' })
    expect(adapted(requestOf('responses', {}), to)?.losses).toEqual(['reasoning'])
  })

  it('is an effort, which replaces every other control', () => {
    const body = { reasoning_effort: 'low', reasoning: { effort: 'low' }, enable_thinking: false }
    const to = { thinking: HIGH, model: 'gpt-5' }
    expect(adapted(requestOf('chat', body), target(to))).toEqual({
      set: { reasoning_effort: 'high' },
      removed: ['reasoning', 'enable_thinking'],
      losses: [],
    })
    const vendor = OPEN_ROUTER
    expect(adapted(requestOf('chat', body), target({ ...to, vendor }))).toMatchObject({
      set: { reasoning: { effort: 'high' } },
      removed: ['reasoning_effort', 'enable_thinking'],
    })
  })

  it('keeps the other members of `reasoning` in a Responses request', () => {
    const to = target({ thinking: HIGH, model: 'gpt-5' })
    const request = requestOf('responses', { reasoning: { effort: 'low', summary: 'detailed' } })
    expect(adapted(request, to)?.set).toEqual({
      reasoning: { summary: 'detailed', effort: 'high' },
    })
    expect(adapted(requestOf('responses', {}), to)?.set).toEqual({ reasoning: { effort: 'high' } })
  })
})

describe('Gemini', () => {
  const PRO = { model: 'gemini-2.5-pro' }
  const SAFETY = '[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"OFF"}]'

  it('gets safety settings if the caller sent none', () => {
    const options = gemini({ safetySettings: SAFETY })
    expect(adapted(requestOf('gemini', {}), target(PRO), options)?.set).toEqual({
      safetySettings: JSON.parse(SAFETY),
    })
    for (const body of [{ safetySettings: [] }, { safety_settings: [] }]) {
      expect(adapted(requestOf('gemini', body), target(PRO), options)?.set).toEqual({})
    }
    const isPassThrough = target({ ...PRO, setsParameters: false })
    expect(adapted(requestOf('gemini', {}), isPassThrough, options)).toBeNull()
  })

  it('gets a budget of thinking, whatever the spelling of its members', () => {
    const to = target({ ...PRO, thinking: BUDGET })
    const config = { thinking_config: { thinking_budget: 1 }, top_p: 0.5 }
    expect(adapted(requestOf('gemini', { generation_config: config }), to)?.set).toEqual({
      generation_config: {
        top_p: 0.5,
        thinkingConfig: { thinkingBudget: 6000, includeThoughts: true },
      },
    })
  })

  it('gets a level of thinking from version 3 on', () => {
    const to = target({ model: 'gemini-3-flash', thinking: { kind: 'effort', effort: 'low' } })
    expect(adapted(requestOf('gemini', {}), to)?.set).toEqual({
      generationConfig: { thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } },
    })
  })

  it('adds images to the answers of models that draw', () => {
    const model = 'gemini-2.5-flash-image'
    const options = gemini({ imageModels: new Set([model]) })
    const images = { responseModalities: ['TEXT', 'IMAGE'] }
    const body = { generationConfig: { topK: 4 } }
    for (const [alias, to] of [
      ['alias', { model }],
      [model, { model: 'other' }],
    ] as const) {
      const request = requestOf('gemini', body, alias)
      expect(adapted(request, target(to), options)?.set).toEqual({
        generationConfig: { topK: 4, ...images },
      })
    }
    const own = { generation_config: { response_modalities: ['IMAGE'] } }
    expect(adapted(requestOf('gemini', own, model), target({ model }), options)?.set).toEqual({})
  })

  it('adds to the channel’s own settings, and never lets a caller choose another model', () => {
    const to = { ...PRO, thinking: BUDGET }
    const routed = { routing_config: { autoMode: {} }, modelConfig: {}, seed: 1 }
    const set = adapted(requestOf('gemini', { generationConfig: routed }), target(to))?.set
    expect(Object.keys(set?.generationConfig)).toEqual(['seed', 'thinkingConfig'])
    const overrides = new Map([['generationConfig', '{"topK":1}']])
    const request = requestOf('gemini', { generationConfig: { topK: 9 } })
    expect(adapted(request, target({ ...to, overrides }))?.set.generationConfig).toEqual({
      topK: 1,
      thinkingConfig: { thinkingBudget: 6000, includeThoughts: true },
    })
  })
})
