import { describe, expect, it } from 'vitest'
import { type AdapterOptions, NO_ADAPTERS } from '#relay/adapters/read-claude-and-gemini-options.ts'
import {
  modelAndSuffixAtChannel,
  resolveModelSuffix,
} from '#relay/adapters/resolve-model-suffix.ts'
import { readModelSuffix, thinkingFor } from '#relay/adapters/thinking-suffix-of-model-name.ts'
import type { ChatRequest } from '#relay/dialects/wire-format.ts'
import { channelRules } from '#relay/views/parse-channel-rules.ts'
import { PLAIN_CHANNEL_TERMS } from '#test/support/channel-terms.ts'

const ON: AdapterOptions = {
  claude: { ...NO_ADAPTERS.claude, isThinkingEnabled: true, thinkingShare: 0.8 },
  gemini: { ...NO_ADAPTERS.gemini, isThinkingEnabled: true, thinkingShare: 0.6 },
}
const effort = (text: string) => ({ kind: 'effort', effort: text })
const SHARE = { kind: 'share' }

describe('the suffix of a model’s name', () => {
  it.each([
    ['claude-sonnet-4-5-thinking', 'claude-sonnet-4-5', SHARE],
    ['resold/claude-opus-4-8-thinking', 'resold/claude-opus-4-8', SHARE],
    ['claude-sonnet-4-5-thinking-4096', 'claude-sonnet-4-5', { kind: 'budget', tokens: 4096 }],
    ['claude-sonnet-4-5-thinking-0', 'claude-sonnet-4-5', { kind: 'off' }],
    ['claude-sonnet-4-5-nothinking', 'claude-sonnet-4-5', { kind: 'off' }],
    ['claude-sonnet-4-5-high', 'claude-sonnet-4-5', effort('high')],
    ['claude-opus-4-6-max', 'claude-opus-4-6', effort('max')],
    ['claude-opus-5-xhigh', 'claude-opus-5', effort('xhigh')],
    ['gemini-2.5-flash-thinking', 'gemini-2.5-flash', SHARE],
    ['gemini-2.5-flash-nothinking', 'gemini-2.5-flash', { kind: 'off' }],
    ['gemini-2.5-pro-thinking-2048', 'gemini-2.5-pro', { kind: 'budget', tokens: 2048 }],
    ['gemini-2.5-pro-thinking-0', 'gemini-2.5-pro', { kind: 'off' }],
    ['gemini-3-pro-low', 'gemini-3-pro', effort('low')],
    ['gemini-3.5-flash-minimal', 'gemini-3.5-flash', effort('minimal')],
    ['gpt-5.1-high', 'gpt-5.1', effort('high')],
    ['openai/gpt-5-minimal', 'openai/gpt-5', effort('minimal')],
    ['o4-mini-medium', 'o4-mini', effort('medium')],
    ['gpt-5.2-xhigh', 'gpt-5.2', effort('xhigh')],
  ])('%s means %s with %j', (name, base, thinking) => {
    expect(readModelSuffix(name, ON)).toMatchObject({ name, base, thinking })
  })

  it.each([
    'claude-sonnet-4-5',
    'claude-3-5-haiku-20241022-thinking',
    'claude-3-5-haiku-20241022-nothinking',
    'claude-opus-4-6-xhigh',
    'claude-opus-5-minimal',
    'gpt-5.1-codex-max',
    'gemini-3-pro-max',
    'qwen3-max',
    'gemini-2.0-flash-thinking',
    'gemini-2.0-flash-thinking-exp',
    'gemini-2.5-flash-high',
    'gemini-3-pro-xhigh',
    'gemini-2.5-pro-thinking-1234567',
    'gpt-4o-high',
    'gpt-5-chat-high',
    'gpt-5-thinking',
    'kimi-k2-thinking',
    '-thinking',
  ])('%s has none', (name) => {
    expect(readModelSuffix(name, ON)).toBeNull()
  })

  it('is not read while the adapter is off', () => {
    expect(readModelSuffix('claude-sonnet-4-5-thinking', NO_ADAPTERS)).toBeNull()
    expect(readModelSuffix('claude-opus-5-high', NO_ADAPTERS)).toBeNull()
    expect(readModelSuffix('gemini-2.5-pro-thinking', NO_ADAPTERS)).toBeNull()
    expect(readModelSuffix('gemini-3-pro-low', NO_ADAPTERS)).toBeNull()
  })
})

describe('the amount of thinking', () => {
  const thinking = (name: string, limit: number | null, options = ON) => {
    const suffix = readModelSuffix(name, options)
    if (suffix === null) throw new Error(`${name} has no suffix`)
    return thinkingFor(suffix, suffix.base, limit, options)
  }

  it('is a share of the output limit', () => {
    expect(thinking('claude-sonnet-4-5-thinking', 10_000)).toEqual({ kind: 'budget', tokens: 8000 })
    expect(thinking('gemini-2.5-pro-thinking', 10_000)).toEqual({ kind: 'budget', tokens: 6000 })
  })

  it('is within the budgets that Gemini accepts', () => {
    const most = { kind: 'budget', tokens: 32_768 }
    expect(thinking('gemini-2.5-pro-thinking', 65_536)).toEqual(most)
    const least = { kind: 'budget', tokens: 512 }
    expect(thinking('gemini-2.5-flash-lite-thinking', 100)).toEqual(least)
  })

  it('is left to models without budgets, and to requests without a limit', () => {
    expect(thinking('claude-opus-4-8-thinking', 10_000)).toEqual({ kind: 'adaptive' })
    expect(thinking('gemini-3-pro-thinking', 10_000)).toEqual({ kind: 'adaptive' })
    expect(thinking('gemini-2.5-pro-thinking', null)).toEqual({ kind: 'adaptive' })
  })

  it('has a budget only for the models of the option', () => {
    const budgetModels = new Set(['gemini-3-pro'])
    const listed = { ...ON, gemini: { ...ON.gemini, budgetModels } }
    expect(thinking('gemini-3-pro-thinking', 1000, listed)).toMatchObject({ kind: 'budget' })
    expect(thinking('gemini-2.5-pro-thinking', 1000, listed)).toEqual({ kind: 'adaptive' })
  })
})

describe('a name with a suffix', () => {
  const request = (model: string) => ({ model, reasoningEffort: null }) as ChatRequest
  const known = (...names: string[]) => ({ isKnown: (name: string) => names.includes(name) })
  const FULL = 'claude-sonnet-4-5-thinking'
  const BASE = 'claude-sonnet-4-5'

  it('means the model without it', () => {
    expect(resolveModelSuffix(request(FULL), known(BASE), ON)).toMatchObject({
      model: BASE,
      suffix: { name: FULL },
      reasoningEffort: 'thinking',
    })
  })

  it('stays a model of its own if any channel has it, and if no channel has the base', () => {
    for (const channels of [known(BASE, FULL), known('other')]) {
      expect(resolveModelSuffix(request(FULL), channels, ON)).toEqual(request(FULL))
    }
  })

  const channel = (type: number, modelMapping = '') => {
    const terms = { ...PLAIN_CHANNEL_TERMS, type, modelMapping, modelPrefix: 'p/' }
    return { terms, rules: channelRules(terms) }
  }

  it('is sent without the suffix by a channel that lists the name', () => {
    expect(modelAndSuffixAtChannel(channel(14), { model: `p/${FULL}` }, ON)).toMatchObject({
      model: BASE,
      suffix: { base: BASE },
    })
    expect(modelAndSuffixAtChannel(channel(1), { model: 'gpt-5-high' }, ON)).toMatchObject({
      model: 'gpt-5',
    })
    expect(modelAndSuffixAtChannel(channel(33), { model: 'claude-opus-5-low' }, ON)).toMatchObject({
      model: 'claude-opus-5',
    })
  })

  it('is sent as it is if the channel maps it, or if the provider has such a model', () => {
    const own = channel(14, JSON.stringify({ [FULL]: FULL }))
    expect(modelAndSuffixAtChannel(own, { model: FULL }, ON)).toEqual({ model: FULL, suffix: null })
    const mapped = channel(14, JSON.stringify({ smart: FULL }))
    expect(modelAndSuffixAtChannel(mapped, { model: 'smart' }, ON)).toEqual({
      model: FULL,
      suffix: null,
    })
    const model = 'openai/o4-mini-high'
    expect(modelAndSuffixAtChannel(channel(20), { model }, ON)).toEqual({ model, suffix: null })
  })
})
